/* lrn.c - local response normalisation across channels: oneDNN's kernels where it has them (windows of 5 in most layouts), else loops of our
 * own over plain memory. */
#include "backends/cpu/lrn_loop.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct lrn_plan {
    cairn_plan base;
    cairn_primitive forward, backward;
} lrn_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    cairn_cpu_enter(cpu);
    return cairn_primitive_run(cpu, &((lrn_plan *)base)->forward,
                               (void *[]){(void *)operands->src, operands->dst, operands->saved}, operands->workspace);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    cairn_cpu_enter(cpu);
    return cairn_primitive_run(
        cpu, &((lrn_plan *)base)->backward,
        (void *[]){(void *)operands->src, operands->diff_dst, operands->saved, operands->diff_src},
        operands->workspace);
}

static void destroy(cairn_plan *base)
{
    cairn_primitive_release(&((lrn_plan *)base)->forward);
    cairn_primitive_release(&((lrn_plan *)base)->backward);
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* A descriptor is NULL where oneDNN has none, or only its slow one. */
static cairn_status describe(cairn_cpu *cpu, const cairn_lrn_desc *d, const cairn_layout *src,
                             dnnl_primitive_desc_t *forward_pd, dnnl_primitive_desc_t *backward_pd)
{
    cairn_dnnl_lrn lrn = {.data = cairn_layout_md(src),
                          .size = d->size,
                          .alpha = d->alpha,
                          .beta = d->beta,
                          .k = d->k,
                          .train = d->train};
    *forward_pd = *backward_pd = NULL;
    dnnl_status_t status = cairn_dnnl_lrn_forward(forward_pd, cpu->engine, &lrn, cpu->attributes);
    if (status != dnnl_unimplemented) CAIRN_DNNL(status, "plan an LRN");
    if (!*forward_pd || !d->train) return CAIRN_OK;
    lrn.hint = *forward_pd;
    status = cairn_dnnl_lrn_backward(backward_pd, cpu->engine, &lrn, cpu->attributes);
    if (status != dnnl_unimplemented) CAIRN_DNNL(status, "plan the backward pass of an LRN");
    return CAIRN_OK;
}

static cairn_status fill(lrn_plan *plan, const cairn_lrn_desc *d, const cairn_layout *src,
                         const_dnnl_primitive_desc_t forward_pd, const_dnnl_primitive_desc_t backward_pd)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *layout = cairn_layout_public(src);
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    plan->base.spares_dst = true;
    CAIRN_TRY(cairn_primitive_create(cpu, forward_pd, (int[]){DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE, 0},
                                     &plan->forward));
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "%s", plan->forward.implementation);
    plan->base.workspace = plan->forward.scratchpad;
    if (!d->train) return CAIRN_OK;
    plan->base.saved = cairn_primitive_bytes(forward_pd, DNNL_ARG_WORKSPACE);
    CAIRN_TRY(cairn_primitive_create(cpu, backward_pd,
                                     (int[]){DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC, 0},
                                     &plan->backward));
    if (plan->backward.scratchpad > plan->base.workspace) plan->base.workspace = plan->backward.scratchpad;
    return CAIRN_OK;
}

/* *out stays NULL when oneDNN has no fast kernels for this layout. */
static cairn_status plan_in(cairn_device *device, const cairn_lrn_desc *d, const cairn_layout *src, cairn_plan **out)
{
    dnnl_primitive_desc_t forward_pd, backward_pd;
    lrn_plan *plan = NULL;
    cairn_status status = describe(cairn_cpu_of(device), d, src, &forward_pd, &backward_pd);
    bool fast = status == CAIRN_OK && forward_pd && !cairn_primitive_is_slow(forward_pd);
    if (fast && d->train) fast = backward_pd && !cairn_primitive_is_slow(backward_pd);
    if (fast) {
        plan = calloc(1, sizeof *plan);
        if (plan) {
            plan->base.ops = d->train ? &training_ops : &inference_ops;
            plan->base.device = device;
            status = fill(plan, d, src, forward_pd, backward_pd);
        } else {
            status = cairn_fail(CAIRN_MEMORY, "no memory for an LRN");
        }
    }
    if (forward_pd) dnnl_primitive_desc_destroy(forward_pd);
    if (backward_pd) dnnl_primitive_desc_destroy(backward_pd);
    if (status != CAIRN_OK && plan) destroy(&plan->base);
    *out = status == CAIRN_OK && plan ? &plan->base : NULL;
    return status;
}

cairn_status cairn_cpu_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    cairn_cpu *cpu = cairn_cpu_of(device);
    const cairn_layout *given, *blocked;
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    if (desc->size < 1)
        return cairn_fail(CAIRN_USAGE, "lrn: a window of %lld channels is empty", (long long)desc->size);
    cairn_cpu_enter(cpu);
    *out = NULL;
    /* oneDNN centres its windows: with an even size it means other channels than we do. */
    if (desc->size % 2 == 0) return cairn_lrn_loop_plan(device, desc, out);
    CAIRN_TRY(cairn_layout_of(cpu, desc->src, desc->src_layout, &given));
    CAIRN_TRY(plan_in(device, desc, given, out));
    if (*out) return CAIRN_OK;
    CAIRN_TRY(cairn_layout_tag(cpu, desc->src, cairn_layout_blocked(cpu), &blocked));
    if (desc->src.dim[1] % cpu->block == 0) CAIRN_TRY(plan_in(device, desc, blocked, out));
    return *out ? CAIRN_OK : cairn_lrn_loop_plan(device, desc, out);
}
