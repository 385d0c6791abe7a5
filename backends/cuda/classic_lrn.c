/* classic_lrn.c - LRN by cudnnLRNCrossChannelForward and Backward. */
#include "backends/cuda/classic.h"

typedef struct lrn_plan {
    cairn_plan base;
    cudnnTensorDescriptor_t tensor;
    cudnnLRNDescriptor_t lrn;
} lrn_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDNN_TRY(cudnnLRNCrossChannelForward(cuda->dnn, plan->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, plan->tensor,
                                          operands->src, &zero, plan->tensor, operands->dst));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const float one = 1, zero = 0;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDNN_TRY(cudnnLRNCrossChannelBackward(cuda->dnn, plan->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, plan->tensor,
                                           operands->dst, plan->tensor, operands->diff_dst, plan->tensor, operands->src,
                                           &zero, plan->tensor, operands->diff_src));
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    lrn_plan *plan = (lrn_plan *)base;
    if (plan->tensor) cudnnDestroyTensorDescriptor(plan->tensor);
    if (plan->lrn) cudnnDestroyLRNDescriptor(plan->lrn);
    cairn_cuda_plan_destroy(base);
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = destroy},
    {.forward = forward, .backward = backward, .destroy = destroy},
};

/* An even window reaches one further up in cuDNN and one further down with us. */
bool cairn_classic_has_lrn(const cairn_lrn_desc *d)
{
    return d->dtype != CAIRN_BF16 && d->size % 2 == 1 && d->size >= CUDNN_LRN_MIN_N && d->size <= CUDNN_LRN_MAX_N &&
           (double)d->k >= CUDNN_LRN_MIN_K && (double)d->beta >= CUDNN_LRN_MIN_BETA && cairn_classic_fits(d->src);
}

static cairn_status fill(lrn_plan *plan, const cairn_lrn_desc *d)
{
    CUDNN_TRY(cudnnCreateTensorDescriptor(&plan->tensor));
    CUDNN_TRY(cudnnCreateLRNDescriptor(&plan->lrn));
    CUDNN_TRY(cudnnSetLRNDescriptor(plan->lrn, (unsigned)d->size, (double)d->alpha, (double)d->beta, (double)d->k));
    return cairn_classic_describe(plan->tensor, d->dtype, d->src);
}

cairn_status cairn_classic_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    const cairn_layout *layout;
    CAIRN_TRY(cairn_layout_take(device, desc->src, desc->src_layout, &layout));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(lrn_plan), &ops[desc->train], "cuDNN LRN", out));
    lrn_plan *plan = (lrn_plan *)*out;
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    cairn_status status = fill(plan, desc);
    if (status != CAIRN_OK) destroy(*out);
    return status;
}
