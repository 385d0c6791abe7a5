/* lenet.c - LeNet as Caffe has it (examples/mnist/lenet.prototxt), for colour images of 32x32: small enough to try things on. */
#include "models/builders.h"

static cairn_status add_conv(cairn_net *net, const char *conv, const char *pool, int64_t channels)
{
    CAIRN_TRY(cairn_net_add(net, conv, cairn_conv2d(&(cairn_conv2d_options){.out_channels = channels, .kernel = 5})));
    return cairn_net_add(net, pool, cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 2}));
}

static cairn_status add_layers(cairn_net *net, int64_t classes, const cairn_model_options *options)
{
    const cairn_linear_options hidden = {.out_features = cairn_model_width(500, options)};
    const cairn_linear_options last = {.out_features = classes, .weight_init = {CAIRN_INIT_NORMAL, 0.01f}};
    CAIRN_TRY(add_conv(net, "conv1", "pool1", cairn_model_width(20, options)));
    CAIRN_TRY(add_conv(net, "conv2", "pool2", cairn_model_width(50, options)));
    CAIRN_TRY(cairn_net_add(net, "flatten", cairn_flatten()));
    CAIRN_TRY(cairn_net_add(net, "fc3", cairn_linear(&hidden)));
    CAIRN_TRY(cairn_net_add(net, "relu3", cairn_relu()));
    if (options->dropout > 0) CAIRN_TRY(cairn_net_add(net, "drop3", cairn_dropout(options->dropout)));
    return cairn_net_add(net, "fc4", cairn_linear(&last));
}

cairn_status cairn_lenet_build(const cairn_model_info *info, int64_t classes, const cairn_model_options *options,
                               cairn_net **out)
{
    *out = NULL;
    cairn_net *net;
    CAIRN_TRY(cairn_net_create(info->name, info->channels, info->height, info->width, &net));
    cairn_status status = add_layers(net, classes, options);
    if (status == CAIRN_OK)
        *out = net;
    else
        cairn_net_destroy(net);
    return status;
}
