/* conv2d.c - convolution with bias and ReLU: for each pass the fastest of the candidates, which work in blocked layouts. */
#include "backends/cpu/conv2d_choose.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/operations.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct conv2d_plan {
    cairn_plan base;
    cairn_conv2d_desc desc;
    cairn_conv2d_candidate *candidate[CAIRN_CONV2D_PASSES]; /* NULL: a pass not planned */
    int64_t dst_count, weight_count;                        /* elements, padding included */
    size_t new_weights, new_bias;                           /* offsets in the workspace of gradients yet to be added */
} conv2d_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_conv2d_candidate *candidate = ((conv2d_plan *)base)->candidate[CAIRN_CONV2D_FORWARD];
    return candidate->run(candidate, operands);
}

static cairn_status backward_weights(const conv2d_plan *plan, const cairn_operands *operands)
{
    const cairn_conv2d_candidate *candidate = plan->candidate[CAIRN_CONV2D_BACKWARD_WEIGHTS];
    if (!operands->accumulate) return candidate->run(candidate, operands);
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    cairn_operands fresh = *operands;
    fresh.diff_weights = (char *)operands->workspace + plan->new_weights;
    fresh.diff_bias = (char *)operands->workspace + plan->new_bias;
    CAIRN_TRY(candidate->run(candidate, &fresh));
    cairn_elementwise_add(cpu, operands->diff_weights, fresh.diff_weights, plan->weight_count);
    if (plan->desc.has_bias) cairn_elementwise_add(cpu, operands->diff_bias, fresh.diff_bias, plan->desc.out_channels);
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const conv2d_plan *plan = (const conv2d_plan *)base;
    const cairn_conv2d_candidate *data = plan->candidate[CAIRN_CONV2D_BACKWARD_DATA];
    if (plan->desc.relu_backward)
        cairn_elementwise_relu_mask(cairn_cpu_of(base->device), operands->diff_dst, operands->diff_dst, operands->dst,
                                    plan->dst_count);
    CAIRN_TRY(backward_weights(plan, operands));
    return data && operands->diff_src ? data->run(data, operands) : CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    conv2d_plan *plan = (conv2d_plan *)base;
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++)
        if (plan->candidate[pass]) plan->candidate[pass]->destroy(plan->candidate[pass]);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* "jit:avx2", or where the passes differ "winograd F(4x4,3x3), jit:avx2, jit:avx2": forward, data, weights. */
static void name_algorithm(conv2d_plan *plan)
{
    const char *names[CAIRN_CONV2D_PASSES];
    size_t used = 0, size = sizeof plan->base.algorithm;
    int count = 0;
    bool alike = true;
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++)
        if (plan->candidate[pass]) names[count++] = plan->candidate[pass]->name;
    for (int i = 1; i < count; i++)
        alike = alike && strcmp(names[0], names[i]) == 0;
    for (int i = 0; i < (alike ? 1 : count) && used < size; i++)
        used += (size_t)snprintf(plan->base.algorithm + used, size - used, "%s%s", i ? ", " : "", names[i]);
}

static cairn_status fill(conv2d_plan *plan)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    cairn_conv2d_layouts homes;
    CAIRN_TRY(cairn_conv2d_choose(cpu, &plan->desc, &homes, plan->candidate));
    plan->base.layout.src = plan->base.layout.diff_src = cairn_layout_public(homes.src);
    plan->base.layout.dst = plan->base.layout.diff_dst = cairn_layout_public(homes.dst);
    plan->base.layout.weights = cairn_layout_public(homes.weights);
    plan->dst_count = (int64_t)(cairn_layout_size(homes.dst) / sizeof(float));
    plan->weight_count = (int64_t)(cairn_layout_size(homes.weights) / sizeof(float));
    for (int pass = 0; pass < CAIRN_CONV2D_PASSES; pass++)
        if (plan->candidate[pass] && plan->candidate[pass]->workspace > plan->base.workspace)
            plan->base.workspace = plan->candidate[pass]->workspace;
    if (plan->candidate[CAIRN_CONV2D_BACKWARD_WEIGHTS]) {
        plan->new_weights = cairn_cpu_align(plan->candidate[CAIRN_CONV2D_BACKWARD_WEIGHTS]->workspace);
        plan->new_bias = plan->new_weights + cairn_cpu_align(cairn_layout_size(homes.weights));
        size_t end = plan->new_bias + (size_t)plan->desc.out_channels * sizeof(float);
        if (end > plan->base.workspace) plan->base.workspace = end;
    }
    name_algorithm(plan);
    return CAIRN_OK;
}

cairn_status cairn_cpu_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    CAIRN_TRY(cairn_conv2d_desc_check(desc));
    cairn_cpu_enter(cairn_cpu_of(device));
    conv2d_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a convolution");
    plan->base.ops = desc->train ? &training_ops : &inference_ops;
    plan->base.device = device;
    plan->desc = *desc;
    cairn_status status = fill(plan);
    if (status != CAIRN_OK)
        destroy(&plan->base);
    else
        *out = &plan->base;
    return status;
}
