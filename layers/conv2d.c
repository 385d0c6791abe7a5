#include "layers/layer_class.h"

typedef struct conv2d {
    cairn_layer base;
    cairn_conv2d_options options; /* stride and groups filled in */
} conv2d;

static const cairn_conv2d_options *options_of(const cairn_layer *layer)
{
    return &((const conv2d *)layer)->options;
}

static cairn_status check(const cairn_conv2d_options *o, int64_t channels)
{
    if (o->out_channels < 1)
        return cairn_fail(CAIRN_USAGE, "out_channels is %lld; it must be at least 1", (long long)o->out_channels);
    if (o->kernel < 1) return cairn_fail(CAIRN_USAGE, "kernel is %lld; it must be at least 1", (long long)o->kernel);
    if (o->stride < 1) return cairn_fail(CAIRN_USAGE, "stride is %lld; it must be at least 1", (long long)o->stride);
    if (o->pad < 0) return cairn_fail(CAIRN_USAGE, "pad is %lld; it must not be negative", (long long)o->pad);
    if (o->groups < 1 || channels % o->groups != 0 || o->out_channels % o->groups != 0)
        return cairn_fail(CAIRN_USAGE, "groups is %lld; it must divide the %lld input and the %lld output channels",
                          (long long)o->groups, (long long)channels, (long long)o->out_channels);
    return CAIRN_OK;
}

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const cairn_conv2d_options *o = options_of(layer);
    CAIRN_TRY(cairn_layer_expect_image(src));
    CAIRN_TRY(check(o, src.dim[1]));
    int64_t height = src.dim[2] + 2 * o->pad - o->kernel, width = src.dim[3] + 2 * o->pad - o->kernel;
    if (height < 0 || width < 0)
        return cairn_fail(CAIRN_USAGE, "a kernel of %lld does not fit into %lldx%lld with a padding of %lld",
                          (long long)o->kernel, (long long)src.dim[2], (long long)src.dim[3], (long long)o->pad);
    *dst = cairn_shape_make(4, src.dim[0], o->out_channels, height / o->stride + 1, width / o->stride + 1);
    return CAIRN_OK;
}

static int parameters(const cairn_layer *layer, cairn_shape src, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS])
{
    const cairn_conv2d_options *o = options_of(layer);
    int64_t taps = o->kernel * o->kernel, inputs = src.dim[1] / o->groups, outputs = o->out_channels / o->groups;
    cairn_shape weight = cairn_shape_make(4, o->out_channels, inputs, o->kernel, o->kernel);
    return cairn_layer_weight_and_bias(weight, inputs * taps, outputs * taps, o->weight_init, o->no_bias, o->bias_init,
                                       out);
}

static int64_t macs(const cairn_layer *layer, cairn_shape src, cairn_shape dst)
{
    const cairn_conv2d_options *o = options_of(layer);
    return cairn_shape_count(dst) * (src.dim[1] / o->groups) * o->kernel * o->kernel;
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_conv2d_options *o = options_of(layer);
    const cairn_conv2d_desc desc = {
        .src = request->src,
        .out_channels = o->out_channels,
        .kernel_h = o->kernel,
        .kernel_w = o->kernel,
        .stride_h = o->stride,
        .stride_w = o->stride,
        .pad_h = o->pad,
        .pad_w = o->pad,
        .groups = o->groups,
        .has_bias = !o->no_bias,
        .relu = request->relu,
        .relu_backward = request->relu_backward,
        .train = request->train,
        .need_diff_src = request->need_diff_src,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return request->device->backend->plan_conv2d(request->device, &desc, out);
}

static const cairn_layer_class conv2d_class = {
    .kind = "conv2d",
    .folds_relu = true,
    .takes_pictures = true,
    .backward_reads_src = true,
    .infer = infer,
    .parameters = parameters,
    .macs = macs,
    .plan = plan,
};

cairn_layer *cairn_conv2d(const cairn_conv2d_options *options)
{
    cairn_layer *layer = cairn_layer_create(&conv2d_class, sizeof(conv2d));
    if (!layer) return NULL;
    cairn_conv2d_options *o = &((conv2d *)layer)->options;
    *o = *options;
    if (o->stride == 0) o->stride = 1;
    if (o->groups == 0) o->groups = 1;
    return layer;
}
