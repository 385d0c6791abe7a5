#include "backends/cpu/philox.h"
#include "backends/cpu/simd.h"

/* Counters worked on side by side; each gives four numbers. */
#define LANES 32

/* Numbers 4 * block .. 4 * (block + LANES) - 1. The rounds of cairn_philox4x32 with each word an array of lanes, so that the compiler
 * turns them into vector code; the lower half of a counter is the block's number. */
CAIRN_CPU_CLONES static void draw(const cairn_rng *rng, uint64_t block, float out[4 * LANES])
{
    uint32_t x0[LANES], x1[LANES], x2[LANES], x3[LANES], key0 = rng->key[0], key1 = rng->key[1];
    for (int i = 0; i < LANES; i++) {
        x0[i] = (uint32_t)(block + (uint64_t)i);
        x1[i] = (uint32_t)((block + (uint64_t)i) >> 32);
        x2[i] = rng->high[0];
        x3[i] = rng->high[1];
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t product0 = (uint64_t)0xd2511f53 * x0[i], product1 = (uint64_t)0xcd9e8d57 * x2[i];
            x0[i] = (uint32_t)(product1 >> 32) ^ x1[i] ^ key0;
            x1[i] = (uint32_t)product1;
            x2[i] = (uint32_t)(product0 >> 32) ^ x3[i] ^ key1;
            x3[i] = (uint32_t)product0;
        }
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
    for (int i = 0; i < LANES; i++) {
        out[4 * i] = (float)(int32_t)(x0[i] >> 8) * 0x1p-24f;
        out[4 * i + 1] = (float)(int32_t)(x1[i] >> 8) * 0x1p-24f;
        out[4 * i + 2] = (float)(int32_t)(x2[i] >> 8) * 0x1p-24f;
        out[4 * i + 3] = (float)(int32_t)(x3[i] >> 8) * 0x1p-24f;
    }
}

void cairn_philox_uniform(cairn_rng rng, uint64_t first, float *out, int64_t count)
{
    float drawn[4 * LANES];
    int64_t skip = (int64_t)(first % 4); /* numbers of the first block that aren't asked for */
    uint64_t block = first / 4;
    for (int64_t done = 0; done < count; block += LANES, skip = 0) {
        int64_t usable = 4 * LANES - skip, take = count - done < usable ? count - done : usable;
        draw(&rng, block, drawn);
        for (int64_t i = 0; i < take; i++)
            out[done + i] = drawn[skip + i];
        done += take;
    }
}
