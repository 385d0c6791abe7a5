/* update.cuh - one optimizer update over all segments of the parameter slabs, and what is decided about it on the device.
 *
 * A block has CAIRN_UPDATE_CHUNK elements of one segment. With a state, blocks count themselves as they end in state->reserved, where
 * they also mark a gradient that is not finite; the last one finishes the state and leaves `reserved` 0. With a dynamic loss scale a
 * launch of cairn_update_scan comes first, which only looks, so that the update knows whether to be made.
 */
#ifndef CAIRN_CUDA_KERNELS_UPDATE_CUH
#define CAIRN_CUDA_KERNELS_UPDATE_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

#define CAIRN_UPDATE_MARK 0x40000000 /* in state->reserved: some gradient was not finite */

/* The block's segment and its chunk [at, end) of the slabs. */
struct update_chunk {
    int64_t at, end;
    float decay;
    bool low;
};

__device__ __forceinline__ update_chunk update_chunk_of(const cairn_update_args &a)
{
    int low = 0, high = a.parts - 1, block = (int)blockIdx.x;
    while (low < high) { /* the last part that begins at this block or before */
        int middle = (low + high + 1) / 2;
        if (a.part[middle].first_block <= block)
            low = middle;
        else
            high = middle - 1;
    }
    const cairn_update_part &part = a.part[low];
    int64_t done = (int64_t)(block - part.first_block) * CAIRN_UPDATE_CHUNK;
    update_chunk c;
    c.at = part.offset + done;
    c.end = part.offset + min(done + CAIRN_UPDATE_CHUNK, part.count);
    c.decay = part.decay;
    c.low = part.low != 0;
    return c;
}

/* True in one thread of the block that ends last of all; `*found` says whether any thread of any block found a gradient not finite. Every
 * thread of every block calls it, when it has read the state for the last time. */
__device__ __forceinline__ bool update_ends(const cairn_update_args &a, bool found_here, bool *found)
{
    if (found_here) atomicOr(&a.state->reserved, CAIRN_UPDATE_MARK);
    __syncthreads();
    if (threadIdx.x > 0) return false;
    __threadfence();
    int32_t before = atomicAdd(&a.state->reserved, 1);
    *found = (before & CAIRN_UPDATE_MARK) != 0;
    return (before & ~CAIRN_UPDATE_MARK) == a.blocks - 1;
}

/* As cairn_update_state_made and cairn_update_state_skip of core/update_state.h. */
__device__ __forceinline__ void update_made(cairn_update_state *state, bool dynamic_scale)
{
    state->updates++;
    state->good++;
    state->skipped_in_a_row = 0;
    if (!dynamic_scale || state->good < CAIRN_LOSS_SCALE_INTERVAL) return;
    state->good = 0;
    if (state->loss_scale < CAIRN_LOSS_SCALE_MOST) state->loss_scale *= 2;
}

__device__ __forceinline__ void update_skip(cairn_update_state *state)
{
    state->good = 0;
    state->skipped++;
    state->skipped_in_a_row++;
    if (state->loss_scale > 1) state->loss_scale /= 2;
}

/* Reads the gradients once, in order. */
extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_update_scan(cairn_update_args a)
{
    update_chunk c = update_chunk_of(a);
    bool whole = aligned(a.gradients), found = false, any;
    for (int64_t i = c.at + (int64_t)threadIdx.x * 4; i < c.end; i += CAIRN_THREADS * 4) {
        float g[4];
        load(a.gradients + i, c.end - i, whole && c.end - i >= 4, g);
#pragma unroll
        for (int k = 0; k < 4; k++)
            found = found || !isfinite(g[k]);
    }
    if (!update_ends(a, found, &any)) return;
    a.state->nonfinite = any;
    a.state->reserved = 0;
}

/* What is the same for all elements of an update. */
struct update_factors {
    float lr, unscale, decay;
    float correct1, correct2; /* 1 - beta1^t and 1 - beta2^t */
};

__device__ __forceinline__ update_factors update_factors_of(const cairn_update_args &a, float decay)
{
    update_factors f;
    int64_t step = a.state ? a.state->updates : a.step;
    float t = (float)(step + 1);
    f.lr = a.lr;
    if (a.state && a.rates) f.lr = a.rates[max((int64_t)0, min(step - a.first_rate, a.rate_count - 1))];
    f.unscale = a.state ? 1.0f / a.state->loss_scale : 1.0f;
    f.decay = decay;
    f.correct1 = -expm1f(t * a.log_beta1);
    f.correct2 = -expm1f(t * a.log_beta2);
    return f;
}

