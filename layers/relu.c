#include "layers/layer_class.h"

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    (void)layer;
    *dst = src;
    return CAIRN_OK;
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    (void)layer;
    const cairn_relu_desc desc = {
        .src = request->src,
        .train = request->train,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return request->device->backend->plan_relu(request->device, &desc, out);
}

static const cairn_layer_class relu_class = {
    .kind = "relu",
    .is_relu = true,
    .in_place_backward = true,
    .backward_reads_dst = true,
    .infer = infer,
    .plan = plan,
};

cairn_layer *cairn_relu(void)
{
    return cairn_layer_create(&relu_class, sizeof(cairn_layer));
}
