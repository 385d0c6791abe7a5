/* batchnorm.cuh - batch normalisation over the rows of each channel, in NHWC. */
#ifndef CAIRN_CUDA_KERNELS_BATCHNORM_CUH
#define CAIRN_CUDA_KERNELS_BATCHNORM_CUH

#include "backends/cuda/kernels/columns.cuh"

/* to = from[channel]... for this thread's channels. */
template <int N> __device__ __forceinline__ void batchnorm_row(const float *from, const column_place &p, float (&to)[N])
{
    load(from + p.channel, p.left, p.whole && aligned(from), to);
}

/* Forward, first: sums of x - x0 and (x - x0)^2, x0 the channel's first value: near enough to the mean that nothing cancels. Reads src
 * once. */
template <class T> __device__ __forceinline__ void batchnorm_sums(const cairn_batchnorm_args &a)
{
    constexpr int N = WIDTH<T>;
    column_place p = column_place_of<N>(a.columns);
    bool whole = p.whole && aligned(a.src);
    float sum[2][N] = {}, origin[N], x[N];
    if (p.row < a.columns.rows) load((const T *)a.src + p.channel, p.left, whole, origin);
    for (int64_t row = p.row; row < a.columns.rows; row += p.step) {
        load((const T *)a.src + row * a.columns.channels + p.channel, p.left, whole, x);
#pragma unroll
        for (int i = 0; i < N; i++) {
            sum[0][i] += x[i] - origin[i];
            sum[1][i] += (x[i] - origin[i]) * (x[i] - origin[i]);
        }
    }
    column_partial(a.columns, p, sum);
}

CAIRN_KERNEL(batchnorm_sums, cairn_batchnorm_args)

/* Forward, second: mean and 1 / sqrt(variance + eps) into `saved`, and the running values moved on. */
template <class T> __device__ __forceinline__ void batchnorm_statistics(const cairn_batchnorm_args &a)
{
    float sum[2];
    int64_t c;
    if (!column_total(a.columns, sum, c)) return;
    double count = (double)a.columns.rows, off = (double)sum[0] / count;
    double mean = (double)to_float(((const T *)a.src)[c]) + off, variance = (double)sum[1] / count - off * off;
    variance = variance > 0 ? variance : variance == variance ? 0 : variance; /* NaN stays */
    a.saved[c] = (float)mean;
    a.saved[a.columns.channels + c] = (float)(1 / sqrt(variance + (double)a.eps));
    double keep = 1 - (double)a.momentum, take = (double)a.momentum;
    a.running_mean[c] = (float)(keep * (double)a.running_mean[c] + take * mean);
    a.running_variance[c] = (float)(keep * (double)a.running_variance[c] + take * variance * (count / (count - 1)));
}

CAIRN_KERNEL(batchnorm_statistics, cairn_batchnorm_args)

/* Forward, last: y = gamma (x - mean) scale + beta, by the batch's values or the running ones. Moves src and dst once. A thread keeps its
 * channels' numbers for all its rows. */
template <class T> __device__ __forceinline__ void batchnorm(const cairn_batchnorm_args &a)
{
    constexpr int N = WIDTH<T>;
    column_place p = column_place_of<N>(a.columns);
    if (p.row >= a.columns.rows) return;
    bool whole = p.whole && aligned(a.src) && aligned(a.dst);
    float mean[N], scale[N], gamma[N], beta[N], x[N];
    batchnorm_row(a.gamma, p, gamma);
    batchnorm_row(a.beta, p, beta);
    batchnorm_row(a.train ? a.saved : a.running_mean, p, mean);
    batchnorm_row(a.train ? a.saved + a.columns.channels : a.running_variance, p, scale);
#pragma unroll
    for (int i = 0; i < N; i++)
        scale[i] = gamma[i] * (a.train ? scale[i] : 1.0f / sqrtf(scale[i] + a.eps));
    for (int64_t row = p.row; row < a.columns.rows; row += p.step) {
        int64_t at = row * a.columns.channels + p.channel;
        load((const T *)a.src + at, p.left, whole, x);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = (x[i] - mean[i]) * scale[i] + beta[i];
        store((T *)a.dst + at, p.left, whole, x);
    }
}

