/* element.hpp - elements of the types that cuBLASLt and cuDNN compute with, to and from f32. */
#pragma once

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace arithmetic
{

enum class element { f32, f16, bf16 };

inline std::int64_t size_of(element type)
{
    return type == element::f32 ? 4 : 2;
}

/* Element i of an array. */
inline float get(const void *from, element type, std::int64_t i)
{
    switch (type) {
    case element::f16:
        return __half2float(static_cast<const __half *>(from)[i]);
    case element::bf16:
        return __bfloat162float(static_cast<const __nv_bfloat16 *>(from)[i]);
    default:
        return static_cast<const float *>(from)[i];
    }
}

inline void put(void *to, element type, std::int64_t i, float value)
{
    switch (type) {
    case element::f16:
        static_cast<__half *>(to)[i] = __float2half_rn(value);
        break;
    case element::bf16:
        static_cast<__nv_bfloat16 *>(to)[i] = __float2bfloat16_rn(value);
        break;
    default:
        static_cast<float *>(to)[i] = value;
    }
}

/* Rounded to TF32's 10 bits of mantissa, to nearest, ties away from zero (PTX, cvt.rna.tf32.f32). */
inline float rounded_to_tf32(float value)
{
    std::uint32_t bits;
    static_assert(sizeof bits == sizeof value, "f32 has 32 bits");
    __builtin_memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
    __builtin_memcpy(&value, &bits, sizeof bits);
    return value;
}

} // namespace arithmetic
