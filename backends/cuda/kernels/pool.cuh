/* pool.cuh - maximum and average over windows, in NHWC. A thread has WIDTH<T> channels of one pixel: of dst in forward, of the source in
 * backward, where it gathers from the windows that cover the pixel. So nothing is added by two threads, and sums are f32 and in order. */
#ifndef CAIRN_CUDA_KERNELS_POOL_CUH
#define CAIRN_CUDA_KERNELS_POOL_CUH

#include "backends/cuda/kernels/pool_window.cuh"

/* Reads src once (windows that overlap find it in the cache), writes dst and, to train, a byte (two for wide windows) of winner for each
 * of its elements. Neighbouring threads have neighbouring channels. */
template <class T> __device__ __forceinline__ void max_pool(const cairn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    pool_place p = pool_place_of<N>(a.batch, a.dst_h, a.dst_w, a.channels);
    if (!p.there) return;
    int left = a.channels - p.channel;
    bool whole = a.channels % N == 0 && aligned(a.src) && aligned(a.dst) && aligned(a.winner);
    pool_span rows = pool_rows(a, p.row), columns = pool_columns(a, p.column);
    float most[N];
    int best[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
        most[i] = -INFINITY;
        best[i] = (rows.first - rows.start) * a.kernel_w + columns.first - columns.start;
    }
    for (int r = rows.first; r < rows.last; r++)
        for (int c = columns.first; c < columns.last; c++) {
            float x[N];
            int64_t at = ((p.image * a.src_h + r) * a.src_w + c) * a.channels + p.channel;
            int position = (r - rows.start) * a.kernel_w + c - columns.start;
            load((const T *)a.src + at, left, whole, x);
#pragma unroll
            for (int i = 0; i < N; i++) {
                bool beats = pool_beats(x[i], most[i]);
                most[i] = beats ? x[i] : most[i];
                best[i] = beats ? position : best[i];
            }
        }
    int64_t to = ((p.image * a.dst_h + p.row) * a.dst_w + p.column) * a.channels + p.channel;
    store((T *)a.dst + to, left, whole, most);
    if (!a.winner) return;
#pragma unroll
    for (int i = 0; i < N; i++)
        best[i] = a.masks && !(most[i] > 0.0f) ? -1 : best[i];
    winner_store(a, to, left, whole, best);
}

CAIRN_KERNEL(max_pool, cairn_pool_args)

/* Reads dy and winner once (the up to four windows over a pixel come from the cache), writes dx once. */
template <class T> __device__ __forceinline__ void max_pool_backward(const cairn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    pool_place p = pool_place_of<N>(a.batch, a.src_h, a.src_w, a.channels);
    if (!p.there) return;
    bool whole = a.channels % N == 0 && aligned(a.src) && aligned(a.dst) && aligned(a.winner);
    float sum[N] = {};
    max_pool_gather<T>(a, p, whole, sum);
    int64_t to = ((p.image * a.src_h + p.row) * a.src_w + p.column) * a.channels + p.channel;
    store((T *)a.dst + to, a.channels - p.channel, whole, sum);
}

CAIRN_KERNEL(max_pool_backward, cairn_pool_args)

/* Moves src and dst once. */
template <class T> __device__ __forceinline__ void average_pool(const cairn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    pool_place p = pool_place_of<N>(a.batch, a.dst_h, a.dst_w, a.channels);
    if (!p.there) return;
    int left = a.channels - p.channel;
    bool whole = a.channels % N == 0 && aligned(a.src) && aligned(a.dst);
    pool_span rows = pool_rows(a, p.row), columns = pool_columns(a, p.column);
    float sum[N] = {};
    for (int r = rows.first; r < rows.last; r++)
        for (int c = columns.first; c < columns.last; c++) {
            float x[N];
            int64_t at = ((p.image * a.src_h + r) * a.src_w + c) * a.channels + p.channel;
            load((const T *)a.src + at, left, whole, x);
#pragma unroll
            for (int i = 0; i < N; i++)
                sum[i] += x[i];
        }
    float share = 1.0f / (float)(rows.length * columns.length);
#pragma unroll
    for (int i = 0; i < N; i++)
        sum[i] *= share;
    int64_t to = ((p.image * a.dst_h + p.row) * a.dst_w + p.column) * a.channels + p.channel;
    store((T *)a.dst + to, left, whole, sum);
}

CAIRN_KERNEL(average_pool, cairn_pool_args)

/* Moves dy and dx once. */
template <class T> __device__ __forceinline__ void average_pool_backward(const cairn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    pool_place p = pool_place_of<N>(a.batch, a.src_h, a.src_w, a.channels);
    if (!p.there) return;
    int left = a.channels - p.channel;
    bool whole = a.channels % N == 0 && aligned(a.src) && aligned(a.dst);
    pool_span rows = pool_covering(p.row, a.src_h, a.dst_h, a.adaptive, a.kernel_h, a.stride_h, a.pad_h);
    pool_span columns = pool_covering(p.column, a.src_w, a.dst_w, a.adaptive, a.kernel_w, a.stride_w, a.pad_w);
    float sum[N] = {};
    for (int i = rows.first; i < rows.last; i++)
        for (int j = columns.first; j < columns.last; j++) {
            float dy[N], share = 1.0f / (float)(pool_rows(a, i).length * pool_columns(a, j).length);
            int64_t at = ((p.image * a.dst_h + i) * a.dst_w + j) * a.channels + p.channel;
            load((const T *)a.src + at, left, whole, dy);
#pragma unroll
            for (int c = 0; c < N; c++)
                sum[c] += dy[c] * share;
        }
    int64_t to = ((p.image * a.src_h + p.row) * a.src_w + p.column) * a.channels + p.channel;
    store((T *)a.dst + to, left, whole, sum);
}

CAIRN_KERNEL(average_pool_backward, cairn_pool_args)

#endif
