/* softmax.cuh - softmax cross-entropy, its gradient and the hits, a block for each sample. */
#ifndef CAIRN_CUDA_KERNELS_SOFTMAX_CUH
#define CAIRN_CUDA_KERNELS_SOFTMAX_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

/* Combines a number of each thread of the block, in a fixed order, and gives the result to all. */
template <class Combine> __device__ __forceinline__ float block_combine(float v, Combine combine)
{
    __shared__ float part[CAIRN_THREADS];
    part[threadIdx.x] = v;
    for (int half = CAIRN_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) part[threadIdx.x] = combine(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    v = part[0];
    __syncthreads(); /* before anybody writes again */
    return v;
}

__device__ __forceinline__ float block_sum(float v)
{
    return block_combine(v, [](float x, float y) { return x + y; });
}

__device__ __forceinline__ float block_max(float v)
{
    return block_combine(v, [](float x, float y) { return fmaxf(x, y); });
}

/* The part of class c in the target, times its weight. */
__device__ __forceinline__ float softmax_target(const cairn_softmax_args &a, int64_t c, int64_t label)
{
    float q = a.smoothing / (float)a.classes + (c == label ? 1.0f - a.smoothing : 0.0f);
    return a.class_weights ? q * a.class_weights[c] : q;
}

/* Loss and rank of sample n, for all threads; writes its gradient where it is wanted. A label that is none of the classes, which the host
 * should have refused, gives NaN. */
__device__ __forceinline__ void softmax_sample(const cairn_softmax_args &a, int64_t n, float &loss, float &before)
{
    const float *x = a.logits + n * a.classes, *v = a.normalised ? a.dlogits + n * a.classes : x;
    int64_t label = a.labels[n];
    float own = label >= 0 && label < a.classes ? x[label] : NAN, most = -INFINITY, sum = 0, total = 0, terms = 0;
    float scale = a.scale[n], diff_scale = a.loss_scale ? scale * *a.loss_scale : scale;
    before = 0;
    for (int64_t c = threadIdx.x; c < a.classes; c += CAIRN_THREADS)
        most = fmaxf(most, x[c]);
    most = a.normalised ? 0.0f : block_max(most);
    for (int64_t c = threadIdx.x; c < a.classes; c += CAIRN_THREADS) {
        sum += expf(x[c] - most);
        total += softmax_target(a, c, label);
        before += x[c] > own || (c < label && x[c] == own) ? 1.0f : 0.0f;
    }
    sum = a.normalised ? 1.0f : block_sum(sum);
    total = block_sum(total);
    before = block_sum(before);
    float log_sum = logf(sum);
    for (int64_t c = threadIdx.x; c < a.classes; c += CAIRN_THREADS) {
        float target = softmax_target(a, c, label);
        terms += target * (most - v[c] + log_sum);
        if (a.dlogits)
            a.dlogits[n * a.classes + c] = diff_scale * (total * (expf(v[c] - most) / sum) - target) + 0.0f * own;
    }
    loss = scale * (block_sum(terms) + 0.0f * own);
}

/* Reads the logits once (twice more from the cache), writes dlogits. Sums of a block's samples go to `partial`. */
extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_softmax_loss_f32(cairn_softmax_args a)
{
    float totals[4] = {};
    for (int64_t n = blockIdx.x; n < a.batch; n += a.blocks) {
        if (!(a.scale[n] > 0.0f)) { /* to be ignored: logits and label may be anything */
            for (int64_t c = threadIdx.x; a.dlogits && c < a.classes; c += CAIRN_THREADS)
                a.dlogits[n * a.classes + c] = 0;
            continue;
        }
        float loss, before;
        softmax_sample(a, n, loss, before);
        totals[0] += loss;
        totals[1] += before < 1.0f ? 1.0f : 0.0f;
        totals[2] += before < 5.0f ? 1.0f : 0.0f;
        totals[3] += 1.0f;
    }
    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++)
            a.partial[4 * blockIdx.x + i] = totals[i];
}

/* One block: adds up what the blocks of the kernel before left, some kilobytes, always in the same order. */
extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_softmax_totals(cairn_softmax_args a)
{
    for (int i = 0; i < 4; i++) {
        float sum = 0;
        for (int b = (int)threadIdx.x; b < a.blocks; b += CAIRN_THREADS)
            sum += a.partial[4 * b + i];
        sum = block_sum(sum);
        if (threadIdx.x == 0) a.totals[i] += sum;
    }
}

#endif
