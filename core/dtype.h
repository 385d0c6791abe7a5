/* dtype.h - the element types of tensors, and correctly rounded conversions between them.
 *
 *     uint16_t half = cairn_f32_to_f16(0.1f);       round to nearest, ties to even
 *     float back = cairn_f16_to_f32(half);          exact
 */
#ifndef CAIRN_CORE_DTYPE_H
#define CAIRN_CORE_DTYPE_H

#include <stddef.h>
#include <stdint.h>

typedef enum cairn_dtype {
    CAIRN_F32,  /* IEEE 754 binary32 */
    CAIRN_F16,  /* IEEE 754 binary16 */
    CAIRN_BF16, /* the upper half of a binary32: 8 exponent bits, 7 fraction bits */
    CAIRN_U8,
    CAIRN_I32,
    CAIRN_DTYPE_COUNT
} cairn_dtype;

/* Bytes of one element. */
size_t cairn_dtype_size(cairn_dtype dtype);

/* "f32", "f16", "bf16", "u8", "i32". */
const char *cairn_dtype_name(cairn_dtype dtype);

/* Round to nearest, ties to even; overflow gives infinity, NaN stays a (quiet) NaN, subnormals are kept. */
uint16_t cairn_f32_to_f16(float value);
uint16_t cairn_f32_to_bf16(float value);

/* Exact: every f16 and bf16 value is an f32 value. */
float cairn_f16_to_f32(uint16_t value);
float cairn_bf16_to_f32(uint16_t value);

/* Converts `count` elements; `from` and `to` may not overlap. f32, f16 and bf16 into each other by the rules above;
 * u8 and i32 to and from f32 with saturation and rounding to nearest even. Any other pair: nothing is written, returns -1. */
int cairn_dtype_convert(void *to, cairn_dtype to_dtype, const void *from, cairn_dtype from_dtype, size_t count);

#endif
