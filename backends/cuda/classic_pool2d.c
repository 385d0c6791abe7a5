/* classic_pool2d.c - pooling by cudnnPoolingForward and Backward. */
#include "backends/cuda/classic.h"
#include "backends/cuda/pool_shape.h"

typedef struct pool2d_plan {
    cairn_plan base;
    cudnnTensorDescriptor_t src, dst;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t mask; /* NULL: none */
} pool2d_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDNN_TRY(
        cudnnPoolingForward(cuda->dnn, plan->pool, &one, plan->src, operands->src, &zero, plan->dst, operands->dst));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (plan->mask)
        CUDNN_TRY(cudnnActivationBackward(cuda->dnn, plan->mask, &one, plan->dst, operands->dst, plan->dst,
                                          operands->diff_dst, plan->dst, operands->dst, &zero, plan->dst,
                                          operands->diff_dst));
    CUDNN_TRY(cudnnPoolingBackward(cuda->dnn, plan->pool, &one, plan->dst, operands->dst, plan->dst, operands->diff_dst,
                                   plan->src, operands->src, &zero, plan->src, operands->diff_src));
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    pool2d_plan *plan = (pool2d_plan *)base;
    if (plan->src) cudnnDestroyTensorDescriptor(plan->src);
    if (plan->dst) cudnnDestroyTensorDescriptor(plan->dst);
    if (plan->pool) cudnnDestroyPoolingDescriptor(plan->pool);
    if (plan->mask) cudnnDestroyActivationDescriptor(plan->mask);
    cairn_cuda_plan_destroy(base);
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = destroy},
    {.forward = forward, .backward = backward, .destroy = destroy},
};

/* cuDNN pads alike on both sides and rounds the number of windows down. */
static bool is_floor(int64_t size, int64_t out, int64_t kernel, int64_t stride, int64_t pad)
{
    return out == (size + 2 * pad - kernel) / stride + 1;
}

bool cairn_classic_has_pool2d(const cairn_pool2d_desc *d)
{
    return d->kind != CAIRN_POOL_ADAPTIVE_AVERAGE && cairn_classic_fits(d->src) &&
           is_floor(d->src.dim[2], d->out_h, d->kernel_h, d->stride_h, d->pad_h) &&
           is_floor(d->src.dim[3], d->out_w, d->kernel_w, d->stride_w, d->pad_w);
}

static cairn_status fill(pool2d_plan *plan, const cairn_pool2d_desc *d)
{
    cudnnPoolingMode_t mode =
        d->kind == CAIRN_POOL_MAX ? CUDNN_POOLING_MAX_DETERMINISTIC : CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
    CUDNN_TRY(cudnnCreateTensorDescriptor(&plan->src));
    CUDNN_TRY(cudnnCreateTensorDescriptor(&plan->dst));
    CUDNN_TRY(cudnnCreatePoolingDescriptor(&plan->pool));
    CUDNN_TRY(cudnnSetPooling2dDescriptor(plan->pool, mode, CUDNN_PROPAGATE_NAN, (int)d->kernel_h, (int)d->kernel_w,
                                          (int)d->pad_h, (int)d->pad_w, (int)d->stride_h, (int)d->stride_w));
    CAIRN_TRY(cairn_classic_describe(plan->src, d->dtype, d->src));
    CAIRN_TRY(cairn_classic_describe(plan->dst, d->dtype,
                                     cairn_shape_make(4, d->src.dim[0], d->src.dim[1], d->out_h, d->out_w)));
    if (d->relu_backward) {
        CUDNN_TRY(cudnnCreateActivationDescriptor(&plan->mask));
        CUDNN_TRY(cudnnSetActivationDescriptor(plan->mask, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    }
    return cairn_pool_layouts(plan->base.device, d, &plan->base);
}

cairn_status cairn_classic_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(pool2d_plan), &ops[desc->train], "cuDNN pooling", out));
    cairn_status status = fill((pool2d_plan *)*out, desc);
    if (status != CAIRN_OK) destroy(*out);
    return status;
}
