/* pool_window.cuh - what kernels that pool share: which elements a window holds, which windows an element is in, and where maxima stood. */
#ifndef CAIRN_CUDA_KERNELS_POOL_WINDOW_CUH
#define CAIRN_CUDA_KERNELS_POOL_WINDOW_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

/* A pixel of a (batch, height, width, channels) tensor, and the first channel of a pack. */
struct pool_place {
    int64_t image;
    int row, column, channel;
    bool there;
};

template <int N> __device__ __forceinline__ pool_place pool_place_of(int64_t batch, int height, int width, int channels)
{
    unsigned packs = (unsigned)(channels + N - 1) / N;
    unsigned pixel = thread_index() / packs, line = pixel / (unsigned)width;
    pool_place p;
    p.channel = (int)(thread_index() % packs) * N;
    p.column = (int)(pixel % (unsigned)width);
    p.row = (int)(line % (unsigned)height);
    p.image = line / (unsigned)height;
    p.there = p.image < batch;
    return p;
}

/* A window along one side of `size` elements: its part inside, [first, last), and its whole length (padding included, as far as there is
 * some): what an average divides by. */
struct pool_span {
    int start, first, last, length;
};

__device__ __forceinline__ pool_span pool_window(int i, int size, int kernel, int stride, int pad)
{
    pool_span s;
    s.start = i * stride - pad;
    int end = min(s.start + kernel, size + pad);
    s.length = end - s.start;
    s.first = max(s.start, 0);
    s.last = min(end, size);
    return s;
}

__device__ __forceinline__ pool_span pool_part(int i, int size, int parts)
{
    pool_span s;
    s.start = s.first = i * size / parts;
    s.last = ((i + 1) * size + parts - 1) / parts;
    s.length = s.last - s.first;
    return s;
}

__device__ __forceinline__ pool_span pool_rows(const cairn_pool_args &a, int i)
{
    return a.adaptive ? pool_part(i, a.src_h, a.dst_h) : pool_window(i, a.src_h, a.kernel_h, a.stride_h, a.pad_h);
}

__device__ __forceinline__ pool_span pool_columns(const cairn_pool_args &a, int j)
{
    return a.adaptive ? pool_part(j, a.src_w, a.dst_w) : pool_window(j, a.src_w, a.kernel_w, a.stride_w, a.pad_w);
}

/* The windows [first, last) that cover element `at` of a side. */
__device__ __forceinline__ pool_span pool_covering(int at, int size, int count, bool adaptive, int kernel, int stride,
                                                   int pad)
{
    pool_span s = {};
    if (adaptive) {
        s.first = at * count / size;
        s.last = ((at + 1) * count + size - 1) / size;
        return s;
    }
    int behind = at + pad - kernel; /* the last window that has passed */
    s.first = behind < 0 ? 0 : behind / stride + 1;
    s.last = min((at + pad) / stride + 1, count);
    return s;
}

/* Elements [at, at + N) of winner: position in the window, or all ones for nowhere. */
template <class Index, int N>
__device__ __forceinline__ void winner_store_as(void *winner, int64_t at, int64_t left, bool whole,
                                                const int (&from)[N])
{
    Index *to = (Index *)winner + at;
    if (whole) {
        pack<Index, N> p;
#pragma unroll
        for (int i = 0; i < N; i++)
            p.element[i] = (Index)from[i];
        *(pack<Index, N> *)to = p;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < left) to[i] = (Index)from[i];
}

template <int N>
__device__ __forceinline__ void winner_store(const cairn_pool_args &a, int64_t at, int64_t left, bool whole,
                                             const int (&from)[N])
{
    if (a.wide)
        winner_store_as<uint16_t>(a.winner, at, left, whole, from);
    else
        winner_store_as<uint8_t>(a.winner, at, left, whole, from);
}

template <class Index, int N>
__device__ __forceinline__ void winner_load_as(const void *winner, int64_t at, int64_t left, bool whole, int (&to)[N])
{
    const Index *from = (const Index *)winner + at;
    if (whole) {
        const pack<Index, N> p = *(const pack<Index, N> *)from;
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = p.element[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = i < left ? from[i] : -1;
}

template <int N>
__device__ __forceinline__ void winner_load(const cairn_pool_args &a, int64_t at, int64_t left, bool whole,
                                            int (&to)[N])
{
    if (a.wide)
        winner_load_as<uint16_t>(a.winner, at, left, whole, to);
    else
        winner_load_as<uint8_t>(a.winner, at, left, whole, to);
}

/* Does a value take the place of the maximum so far? The first of equals stays; a NaN wins, so that it is seen. */
__device__ __forceinline__ bool pool_beats(float value, float most)
{
    return !(value <= most) && most == most;
}

/* The gradient that reaches source pixel (image, row, column), channels [channel, channel + N): the sum of dy over the windows whose
 * winner it is, in row-major order of the windows. */
template <class T, int N>
__device__ __forceinline__ void max_pool_gather(const cairn_pool_args &a, const pool_place &p, bool whole,
                                                float (&sum)[N])
{
    int left = a.channels - p.channel;
    pool_span rows = pool_covering(p.row, a.src_h, a.dst_h, false, a.kernel_h, a.stride_h, a.pad_h);
    pool_span columns = pool_covering(p.column, a.src_w, a.dst_w, false, a.kernel_w, a.stride_w, a.pad_w);
    for (int i = rows.first; i < rows.last; i++)
        for (int j = columns.first; j < columns.last; j++) {
            int64_t at = ((p.image * a.dst_h + i) * a.dst_w + j) * a.channels + p.channel;
            int position = (p.row - i * a.stride_h + a.pad_h) * a.kernel_w + p.column - j * a.stride_w + a.pad_w;
            float dy[N];
            int winner[N];
            load((const T *)a.src + at, left, whole, dy);
            winner_load(a, at, left, whole, winner);
#pragma unroll
            for (int c = 0; c < N; c++)
                sum[c] += winner[c] == position ? dy[c] : 0.0f;
        }
}

#endif
