/* reorder.c - all layouts of ref are plain, so a reorder is a copy, into another dtype where asked. */
#include "backends/ref/ref.h"
#include <string.h>

typedef struct reorder_plan {
    cairn_plan base;
    cairn_reorder_desc desc;
} reorder_plan;

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_reorder_desc *d = &((const reorder_plan *)base)->desc;
    size_t count = (size_t)cairn_shape_count(d->shape);
    if (d->from_dtype == d->to_dtype)
        memcpy(operands->dst, operands->src, count * cairn_dtype_size(d->to_dtype));
    else if (cairn_dtype_convert(operands->dst, d->to_dtype, operands->src, d->from_dtype, count))
        return cairn_fail(CAIRN_DEVICE, "reorder on ref: %s can't become %s", cairn_dtype_name(d->from_dtype),
                          cairn_dtype_name(d->to_dtype));
    return CAIRN_OK;
}

static const cairn_plan_ops ops = {.forward = forward, .destroy = cairn_ref_plan_destroy};

cairn_status cairn_ref_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("reorder", CAIRN_F32, desc->from ? desc->from : desc->to));
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(reorder_plan), &ops, out));
    ((reorder_plan *)*out)->desc = *desc;
    return CAIRN_OK;
}
