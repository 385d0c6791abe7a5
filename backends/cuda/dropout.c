/* dropout.c - the mask is a pure function of seed, layer, update and element, so backward draws it again. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

typedef struct dropout_plan {
    cairn_plan base;
    cairn_dropout_desc desc;
    cairn_dropout_args args; /* but for what a run gives */
} dropout_plan;

static cairn_status apply(cairn_plan *base, const cairn_operands *operands, const void *from, void *to)
{
    const dropout_plan *plan = (const dropout_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_dropout_args args = plan->args;
    args.src = from;
    args.dst = to;
    args.stream.high[0] = operands->step;
    args.first = (uint64_t)operands->first_sample * (uint64_t)args.sample;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_dropout(&args, plan->desc.dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const dropout_plan *plan = (const dropout_plan *)base;
    if (operands->train) return apply(base, operands, operands->src, operands->dst);
    if (operands->src == operands->dst) return CAIRN_OK;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaMemcpyAsync(operands->dst, operands->src,
                             (size_t)plan->args.count * cairn_dtype_size(plan->desc.dtype), cudaMemcpyDeviceToDevice,
                             cuda->compute));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    return apply(base, operands, operands->diff_dst, operands->diff_src);
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_cuda_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_cuda_plan_destroy},
};

/* Takes any layout without padding, for which it need only know where an element stands in plain order. */
static cairn_status choose_layout(cairn_device *device, const cairn_dropout_desc *desc, const cairn_layout **out)
{
    *out = desc->src_layout;
    if (!*out || (*out)->channels == (*out)->dim[1]) return CAIRN_OK;
    return cairn_layout_take(device, desc->src, desc->src_layout, out);
}

cairn_status cairn_cuda_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out)
{
    const cairn_layout *layout;
    CAIRN_TRY(cairn_cuda_check_dtype(device, "dropout", desc->dtype));
    if (!(desc->rate >= 0 && desc->rate < 1))
        return cairn_fail(CAIRN_USAGE, "dropout: a rate of %g is outside [0, 1)", (double)desc->rate);
    CAIRN_TRY(choose_layout(device, desc, &layout));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(dropout_plan), &ops[desc->train], "philox", out));
    dropout_plan *plan = (dropout_plan *)*out;
    plan->base.layout.src = plan->base.layout.dst = layout;
    plan->base.layout.diff_src = plan->base.layout.diff_dst = layout;
    plan->base.spares_src = plan->base.spares_dst = true;
    plan->desc = *desc;
    int64_t count = cairn_shape_count(desc->src), sample = desc->src.dim[0] ? count / desc->src.dim[0] : 0;
    int64_t plane = layout ? layout->dim[2] * layout->dim[3] : 1;
    plan->args = (cairn_dropout_args){.count = count,
                                      .sample = sample,
                                      .channels = sample / plane,
                                      .plane = plane,
                                      .stream = desc->rng,
                                      .rate = desc->rate,
                                      .scale = (float)(1 / (1 - (double)desc->rate))};
    return CAIRN_OK;
}
