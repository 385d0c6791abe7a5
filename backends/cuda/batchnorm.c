/* batchnorm.c - batch normalisation of NHWC pictures; gamma, beta and all statistics are f32. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

typedef struct batchnorm_plan {
    cairn_plan base;
    cairn_dtype dtype;
    size_t partial_bytes;
    cairn_batchnorm_args args; /* but for what a run gives */
} batchnorm_plan;

/* The arguments of a run; the workspace holds the partial sums, then the totals. */
static cairn_batchnorm_args arguments(const batchnorm_plan *plan, const cairn_operands *operands)
{
    cairn_batchnorm_args args = plan->args;
    args.columns.partial = operands->workspace;
    args.totals = operands->workspace ? (float *)operands->workspace + plan->partial_bytes / sizeof(float) : NULL;
    args.src = operands->src;
    args.gamma = operands->weights;
    args.beta = operands->bias;
    args.saved = operands->saved;
    args.running_mean = operands->running_mean;
    args.running_variance = operands->running_variance;
    args.train = operands->train;
    args.accumulate = operands->accumulate;
    return args;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_batchnorm_args args = arguments(plan, operands);
    args.dst = operands->dst;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_batchnorm(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_batchnorm_args args = arguments(plan, operands);
    args.diff_dst = operands->diff_dst;
    args.dst = operands->diff_src;
    args.diff_gamma = operands->diff_weights;
    args.diff_beta = operands->diff_bias;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_batchnorm_backward(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

cairn_status cairn_cuda_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out)
{
    const cairn_layout *layout;
    int64_t rows = desc->src.dim[0] * desc->src.dim[2] * desc->src.dim[3], channels = desc->src.dim[1];
    CAIRN_TRY(cairn_cuda_check_dtype(device, "batchnorm", desc->dtype));
    if (desc->train && rows < 2)
        return cairn_fail(CAIRN_USAGE, "batchnorm: one value a channel has no variance; train on a larger batch");
    CAIRN_TRY(cairn_layout_take(device, desc->src, desc->src_layout, &layout));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(batchnorm_plan), &ops[desc->train], "two-stage sums", out));
    batchnorm_plan *plan = (batchnorm_plan *)*out;
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    plan->base.spares_dst = true;
    plan->dtype = desc->dtype;
    plan->args = (cairn_batchnorm_args){
        .columns = cairn_columns_of(rows, channels, desc->dtype), .eps = desc->eps, .momentum = desc->momentum};
    if (!desc->train) return CAIRN_OK;
    size_t per_channel = 2 * (size_t)channels * sizeof(float);
    plan->partial_bytes = cairn_cuda_align(cairn_columns_bytes(&plan->args.columns, 2));
    plan->base.saved = per_channel;
    plan->base.workspace = plan->partial_bytes + per_channel;
    return CAIRN_OK;
}
