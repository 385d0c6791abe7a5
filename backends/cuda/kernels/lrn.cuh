/* lrn.cuh - local response normalisation across channels, in NHWC; see lrn_warp.cuh. For windows that aren't 5 channels wide there are kernels
 * that are right and in no hurry. */
#ifndef CAIRN_CUDA_KERNELS_LRN_CUH
#define CAIRN_CUDA_KERNELS_LRN_CUH

#include "backends/cuda/kernels/lrn_warp.cuh"

/* Moves src and dst once. */
template <class T> __device__ __forceinline__ void lrn(const cairn_lrn_args &a)
{
    constexpr int N = WIDTH<T>;
    lrn_place p = lrn_place_of<N>(a.rows, a.channels);
    float x[N], scale[N], inverse[N];
    lrn_load<T>(p, a.src, a.channels, x);
    lrn_scale(p, x, a.k, a.factor, a.beta, scale, inverse);
    if (!p.writes) return;
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] *= scale[i];
    store((T *)a.dst + p.pixel * a.channels + p.channel, a.channels - p.channel, a.channels % N == 0 && aligned(a.dst),
          x);
}

CAIRN_KERNEL(lrn, cairn_lrn_args)

/* Moves x, dy and dx once; what forward computed is computed again rather than read. */
template <class T> __device__ __forceinline__ void lrn_backward(const cairn_lrn_args &a)
{
    constexpr int N = WIDTH<T>;
    lrn_place p = lrn_place_of<N>(a.rows, a.channels);
    float x[N], dy[N], dx[N];
    lrn_load<T>(p, a.src, a.channels, x);
    lrn_load<T>(p, a.diff_dst, a.channels, dy);
    lrn_gradient(p, x, dy, a.k, a.factor, a.beta, dx);
    if (!p.writes) return;
    store((T *)a.dst + p.pixel * a.channels + p.channel, a.channels - p.channel, a.channels % N == 0 && aligned(a.dst),
          dx);
}

CAIRN_KERNEL(lrn_backward, cairn_lrn_args)

/* s of channel c of a pixel, with a window of any size. */
template <class T> __device__ __forceinline__ float lrn_any_sum(const cairn_lrn_args &a, const T *pixel, int c)
{
    int first = max(c - a.size / 2, 0), last = min(c + (a.size - 1) / 2, a.channels - 1);
    float sum = 0;
    for (int j = first; j <= last; j++)
        sum += to_float(pixel[j]) * to_float(pixel[j]);
    return a.k + a.factor * sum;
}

/* A thread has one element; the window comes from the cache. */
template <class T> __device__ __forceinline__ void lrn_any(const cairn_lrn_args &a)
{
    int64_t pixel = thread_index() / (unsigned)a.channels;
    int c = (int)(thread_index() % (unsigned)a.channels);
    if (pixel >= a.rows) return;
    const T *x = (const T *)a.src + pixel * a.channels;
    float inverse, scale = lrn_power(lrn_any_sum(a, x, c), a.beta, inverse);
    ((T *)a.dst)[pixel * a.channels + c] = from_float<T>(to_float(x[c]) * scale);
}

CAIRN_KERNEL(lrn_any, cairn_lrn_args)

/* The same, with size^2 reads from the cache. */
template <class T> __device__ __forceinline__ void lrn_any_backward(const cairn_lrn_args &a)
{
    int64_t pixel = thread_index() / (unsigned)a.channels;
    int c = (int)(thread_index() % (unsigned)a.channels);
    if (pixel >= a.rows) return;
    const T *x = (const T *)a.src + pixel * a.channels, *dy = (const T *)a.diff_dst + pixel * a.channels;
    int first = max(c - (a.size - 1) / 2, 0), last = min(c + a.size / 2, a.channels - 1);
    float sum = 0, inverse, scale = lrn_power(lrn_any_sum(a, x, c), a.beta, inverse);
    float dx = to_float(dy[c]) * scale;
    for (int j = first; j <= last; j++) {
        scale = lrn_power(lrn_any_sum(a, x, j), a.beta, inverse);
        sum += to_float(dy[j]) * to_float(x[j]) * scale * inverse;
    }
    ((T *)a.dst)[pixel * a.channels + c] = from_float<T>(dx - 2.0f * a.factor * a.beta * to_float(x[c]) * sum);
}

CAIRN_KERNEL(lrn_any_backward, cairn_lrn_args)

#endif
