/* dropout.cuh - the mask is drawn where it is used, in forward and again in backward. */
#ifndef CAIRN_CUDA_KERNELS_DROPOUT_CUH
#define CAIRN_CUDA_KERNELS_DROPOUT_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"
#include "backends/cuda/kernels/philox.cuh"

/* Position of the element at `at` in plain order: of a sample, [pixel][channel] in memory is [channel][pixel] there. */
__device__ __forceinline__ uint64_t dropout_position(const cairn_dropout_args &a, int64_t at)
{
    if (a.plane == 1) return (uint64_t)at;
    unsigned sample = (unsigned)(at / a.sample), inside = (unsigned)(at % a.sample);
    unsigned pixel = inside / (unsigned)a.channels, channel = inside % (unsigned)a.channels;
    return (uint64_t)sample * (uint64_t)a.sample + (uint64_t)channel * (uint64_t)a.plane + pixel;
}

/* Moves src and dst once. Where features lie in plain order four elements share a draw; in NHWC each element costs one, some 80
 * instructions, which matters little at the sizes dropout is used at. */
template <class T> __device__ __forceinline__ void dropout(const cairn_dropout_args &a)
{
    constexpr int N = WIDTH<T>;
    int64_t first = thread_number() * N, left = a.count - first;
    if (left <= 0) return;
    bool whole = left >= N && aligned(a.src) && aligned(a.dst);
    float x[N];
    philox drawn;
    philox_draw(a.stream, (a.first + dropout_position(a, first)) / 4, drawn);
    load((const T *)a.src + first, left, whole, x);
#pragma unroll
    for (int i = 0; i < N; i++) {
        bool kept = philox_uniform(a.stream, a.first + dropout_position(a, first + i), drawn) >= a.rate;
        x[i] = kept ? x[i] * a.scale : 0.0f;
    }
    store((T *)a.dst + first, left, whole, x);
}

CAIRN_KERNEL(dropout, cairn_dropout_args)

#endif
