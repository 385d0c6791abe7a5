/* linear.c - fully connected layers: y = x W^T + b, with ReLU fused. */
#include "backends/cpu/elementwise.h"
#include "backends/cpu/linear_dnnl.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Added-up gradients are made this many output features at a time, so that no second copy of 150 MB of weights is needed. */
#define PART_FEATURES 512

typedef struct linear_plan {
    cairn_plan base;
    cairn_linear_desc desc;
    int64_t weight_count; /* elements, padding included */

    cairn_primitive forward, data, weights;
    /* Where a pass doesn't take the weights as they lie: a copy in its own layout, made in the workspace at `copy`. */
    cairn_primitive forward_reorder, data_reorder;
    size_t forward_copy, data_copy;

    /* For accumulation: the weight gradient of part_features outputs, in the workspace. */
    cairn_primitive part;
    int64_t part_features, part_count; /* part_count: elements of the gradient of one part */
    size_t part_dst, part_weights, part_bias;
} linear_plan;

/* The weights as the pass takes them. */
static cairn_status weights_for(const linear_plan *plan, const cairn_operands *operands, const cairn_primitive *reorder,
                                size_t copy, void **out)
{
    *out = (void *)operands->weights;
    if (!reorder->handle) return CAIRN_OK;
    *out = (char *)operands->workspace + copy;
    return cairn_primitive_run(cairn_cpu_of(plan->base.device), reorder, (void *[]){(void *)operands->weights, *out},
                               operands->workspace);
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const linear_plan *plan = (const linear_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    void *weights;
    cairn_cpu_enter(cpu);
    CAIRN_TRY(weights_for(plan, operands, &plan->forward_reorder, plan->forward_copy, &weights));
    return cairn_primitive_run(cpu, &plan->forward,
                               (void *[]){(void *)operands->src, weights, (void *)operands->bias, operands->dst},
                               operands->workspace);
}

/* Columns [first, first + part_features) of dy, packed. */
static void pack_part(const linear_plan *plan, const float *dy, int64_t first, float *packed)
{
    int64_t columns = plan->part_features;
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < plan->desc.batch; n++)
        memcpy(packed + n * columns, dy + n * plan->desc.out_features + first, (size_t)columns * sizeof *dy);
}

static cairn_status accumulate_weights(const linear_plan *plan, const cairn_operands *operands)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    char *workspace = operands->workspace;
    float *dst = (float *)(workspace + plan->part_dst), *weights = (float *)(workspace + plan->part_weights);
    float *bias = (float *)(workspace + plan->part_bias);
    for (int64_t first = 0, part = 0; first < plan->desc.out_features; first += plan->part_features, part++) {
        pack_part(plan, operands->diff_dst, first, dst);
        CAIRN_TRY(
            cairn_primitive_run(cpu, &plan->part, (void *[]){(void *)operands->src, dst, weights, bias}, workspace));
        cairn_elementwise_add(cpu, (float *)operands->diff_weights + part * plan->part_count, weights,
                              plan->part_count);
        if (plan->desc.has_bias)
            cairn_elementwise_add(cpu, (float *)operands->diff_bias + first, bias, plan->part_features);
    }
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const linear_plan *plan = (const linear_plan *)base;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    void *weights;
    cairn_cpu_enter(cpu);
    if (plan->desc.relu_backward)
        cairn_elementwise_relu_mask(cpu, operands->diff_dst, operands->diff_dst, operands->dst,
                                    plan->desc.batch * plan->desc.out_features);
    if (operands->accumulate)
        CAIRN_TRY(accumulate_weights(plan, operands));
    else
        CAIRN_TRY(cairn_primitive_run(
            cpu, &plan->weights,
            (void *[]){(void *)operands->src, operands->diff_dst, operands->diff_weights, operands->diff_bias},
            operands->workspace));
    if (!operands->diff_src || !plan->data.handle) return CAIRN_OK;
    CAIRN_TRY(weights_for(plan, operands, &plan->data_reorder, plan->data_copy, &weights));
    return cairn_primitive_run(cpu, &plan->data, (void *[]){operands->diff_dst, weights, operands->diff_src},
                               operands->workspace);
}