CAIRN_KERNEL(batchnorm, cairn_batchnorm_args)

/* Backward, first: sums of dy and of dy xhat, xhat = (x - mean) scale. Reads x and dy once. */
template <class T> __device__ __forceinline__ void batchnorm_backward_sums(const cairn_batchnorm_args &a)
{
    constexpr int N = WIDTH<T>;
    column_place p = column_place_of<N>(a.columns);
    bool whole = p.whole && aligned(a.src) && aligned(a.diff_dst);
    float sum[2][N] = {}, mean[N], scale[N], x[N], dy[N];
    if (p.row < a.columns.rows) {
        batchnorm_row(a.saved, p, mean);
        batchnorm_row(a.saved + a.columns.channels, p, scale);
    }
    for (int64_t row = p.row; row < a.columns.rows; row += p.step) {
        int64_t at = row * a.columns.channels + p.channel;
        load((const T *)a.src + at, p.left, whole, x);
        load((const T *)a.diff_dst + at, p.left, whole, dy);
#pragma unroll
        for (int i = 0; i < N; i++) {
            sum[0][i] += dy[i];
            sum[1][i] += dy[i] * (x[i] - mean[i]) * scale[i];
        }
    }
    column_partial(a.columns, p, sum);
}

CAIRN_KERNEL(batchnorm_backward_sums, cairn_batchnorm_args)

/* Backward, second: the parameters' gradients, and `totals` for the last. */
extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_batchnorm_backward_totals(cairn_batchnorm_args a)
{
    float sum[2];
    int64_t c;
    if (!column_total(a.columns, sum, c)) return;
    a.totals[c] = sum[0];
    a.totals[a.columns.channels + c] = sum[1];
    a.diff_beta[c] = a.accumulate ? a.diff_beta[c] + sum[0] : sum[0];
    a.diff_gamma[c] = a.accumulate ? a.diff_gamma[c] + sum[1] : sum[1];
}

/* Backward, last: dx = gamma scale (dy - sum(dy) / count - xhat sum(dy xhat) / count)   (Ioffe & Szegedy 2015, section 3). Moves x, dy and
 * dx once. */
template <class T> __device__ __forceinline__ void batchnorm_backward(const cairn_batchnorm_args &a)
{
    constexpr int N = WIDTH<T>;
    column_place p = column_place_of<N>(a.columns);
    if (p.row >= a.columns.rows) return;
    bool whole = p.whole && aligned(a.src) && aligned(a.diff_dst) && aligned(a.dst);
    float mean[N], scale[N], gamma[N], dbeta[N], dgamma[N], x[N], dy[N], share = 1.0f / (float)a.columns.rows;
    batchnorm_row(a.saved, p, mean);
    batchnorm_row(a.saved + a.columns.channels, p, scale);
    batchnorm_row(a.gamma, p, gamma);
    batchnorm_row(a.totals, p, dbeta);
    batchnorm_row(a.totals + a.columns.channels, p, dgamma);
    for (int64_t row = p.row; row < a.columns.rows; row += p.step) {
        int64_t at = row * a.columns.channels + p.channel;
        load((const T *)a.src + at, p.left, whole, x);
        load((const T *)a.diff_dst + at, p.left, whole, dy);
#pragma unroll
        for (int i = 0; i < N; i++) {
            float xhat = (x[i] - mean[i]) * scale[i];
            x[i] = gamma[i] * scale[i] * (dy[i] - dbeta[i] * share - xhat * (dgamma[i] * share));
        }
        store((T *)a.dst + at, p.left, whole, x);
    }
}

CAIRN_KERNEL(batchnorm_backward, cairn_batchnorm_args)

#endif
