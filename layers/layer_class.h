/* layer_class.h - what a kind of layer tells the net; used inside layers/ only.
 *
 * A layer is a private struct that begins with cairn_layer and points to one const class. It holds its options and nothing else: what
 * it needs to run is made by the class's plan and owned by the net, so one layer never knows its batch size or its device.
 *
 * Shapes here carry a batch in dim[0]; any batch will do.
 */
#ifndef CAIRN_LAYERS_LAYER_CLASS_H
#define CAIRN_LAYERS_LAYER_CLASS_H

#include "layers/layer.h"

#define CAIRN_LAYER_PARAMETERS 2 /* at most: weight, bias */
#define CAIRN_LAYER_BUFFERS    2 /* at most: running mean, running variance */

/* A parameter as the layer wants it, in the order weight, bias. */
typedef struct cairn_layer_parameter {
    const char *suffix; /* "weight"; static */
    cairn_shape shape;
    cairn_init init; /* resolved: never CAIRN_INIT_DEFAULT */
    int64_t fan_in, fan_out;
    bool decay;
} cairn_layer_parameter;

/* What the net asks a layer to plan. */
typedef struct cairn_layer_request {
    cairn_device *device;
    cairn_shape src; /* with the batch */
    cairn_dtype dtype;
    const cairn_layout *src_layout;
    bool train, need_diff_src;
    bool relu;              /* clamp the output at 0 (folds_relu); of a max-pool with lrn: clamp the input of the LRN */
    bool relu_backward;     /* mask the gradient of the output (folds_relu, masks_relu) */
    const cairn_layer *lrn; /* of a max-pool: the LRN before it that its plan computes too; NULL: none */
    cairn_rng rng;          /* of dropout */
} cairn_layer_request;

/* Can the output be the input's own memory, read in another shape? */
typedef enum cairn_layer_view {
    CAIRN_VIEW_NONE,  /* no: the layer computes something */
    CAIRN_VIEW_ANY,   /* the same shape and elements, in whatever layout they lie */
    CAIRN_VIEW_PLAIN, /* the same elements where they lie in plain order */
} cairn_layer_view;

typedef struct cairn_layer_class {
    const char *kind; /* "conv2d" */

    /* What the net may do around the layer. */
    bool folds_relu; /* a ReLU after it can be part of it */
    bool is_relu;    /* is that ReLU */
    bool masks_relu; /* its backward can do the ReLU backward of the layer before (max-pool) */
    bool is_lrn;     /* may be computed by the max-pool behind it (takes_lrn) where the device has such an operation */
    bool takes_lrn;  /* is that max-pool */
    bool takes_pictures;     /* as the first layer: pictures may be written in the layout that its plan asks for */
    bool full_precision;     /* its parameters stay f32 in a net of lower precision */
    bool in_place;           /* forward may write dst over src */
    bool in_place_backward;  /* backward may write diff_src over diff_dst */
    bool backward_reads_src; /* unless the plan spares it; with relu_backward, dst is always read */
    bool backward_reads_dst;

    const char *buffers[CAIRN_LAYER_BUFFERS]; /* suffixes of its buffers, f32 [C] each; NULL: none */

    /* Checks options and src, and gives the shape of dst. CAIRN_USAGE says which value is wrong and why. */
    cairn_status (*infer)(const cairn_layer *layer, cairn_shape src, cairn_shape *dst);
    /* Fills in the parameters and returns how many; NULL: it has none. src has passed infer, here and below. */
    int (*parameters)(const cairn_layer *layer, cairn_shape src, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS]);
    int64_t (*macs)(const cairn_layer *layer, cairn_shape src, cairn_shape dst);     /* of the whole batch; NULL: 0 */
    cairn_layer_view (*view)(const cairn_layer *layer, cairn_shape src, bool train); /* NULL: CAIRN_VIEW_NONE */
    cairn_status (*plan)(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out);
} cairn_layer_class;

struct cairn_layer {
    const cairn_layer_class *class;
};

/* A zeroed layer of `bytes` with its class set; NULL when there is no memory. */
cairn_layer *cairn_layer_create(const cairn_layer_class *class, size_t bytes);
void cairn_layer_destroy(cairn_layer *layer); /* NULL is allowed */

/* The parameters of a layer that multiplies: a weight, of which dim[0] is the outputs, started by He's rule unless `weight_init` says
 * otherwise, and unless `no_bias` a bias of zeros. Returns how many. */
int cairn_layer_weight_and_bias(cairn_shape weight, int64_t fan_in, int64_t fan_out, cairn_init weight_init,
                                bool no_bias, cairn_init bias_init, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS]);

/* What an LRN asks of the device. */
cairn_lrn_desc cairn_layer_lrn_desc(const cairn_layer *lrn, const cairn_layer_request *request);

/* CAIRN_USAGE unless the shape is (N, C, H, W), or (N, I). */
cairn_status cairn_layer_expect_image(cairn_shape src);
cairn_status cairn_layer_expect_features(cairn_shape src);

#endif
