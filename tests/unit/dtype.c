/* Conversions, held against arithmetic in double: every f16 and bf16 value, the middle between each pair of neighbours, and the edges. */
#include "core/dtype.h"
#include "tests/test.h"

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* What the bits of a 16-bit float mean, from the standard's definition. */
static double value_of(uint16_t bits, int exponent_bits)
{
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = bits & ((1 << fraction_bits) - 1), sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(ldexp(fraction, -fraction_bits) + 1, exponent - bias);
}

static void every_value_survives(float (*widen)(uint16_t), uint16_t (*narrow)(float), int exponent_bits)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double want = value_of((uint16_t)bits, exponent_bits);
        float wide = widen((uint16_t)bits);
        REQUIRE(same(wide, (float)want));
        if (isnan(want))
            REQUIRE(isnan(widen(narrow(wide))));
        else
            REQUIRE(narrow(wide) == bits);
    }
}

/* Between neighbours a < b: a up to the middle, the even one in the middle, b from there. */
static void halves_go_to_even(float (*widen)(uint16_t), uint16_t (*narrow)(float), uint32_t infinity)
{
    for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000)
        for (uint32_t low = 0; low + 1 < infinity; low++) {
            float a = widen((uint16_t)(low | sign)), b = widen((uint16_t)((low + 1) | sign));
            float middle = (float)(((double)a + (double)b) / 2);
            REQUIRE(narrow(middle) == (sign | (low & 1 ? low + 1 : low)));
            REQUIRE(narrow(nextafterf(middle, a)) == (sign | low));
            REQUIRE(narrow(nextafterf(middle, b)) == (sign | (low + 1)));
        }
}

static void f16_values_survive(void)
{
    every_value_survives(cairn_f16_to_f32, cairn_f32_to_f16, 5);
}

static void bf16_values_survive(void)
{
    every_value_survives(cairn_bf16_to_f32, cairn_f32_to_bf16, 8);
}

static void f16_rounds_to_nearest_even(void)
{
    halves_go_to_even(cairn_f16_to_f32, cairn_f32_to_f16, 0x7c00);
}

static void bf16_rounds_to_nearest_even(void)
{
    halves_go_to_even(cairn_bf16_to_f32, cairn_f32_to_bf16, 0x7f80);
}

static void edges(void)
{
    CHECK_INT(cairn_f32_to_f16(65519.996f), 0x7bff); /* the last that rounds down to 65504 */
    CHECK_INT(cairn_f32_to_f16(65520), 0x7c00);
    CHECK_INT(cairn_f32_to_f16(-1e30f), 0xfc00);
    CHECK_INT(cairn_f32_to_f16(0x1p-25f), 0); /* half of the smallest subnormal: a tie, to even */
    CHECK_INT(cairn_f32_to_f16(0x1.000002p-25f), 1);
    CHECK_INT(cairn_f32_to_f16(-0x1p-149f), 0x8000);
    CHECK_INT(cairn_f32_to_f16(0x1.ffcp-15f), 0x400); /* rounds from the subnormals up to the smallest normal */
    CHECK_INT(cairn_f32_to_bf16(float_of(0x7f7fffff)), 0x7f80);
    CHECK_INT(cairn_f32_to_bf16(float_of(1)), 0);
    CHECK_INT(cairn_f32_to_bf16(float_of(0x18000)), 2); /* subnormals stay */
    CHECK_INT(cairn_f32_to_f16(float_of(0x7f800001)), 0x7e00);
    CHECK_INT(cairn_f32_to_bf16(float_of(0x7f800001)), 0x7fc0);
    CHECK_INT(cairn_f32_to_bf16(float_of(0xffc00000)), 0xffc0);
}

static void integers_saturate(void)
{
    const float values[] = {-1, 0.5f, 1.5f, 254.5f, 255.5f, 1e10f, -1e10f, NAN, INFINITY, 2147483520.0f};
    static const uint8_t bytes[] = {0, 0, 2, 254, 255, 255, 0, 0, 255, 255};
    static const int32_t words[] = {-1, 0, 2, 254, 256, INT32_MAX, INT32_MIN, 0, INT32_MAX, 2147483520};
    uint8_t byte[10];
    int32_t word[10];
    CHECK_INT(cairn_dtype_convert(byte, CAIRN_U8, values, CAIRN_F32, 10), 0);
    CHECK_INT(cairn_dtype_convert(word, CAIRN_I32, values, CAIRN_F32, 10), 0);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(byte[i], bytes[i]);
        CHECK_INT(word[i], words[i]);
    }
}

static void only_documented_pairs_convert(void)
{
    for (int to = 0; to <= CAIRN_DTYPE_COUNT; to++)
        for (int from = 0; from <= CAIRN_DTYPE_COUNT; from++) {
            bool both = to < CAIRN_DTYPE_COUNT && from < CAIRN_DTYPE_COUNT;
            bool floats = to <= CAIRN_BF16 && from <= CAIRN_BF16;
            bool integer_and_f32 = (to >= CAIRN_U8 && from == CAIRN_F32) || (from >= CAIRN_U8 && to == CAIRN_F32);
            bool want = both && (floats || integer_and_f32);
            float in[4] = {0};
            uint8_t out[sizeof in];
            memset(out, 0xff, sizeof out);
            int got = cairn_dtype_convert(out, (cairn_dtype)to, in, (cairn_dtype)from, 4);
            CHECK_INT(got, want ? 0 : -1);
            CHECK_INT(out[0], want ? 0 : 0xff);
        }
    float value = 3.140625f, back; /* exact in bf16 and in f16 */
    uint16_t half, brain;
    cairn_dtype_convert(&half, CAIRN_F16, &value, CAIRN_F32, 1);
    cairn_dtype_convert(&brain, CAIRN_BF16, &half, CAIRN_F16, 1);
    cairn_dtype_convert(&back, CAIRN_F32, &brain, CAIRN_BF16, 1);
    CHECK(value == back);
}

static void names_and_sizes(void)
{
    static const char *const names[] = {"f32", "f16", "bf16", "u8", "i32", "unknown"};
    static const size_t sizes[] = {4, 2, 2, 1, 4, 0};
    for (int d = 0; d <= CAIRN_DTYPE_COUNT; d++) {
        CHECK_TEXT(cairn_dtype_name((cairn_dtype)d), names[d]);
        CHECK_INT(cairn_dtype_size((cairn_dtype)d), sizes[d]);
    }
}

int main(void)
{
    RUN(f16_values_survive);
    RUN(bf16_values_survive);
    RUN(f16_rounds_to_nearest_even);
    RUN(bf16_rounds_to_nearest_even);
    RUN(edges);
    RUN(integers_saturate);
    RUN(only_documented_pairs_convert);
    RUN(names_and_sizes);
    return test_result();
}
