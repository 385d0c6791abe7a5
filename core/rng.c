#include "core/rng.h"
#include <math.h>

cairn_rng cairn_rng_make(uint64_t seed, cairn_rng_purpose purpose, uint32_t instance, uint32_t step)
{
    return (cairn_rng){.key = {(uint32_t)seed, (uint32_t)purpose << 16 | (instance & 0xffff)},
                       .high = {step, (uint32_t)(seed >> 32)}};
}

void cairn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    /* Multipliers and Weyl constants of the paper's table 2 and section 3.3. */
    const uint64_t multiplier0 = 0xd2511f53, multiplier1 = 0xcd9e8d57;
    const uint32_t weyl0 = 0x9e3779b9, weyl1 = 0xbb67ae85;
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3], key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = multiplier0 * x0, product1 = multiplier1 * x2;
        x0 = (uint32_t)(product1 >> 32) ^ x1 ^ key0;
        x1 = (uint32_t)product1;
        x2 = (uint32_t)(product0 >> 32) ^ x3 ^ key1;
        x3 = (uint32_t)product0;
        key0 += weyl0;
        key1 += weyl1;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

uint32_t cairn_rng_bits(cairn_rng rng, uint64_t index)
{
    uint64_t block = index / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), rng.high[0], rng.high[1]}, word[4];
    cairn_philox4x32(counter, rng.key, word);
    return word[index % 4];
}

static float unit(uint32_t bits)
{
    return (float)(bits >> 8) * 0x1p-24f;
}

float cairn_rng_uniform(cairn_rng rng, uint64_t index)
{
    return unit(cairn_rng_bits(rng, index));
}

void cairn_rng_uniform_fill(cairn_rng rng, uint64_t first, float *values, int64_t count)
{
    int64_t i = 0;
    while (i < count && (first + (uint64_t)i) % 4 != 0) {
        values[i] = cairn_rng_uniform(rng, first + (uint64_t)i);
        i++;
    }
    for (; i + 4 <= count; i += 4) {
        uint64_t block = (first + (uint64_t)i) / 4;
        uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), rng.high[0], rng.high[1]}, word[4];
        cairn_philox4x32(counter, rng.key, word);
        for (int k = 0; k < 4; k++)
            values[i + k] = unit(word[k]);
    }
    for (; i < count; i++)
        values[i] = cairn_rng_uniform(rng, first + (uint64_t)i);
}

float cairn_rng_normal(cairn_rng rng, uint64_t index)
{
    const double turn = 6.283185307179586;
    double radius = ((double)cairn_rng_bits(rng, 2 * index) + 1) * 0x1p-32; /* in (0, 1]: its logarithm is finite */
    double angle = (double)cairn_rng_bits(rng, 2 * index + 1) * 0x1p-32;
    return (float)(sqrt(-2 * log(radius)) * cos(turn * angle));
}

uint32_t cairn_rng_below(cairn_rng rng, uint64_t index, uint32_t bound)
{
    return (uint32_t)((uint64_t)cairn_rng_bits(rng, index) * bound >> 32);
}

void cairn_rng_permutation(cairn_rng rng, int64_t *order, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t i = 0; i + 1 < count; i++) {
        int64_t j = i + cairn_rng_below(rng, (uint64_t)i, (uint32_t)(count - i));
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}
