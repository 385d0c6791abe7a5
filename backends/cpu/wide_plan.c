#include "backends/cpu/wide_plan.h"
#include "backends/cpu/bf16.h"
#include "backends/cpu/layout.h"
#include <stdio.h>
#include <stdlib.h>

/* An operand that is widened: its elements, padding included (0: it comes as it is), and the place of its copy in the workspace. */
typedef struct wide_operand {
    int64_t count;
    size_t offset;
} wide_operand;

typedef struct wide_plan {
    cairn_plan base;
    cairn_plan *inner;
    wide_operand src, dst, weights, bias, diff_dst, diff_src;
    bool masks;
} wide_plan;

static float *copy_of(const wide_operand *operand, const cairn_operands *operands)
{
    return (float *)(void *)((char *)operands->workspace + operand->offset);
}

/* The operand for the inner plan: widened, or as it is. */
static void *widen(const wide_plan *plan, const wide_operand *operand, const cairn_operands *operands,
                   const void *given)
{
    if (!given || operand->count == 0) return (void *)(uintptr_t)given;
    float *copy = copy_of(operand, operands);
    cairn_bf16_widen(cairn_cpu_of(plan->base.device), copy, given, operand->count);
    return copy;
}

static void narrow(const wide_plan *plan, const wide_operand *operand, const cairn_operands *operands, void *result)
{
    cairn_bf16_narrow(cairn_cpu_of(plan->base.device), result, copy_of(operand, operands), operand->count);
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const wide_plan *plan = (const wide_plan *)base;
    cairn_operands wide = *operands;
    wide.src = widen(plan, &plan->src, operands, operands->src);
    wide.weights = widen(plan, &plan->weights, operands, operands->weights);
    wide.bias = widen(plan, &plan->bias, operands, operands->bias);
    wide.dst = copy_of(&plan->dst, operands);
    CAIRN_TRY(plan->inner->ops->forward(plan->inner, &wide));
    narrow(plan, &plan->dst, operands, operands->dst);
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const wide_plan *plan = (const wide_plan *)base;
    cairn_operands wide = *operands;
    wide.src = widen(plan, &plan->src, operands, operands->src);
    wide.dst = widen(plan, &plan->dst, operands, operands->dst);
    wide.weights = widen(plan, &plan->weights, operands, operands->weights);
    wide.diff_dst = widen(plan, &plan->diff_dst, operands, operands->diff_dst);
    if (operands->diff_src) wide.diff_src = copy_of(&plan->diff_src, operands);
    CAIRN_TRY(plan->inner->ops->backward(plan->inner, &wide));
    if (plan->masks) narrow(plan, &plan->diff_dst, operands, operands->diff_dst);
    if (operands->diff_src) narrow(plan, &plan->diff_src, operands, operands->diff_src);
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    cairn_plan_destroy(((wide_plan *)base)->inner);
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

cairn_status cairn_wide_plan_source(cairn_device *device, const cairn_layout *layout, const cairn_layout **out)
{
    return cairn_layout_twin(cairn_cpu_of(device), layout, dnnl_f32, out);
}

/* Room for the f32 copy of an operand in `layout`, of f32 or NULL; *outer is the layout of bf16. */
static cairn_status place(wide_plan *plan, wide_operand *operand, int64_t elements, const cairn_layout *layout,
                          const cairn_layout **outer)
{
    operand->count = layout ? cairn_layout_elements(layout) : elements;
    operand->offset = cairn_cpu_align(plan->base.workspace);
    plan->base.workspace = operand->offset + (size_t)operand->count * sizeof(float);
    return outer ? cairn_layout_twin(cairn_cpu_of(plan->base.device), layout, dnnl_bf16, outer) : CAIRN_OK;
}

static cairn_status fill(wide_plan *plan, const cairn_wide_operands *o)
{
    const cairn_plan *inner = plan->inner;
    int64_t src = cairn_shape_count(o->src), dst = cairn_shape_count(o->dst);
    CAIRN_TRY(place(plan, &plan->src, src, inner->layout.src, &plan->base.layout.src));
    CAIRN_TRY(place(plan, &plan->dst, dst, inner->layout.dst, &plan->base.layout.dst));
    CAIRN_TRY(place(plan, &plan->bias, o->bias, NULL, NULL));
    if (o->weights > 0) {
        plan->base.layout.weights_low = inner->layout.weights;
        CAIRN_TRY(place(plan, &plan->weights, o->weights, inner->layout.weights, NULL));
    }
    if (!inner->ops->backward) return CAIRN_OK;
    CAIRN_TRY(place(plan, &plan->diff_dst, dst, inner->layout.diff_dst, &plan->base.layout.diff_dst));
    return place(plan, &plan->diff_src, src, inner->layout.diff_src, &plan->base.layout.diff_src);
}

cairn_status cairn_wide_plan_create(cairn_plan *inner, const cairn_wide_operands *operands, cairn_plan **out)
{
    wide_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        cairn_plan_destroy(inner);
        return cairn_fail(CAIRN_MEMORY, "no memory for a plan in bf16");
    }
    plan->base = *inner; /* layouts, what it spares, and its saved state */
    plan->base.ops = inner->ops->backward ? &training_ops : &inference_ops;
    plan->inner = inner;
    plan->masks = operands->masks;
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "f32 %.58s", inner->algorithm);
    cairn_status status = fill(plan, operands);
    if (status != CAIRN_OK)
        destroy(&plan->base);
    else
        *out = &plan->base;
    return status;
}
