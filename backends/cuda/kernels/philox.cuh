/* philox.cuh - the generator of core/rng.h on the device: the same numbers. */
#ifndef CAIRN_CUDA_KERNELS_PHILOX_CUH
#define CAIRN_CUDA_KERNELS_PHILOX_CUH

#include "core/rng.h"
#include <stdint.h>

/* Four numbers of a stream, 4 * block .. 4 * block + 3, kept for the next that is asked for. */
struct philox {
    uint64_t block;
    uint32_t word[4];
};

/* Ten rounds of Philox 4x32; constants of Salmon et al., SC 2011, as in core/rng.c. */
__device__ __forceinline__ void philox_draw(const cairn_rng &stream, uint64_t block, philox &out)
{
    uint32_t x0 = (uint32_t)block, x1 = (uint32_t)(block >> 32), x2 = stream.high[0], x3 = stream.high[1];
    uint32_t key0 = stream.key[0], key1 = stream.key[1];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = (uint64_t)0xd2511f53u * x0, product1 = (uint64_t)0xcd9e8d57u * x2;
        x0 = (uint32_t)(product1 >> 32) ^ x1 ^ key0;
        x1 = (uint32_t)product1;
        x2 = (uint32_t)(product0 >> 32) ^ x3 ^ key1;
        x3 = (uint32_t)product0;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out.block = block;
    out.word[0] = x0;
    out.word[1] = x1;
    out.word[2] = x2;
    out.word[3] = x3;
}

/* Number `index` of the stream, uniform in [0, 1) with 24 bits; draws only where the last draw doesn't hold it. */
__device__ __forceinline__ float philox_uniform(const cairn_rng &stream, uint64_t index, philox &last)
{
    if (index / 4 != last.block) philox_draw(stream, index / 4, last);
    uint32_t low = index & 1 ? last.word[1] : last.word[0], high = index & 1 ? last.word[3] : last.word[2];
    return (float)((index & 2 ? high : low) >> 8) * 0x1p-24f;
}

#endif
