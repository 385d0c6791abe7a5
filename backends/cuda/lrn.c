/* lrn.c - local response normalisation across the channels of NHWC pictures. */
#include "backends/cuda/classic.h"
#include "backends/cuda/kernels/launch.h"

typedef struct lrn_plan {
    cairn_plan base;
    cairn_dtype dtype;
    cairn_lrn_args args; /* but for the pointers */
} lrn_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_lrn_args args = plan->args;
    args.src = operands->src;
    args.dst = operands->dst;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_lrn(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_lrn_args args = plan->args;
    args.src = operands->src;
    args.diff_dst = operands->diff_dst;
    args.dst = operands->diff_src;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_lrn_backward(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

cairn_status cairn_cuda_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    const cairn_layout *layout;
    CAIRN_TRY(cairn_cuda_check_dtype(device, "lrn", desc->dtype));
    if (desc->size < 1)
        return cairn_fail(CAIRN_USAGE, "lrn: a window of %lld channels is empty", (long long)desc->size);
    if (device->options.library_kernels && cairn_classic_has_lrn(desc))
        return cairn_classic_plan_lrn(device, desc, out);
    CAIRN_TRY(cairn_layout_take(device, desc->src, desc->src_layout, &layout));
    const char *algorithm = desc->size == CAIRN_LRN_WINDOW ? "shuffle" : "window";
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(lrn_plan), &ops[desc->train], algorithm, out));
    lrn_plan *plan = (lrn_plan *)*out;
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    plan->base.spares_dst = true; /* backward works it out again from src */
    plan->dtype = desc->dtype;
    plan->args = (cairn_lrn_args){.rows = desc->src.dim[0] * desc->src.dim[2] * desc->src.dim[3],
                                  .channels = (int)desc->src.dim[1],
                                  .size = (int)desc->size,
                                  .k = desc->k,
                                  .factor = desc->alpha / (float)desc->size,
                                  .beta = desc->beta};
    return CAIRN_OK;
}