struct update_sgd {
    static constexpr int states = 1;
    static __device__ __forceinline__ float step(const cairn_update_args &a, const update_factors &f, float w, float g,
                                                 float &velocity, float &)
    {
        float d = g * f.unscale + f.decay * w;
        velocity = a.momentum * velocity + d;
        return w - f.lr * (a.nesterov ? d + a.momentum * velocity : velocity);
    }
};

struct update_sgd_plain {
    static constexpr int states = 0;
    static __device__ __forceinline__ float step(const cairn_update_args &, const update_factors &f, float w, float g,
                                                 float &, float &)
    {
        return w - f.lr * (g * f.unscale + f.decay * w);
    }
};

/* Adam, and AdamW where the decay is decoupled. */
struct update_adam {
    static constexpr int states = 2;
    static __device__ __forceinline__ float step(const cairn_update_args &a, const update_factors &f, float w, float g,
                                                 float &m, float &v)
    {
        float d = g * f.unscale;
        if (a.decoupled)
            w -= f.lr * f.decay * w;
        else
            d += f.decay * w;
        m = a.beta1 * m + (1.0f - a.beta1) * d;
        v = a.beta2 * v + (1.0f - a.beta2) * (d * d);
        return w - f.lr * (m / f.correct1) / (sqrtf(v / f.correct2) + a.eps);
    }
};

/* Four elements; `Low` is the type of the copy. True where a gradient is not finite. */
template <class Rule, class Low>
__device__ __forceinline__ bool update_four(const cairn_update_args &a, const update_factors &f, bool low, bool whole,
                                            int64_t at, int64_t left)
{
    float w[4], g[4], s0[4] = {}, s1[4] = {};
    bool found = false;
    load(a.weights + at, left, whole, w);
    load(a.gradients + at, left, whole, g);
    if (Rule::states > 0) load(a.state0 + at, left, whole, s0);
    if (Rule::states > 1) load(a.state1 + at, left, whole, s1);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        found = found || !isfinite(g[k]);
        w[k] = Rule::step(a, f, w[k], g[k], s0[k], s1[k]);
    }
    store(a.weights + at, left, whole, w);
    if (Rule::states > 0) store(a.state0 + at, left, whole, s0);
    if (Rule::states > 1) store(a.state1 + at, left, whole, s1);
    if (low) store((Low *)a.weights_low + at, left, whole, w);
    return found;
}

/* Reads weights, gradients and the optimizer's state, writes all but the gradients, and the copy: with momentum 20 bytes an element and 2
 * for the copy, with Adam 28 and 2. In order, each once. */
template <class Rule, class Low> __device__ __forceinline__ void update(const cairn_update_args &a)
{
    bool found = false, any, skips = a.dynamic_scale && a.state->nonfinite;
    if (!skips) {
        update_chunk c = update_chunk_of(a);
        update_factors f = update_factors_of(a, c.decay);
        bool all = aligned(a.weights) && aligned(a.gradients) && aligned(a.state0) && aligned(a.state1) &&
                   aligned(a.weights_low);
        for (int64_t i = c.at + (int64_t)threadIdx.x * 4; i < c.end; i += CAIRN_THREADS * 4)
            found |= update_four<Rule, Low>(a, f, c.low, all && c.end - i >= 4, i, c.end - i);
    }
    if (!a.state || !update_ends(a, found, &any)) return;
    a.state->reserved = 0;
    if (skips) {
        update_skip(a.state);
        return;
    }
    if (!a.dynamic_scale) a.state->nonfinite = any;
    update_made(a.state, a.dynamic_scale);
}

#define CAIRN_UPDATE_KERNEL(rule, low, low_name)                                                                       \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_update_##rule##_##low_name(cairn_update_args a)  \
    {                                                                                                                  \
        update<update_##rule, low>(a);                                                                                 \
    }
CAIRN_UPDATE_KERNEL(sgd_plain, __half, f16)
CAIRN_UPDATE_KERNEL(sgd_plain, __nv_bfloat16, bf16)
CAIRN_UPDATE_KERNEL(sgd, __half, f16)
CAIRN_UPDATE_KERNEL(sgd, __nv_bfloat16, bf16)
CAIRN_UPDATE_KERNEL(adam, __half, f16)
CAIRN_UPDATE_KERNEL(adam, __nv_bfloat16, bf16)

#endif
