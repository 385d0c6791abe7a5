/* alexnet.c - AlexNet in the four forms people mean by the name.
 *
 *   owt       Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks", as torchvision has it
 *   paper     Krizhevsky, Sutskever, Hinton 2012, as printed and as Caffe's bvlc_alexnet: ReLU, LRN, pool; two groups
 *   caffenet  Caffe's bvlc_reference_caffenet: ReLU, pool, LRN, with k 1
 *   tfcnn     tf_cnn_benchmarks' alexnet: no LRN, no groups
 */
#include "models/builders.h"
#include <stdio.h>
#include <string.h>

enum { CONVS = 5, LAYERS = 8 }; /* conv1..conv5, fc6..fc8 */

typedef enum norm_place { NO_NORM, NORM_BEFORE_POOL, NORM_AFTER_POOL } norm_place;

typedef struct alexnet_conv {
    int64_t channels, kernel, stride, pad, groups;
} alexnet_conv;

typedef struct alexnet_preset {
    const char *name;
    alexnet_conv conv[CONVS];
    norm_place norm; /* of conv1 and conv2 */
    float norm_k;
    bool adaptive_pool;         /* 6x6 before fc6, so that other image sizes would do */
    bool dropout_first;         /* before fc6 and fc7 rather than after them */
    const char *prefix[LAYERS]; /* of the parameters; NULL: the layer's name */
} alexnet_preset;

static const alexnet_preset presets[] = {
    {.name = "owt",
     .conv = {{64, 11, 4, 2, 1}, {192, 5, 1, 2, 1}, {384, 3, 1, 1, 1}, {256, 3, 1, 1, 1}, {256, 3, 1, 1, 1}},
     .adaptive_pool = true,
     .dropout_first = true,
     .prefix = {"features.0", "features.3", "features.6", "features.8", "features.10", "classifier.1", "classifier.4",
                "classifier.6"}},
    {.name = "paper",
     .conv = {{96, 11, 4, 0, 1}, {256, 5, 1, 2, 2}, {384, 3, 1, 1, 1}, {384, 3, 1, 1, 2}, {256, 3, 1, 1, 2}},
     .norm = NORM_BEFORE_POOL,
     .norm_k = 2.0f},
    {.name = "caffenet",
     .conv = {{96, 11, 4, 0, 1}, {256, 5, 1, 2, 2}, {384, 3, 1, 1, 1}, {384, 3, 1, 1, 2}, {256, 3, 1, 1, 2}},
     .norm = NORM_AFTER_POOL,
     .norm_k = 1.0f},
    {.name = "tfcnn",
     .conv = {{64, 11, 4, 0, 1}, {192, 5, 1, 2, 1}, {384, 3, 1, 1, 1}, {384, 3, 1, 1, 1}, {256, 3, 1, 1, 1}}},
};

static const float default_dropout = 0.5f;

typedef struct builder {
    cairn_net *net;
    const alexnet_preset *preset;
    const cairn_model_options *options;
    float dropout;
} builder;

/* Adds "<kind><number>". Only convolutions and linear layers have parameters, so a prefix does no harm to others. */
static cairn_status add(const builder *b, const char *kind, int number, cairn_layer *layer)
{
    char name[16];
    snprintf(name, sizeof name, "%s%d", kind, number);
    const char *prefix = layer && (!strcmp(kind, "conv") || !strcmp(kind, "fc")) ? b->preset->prefix[number - 1] : NULL;
    return cairn_net_add_as(b->net, name, prefix ? prefix : name, layer);
}

static cairn_init weight_init(const builder *b, int number)
{
    /* The last layer starts small, so that the first loss is ln(classes). */
    if (b->options->paper_init || number == LAYERS) return (cairn_init){CAIRN_INIT_NORMAL, 0.01f};
    return (cairn_init){CAIRN_INIT_DEFAULT, 0.0f};
}

