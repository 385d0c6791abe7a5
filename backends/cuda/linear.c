/* linear.c - fully connected layers: y = x w^T + b, with ReLU, by cuBLASLt.
 *
 * Forward is one call of the library, or one and a kernel. Backward: a kernel that masks dy by the ReLU and sums the bias gradient, and a product for each
 * gradient. The weight gradient is f32 straight from f16 or bf16 operands, and is added to the old one by the product itself. Features that
 * were NHWC activations need nothing: the columns of the weights lie as the features do. */
#include "backends/cuda/bias.h"
#include "backends/cuda/matmul.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct linear_plan {
    cairn_plan base;
    cairn_linear_desc desc;
    cairn_matmul forward, data, weights;
    cairn_bias_forward rest; /* what forward's library call leaves to do */
    cairn_bias_backward bias;
} linear_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const linear_plan *plan = (const linear_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CAIRN_TRY(cairn_matmul_run(&plan->forward, cuda, operands->src, operands->weights, operands->bias, 0, operands->dst,
                               operands->workspace));
    return cairn_bias_forward_run(&plan->rest, cuda, operands);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const linear_plan *plan = (const linear_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CAIRN_TRY(cairn_bias_backward_run(&plan->bias, cuda, operands));
    CAIRN_TRY(cairn_matmul_run(&plan->weights, cuda, operands->diff_dst, operands->src, NULL,
                               operands->accumulate ? 1.0f : 0.0f, operands->diff_weights, operands->workspace));
    if (!operands->diff_src || !plan->data.operation) return CAIRN_OK;
    return cairn_matmul_run(&plan->data, cuda, operands->diff_dst, operands->weights, NULL, 0, operands->diff_src,
                            operands->workspace);
}

static void destroy(cairn_plan *base)
{
    linear_plan *plan = (linear_plan *)base;
    cairn_matmul_release(&plan->forward);
    cairn_matmul_release(&plan->data);
    cairn_matmul_release(&plan->weights);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* With bias and ReLU as the product's epilogue; by a kernel behind it where the library has none for these types and sizes. */
static cairn_status plan_forward(linear_plan *plan)
{
    const cairn_linear_desc *d = &plan->desc;
    cairn_cuda *cuda = cairn_cuda_of(plan->base.device);
    cairn_matmul_desc product = {.rows = d->batch,
                                 .columns = d->out_features,
                                 .inner = d->in_features,
                                 .transpose_b = true,
                                 .input = d->dtype,
                                 .output = d->dtype,
                                 .bias = d->has_bias,
                                 .relu = d->relu};
    cairn_status status = cairn_matmul_plan(cuda, &product, &plan->forward);
    if (status != CAIRN_DEVICE || !(d->has_bias || d->relu)) return status;
    cairn_matmul_release(&plan->forward);
    product.bias = product.relu = false;
    plan->rest = (cairn_bias_forward){
        .rows = d->batch, .channels = d->out_features, .dtype = d->dtype, .has_bias = d->has_bias, .relu = d->relu};
    return cairn_matmul_plan(cuda, &product, &plan->forward);
}

static cairn_status plan_products(linear_plan *plan)
{
    const cairn_linear_desc *d = &plan->desc;
    cairn_cuda *cuda = cairn_cuda_of(plan->base.device);
    cairn_matmul_desc product;
    CAIRN_TRY(plan_forward(plan));
    if (!d->train) return CAIRN_OK;
    product = (cairn_matmul_desc){.rows = d->out_features,
                                  .columns = d->in_features,
                                  .inner = d->batch,
                                  .transpose_a = true,
                                  .input = d->dtype,
                                  .output = CAIRN_F32};
    CAIRN_TRY(cairn_matmul_plan(cuda, &product, &plan->weights));
    if (!d->need_diff_src) return CAIRN_OK;
    product = (cairn_matmul_desc){
        .rows = d->batch, .columns = d->in_features, .inner = d->out_features, .input = d->dtype, .output = d->dtype};
    return cairn_matmul_plan(cuda, &product, &plan->data);
}

static void size_workspace(linear_plan *plan)
{
    const cairn_linear_desc *d = &plan->desc;
    plan->bias = (cairn_bias_backward){.columns = cairn_columns_of(d->batch, d->out_features, d->dtype),
                                       .dtype = d->dtype,
                                       .has_bias = d->has_bias,
                                       .masks = d->relu_backward};
    cairn_cuda_need(&plan->base, plan->forward.workspace);
    cairn_cuda_need(&plan->base, plan->data.workspace);
    cairn_cuda_need(&plan->base, plan->weights.workspace);
    if (d->train) cairn_cuda_need(&plan->base, cairn_bias_backward_bytes(&plan->bias));
}

/* Flattened NHWC is taken as it comes. */
static cairn_status choose_layouts(linear_plan *plan)
{
    const cairn_layout *src = plan->desc.src_layout, *weights = NULL;
    if (src && !src->flat) src = NULL;
    if (src)
        CAIRN_TRY(
            cairn_layout_flat(&cairn_cuda_of(plan->base.device)->layouts, src, plan->desc.out_features, &weights));
    plan->base.layout.src = plan->base.layout.diff_src = src;
    plan->base.layout.weights = plan->base.layout.weights_low = weights;
    return CAIRN_OK;
}

cairn_status cairn_cuda_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cuda_check_dtype(device, "linear", desc->dtype));
    CAIRN_TRY(cairn_cuda_enter(cairn_cuda_of(device)));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(linear_plan), desc->train ? &training_ops : &inference_ops,
                                     "cuBLASLt", out));
    linear_plan *plan = (linear_plan *)*out;
    plan->desc = *desc;
    plan->base.spares_dst = !desc->relu_backward;
    cairn_status status = choose_layouts(plan);
    if (status == CAIRN_OK) status = plan_products(plan);
    if (status == CAIRN_OK) {
        size_workspace(plan);
        return CAIRN_OK;
    }
    destroy(&plan->base);
    *out = NULL;
    return status;
}
