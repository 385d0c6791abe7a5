#include "layers/layer_class.h"

typedef struct dropout {
    cairn_layer base;
    float rate;
} dropout;

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    float rate = ((const dropout *)layer)->rate;
    if (!(rate >= 0.0f && rate < 1.0f))
        return cairn_fail(CAIRN_USAGE, "the dropout rate is %g; it must be at least 0 and below 1", (double)rate);
    *dst = src;
    return CAIRN_OK;
}

/* A net that only evaluates copies, and so does a rate of 0. */
static cairn_layer_view view(const cairn_layer *layer, cairn_shape src, bool train)
{
    (void)src;
    return !train || ((const dropout *)layer)->rate == 0.0f ? CAIRN_VIEW_ANY : CAIRN_VIEW_NONE;
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_dropout_desc desc = {
        .src = request->src,
        .rate = ((const dropout *)layer)->rate,
        .rng = request->rng,
        .train = request->train,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return request->device->backend->plan_dropout(request->device, &desc, out);
}

static const cairn_layer_class dropout_class = {
    .kind = "dropout",
    .in_place = true,
    .in_place_backward = true,
    .infer = infer,
    .view = view,
    .plan = plan,
};

cairn_layer *cairn_dropout(float rate)
{
    cairn_layer *layer = cairn_layer_create(&dropout_class, sizeof(dropout));
    if (layer) ((dropout *)layer)->rate = rate;
    return layer;
}
