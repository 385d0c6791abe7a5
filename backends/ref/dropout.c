/* dropout.c - the mask is a pure function of seed, layer, update and element, so backward draws it again. */
#include "backends/ref/ref.h"

typedef struct dropout_plan {
    cairn_plan base;
    cairn_dropout_desc desc;
} dropout_plan;

/* to = from / (1 - rate) where the element is kept, else 0. */
static void apply_mask(const cairn_dropout_desc *d, const cairn_operands *operands, const void *from, void *to)
{
    int64_t count = cairn_shape_count(d->src);
    cairn_rng stream = d->rng;
    stream.high[0] = operands->step;
    uint64_t first = (uint64_t)operands->first_sample * (uint64_t)(count / d->src.dim[0]);
    for (int64_t i = 0; i < count; i++) {
        bool kept = cairn_rng_uniform(stream, first + (uint64_t)i) >= d->rate;
        double value = cairn_ref_get(from, d->dtype, i);
        cairn_ref_set(to, d->dtype, i, kept ? value / (1 - (double)d->rate) : 0);
    }
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_dropout_desc *d = &((const dropout_plan *)base)->desc;
    if (operands->train) {
        apply_mask(d, operands, operands->src, operands->dst);
        return CAIRN_OK;
    }
    for (int64_t i = 0; i < cairn_shape_count(d->src); i++)
        cairn_ref_set(operands->dst, d->dtype, i, cairn_ref_get(operands->src, d->dtype, i));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    apply_mask(&((const dropout_plan *)base)->desc, operands, operands->diff_dst, operands->diff_src);
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("dropout", desc->dtype, desc->src_layout));
    if (!(desc->rate >= 0 && desc->rate < 1))
        return cairn_fail(CAIRN_USAGE, "dropout: a rate of %g is outside [0, 1)", (double)desc->rate);
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(dropout_plan), &ops[desc->train], out));
    ((dropout_plan *)*out)->desc = *desc;
    return CAIRN_OK;
}
