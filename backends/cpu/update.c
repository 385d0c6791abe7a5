/* update.c - one optimizer update over the slabs: one pass over memory, which is what bounds it. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/simd.h"
#include <math.h>

/* Elements a thread takes at a time. */
#define CHUNK 16384

/* The numbers of one update, worked out once. */
typedef struct factors {
    float lr, momentum, beta1, beta2, eps, decay;
    float rest1, rest2; /* 1 - beta1, 1 - beta2 */
    float step_size;    /* lr / (1 - beta1^t) */
    float root;         /* sqrt(1 - beta2^t) */
} factors;

static factors factors_of(const cairn_update *u)
{
    double t = (double)(u->step + 1);
    return (factors){.lr = u->lr,
                     .momentum = u->momentum,
                     .beta1 = u->beta1,
                     .beta2 = u->beta2,
                     .eps = u->eps,
                     .rest1 = (float)(1 - (double)u->beta1),
                     .rest2 = (float)(1 - (double)u->beta2),
                     .step_size = (float)((double)u->lr / (1 - pow((double)u->beta1, t))),
                     .root = (float)sqrt(1 - pow((double)u->beta2, t))};
}

CAIRN_CPU_CLONES static void sgd_plain(const factors *f, float *restrict w, const float *restrict g, int64_t count)
{
    float lr = f->lr, decay = f->decay;
    for (int64_t i = 0; i < count; i++)
        w[i] -= lr * (g[i] + decay * w[i]);
}

CAIRN_CPU_CLONES static void sgd_momentum(const factors *f, float *restrict w, const float *restrict g,
                                          float *restrict v, int64_t count)
{
    float lr = f->lr, decay = f->decay, momentum = f->momentum;
    for (int64_t i = 0; i < count; i++) {
        v[i] = momentum * v[i] + (g[i] + decay * w[i]);
        w[i] -= lr * v[i];
    }
}

CAIRN_CPU_CLONES static void sgd_nesterov(const factors *f, float *restrict w, const float *restrict g,
                                          float *restrict v, int64_t count)
{
    float lr = f->lr, decay = f->decay, momentum = f->momentum;
    for (int64_t i = 0; i < count; i++) {
        float d = g[i] + decay * w[i];
        v[i] = momentum * v[i] + d;
        w[i] -= lr * (d + momentum * v[i]);
    }
}

/* Adam; `shrink` is AdamW's 1 - lr decay, else 1, and f->decay Adam's. */
CAIRN_CPU_CLONES static void adam(const factors *f, float shrink, float decay, float *restrict w,
                                  const float *restrict g, float *restrict m, float *restrict v, int64_t count)
{
    float beta1 = f->beta1, beta2 = f->beta2, rest1 = f->rest1, rest2 = f->rest2;
    float step_size = f->step_size, root = f->root, eps = f->eps;
    for (int64_t i = 0; i < count; i++) {
        float d = g[i] + decay * w[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * (d * d);
        w[i] = shrink * w[i] - step_size * m[i] / (sqrtf(v[i]) / root + eps);
    }
}

static void update_run(const cairn_update *u, const factors *f, int64_t offset, int64_t count)
{
    float *w = u->weights + offset;
    const float *g = u->gradients + offset;
    if (u->kind == CAIRN_UPDATE_SGD) {
        if (u->momentum == 0.0f)
            sgd_plain(f, w, g, count);
        else if (u->nesterov)
            sgd_nesterov(f, w, g, u->state0 + offset, count);
        else
            sgd_momentum(f, w, g, u->state0 + offset, count);
        return;
    }
    bool decoupled = u->kind == CAIRN_UPDATE_ADAMW;
    float shrink = decoupled ? (float)(1 - (double)u->lr * (double)f->decay) : 1.0f;
    adam(f, shrink, decoupled ? 0.0f : f->decay, w, g, u->state0 + offset, u->state1 + offset, count);
}

cairn_status cairn_cpu_update(cairn_device *device, const cairn_update *args)
{
    cairn_cpu_enter(cairn_cpu_of(device));
    for (int s = 0; s < args->segment_count; s++) {
        const cairn_update_segment *segment = &args->segments[s];
        factors f = factors_of(args);
        f.decay = segment->weight_decay;
#pragma omp parallel for schedule(static)
        for (int64_t at = 0; at < segment->count; at += CHUNK)
            update_run(args, &f, segment->offset + at, segment->count - at < CHUNK ? segment->count - at : CHUNK);
    }
    return CAIRN_OK;
}
