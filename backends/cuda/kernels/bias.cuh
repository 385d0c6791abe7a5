/* bias.cuh - adding a bias with a ReLU, and the backward of both. */
#ifndef CAIRN_CUDA_KERNELS_BIAS_CUH
#define CAIRN_CUDA_KERNELS_BIAS_CUH

#include "backends/cuda/kernels/columns.cuh"

/* Moves src and dst once, in order, and the bias from the cache. */
template <class T> __device__ __forceinline__ void bias(const cairn_bias_args &a)
{
    constexpr int N = WIDTH<T>;
    unsigned packs = (unsigned)(a.channels + N - 1) / N;
    int64_t row = thread_index() / packs, channel = thread_index() % packs * N;
    int64_t left = a.channels - channel, at = row * a.channels + channel;
    if (row >= a.rows) return;
    bool whole = a.channels % N == 0 && aligned(a.src) && aligned(a.dst) && aligned(a.bias);
    float x[N], b[N];
    load((const T *)a.src + at, left, whole, x);
    load((const T *)a.bias + channel, left, whole, b);
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = a.relu ? relu_of(x[i] + b[i]) : x[i] + b[i];
    store((T *)a.dst + at, left, whole, x);
}

CAIRN_KERNEL(bias, cairn_bias_args)

/* Reads dy, and with a mask reads y and writes dy: 3 arrays, or 1, once. Rows of a block are near each other, so its threads' 16 bytes
 * make whole lines. */
template <class T> __device__ __forceinline__ void bias_gradient(const cairn_bias_gradient_args &a)
{
    constexpr int N = WIDTH<T>;
    column_place p = column_place_of<N>(a.columns);
    bool whole = p.whole && aligned(a.dy) && aligned(a.y);
    float sum[1][N] = {};
    for (int64_t row = p.row; row < a.columns.rows; row += p.step) {
        int64_t at = row * a.columns.channels + p.channel;
        float dy[N], y[N];
        load((const T *)a.dy + at, p.left, whole, dy);
        if (a.y) {
            load((const T *)a.y + at, p.left, whole, y);
#pragma unroll
            for (int i = 0; i < N; i++)
                dy[i] = y[i] > 0.0f ? dy[i] : 0.0f;
            store((T *)a.dy + at, p.left, whole, dy);
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[0][i] += dy[i];
    }
    column_partial(a.columns, p, sum);
}

CAIRN_KERNEL(bias_gradient, cairn_bias_gradient_args)

/* Reads the partial sums: some hundred rows of channels. */
extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_bias_gradient_total(cairn_bias_gradient_args a)
{
    float sum[1];
    int64_t channel;
    if (!column_total(a.columns, sum, channel)) return;
    a.diff_bias[channel] = a.accumulate ? a.diff_bias[channel] + sum[0] : sum[0];
}

#endif
