/* classic_relu.c - ReLU by cudnnActivationForward and Backward. */
#include "backends/cuda/classic.h"

typedef struct relu_plan {
    cairn_plan base;
    cudnnTensorDescriptor_t tensor;
    cudnnActivationDescriptor_t relu;
} relu_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const relu_plan *plan = (const relu_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDNN_TRY(cudnnActivationForward(cuda->dnn, plan->relu, &one, plan->tensor, operands->src, &zero, plan->tensor,
                                     operands->dst));
    return CAIRN_OK;
}

/* y > 0 just where x > 0, so dst does for both. */
static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const relu_plan *plan = (const relu_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDNN_TRY(cudnnActivationBackward(cuda->dnn, plan->relu, &one, plan->tensor, operands->dst, plan->tensor,
                                      operands->diff_dst, plan->tensor, operands->dst, &zero, plan->tensor,
                                      operands->diff_src));
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    relu_plan *plan = (relu_plan *)base;
    if (plan->tensor) cudnnDestroyTensorDescriptor(plan->tensor);
    if (plan->relu) cudnnDestroyActivationDescriptor(plan->relu);
    cairn_cuda_plan_destroy(base);
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = destroy},
    {.forward = forward, .backward = backward, .destroy = destroy},
};

/* What elements there are, padding included, in whatever order. */
static cairn_shape elements(const cairn_relu_desc *desc)
{
    const cairn_layout *layout = desc->src_layout;
    return cairn_shape_make(1, layout ? cairn_layout_count(layout) : cairn_shape_count(desc->src));
}

bool cairn_classic_has_relu(const cairn_relu_desc *desc)
{
    return cairn_classic_fits(elements(desc));
}

static cairn_status fill(relu_plan *plan, const cairn_relu_desc *desc)
{
    cairn_shape count = elements(desc);
    CUDNN_TRY(cudnnCreateTensorDescriptor(&plan->tensor));
    CUDNN_TRY(cudnnCreateActivationDescriptor(&plan->relu));
    CUDNN_TRY(cudnnSetActivationDescriptor(plan->relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    return cairn_classic_describe(plan->tensor, desc->dtype, cairn_shape_make(4, 1, count.dim[0], 1, 1));
}

cairn_status cairn_classic_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(relu_plan), &ops[desc->train], "cuDNN activation", out));
    relu_plan *plan = (relu_plan *)*out;
    plan->base.layout.src = plan->base.layout.dst = desc->src_layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = desc->src_layout;
    plan->base.spares_src = true;
    cairn_status status = fill(plan, desc);
    if (status != CAIRN_OK) destroy(*out);
    return status;
}
