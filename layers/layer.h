/* layer.h - one layer of a net: what it makes of a shape, which parameters it has, what it costs, how it runs.
 *
 * Layers are made by the constructors below, handed to cairn_net_add, and belong to the net from then on. What a layer computes is
 * documented at its operation in core/backend.h; no layer knows a device by name.
 *
 *     CAIRN_TRY(cairn_net_add(net, "conv1", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 64, .kernel = 11, .stride = 4, .pad = 2})));
 *     CAIRN_TRY(cairn_net_add(net, "relu1", cairn_relu()));
 */
#ifndef CAIRN_LAYERS_LAYER_H
#define CAIRN_LAYERS_LAYER_H

#include "core/backend.h"
#include "core/status.h"
#include "core/tensor.h"

typedef struct cairn_layer cairn_layer;

/* How a parameter starts. */
typedef enum cairn_init_kind {
    CAIRN_INIT_DEFAULT,   /* the layer's own: He uniform for weights, 0 for biases */
    CAIRN_INIT_CONSTANT,  /* `value` */
    CAIRN_INIT_NORMAL,    /* mean 0, standard deviation `value` (Krizhevsky et al. 2012, 5: 0.01) */
    CAIRN_INIT_UNIFORM,   /* in [-value, value) */
    CAIRN_INIT_HE_NORMAL, /* standard deviation `value` * sqrt(2 / fan_in), value 0 means 1 (He et al. 2015) */
    CAIRN_INIT_HE_UNIFORM, /* bound `value` * sqrt(6 / fan_in), the same deviation: cheaper to draw than normal numbers */
    CAIRN_INIT_XAVIER_UNIFORM, /* bound `value` * sqrt(6 / (fan_in + fan_out)), value 0 means 1 (Glorot & Bengio 2010) */
} cairn_init_kind;

typedef struct cairn_init {
    cairn_init_kind kind;
    float value;
} cairn_init;

typedef struct cairn_conv2d_options {
    int64_t out_channels, kernel, stride, pad, groups; /* stride and groups 0 mean 1 */
    bool no_bias;
    cairn_init weight_init, bias_init;
} cairn_conv2d_options;

typedef struct cairn_linear_options {
    int64_t out_features;
    bool no_bias;
    cairn_init weight_init, bias_init;
} cairn_linear_options;

typedef struct cairn_pool2d_options {
    int64_t kernel, stride, pad; /* stride 0 means kernel */
    bool ceil_mode;
} cairn_pool2d_options;

typedef struct cairn_lrn_options {
    int64_t size;
    float alpha, beta, k;
} cairn_lrn_options;

typedef struct cairn_batchnorm_options {
    float eps, momentum; /* 0 mean 1e-5 and 0.1 */
} cairn_batchnorm_options;

/* Constructors. NULL when there is no memory; wrong values are reported by cairn_net_add with the layer's name. */
cairn_layer *cairn_conv2d(const cairn_conv2d_options *options);
cairn_layer *cairn_linear(const cairn_linear_options *options); /* takes (N, I) */
cairn_layer *cairn_maxpool2d(const cairn_pool2d_options *options);
cairn_layer *cairn_avgpool2d(const cairn_pool2d_options *options);
cairn_layer *cairn_adaptive_avgpool2d(int64_t out_h, int64_t out_w);
cairn_layer *cairn_relu(void);
cairn_layer *cairn_lrn(const cairn_lrn_options *options);
cairn_layer *cairn_dropout(float rate);
cairn_layer *cairn_batchnorm2d(const cairn_batchnorm_options *options);
cairn_layer *
cairn_flatten(void); /* (N, C, H, W) to (N, C*H*W) in plain order; costs nothing where the layout is plain */

#endif
