/* relu.c - y = max(x, 0), alone and as the mask of operations that have it fused. */
#include "backends/ref/ref.h"

typedef struct relu_plan {
    cairn_plan base;
    cairn_relu_desc desc;
} relu_plan;

void cairn_ref_relu_mask(void *dy, const void *y, cairn_dtype dtype, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(cairn_ref_get(y, dtype, i) > 0)) cairn_ref_set(dy, dtype, i, 0);
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_relu_desc *d = &((const relu_plan *)base)->desc;
    int64_t count = cairn_shape_count(d->src);
    for (int64_t i = 0; i < count; i++)
        cairn_ref_set(operands->dst, d->dtype, i, cairn_ref_relu(cairn_ref_get(operands->src, d->dtype, i)));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_relu_desc *d = &((const relu_plan *)base)->desc;
    int64_t count = cairn_shape_count(d->src);
    for (int64_t i = 0; i < count; i++) {
        bool on = cairn_ref_get(operands->dst, d->dtype, i) > 0;
        cairn_ref_set(operands->diff_src, d->dtype, i, on ? cairn_ref_get(operands->diff_dst, d->dtype, i) : 0);
    }
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("relu", desc->dtype, desc->src_layout));
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(relu_plan), &ops[desc->train], out));
    ((relu_plan *)*out)->desc = *desc;
    return CAIRN_OK;
}
