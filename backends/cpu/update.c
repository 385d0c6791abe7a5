/* update.c - one optimizer update over the slabs: one pass over memory, which is what bounds it. */
#include "backends/cpu/bf16.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/simd.h"
#include <math.h>
#include <string.h>

/* Elements a thread takes at a time. */
#define CHUNK 16384

/* The numbers of one update, worked out once. */
typedef struct factors {
    float lr, momentum, beta1, beta2, eps, decay;
    float unscale;      /* 1 / the loss scale */
    float rest1, rest2; /* 1 - beta1, 1 - beta2 */
    float step_size;    /* lr / (1 - beta1^t) */
    float root;         /* sqrt(1 - beta2^t) */
} factors;

static float rate_of(const cairn_update *u, int64_t step)
{
    if (!u->state || !u->rates) return u->lr;
    int64_t i = step - u->first_rate;
    return u->rates[i < 0 ? 0 : i >= u->rate_count ? u->rate_count - 1 : i];
}

static factors factors_of(const cairn_update *u)
{
    int64_t step = u->state ? u->state->updates : u->step;
    double t = (double)(step + 1);
    float lr = rate_of(u, step);
    return (factors){.lr = lr,
                     .momentum = u->momentum,
                     .beta1 = u->beta1,
                     .beta2 = u->beta2,
                     .eps = u->eps,
                     .unscale = u->state ? 1 / u->state->loss_scale : 1,
                     .rest1 = (float)(1 - (double)u->beta1),
                     .rest2 = (float)(1 - (double)u->beta2),
                     .step_size = (float)((double)lr / (1 - pow((double)u->beta1, t))),
                     .root = (float)sqrt(1 - pow((double)u->beta2, t))};
}

/* The larger of `most` and x's bits without the sign: of a float that is not finite they are INFINITE at least. Integers, because
 * their maximum may be taken in any order, and so in vectors. */
#define INFINITE 0x7f800000

static inline int32_t larger(int32_t most, float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= INT32_MAX;
    return bits > most ? bits : most;
}

/* The rules return the largest of their gradients, as `larger` counts. */
CAIRN_CPU_CLONES static int32_t sgd_plain(const factors *f, float *restrict w, const float *restrict g, int64_t count)
{
    int32_t most = 0;
    float lr = f->lr, decay = f->decay, unscale = f->unscale;
    for (int64_t i = 0; i < count; i++) {
        w[i] -= lr * (unscale * g[i] + decay * w[i]);
        most = larger(most, g[i]);
    }
    return most;
}

CAIRN_CPU_CLONES static int32_t sgd_momentum(const factors *f, float *restrict w, const float *restrict g,
                                             float *restrict v, int64_t count)
{
    int32_t most = 0;
    float lr = f->lr, decay = f->decay, momentum = f->momentum, unscale = f->unscale;
    for (int64_t i = 0; i < count; i++) {
        v[i] = momentum * v[i] + (unscale * g[i] + decay * w[i]);
        w[i] -= lr * v[i];
        most = larger(most, g[i]);
    }
    return most;
}

CAIRN_CPU_CLONES static int32_t sgd_nesterov(const factors *f, float *restrict w, const float *restrict g,
                                             float *restrict v, int64_t count)
{
    int32_t most = 0;
    float lr = f->lr, decay = f->decay, momentum = f->momentum, unscale = f->unscale;
    for (int64_t i = 0; i < count; i++) {
        float d = unscale * g[i] + decay * w[i];
        v[i] = momentum * v[i] + d;
        w[i] -= lr * (d + momentum * v[i]);
        most = larger(most, g[i]);
    }
    return most;
}

/* Adam; `shrink` is AdamW's 1 - lr decay, else 1, and f->decay Adam's. */
CAIRN_CPU_CLONES static int32_t adam(const factors *f, float shrink, float decay, float *restrict w,
                                     const float *restrict g, float *restrict m, float *restrict v, int64_t count)
{
    int32_t most = 0;
    float beta1 = f->beta1, beta2 = f->beta2, rest1 = f->rest1, rest2 = f->rest2;
    float step_size = f->step_size, root = f->root, eps = f->eps, unscale = f->unscale;
    for (int64_t i = 0; i < count; i++) {
        float d = unscale * g[i] + decay * w[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * (d * d);
        w[i] = shrink * w[i] - step_size * m[i] / (sqrtf(v[i]) / root + eps);
        most = larger(most, g[i]);
    }
    return most;
}

static int32_t update_run(const cairn_update *u, const factors *f, int64_t offset, int64_t count)
{
    float *w = u->weights + offset;
    const float *g = u->gradients + offset;
    if (u->kind == CAIRN_UPDATE_SGD) {
        if (u->momentum == 0.0f) return sgd_plain(f, w, g, count);
        if (u->nesterov) return sgd_nesterov(f, w, g, u->state0 + offset, count);
        return sgd_momentum(f, w, g, u->state0 + offset, count);
    }
    bool decoupled = u->kind == CAIRN_UPDATE_ADAMW;
    float shrink = decoupled ? (float)(1 - (double)f->lr * (double)f->decay) : 1.0f;
    return adam(f, shrink, decoupled ? 0.0f : f->decay, w, g, u->state0 + offset, u->state1 + offset, count);
}

CAIRN_CPU_CLONES static int32_t largest(const float *g, int64_t count)
{
    int32_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = larger(most, g[i]);
    return most;
}

static int64_t chunk(const cairn_update_segment *segment, int64_t at)
{
    return segment->count - at < CHUNK ? segment->count - at : CHUNK;
}

static bool all_finite(const cairn_update *u)
{
    int found = 0;
    for (int s = 0; s < u->segment_count; s++) {
        const cairn_update_segment *segment = &u->segments[s];
#pragma omp parallel for schedule(static) reduction(| : found)
        for (int64_t at = 0; at < segment->count; at += CHUNK)
            found |= largest(u->gradients + segment->offset + at, chunk(segment, at)) >= INFINITE;
    }
    return !found;
}

/* The update of a segment, and whether its gradients were finite. */
static bool update_segment(const cairn_update *u, factors f, const cairn_update_segment *segment)
{
    int found = 0;
    f.decay = segment->weight_decay;
#pragma omp parallel for schedule(static) reduction(| : found)
    for (int64_t at = 0; at < segment->count; at += CHUNK) {
        int64_t offset = segment->offset + at, count = chunk(segment, at);
        found |= update_run(u, &f, offset, count) >= INFINITE;
        if (segment->low && u->low_dtype == CAIRN_BF16)
            cairn_bf16_narrow_here((uint16_t *)u->weights_low + offset, u->weights + offset, count);
        else if (segment->low)
            cairn_dtype_convert((uint16_t *)u->weights_low + offset, u->low_dtype, u->weights + offset, CAIRN_F32,
                                (size_t)count);
    }
    return !found;
}

cairn_status cairn_cpu_update(cairn_device *device, const cairn_update *args)
{
    cairn_update_state *state = args->state;
    cairn_cpu_enter(cairn_cpu_of(device));
    if (state && args->dynamic_scale && !all_finite(args)) {
        state->nonfinite = 1;
        cairn_update_state_skip(state);
        return CAIRN_OK;
    }
    bool finite = true;
    const factors f = factors_of(args);
    for (int s = 0; s < args->segment_count; s++)
        finite = update_segment(args, f, &args->segments[s]) && finite;
    if (state) {
        state->nonfinite = !finite;
        cairn_update_state_made(state, args->dynamic_scale);
    }
    return CAIRN_OK;
}
