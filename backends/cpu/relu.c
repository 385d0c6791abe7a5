/* relu.c - max(x, 0) by itself, in whatever layout it comes. */
#include "backends/cpu/elementwise.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/operations.h"
#include <stdlib.h>

typedef struct relu_plan {
    cairn_plan base;
    int64_t count; /* elements, padding included: it is 0 and stays 0 */
} relu_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    cairn_elementwise_relu(cairn_cpu_of(base->device), operands->dst, operands->src, ((relu_plan *)base)->count);
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    cairn_elementwise_relu_mask(cairn_cpu_of(base->device), operands->diff_src, operands->diff_dst, operands->dst,
                                ((relu_plan *)base)->count);
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

cairn_status cairn_cpu_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    relu_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a ReLU");
    plan->base = (cairn_plan){
        .ops = desc->train ? &training_ops : &inference_ops,
        .device = device,
        .layout = {.src = desc->src_layout,
                   .dst = desc->src_layout,
                   .diff_src = desc->src_layout,
                   .diff_dst = desc->src_layout},
        .algorithm = "loop",
    };
    plan->count = desc->src_layout ? (int64_t)(cairn_layout_size(desc->src_layout) / sizeof(float))
                                   : cairn_shape_count(desc->src);
    *out = &plan->base;
    return CAIRN_OK;
}
