/* relu.c - max(x, 0) by itself, in whatever layout it comes. */
#include "backends/cuda/classic.h"
#include "backends/cuda/kernels/launch.h"

typedef struct relu_plan {
    cairn_plan base;
    cairn_dtype dtype;
    int64_t count; /* elements, padding included: it is 0 and stays 0 */
} relu_plan;

static cairn_status run(cairn_plan *base, const void *src, const void *mask, void *dst)
{
    const relu_plan *plan = (const relu_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    const cairn_relu_args args = {.src = src, .mask = mask, .dst = dst, .count = plan->count};
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_relu(&args, plan->dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    return run(base, operands->src, NULL, operands->dst);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    return run(base, operands->diff_dst, operands->dst, operands->diff_src);
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

cairn_status cairn_cuda_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cuda_check_dtype(device, "relu", desc->dtype));
    if (device->options.library_kernels && cairn_classic_has_relu(desc))
        return cairn_classic_plan_relu(device, desc, out);
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(relu_plan), &ops[desc->train], "one pass", out));
    relu_plan *plan = (relu_plan *)*out;
    const cairn_layout *layout = desc->src_layout;
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    plan->base.spares_src = true;
    plan->dtype = desc->dtype;
    plan->count = layout ? cairn_layout_count(layout) : cairn_shape_count(desc->src);
    return CAIRN_OK;
}
