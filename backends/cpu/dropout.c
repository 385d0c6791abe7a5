/* dropout.c - dropout over plain memory; the mask is drawn from Philox in forward and again in backward. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/philox.h"
#include <stdlib.h>

/* Elements drawn at a time: their random bits stay in the first-level cache. */
#define CHUNK 1024

typedef struct dropout_plan {
    cairn_plan base;
    cairn_dropout_desc desc;
    int64_t count, sample; /* elements in all, and of one sample */
} dropout_plan;

/* y = x / (1 - rate) where the number drawn is at least `rate`, else 0. */
static cairn_status apply(const dropout_plan *plan, const cairn_operands *operands, const float *x, float *y)
{
    float rate = plan->desc.rate, keep = 1.0f - rate;
    cairn_rng rng = plan->desc.rng;
    rng.high[0] = operands->step;
    uint64_t first = (uint64_t)operands->first_sample * (uint64_t)plan->sample;
    cairn_cpu_enter(cairn_cpu_of(plan->base.device));
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < plan->count; at += CHUNK) {
        float drawn[CHUNK];
        int64_t count = plan->count - at < CHUNK ? plan->count - at : CHUNK;
        cairn_philox_uniform(rng, first + (uint64_t)at, drawn, count);
        for (int64_t i = 0; i < count; i++)
            y[at + i] = drawn[i] >= rate ? x[at + i] / keep : 0.0f;
    }
    return CAIRN_OK;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const dropout_plan *plan = (const dropout_plan *)base;
    if (operands->train) return apply(plan, operands, operands->src, operands->dst);
    if (operands->dst != operands->src)
        cairn_elementwise_copy(cairn_cpu_of(base->device), operands->dst, operands->src, plan->count);
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    return apply((const dropout_plan *)base, operands, operands->diff_dst, operands->diff_src);
}

static void destroy(cairn_plan *base)
{
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

cairn_status cairn_cpu_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    if (!(desc->rate >= 0 && desc->rate < 1))
        return cairn_fail(CAIRN_USAGE, "dropout: a rate of %g is outside [0, 1)", (double)desc->rate);
    dropout_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a dropout");
    plan->base = (cairn_plan){.ops = desc->train ? &training_ops : &inference_ops,
                              .device = device,
                              .spares_src = true,
                              .spares_dst = true,
                              .algorithm = "loop"};
    plan->desc = *desc;
    plan->count = cairn_shape_count(desc->src);
    plan->sample = desc->src.dim[0] ? plan->count / desc->src.dim[0] : 0;
    *out = &plan->base;
    return CAIRN_OK;
}
