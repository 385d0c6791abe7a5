/* Philox against the known-answer vectors of Random123 (tests/kat_vectors, philox4x32 10), and what is drawn from it. */
#include "core/rng.h"
#include "tests/test.h"

static void known_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        uint32_t got[4];
        cairn_philox4x32(vectors[v].counter, vectors[v].key, got);
        for (int i = 0; i < 4; i++)
            CHECK_INT(got[i], vectors[v].want[i]);
    }
}

static void a_stream_is_laid_out_as_documented(void)
{
    cairn_rng rng = cairn_rng_make(0x1122334455667788, CAIRN_RNG_DROPOUT, 5, 99);
    uint64_t index = 4 * 0x300000007ull + 2;
    uint32_t counter[4] = {7, 3, 99, 0x11223344}, key[2] = {0x55667788, 4u << 16 | 5}, word[4];
    cairn_philox4x32(counter, key, word);
    CHECK_INT(cairn_rng_bits(rng, index), word[2]);
    CHECK(cairn_rng_uniform(rng, index) == (float)(word[2] >> 8) / 16777216);
    CHECK_INT(cairn_rng_below(rng, index, 1000), ((uint64_t)word[2] * 1000) >> 32);
}

static void streams_differ(void)
{
    uint32_t base = cairn_rng_bits(cairn_rng_make(1, CAIRN_RNG_INIT, 0, 0), 0);
    CHECK(base != cairn_rng_bits(cairn_rng_make(2, CAIRN_RNG_INIT, 0, 0), 0));
    CHECK(base != cairn_rng_bits(cairn_rng_make(1ull << 40 | 1, CAIRN_RNG_INIT, 0, 0), 0));
    CHECK(base != cairn_rng_bits(cairn_rng_make(1, CAIRN_RNG_SHUFFLE, 0, 0), 0));
    CHECK(base != cairn_rng_bits(cairn_rng_make(1, CAIRN_RNG_INIT, 1, 0), 0));
    CHECK(base != cairn_rng_bits(cairn_rng_make(1, CAIRN_RNG_INIT, 0, 1), 0));
}

/* Moments of n numbers lie within six standard errors of the distribution's. */
static void moments(void)
{
    enum { n = 200000 };
    double sum = 0, square = 0, normal = 0, normal2 = 0, normal4 = 0;
    cairn_rng rng = cairn_rng_make(7, CAIRN_RNG_SYNTHETIC, 0, 0);
    for (uint64_t i = 0; i < n; i++) {
        double u = (double)cairn_rng_uniform(rng, i), z = (double)cairn_rng_normal(rng, i);
        REQUIRE(u >= 0 && u < 1 && isfinite(z));
        sum += u;
        square += u * u;
        normal += z;
        normal2 += z * z;
        normal4 += z * z * z * z;
    }
    CHECK_NEAR(sum / n, 0.5, 6 * sqrt(1.0 / 12 / n));
    CHECK_NEAR(square / n, 1.0 / 3, 6 * sqrt(4.0 / 45 / n));
    CHECK_NEAR(normal / n, 0, 6 / sqrt(n));
    CHECK_NEAR(normal2 / n, 1, 6 * sqrt(2.0 / n));
    CHECK_NEAR(normal4 / n, 3, 6 * sqrt(96.0 / n));
}

static void permutations_hold_each_number_once(void)
{
    static const int64_t counts[] = {0, 1, 2, 7, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int64_t order[1000], n = counts[c];
        bool seen[1000] = {false};
        cairn_rng_permutation(cairn_rng_make(3, CAIRN_RNG_SHUFFLE, 0, (uint32_t)c), order, n);
        for (int64_t i = 0; i < n; i++) {
            REQUIRE(order[i] >= 0 && order[i] < n && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

/* All 24 orders of four things come about equally often: chi-square with 23 degrees of freedom below its 1 - 1e-6 point, 70.5. */
static void permutations_are_fair(void)
{
    enum { rounds = 24000 };
    int count[256] = {0};
    double chi = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        int64_t order[4];
        cairn_rng_permutation(cairn_rng_make(11, CAIRN_RNG_SHUFFLE, 0, r), order, 4);
        count[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
    }
    int kinds = 0;
    for (int i = 0; i < 256; i++) {
        kinds += count[i] > 0;
        if (count[i]) chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    }
    CHECK_INT(kinds, 24);
    CHECK(chi < 70.5);
}

/* Filling gives the same numbers as asking one by one, from any start and for any length. */
static void filling_equals_asking(void)
{
    cairn_rng rng = cairn_rng_make(5, CAIRN_RNG_INIT, 2, 1);
    for (uint64_t first = 0; first < 6; first++) {
        for (int64_t count = 0; count < 12; count++) {
            float values[12];
            cairn_rng_uniform_fill(rng, first, values, count);
            for (int64_t i = 0; i < count; i++)
                CHECK(values[i] == cairn_rng_uniform(rng, first + (uint64_t)i));
        }
    }
}

int main(void)
{
    RUN(filling_equals_asking);
    RUN(known_answers);
    RUN(a_stream_is_laid_out_as_documented);
    RUN(streams_differ);
    RUN(moments);
    RUN(permutations_hold_each_number_once);
    RUN(permutations_are_fair);
    return test_result();
}