/* Krizhevsky et al. 2012, 5, set these biases to 1 so that their ReLUs start alive; 0.1 does so without drowning the input. */
static cairn_init bias_init(const builder *b, int number)
{
    bool alive = number == 2 || (number >= 4 && number < LAYERS);
    return (cairn_init){CAIRN_INIT_CONSTANT, b->options->paper_init && alive ? 0.1f : 0.0f};
}

static cairn_status add_norm(const builder *b, int number)
{
    return add(b, "norm", number,
               cairn_lrn(&(cairn_lrn_options){.size = 5, .alpha = 1e-4f, .beta = 0.75f, .k = b->preset->norm_k}));
}

static cairn_status add_conv(const builder *b, int number)
{
    const alexnet_preset *preset = b->preset;
    const alexnet_conv *conv = &preset->conv[number - 1];
    const cairn_conv2d_options options = {
        .out_channels = cairn_model_width(conv->channels, b->options),
        .kernel = conv->kernel,
        .stride = conv->stride,
        .pad = conv->pad,
        .groups = conv->groups,
        .weight_init = weight_init(b, number),
        .bias_init = bias_init(b, number),
    };
    CAIRN_TRY(add(b, "conv", number, cairn_conv2d(&options)));
    CAIRN_TRY(add(b, "relu", number, cairn_relu()));
    bool pooled = number <= 2 || number == CONVS, normed = number <= 2;
    if (normed && preset->norm == NORM_BEFORE_POOL) CAIRN_TRY(add_norm(b, number));
    if (pooled) CAIRN_TRY(add(b, "pool", number, cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 3, .stride = 2})));
    if (normed && preset->norm == NORM_AFTER_POOL) CAIRN_TRY(add_norm(b, number));
    return CAIRN_OK;
}

static cairn_status add_fc(const builder *b, int number, int64_t features)
{
    const cairn_linear_options options = {
        .out_features = features,
        .weight_init = weight_init(b, number),
        .bias_init = bias_init(b, number),
    };
    bool hidden = number < LAYERS, first = b->preset->dropout_first;
    if (hidden && first) CAIRN_TRY(add(b, "drop", number, cairn_dropout(b->dropout)));
    CAIRN_TRY(add(b, "fc", number, cairn_linear(&options)));
    if (hidden) CAIRN_TRY(add(b, "relu", number, cairn_relu()));
    if (hidden && !first) CAIRN_TRY(add(b, "drop", number, cairn_dropout(b->dropout)));
    return CAIRN_OK;
}

static cairn_status add_layers(const builder *b, int64_t classes)
{
    for (int i = 1; i <= CONVS; i++)
        CAIRN_TRY(add_conv(b, i));
    if (b->preset->adaptive_pool) CAIRN_TRY(cairn_net_add(b->net, "avgpool", cairn_adaptive_avgpool2d(6, 6)));
    CAIRN_TRY(cairn_net_add(b->net, "flatten", cairn_flatten()));
    int64_t features = cairn_model_width(4096, b->options);
    CAIRN_TRY(add_fc(b, 6, features));
    CAIRN_TRY(add_fc(b, 7, features));
    return add_fc(b, 8, classes);
}

cairn_status cairn_alexnet_build(const cairn_model_info *info, int64_t classes, const cairn_model_options *options,
                                 cairn_net **out)
{
    builder b = {.options = options, .dropout = options->dropout < 0 ? default_dropout : options->dropout};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, info->preset) == 0) b.preset = &presets[i];
    *out = NULL;
    if (!b.preset) return cairn_fail(CAIRN_USAGE, "alexnet has no preset \"%s\"", info->preset);

    char name[32];
    snprintf(name, sizeof name, "alexnet %s", info->preset);
    CAIRN_TRY(cairn_net_create(name, info->channels, info->height, info->width, &b.net));
    cairn_status status = add_layers(&b, classes);
    if (status == CAIRN_OK)
        *out = b.net;
    else
        cairn_net_destroy(b.net);
    return status;
}
