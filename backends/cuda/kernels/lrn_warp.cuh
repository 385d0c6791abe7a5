/* lrn_warp.cuh - local response normalisation across the channels of a pixel, by the threads of a warp.
 *
 *     y_c = x_c s_c^-beta,  s_c = k + factor * sum of x_j^2 over the window of c
 *     dx_c = dy_c s_c^-beta - 2 factor beta x_c * sum of dy_j x_j s_j^(-beta - 1) over the j that have c in their window
 *
 * For windows of 5, the networks' own. A thread has WIDTH<T> channels of a pixel and takes the two to either side from its neighbours in
 * the warp: each array is moved once. A warp has whole pixels; where one has more than 32 packs of channels, warps share it and overlap by
 * a pack at each end that is computed but not written.
 */
#ifndef CAIRN_CUDA_KERNELS_LRN_WARP_CUH
#define CAIRN_CUDA_KERNELS_LRN_WARP_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

#define CAIRN_LRN_REACH  2  /* channels to either side that a window of 5 takes in */
#define CAIRN_LRN_SHARED 30 /* lanes that write, of the 32 of a warp that shares a pixel */

/* Where a lane of a warp stands. `first` and `last`: no channels of this pixel to the left or right. */
struct lrn_place {
    int64_t pixel;
    int channel;
    bool reads, writes, first, last;
};

template <int N> __device__ __forceinline__ lrn_place lrn_place_of(int64_t pixels, int channels)
{
    unsigned packs = (unsigned)(channels + N - 1) / N, lane = threadIdx.x % 32, warp = thread_index() / 32;
    int pack;
    lrn_place p;
    if (packs <= 32) {
        unsigned together = 32 / packs;
        p.pixel = (int64_t)warp * together + lane / packs;
        pack = (int)(lane % packs);
        p.reads = p.writes = lane < together * packs && p.pixel < pixels;
    } else {
        unsigned pieces = (packs + CAIRN_LRN_SHARED - 1) / CAIRN_LRN_SHARED;
        p.pixel = warp / pieces;
        pack = (int)(warp % pieces * CAIRN_LRN_SHARED + lane) - 1;
        p.reads = pack >= 0 && pack < (int)packs && p.pixel < pixels;
        p.writes = p.reads && lane >= 1 && lane <= CAIRN_LRN_SHARED;
    }
    p.channel = pack * N;
    p.first = pack == 0;
    p.last = pack == (int)packs - 1;
    return p;
}

/* around = own with the REACH numbers to either side, zeros beyond the pixel. All lanes of the warp take part. */
template <int N>
__device__ __forceinline__ void lrn_widen(const lrn_place &p, const float (&own)[N],
                                          float (&around)[N + 2 * CAIRN_LRN_REACH])
{
#pragma unroll
    for (int i = 0; i < CAIRN_LRN_REACH; i++) {
        float left = __shfl_up_sync(0xffffffffu, own[N - CAIRN_LRN_REACH + i], 1);
        float right = __shfl_down_sync(0xffffffffu, own[i], 1);
        around[i] = p.first ? 0.0f : left;
        around[CAIRN_LRN_REACH + N + i] = p.last ? 0.0f : right;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        around[CAIRN_LRN_REACH + i] = own[i];
}

/* sum[i] = the five numbers around own[i]. */
template <int N> __device__ __forceinline__ void lrn_sum(const lrn_place &p, const float (&own)[N], float (&sum)[N])
{
    float around[N + 2 * CAIRN_LRN_REACH];
    lrn_widen(p, own, around);
#pragma unroll
    for (int i = 0; i < N; i++)
        sum[i] = around[i] + around[i + 1] + around[i + 2] + around[i + 3] + around[i + 4];
}

/* s^-beta and 1 / s. The networks' 0.75 needs two reciprocal roots and no logarithm. */
__device__ __forceinline__ float lrn_power(float s, float beta, float &inverse)
{
    if (beta != 0.75f) {
        inverse = 1.0f / s;
        return powf(s, -beta);
    }
    float root = rsqrtf(s);
    inverse = root * root;
    return inverse * rsqrtf(root);
}

/* y and 1 / s of a thread's channels; scale[i] = s^-beta. */
template <int N>
__device__ __forceinline__ void lrn_scale(const lrn_place &p, const float (&x)[N], float k, float factor, float beta,
                                          float (&scale)[N], float (&inverse)[N])
{
    float square[N], sum[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        square[i] = x[i] * x[i];
    lrn_sum(p, square, sum);
#pragma unroll
    for (int i = 0; i < N; i++)
        scale[i] = lrn_power(k + factor * sum[i], beta, inverse[i]);
}

/* dx from x and dy of a thread's channels. */
template <int N>
__device__ __forceinline__ void lrn_gradient(const lrn_place &p, const float (&x)[N], const float (&dy)[N], float k,
                                             float factor, float beta, float (&dx)[N])
{
    float scale[N], inverse[N], ratio[N], sum[N];
    lrn_scale(p, x, k, factor, beta, scale, inverse);
#pragma unroll
    for (int i = 0; i < N; i++)
        ratio[i] = dy[i] * x[i] * scale[i] * inverse[i];
    lrn_sum(p, ratio, sum);
#pragma unroll
    for (int i = 0; i < N; i++)
        dx[i] = dy[i] * scale[i] - 2.0f * factor * beta * x[i] * sum[i];
}

template <class T, int N>
__device__ __forceinline__ void lrn_load(const lrn_place &p, const void *from, int channels, float (&to)[N])
{
    int64_t at = p.reads ? p.pixel * channels + p.channel : 0;
    bool whole = p.reads && channels % N == 0 && aligned(from);
    load((const T *)from + at, p.reads ? channels - p.channel : 0, whole, to);
}

#endif
