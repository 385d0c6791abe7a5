/* pool2d.c - pooling: max by oneDNN in blocked channels; averages by loops of our own, because windows cut at the edges
 * (ceil mode, adaptive) are none that oneDNN has. */
#include "backends/cpu/average_pool.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct max_pool_plan {
    cairn_plan base;
    bool relu_backward;
    int64_t dst_count; /* elements, padding included */
    cairn_primitive forward, backward;
} max_pool_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const max_pool_plan *plan = (const max_pool_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    cairn_cpu_enter(cpu);
    return cairn_primitive_run(cpu, &plan->forward, (void *[]){(void *)operands->src, operands->dst, operands->saved},
                               operands->workspace);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const max_pool_plan *plan = (const max_pool_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    if (plan->relu_backward)
        cairn_elementwise_relu_mask(cpu, operands->diff_dst, operands->diff_dst, operands->dst, plan->dst_count);
    cairn_cpu_enter(cpu);
    return cairn_primitive_run(
        cpu, &plan->backward, (void *[]){operands->diff_dst, operands->saved, operands->diff_src}, operands->workspace);
}

static void destroy(cairn_plan *base)
{
    max_pool_plan *plan = (max_pool_plan *)base;
    cairn_primitive_release(&plan->forward);
    cairn_primitive_release(&plan->backward);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* Padding behind the last element that the last window reaches. */
static int64_t pad_high(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad_low)
{
    int64_t pad = (out - 1) * stride + kernel - in - pad_low;
    return pad > 0 ? pad : 0;
}

static cairn_status describe(cairn_cpu *cpu, const cairn_pool2d_desc *d, const cairn_layout *src,
                             const cairn_layout *dst, dnnl_primitive_desc_t *forward_pd,
                             dnnl_primitive_desc_t *backward_pd)
{
    cairn_dnnl_max_pool pool = {
        .src = cairn_layout_md(src),
        .dst = cairn_layout_md(dst),
        .stride = {d->stride_h, d->stride_w},
        .kernel = {d->kernel_h, d->kernel_w},
        .pad_low = {d->pad_h, d->pad_w},
        .pad_high = {pad_high(d->src.dim[2], d->out_h, d->kernel_h, d->stride_h, d->pad_h),
                     pad_high(d->src.dim[3], d->out_w, d->kernel_w, d->stride_w, d->pad_w)},
        .train = d->train,
    };
    *backward_pd = NULL;
    CAIRN_DNNL(cairn_dnnl_max_pool_forward(forward_pd, cpu->engine, &pool, cpu->attributes), "plan a max-pool");
    if (!d->train) return CAIRN_OK;
    pool.dst = dnnl_primitive_desc_query_md(*forward_pd, dnnl_query_dst_md, 0);
    pool.hint = *forward_pd;
    CAIRN_DNNL(cairn_dnnl_max_pool_backward(backward_pd, cpu->engine, &pool, cpu->attributes),
               "plan the backward pass of a max-pool");
    return CAIRN_OK;
}

static cairn_status fill(max_pool_plan *plan, const cairn_pool2d_desc *d, const cairn_layout *src,
                         const_dnnl_primitive_desc_t forward_pd, const_dnnl_primitive_desc_t backward_pd)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *dst;
    CAIRN_TRY(cairn_primitive_layout(cpu, forward_pd, DNNL_ARG_DST, &dst));
    plan->base.layout.src = plan->base.layout.diff_src = cairn_layout_public(src);
    plan->base.layout.dst = plan->base.layout.diff_dst = cairn_layout_public(dst);
    plan->base.spares_src = true;
    plan->base.spares_dst = !d->relu_backward;
    plan->relu_backward = d->relu_backward;
    plan->dst_count = (int64_t)(cairn_layout_size(dst) / sizeof(float));
    CAIRN_TRY(cairn_primitive_create(cpu, forward_pd, (int[]){DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE, 0},
                                     &plan->forward));
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "%s", plan->forward.implementation);
    plan->base.workspace = plan->forward.scratchpad;
    if (!d->train) return CAIRN_OK;
    plan->base.saved = cairn_primitive_bytes(forward_pd, DNNL_ARG_WORKSPACE);
    CAIRN_TRY(cairn_primitive_create(
        cpu, backward_pd, (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC, 0}, &plan->backward));
    if (plan->backward.scratchpad > plan->base.workspace) plan->base.workspace = plan->backward.scratchpad;
    return CAIRN_OK;
}

