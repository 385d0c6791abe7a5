/* pool2d.c - maximum, average and adaptive average over windows of NHWC pictures. */
#include "backends/cuda/classic.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/pool_shape.h"

typedef struct pool2d_plan {
    cairn_plan base;
    cairn_dtype dtype;
    bool max;
    cairn_pool_args args; /* but for the pointers */
} pool2d_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_pool_args args = plan->args;
    args.src = operands->src;
    args.dst = operands->dst;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (plan->max) {
        args.winner = operands->train ? operands->saved : NULL;
        CUDA_TRY(cairn_launch_max_pool(&args, plan->dtype, cuda->compute));
    } else {
        CUDA_TRY(cairn_launch_average_pool(&args, plan->dtype, cuda->compute));
    }
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_pool_args args = plan->args;
    args.src = operands->diff_dst;
    args.dst = operands->diff_src;
    args.winner = operands->saved;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (plan->max)
        CUDA_TRY(cairn_launch_max_pool_backward(&args, plan->dtype, cuda->compute));
    else
        CUDA_TRY(cairn_launch_average_pool_backward(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

cairn_status cairn_cuda_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    cairn_pool_args args;
    CAIRN_TRY(cairn_cuda_check_dtype(device, "pool2d", desc->dtype));
    CAIRN_TRY(cairn_pool_shape(desc, &args));
    if (device->options.library_kernels && cairn_classic_has_pool2d(desc))
        return cairn_classic_plan_pool2d(device, desc, out);
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(pool2d_plan), &ops[desc->train], "gather", out));
    pool2d_plan *plan = (pool2d_plan *)*out;
    plan->base.spares_src = plan->base.spares_dst = true; /* winners remember the mask too */
    plan->dtype = desc->dtype;
    plan->max = desc->kind == CAIRN_POOL_MAX;
    plan->args = args;
    if (plan->max && desc->train) plan->base.saved = cairn_pool_winner_bytes(&args);
    cairn_status status = cairn_pool_layouts(device, desc, *out);
    if (status != CAIRN_OK) cairn_cuda_plan_destroy(*out);
    return status;
}
