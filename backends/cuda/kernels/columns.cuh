/* columns.cuh - sums over the rows of a matrix, one for each channel, in two launches and always in the same order.
 *
 * First launch: a block is `across` threads side by side, each with WIDTH<T> channels, times `down` threads that take every
 * (down * blocks)-th row; grid (blocks, groups of channels). Its threads' sums are added in a tree. Second launch: column_total.
 */
#ifndef CAIRN_CUDA_KERNELS_COLUMNS_CUH
#define CAIRN_CUDA_KERNELS_COLUMNS_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

/* What a thread of the first launch works on: `channel` up to WIDTH<T> channels on, rows first, first + step, ... */
struct column_place {
    int64_t channel, left, row, step;
    bool whole; /* all its channels are there, and packs of them are aligned if the arrays are */
};

template <int N> __device__ __forceinline__ column_place column_place_of(const cairn_columns &s)
{
    int down = CAIRN_THREADS / s.across, x = threadIdx.x % s.across, y = threadIdx.x / s.across;
    column_place p;
    p.channel = ((int64_t)blockIdx.y * s.across + x) * N;
    p.left = s.channels - p.channel;
    p.row = p.left > 0 ? (int64_t)blockIdx.x * down + y : s.rows;
    p.step = (int64_t)gridDim.x * down;
    p.whole = s.channels % N == 0;
    return p;
}

/* Adds the K sums of each thread over the block's rows and writes them to `partial`. */
template <int K, int N>
__device__ __forceinline__ void column_partial(const cairn_columns &s, const column_place &p, const float (&sum)[K][N])
{
    __shared__ float part[K * N][CAIRN_THREADS];
    int down = CAIRN_THREADS / s.across, y = threadIdx.x / s.across;
#pragma unroll
    for (int i = 0; i < K * N; i++)
        part[i][threadIdx.x] = sum[i / N][i % N];
    for (int half = down / 2; half > 0; half /= 2) {
        __syncthreads();
        if (y >= half) continue;
#pragma unroll
        for (int i = 0; i < K * N; i++)
            part[i][threadIdx.x] += part[i][threadIdx.x + half * s.across];
    }
    if (y > 0) return;
#pragma unroll
    for (int i = 0; i < K * N; i++)
        if (i % N < p.left)
            s.partial[((int64_t)(i / N) * s.blocks + blockIdx.x) * s.channels + p.channel + i % N] =
                part[i][threadIdx.x];
}

#define CAIRN_COLUMN_SLICES 32 /* threads that share the partial sums of a channel */

/* Second launch, a block for CAIRN_THREADS / CAIRN_COLUMN_SLICES channels: true in the one thread that then holds the K sums of
 * `channel`. Reads the partial sums once. */
template <int K> __device__ __forceinline__ bool column_total(const cairn_columns &s, float (&sum)[K], int64_t &channel)
{
    constexpr int channels = CAIRN_THREADS / CAIRN_COLUMN_SLICES;
    __shared__ float part[K][CAIRN_COLUMN_SLICES][channels];
    int x = threadIdx.x % channels, slice = threadIdx.x / channels;
    channel = (int64_t)blockIdx.x * channels + x;
#pragma unroll
    for (int k = 0; k < K; k++) {
        float v = 0;
        for (int b = slice; channel < s.channels && b < s.blocks; b += CAIRN_COLUMN_SLICES)
            v += s.partial[((int64_t)k * s.blocks + b) * s.channels + channel];
        part[k][slice][x] = v;
    }
    __syncthreads();
    if (slice > 0 || channel >= s.channels) return false;
#pragma unroll
    for (int k = 0; k < K; k++) {
        sum[k] = 0;
        for (int i = 0; i < CAIRN_COLUMN_SLICES; i++)
            sum[k] += part[k][i][x];
    }
    return true;
}

/* Blocks of the second launch. */
static inline int64_t column_total_blocks(const cairn_columns &s)
{
    constexpr int channels = CAIRN_THREADS / CAIRN_COLUMN_SLICES;
    return (s.channels + channels - 1) / channels;
}

#endif
