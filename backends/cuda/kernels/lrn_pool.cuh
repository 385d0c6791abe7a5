/* lrn_pool.cuh - ReLU, LRN over 5 channels and max-pool in one pass each way: what lies between them is never in memory. */
#ifndef CAIRN_CUDA_KERNELS_LRN_POOL_CUH
#define CAIRN_CUDA_KERNELS_LRN_POOL_CUH

#include "backends/cuda/kernels/lrn_warp.cuh"
#include "backends/cuda/kernels/pool_window.cuh"

/* The best of a row of a window so far: its value, and column in the window. */
template <int N> struct lrn_pool_row {
    float most[N];
    int column[N];
};

/* Normalises source row `row` where window columns `columns` cross it, and finds the maximum there. All lanes take part; a lane that
 * stands outside, or a row that does, gives -infinity. */
template <class T, int N>
__device__ __forceinline__ void lrn_pool_scan(const cairn_lrn_pool_args &a, const lrn_place &place, int64_t image,
                                              int row, const pool_span &columns, lrn_pool_row<N> &out)
{
    const cairn_pool_args &pool = a.pool;
#pragma unroll
    for (int i = 0; i < N; i++) {
        out.most[i] = -INFINITY;
        out.column[i] = columns.first - columns.start;
    }
    for (int k = 0; k < pool.kernel_w; k++) {
        int column = columns.start + k;
        float x[N], scale[N], inverse[N];
        lrn_place p = place;
        p.reads = place.reads && row >= 0 && row < pool.src_h && column >= 0 && column < pool.src_w;
        p.pixel = (image * pool.src_h + row) * pool.src_w + column;
        lrn_load<T>(p, a.src, pool.channels, x);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = a.relu ? relu_of(x[i]) : x[i];
        lrn_scale(p, x, a.k, a.factor, a.beta, scale, inverse);
#pragma unroll
        for (int i = 0; i < N; i++) {
            float y = to_float(
                from_float<T>(x[i] * scale[i])); /* as the layers apart would round it, so that the same one wins */
            bool beats = p.reads && pool_beats(y, out.most[i]);
            out.most[i] = beats ? y : out.most[i];
            out.column[i] = beats ? k : out.column[i];
        }
    }
}

/* A thread walks down `strip` rows of dst in one column; rows of the source that two windows share are normalised once, columns as often
 * as windows share them (3 for 2 in the networks). Reads src about once from memory, writes dst and winner. */
template <class T> __device__ __forceinline__ void lrn_pool(const cairn_lrn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    const cairn_pool_args &pool = a.pool;
    int strips = (pool.dst_h + a.strip - 1) / a.strip;
    lrn_place place = lrn_place_of<N>(pool.batch * strips * pool.dst_w, pool.channels);
    unsigned at = (unsigned)place.pixel;
    int column = (int)(at % (unsigned)pool.dst_w), line = (int)(at / (unsigned)pool.dst_w);
    int64_t image = line / strips;
    int left = pool.channels - place.channel;
    bool whole = pool.channels % N == 0 && aligned(pool.dst) && aligned(pool.winner);
    bool shares = pool.kernel_h == pool.stride_h + 1; /* the last row of a window is the first of the next */
    pool_span columns = pool_window(column, pool.src_w, pool.kernel_w, pool.stride_w, pool.pad_w);
    lrn_pool_row<N> found;
    for (int s = 0; s < a.strip; s++) {
        int row = line % strips * a.strip + s;
        pool_span rows = pool_window(row, pool.src_h, pool.kernel_h, pool.stride_h, pool.pad_h);
        float most[N];
        int best[N];
        for (int k = 0; k < pool.kernel_h; k++) {
            bool known = k == 0 && s > 0 && shares;
            if (!known) lrn_pool_scan<T>(a, place, image, rows.start + k, columns, found);
#pragma unroll
            for (int i = 0; i < N; i++) {
                bool beats = k == 0 || pool_beats(found.most[i], most[i]);
                /* of a window that holds nothing above -infinity, the first element inside */
                most[i] = beats ? found.most[i] : most[i];
                best[i] = beats ? max(k, rows.first - rows.start) * pool.kernel_w + found.column[i] : best[i];
            }
        }
        if (!place.writes || row >= pool.dst_h) continue;
        int64_t to = ((image * pool.dst_h + row) * pool.dst_w + column) * pool.channels + place.channel;
        store((T *)pool.dst + to, left, whole, most);
        if (pool.winner) winner_store(pool, to, left, whole, best);
    }
}

CAIRN_KERNEL(lrn_pool, cairn_lrn_pool_args)

/* Reads x, dy and winner, writes dx: each once. The gradient that reaches a normalised pixel is gathered from the windows over it. */
template <class T> __device__ __forceinline__ void lrn_pool_backward(const cairn_lrn_pool_args &a)
{
    constexpr int N = WIDTH<T>;
    const cairn_pool_args &pool = a.pool;
    lrn_place place = lrn_place_of<N>(pool.batch * pool.src_h * pool.src_w, pool.channels);
    unsigned at = (unsigned)place.pixel, line = at / (unsigned)pool.src_w;
    pool_place p;
    p.channel = place.channel;
    p.column = (int)(at % (unsigned)pool.src_w);
    p.row = (int)(line % (unsigned)pool.src_h);
    p.image = line / (unsigned)pool.src_h;
    bool whole = pool.channels % N == 0 && aligned(pool.src) && aligned(pool.winner);
    float raw[N], x[N], dy[N] = {}, dx[N];
    if (place.reads) max_pool_gather<T>(pool, p, whole, dy);
    lrn_load<T>(place, a.src, pool.channels, raw);
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = a.relu ? relu_of(raw[i]) : raw[i];
    lrn_gradient(place, x, dy, a.k, a.factor, a.beta, dx);
    if (!place.writes) return;
#pragma unroll
    for (int i = 0; i < N; i++)
        dx[i] = a.relu && !(raw[i] > 0.0f) ? 0.0f : dx[i];
    store((T *)pool.dst + place.pixel * pool.channels + place.channel, pool.channels - place.channel,
          pool.channels % N == 0 && aligned(pool.dst), dx);
}

CAIRN_KERNEL(lrn_pool_backward, cairn_lrn_pool_args)

#endif