/* Plans in one layout of src. *slow says that oneDNN has only its general loops for it. */
static cairn_status plan_in(max_pool_plan *plan, const cairn_pool2d_desc *d, const cairn_layout *src, bool *slow)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *any;
    dnnl_primitive_desc_t forward_pd = NULL, backward_pd = NULL;
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_shape_make(4, d->src.dim[0], d->src.dim[1], d->out_h, d->out_w),
                               dnnl_format_tag_any, &any));
    cairn_status status = describe(cpu, d, src, any, &forward_pd, &backward_pd);
    if (status == CAIRN_OK) status = fill(plan, d, src, forward_pd, backward_pd);
    *slow = forward_pd && cairn_primitive_is_slow(forward_pd);
    if (forward_pd) dnnl_primitive_desc_destroy(forward_pd);
    if (backward_pd) dnnl_primitive_desc_destroy(backward_pd);
    return status;
}

static cairn_status plan_max(cairn_device *device, const cairn_pool2d_desc *d, max_pool_plan **out)
{
    cairn_cpu *cpu = cairn_cpu_of(device);
    const cairn_layout *src;
    bool slow;
    CAIRN_TRY(cairn_layout_of(cpu, d->src, d->src_layout, &src));
    *out = calloc(1, sizeof **out);
    if (!*out) return cairn_fail(CAIRN_MEMORY, "no memory for a max-pool");
    max_pool_plan empty = {.base = {.ops = d->train ? &training_ops : &inference_ops, .device = device}};
    **out = empty;
    CAIRN_TRY(plan_in(*out, d, src, &slow));
    if (!slow) return CAIRN_OK;
    CAIRN_TRY(cairn_layout_tag(cpu, d->src, cairn_layout_blocked(cpu), &src));
    cairn_primitive_release(&(*out)->forward);
    cairn_primitive_release(&(*out)->backward);
    **out = empty;
    return plan_in(*out, d, src, &slow);
}

static cairn_status check(const cairn_pool2d_desc *d)
{
    CAIRN_TRY(cairn_cpu_check_dtype(d->dtype));
    if (d->out_h < 1 || d->out_w < 1)
        return cairn_fail(CAIRN_USAGE, "pool2d: an output of %lldx%lld is empty", (long long)d->out_h,
                          (long long)d->out_w);
    if (d->kind == CAIRN_POOL_ADAPTIVE_AVERAGE) return CAIRN_OK;
    if (d->pad_h < 0 || d->pad_w < 0 || d->pad_h >= d->kernel_h || d->pad_w >= d->kernel_w || d->stride_h < 1 ||
        d->stride_w < 1)
        return cairn_fail(CAIRN_USAGE, "pool2d: padding must be below the kernel, and the stride at least 1");
    if ((d->out_h - 1) * d->stride_h >= d->src.dim[2] + d->pad_h ||
        (d->out_w - 1) * d->stride_w >= d->src.dim[3] + d->pad_w)
        return cairn_fail(CAIRN_USAGE, "pool2d: the last of %lldx%lld windows starts outside the %lldx%lld source",
                          (long long)d->out_h, (long long)d->out_w, (long long)d->src.dim[2], (long long)d->src.dim[3]);
    return CAIRN_OK;
}

cairn_status cairn_cpu_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(check(desc));
    cairn_cpu_enter(cairn_cpu_of(device));
    if (desc->kind != CAIRN_POOL_MAX) return cairn_average_pool_plan(device, desc, out);
    max_pool_plan *plan = NULL;
    cairn_status status = plan_max(device, desc, &plan);
    if (status != CAIRN_OK && plan) destroy(&plan->base);
    if (status == CAIRN_OK) *out = &plan->base;
    return status;
}
