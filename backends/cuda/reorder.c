/* reorder.c - between plain order and channels last, and between element types. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"
#include <string.h>

typedef enum reorder_way { REORDER_COPY, REORDER_TRANSPOSE, REORDER_REPITCH } reorder_way;

typedef struct reorder_plan {
    cairn_plan base;
    cairn_reorder_desc desc;
    reorder_way way;
    int64_t count;             /* of a copy */
    cairn_transpose_args args; /* of the others; but for the pointers */
} reorder_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const reorder_plan *plan = (const reorder_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    cairn_dtype from = plan->desc.from_dtype, to = plan->desc.to_dtype;
    cairn_transpose_args args = plan->args;
    args.src = operands->src;
    args.dst = operands->dst;
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (plan->way == REORDER_TRANSPOSE) {
        CUDA_TRY(cairn_launch_transpose(&args, from, to, cuda->compute));
    } else if (plan->way == REORDER_REPITCH) {
        CUDA_TRY(cairn_launch_repitch(&args, from, to, cuda->compute));
    } else {
        const cairn_convert_args copy = {.src = operands->src, .dst = operands->dst, .count = plan->count};
        CUDA_TRY(cairn_launch_convert(&copy, from, to, cuda->compute));
    }
    return CAIRN_OK;
}

static const cairn_plan_ops ops = {.forward = forward, .destroy = cairn_cuda_plan_destroy};

/* Every layout here is a stack of matrices [pixels][channels], plain order one of [channels][pixels]; see layout.h. */
static void plan_transpose(reorder_plan *plan, const cairn_layout *layout, bool into_layout)
{
    int64_t channels = layout->dim[1], pixels = layout->dim[2] * layout->dim[3];
    plan->way = REORDER_TRANSPOSE;
    plan->args = (cairn_transpose_args){.batch = layout->dim[0],
                                        .rows = into_layout ? channels : pixels,
                                        .columns = into_layout ? pixels : channels,
                                        .src_pitch = into_layout ? pixels : layout->channels,
                                        .dst_pitch = into_layout ? layout->channels : pixels};
}

static void plan_repitch(reorder_plan *plan, const cairn_layout *from, const cairn_layout *to)
{
    plan->way = REORDER_REPITCH;
    plan->args = (cairn_transpose_args){.batch = from->dim[0],
                                        .rows = from->dim[2] * from->dim[3],
                                        .columns = from->dim[1],
                                        .src_pitch = from->channels,
                                        .dst_pitch = to->channels};
}

static cairn_status choose_way(reorder_plan *plan)
{
    const cairn_layout *from = plan->desc.from, *to = plan->desc.to;
    plan->count = from ? cairn_layout_count(from) : cairn_shape_count(plan->desc.shape);
    if (from && to && memcmp(from->dim, to->dim, sizeof from->dim) != 0)
        return cairn_fail(CAIRN_USAGE, "reorder on cuda: %s and %s are of different shapes", from->name, to->name);
    if (!from && to)
        plan_transpose(plan, to, true);
    else if (from && !to)
        plan_transpose(plan, from, false);
    else if (from && to && from->channels != to->channels)
        plan_repitch(plan, from, to);
    return CAIRN_OK;
}

static cairn_status check_dtype(cairn_dtype dtype)
{
    if (dtype == CAIRN_F32 || dtype == CAIRN_F16 || dtype == CAIRN_BF16) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "reorder on cuda: dtype %s is not supported; f32, f16 and bf16 are",
                      cairn_dtype_name(dtype));
}

cairn_status cairn_cuda_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(check_dtype(desc->from_dtype));
    CAIRN_TRY(check_dtype(desc->to_dtype));
    CAIRN_TRY(cairn_cuda_plan_create(device, sizeof(reorder_plan), &ops, "tiles of 32x32", out));
    reorder_plan *plan = (reorder_plan *)*out;
    plan->base.layout.src = desc->from;
    plan->base.layout.dst = desc->to;
    plan->desc = *desc;
    cairn_status status = choose_way(plan);
    if (status != CAIRN_OK) cairn_cuda_plan_destroy(*out);
    return status;
}