static void destroy(cairn_plan *base)
{
    linear_plan *plan = (linear_plan *)base;
    cairn_primitive *primitives[] = {&plan->forward,         &plan->data,         &plan->weights,
                                     &plan->forward_reorder, &plan->data_reorder, &plan->part};
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        cairn_primitive_release(primitives[i]);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* Room in the workspace behind `offset` for `bytes`. Returns the offset behind it. */
static size_t reserve(linear_plan *plan, size_t offset, size_t bytes)
{
    size_t end = offset + cairn_cpu_align(bytes);
    if (end > plan->base.workspace) plan->base.workspace = end;
    return end;
}

/* A pass with weights as they lie, or with the copy it needs. */
static cairn_status plan_product(linear_plan *plan, cairn_linear_pass pass, const cairn_layout *home,
                                 const int *arguments, cairn_primitive *product, cairn_primitive *reorder, size_t *copy)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    dnnl_primitive_desc_t own, pd = NULL, reorder_pd = NULL;
    const cairn_layout *wanted = home;
    CAIRN_TRY(cairn_linear_dnnl_describe(cpu, &plan->desc, pass, plan->desc.out_features, NULL, &own));
    cairn_status status = cairn_linear_dnnl_describe(cpu, &plan->desc, pass, plan->desc.out_features, home, &pd);
    if (status != CAIRN_OK) goto done;
    bool same = pd && strcmp(cairn_primitive_implementation(pd), cairn_primitive_implementation(own)) == 0;
    const_dnnl_primitive_desc_t chosen = same ? pd : own;
    CAIRN_TRY_DONE(cairn_primitive_create(cpu, chosen, arguments, product));
    reserve(plan, 0, product->scratchpad);
    CAIRN_TRY_DONE(cairn_primitive_layout(cpu, chosen, cairn_linear_dnnl_weights(pass), &wanted));
    if (wanted == home) goto done;
    if (cairn_dnnl_reorder(&reorder_pd, cpu->engine, cairn_layout_md(home), cairn_layout_md(wanted), cpu->attributes)) {
        status = cairn_fail(CAIRN_LIBRARY, "oneDNN could not plan a reorder of weights");
        goto done;
    }
    CAIRN_TRY_DONE(cairn_primitive_create(cpu, reorder_pd, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO, 0}, reorder));
    size_t scratch = reorder->scratchpad > product->scratchpad ? reorder->scratchpad : product->scratchpad;
    *copy = cairn_cpu_align(scratch);
    reserve(plan, *copy, cairn_layout_size(wanted));
done:
    if (reorder_pd) dnnl_primitive_desc_destroy(reorder_pd);
    if (pd) dnnl_primitive_desc_destroy(pd);
    if (own) dnnl_primitive_desc_destroy(own);
    return status;
}

/* The largest part that divides the outputs and the blocks that weights come in; all of them where there is none. */
static int64_t part_features(const cairn_linear_desc *desc)
{
    for (int64_t features = PART_FEATURES; features >= 64; features -= 64)
        if (desc->out_features % features == 0) return features;
    return desc->out_features;
}

/* The gradient of `features` outputs, if in its layout parts follow one another as they do in the whole. */
static cairn_status describe_part(linear_plan *plan, const cairn_layout *home, int64_t features,
                                  dnnl_primitive_desc_t *out, size_t *bytes)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *layout = NULL, *got;
    const int64_t dims[] = {features, plan->desc.in_features};
    if (features == plan->desc.out_features)
        layout = home;
    else if (!cairn_layout_public(home))
        CAIRN_TRY(cairn_layout_plain(cpu, 2, dims, &layout));
    CAIRN_TRY(cairn_linear_dnnl_describe(cpu, &plan->desc, CAIRN_LINEAR_BACKWARD_WEIGHTS, features, layout, out));
    if (!*out) return CAIRN_OK;
    CAIRN_TRY(cairn_primitive_layout(cpu, *out, DNNL_ARG_DIFF_WEIGHTS, &got));
    *bytes = cairn_layout_size(got);
    const char *word = cairn_layout_word(home);
    bool alike = strcmp(word, cairn_layout_word(got)) == 0 && (word[0] == 'a' || word[0] == 'A') &&
                 *bytes * (size_t)(plan->desc.out_features / features) == cairn_layout_size(home);
    if (alike || features == plan->desc.out_features) return CAIRN_OK;
    dnnl_primitive_desc_destroy(*out);
    *out = NULL;
    return CAIRN_OK;
}

