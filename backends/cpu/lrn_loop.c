#include "backends/cpu/lrn_loop.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/simd.h"
#include <math.h>
#include <stdlib.h>

/* Work goes by strips: this many neighbouring pixels of one sample through all channels, so that the planes of a window stay in the
 * first-level cache. */
#define STRIP 64

typedef struct lrn_loop_plan {
    cairn_plan base;
    cairn_lrn_desc desc;
    int64_t channels, plane;
} lrn_loop_plan;

/* Some pixels of one sample: channel c of pixel p stands at [c * plane + p], p < count. */
typedef struct strip {
    int64_t channels, plane, count;
    int64_t before, after; /* channels of the window on either side */
    float k, scale, beta;  /* scale is alpha / size */
} strip;

/* y[p] = x[p] ^ -beta. Three quarters, everybody's choice since 2012, needs no more than square roots. */
CAIRN_CPU_CLONES static void inverse_power(float *y, const float *x, float beta, int64_t count)
{
    if (beta == 0.75f) {
        for (int64_t p = 0; p < count; p++) {
            float root = sqrtf(x[p]);
            y[p] = 1.0f / (root * sqrtf(root));
        }
    } else {
        for (int64_t p = 0; p < count; p++)
            y[p] = powf(x[p], -beta);
    }
}

/* s[p] = k + scale * sum of x_j[p]^2 over the window of channel c. */
CAIRN_CPU_CLONES static void sum_squares(float *s, const float *x, const strip *at, int64_t c)
{
    int64_t first = c - at->before < 0 ? 0 : c - at->before;
    int64_t last = c + at->after >= at->channels ? at->channels - 1 : c + at->after;
    for (int64_t p = 0; p < at->count; p++)
        s[p] = 0;
    for (int64_t j = first; j <= last; j++)
        for (int64_t p = 0; p < at->count; p++)
            s[p] += x[j * at->plane + p] * x[j * at->plane + p];
    for (int64_t p = 0; p < at->count; p++)
        s[p] = at->k + at->scale * s[p];
}

static void forward_strip(const strip *at, const float *x, float *y, float *saved)
{
    float s[STRIP], power[STRIP];
    for (int64_t c = 0; c < at->channels; c++) {
        sum_squares(s, x, at, c);
        inverse_power(power, s, at->beta, at->count);
        for (int64_t p = 0; p < at->count; p++) {
            y[c * at->plane + p] = x[c * at->plane + p] * power[p];
            if (saved) saved[c * at->plane + p] = s[p];
        }
    }
}

/* sum[p] of dy_j y_j / s_j over the channels whose window holds c: the window mirrored. */
CAIRN_CPU_CLONES static void sum_ratios(float *sum, const float *y, const float *dy, const float *s, const strip *at,
                                        int64_t c)
{
    int64_t first = c - at->after < 0 ? 0 : c - at->after;
    int64_t last = c + at->before >= at->channels ? at->channels - 1 : c + at->before;
    for (int64_t p = 0; p < at->count; p++)
        sum[p] = 0;
    for (int64_t j = first; j <= last; j++)
        for (int64_t p = 0; p < at->count; p++)
            sum[p] += dy[j * at->plane + p] * y[j * at->plane + p] / s[j * at->plane + p];
}

static void backward_strip(const strip *at, const float *x, const float *y, const float *dy, const float *s, float *dx)
{
    float sum[STRIP], power[STRIP];
    for (int64_t c = 0; c < at->channels; c++) {
        int64_t o = c * at->plane;
        sum_ratios(sum, y, dy, s, at, c);
        inverse_power(power, s + o, at->beta, at->count);
        for (int64_t p = 0; p < at->count; p++)
            dx[o + p] = dy[o + p] * power[p] - 2 * at->scale * at->beta * x[o + p] * sum[p];
    }
}

static strip strip_of(const lrn_loop_plan *plan, int64_t first_pixel)
{
    const cairn_lrn_desc *d = &plan->desc;
    int64_t left = plan->plane - first_pixel;
    return (strip){.channels = plan->channels,
                   .plane = plan->plane,
                   .count = left < STRIP ? left : STRIP,
                   .before = d->size / 2,
                   .after = (d->size - 1) / 2,
                   .k = d->k,
                   .scale = d->alpha / (float)d->size,
                   .beta = d->beta};
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_loop_plan *plan = (const lrn_loop_plan *)base;
    float *saved = operands->train ? operands->saved : NULL;
    cairn_cpu_enter(cairn_cpu_of(base->device));
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t n = 0; n < plan->desc.src.dim[0]; n++)
        for (int64_t p = 0; p < plan->plane; p += STRIP) {
            strip at = strip_of(plan, p);
            int64_t o = n * plan->channels * plan->plane + p;
            forward_strip(&at, (const float *)operands->src + o, (float *)operands->dst + o, saved ? saved + o : NULL);
        }
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_loop_plan *plan = (const lrn_loop_plan *)base;
    cairn_cpu_enter(cairn_cpu_of(base->device));
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t n = 0; n < plan->desc.src.dim[0]; n++)
        for (int64_t p = 0; p < plan->plane; p += STRIP) {
            strip at = strip_of(plan, p);
            int64_t o = n * plan->channels * plan->plane + p;
            backward_strip(&at, (const float *)operands->src + o, (const float *)operands->dst + o,
                           (const float *)operands->diff_dst + o, (const float *)operands->saved + o,
                           (float *)operands->diff_src + o);
        }
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

cairn_status cairn_lrn_loop_plan(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    lrn_loop_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for an LRN");
    plan->base =
        (cairn_plan){.ops = desc->train ? &training_ops : &inference_ops, .device = device, .algorithm = "loop"};
    plan->desc = *desc;
    plan->channels = desc->src.dim[1];
    plan->plane = desc->src.dim[2] * desc->src.dim[3];
    if (desc->train) plan->base.saved = (size_t)cairn_shape_count(desc->src) * sizeof(float);
    *out = &plan->base;
    return CAIRN_OK;
}
