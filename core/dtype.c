#include "core/dtype.h"
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[CAIRN_DTYPE_COUNT] = {
    [CAIRN_F32] = {"f32", 4}, [CAIRN_F16] = {"f16", 2}, [CAIRN_BF16] = {"bf16", 2},
    [CAIRN_U8] = {"u8", 1},   [CAIRN_I32] = {"i32", 4},
};

size_t cairn_dtype_size(cairn_dtype dtype)
{
    return (unsigned)dtype < CAIRN_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

const char *cairn_dtype_name(cairn_dtype dtype)
{
    return (unsigned)dtype < CAIRN_DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `bits` without its lowest `shift` bits (1..31), rounded to nearest, ties to even. A carry out of the fraction runs into the
 * exponent, which is just what rounding up to the next power of two, or to infinity, means. */
static uint32_t round_shift(uint32_t bits, int shift)
{
    uint32_t half = 1u << (shift - 1), rest = bits & ((half << 1) - 1), kept = bits >> shift;
    return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t cairn_f32_to_f16(float value)
{
    uint32_t bits = bits_of(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff)); /* NaN, made quiet */
    if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7c00);                              /* 2^16 and above */
    if (magnitude >= 0x38800000) /* normal from 2^-14 up: the exponent's bias goes from 127 to 15 */
        return (uint16_t)(sign | round_shift(magnitude - (112u << 23), 13));
    if (magnitude < 0x33000000) return (uint16_t)sign; /* below 2^-25, half the smallest subnormal */
    int shift = 126 - (int)(magnitude >> 23);          /* 14..24: the subnormal's unit is 2^-24 */
    return (uint16_t)(sign | round_shift((magnitude & 0x7fffff) | 0x800000, shift));
}

uint16_t cairn_f32_to_bf16(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)((bits >> 16) | 0x40);
    return (uint16_t)round_shift(bits, 16);
}

float cairn_f16_to_f32(uint16_t value)
{
    uint32_t sign = (uint32_t)(value & 0x8000) << 16, exponent = (value >> 10) & 31, fraction = value & 0x3ffu;
    if (exponent == 31) return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) { /* zero or subnormal: fraction * 2^-24, exact in f32 */
        float magnitude = (float)fraction * 0x1p-24f;
        return float_of(sign | bits_of(magnitude));
    }
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

float cairn_bf16_to_f32(uint16_t value)
{
    return float_of((uint32_t)value << 16);
}

static uint8_t to_u8(float value)
{
    if (!(value > 0)) return 0; /* also NaN */
    return value >= 255 ? 255 : (uint8_t)nearbyintf(value);
}

static int32_t to_i32(float value)
{
    if (isnan(value)) return 0;
    if (value >= 0x1p31f) return INT32_MAX;
    return value <= -0x1p31f ? INT32_MIN : (int32_t)nearbyintf(value);
}

static float load(const void *from, cairn_dtype dtype, size_t i)
{
    switch (dtype) {
    case CAIRN_F16:
        return cairn_f16_to_f32(((const uint16_t *)from)[i]);
    case CAIRN_BF16:
        return cairn_bf16_to_f32(((const uint16_t *)from)[i]);
    case CAIRN_U8:
        return ((const uint8_t *)from)[i];
    case CAIRN_I32:
        return (float)((const int32_t *)from)[i];
    default:
        return ((const float *)from)[i];
    }
}

static void store(void *to, cairn_dtype dtype, size_t i, float value)
{
    switch (dtype) {
    case CAIRN_F16:
        ((uint16_t *)to)[i] = cairn_f32_to_f16(value);
        return;
    case CAIRN_BF16:
        ((uint16_t *)to)[i] = cairn_f32_to_bf16(value);
        return;
    case CAIRN_U8:
        ((uint8_t *)to)[i] = to_u8(value);
        return;
    case CAIRN_I32:
        ((int32_t *)to)[i] = to_i32(value);
        return;
    default:
        ((float *)to)[i] = value;
        return;
    }
}

int cairn_dtype_convert(void *to, cairn_dtype to_dtype, const void *from, cairn_dtype from_dtype, size_t count)
{
    if ((unsigned)to_dtype >= CAIRN_DTYPE_COUNT || (unsigned)from_dtype >= CAIRN_DTYPE_COUNT) return -1;
    if (to_dtype >= CAIRN_U8 && from_dtype != CAIRN_F32) return -1;
    if (from_dtype >= CAIRN_U8 && to_dtype != CAIRN_F32) return -1;
    if (to_dtype == from_dtype) {
        if (count) memcpy(to, from, count * cairn_dtype_size(to_dtype));
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        store(to, to_dtype, i, load(from, from_dtype, i));
    return 0;
}