static cairn_status plan_part(linear_plan *plan, const cairn_layout *home)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    dnnl_primitive_desc_t pd = NULL;
    size_t bytes = 0;
    plan->part_features = part_features(&plan->desc);
    cairn_status status = describe_part(plan, home, plan->part_features, &pd, &bytes);
    if (status == CAIRN_OK && !pd) {
        plan->part_features = plan->desc.out_features;
        status = describe_part(plan, home, plan->part_features, &pd, &bytes);
    }
    if (status == CAIRN_OK && !pd) status = cairn_fail(CAIRN_DEVICE, "oneDNN has no weight gradient for this shape");
    if (status == CAIRN_OK)
        status = cairn_primitive_create(
            cpu, pd, (int[]){DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, 0},
            &plan->part);
    if (pd) dnnl_primitive_desc_destroy(pd);
    plan->part_count = (int64_t)(bytes / sizeof(float));
    plan->part_dst = cairn_cpu_align(plan->part.scratchpad);
    plan->part_weights =
        reserve(plan, plan->part_dst, (size_t)(plan->desc.batch * plan->part_features) * sizeof(float));
    plan->part_bias = reserve(plan, plan->part_weights, bytes);
    reserve(plan, plan->part_bias, (size_t)plan->part_features * sizeof(float));
    return status;
}

static cairn_status plan_weights(linear_plan *plan, const cairn_layout *home)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    dnnl_primitive_desc_t pd;
    CAIRN_TRY(cairn_linear_dnnl_describe(cpu, &plan->desc, CAIRN_LINEAR_BACKWARD_WEIGHTS, plan->desc.out_features, home,
                                         &pd));
    if (!pd) return cairn_fail(CAIRN_DEVICE, "oneDNN has no weight gradient for this shape");
    cairn_status status = cairn_primitive_create(
        cpu, pd, (int[]){DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, 0},
        &plan->weights);
    dnnl_primitive_desc_destroy(pd);
    reserve(plan, 0, plan->weights.scratchpad);
    return status;
}

static cairn_status fill(linear_plan *plan)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *home;
    CAIRN_TRY(cairn_linear_dnnl_layout(cpu, &plan->desc, &home));
    plan->base.layout.weights = cairn_layout_public(home);
    plan->weight_count = (int64_t)(cairn_layout_size(home) / sizeof(float));
    CAIRN_TRY(plan_product(plan, CAIRN_LINEAR_FORWARD, home,
                           (int[]){DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, 0}, &plan->forward,
                           &plan->forward_reorder, &plan->forward_copy));
    snprintf(plan->base.algorithm, sizeof plan->base.algorithm, "%s", plan->forward.implementation);
    if (!plan->desc.train) return CAIRN_OK;
    CAIRN_TRY(plan_weights(plan, home));
    CAIRN_TRY(plan_part(plan, home));
    if (!plan->desc.need_diff_src) return CAIRN_OK;
    return plan_product(plan, CAIRN_LINEAR_BACKWARD_DATA, home,
                        (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC, 0}, &plan->data,
                        &plan->data_reorder, &plan->data_copy);
}

cairn_status cairn_cpu_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    cairn_cpu_enter(cairn_cpu_of(device));
    linear_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a fully connected layer");
    plan->base.ops = desc->train ? &training_ops : &inference_ops;
    plan->base.device = device;
    plan->base.spares_dst = !desc->relu_backward;
    plan->desc = *desc;
    cairn_status status = fill(plan);
    if (status != CAIRN_OK)
        destroy(&plan->base);
    else
        *out = &plan->base;
    return status;
}
