#include "layers/layer_class.h"

typedef struct linear {
    cairn_layer base;
    cairn_linear_options options;
} linear;

static const cairn_linear_options *options_of(const cairn_layer *layer)
{
    return &((const linear *)layer)->options;
}

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const cairn_linear_options *o = options_of(layer);
    CAIRN_TRY(cairn_layer_expect_features(src));
    if (o->out_features < 1)
        return cairn_fail(CAIRN_USAGE, "out_features is %lld; it must be at least 1", (long long)o->out_features);
    *dst = cairn_shape_make(2, src.dim[0], o->out_features);
    return CAIRN_OK;
}

static int parameters(const cairn_layer *layer, cairn_shape src, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS])
{
    const cairn_linear_options *o = options_of(layer);
    cairn_shape weight = cairn_shape_make(2, o->out_features, src.dim[1]);
    return cairn_layer_weight_and_bias(weight, src.dim[1], o->out_features, o->weight_init, o->no_bias, o->bias_init,
                                       out);
}

static int64_t macs(const cairn_layer *layer, cairn_shape src, cairn_shape dst)
{
    (void)layer;
    return src.dim[1] * cairn_shape_count(dst);
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_linear_options *o = options_of(layer);
    const cairn_linear_desc desc = {
        .batch = request->src.dim[0],
        .in_features = request->src.dim[1],
        .out_features = o->out_features,
        .has_bias = !o->no_bias,
        .relu = request->relu,
        .relu_backward = request->relu_backward,
        .train = request->train,
        .need_diff_src = request->need_diff_src,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return request->device->backend->plan_linear(request->device, &desc, out);
}

static const cairn_layer_class linear_class = {
    .kind = "linear",
    .folds_relu = true,
    .backward_reads_src = true,
    .infer = infer,
    .parameters = parameters,
    .macs = macs,
    .plan = plan,
};

cairn_layer *cairn_linear(const cairn_linear_options *options)
{
    cairn_layer *layer = cairn_layer_create(&linear_class, sizeof(linear));
    if (layer) ((linear *)layer)->options = *options;
    return layer;
}
