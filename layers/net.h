/* net.h - layers in a row: shapes, parameters, planned memory, forward and backward.
 *
 *     cairn_net *net;
 *     CAIRN_TRY(cairn_net_create("lenet", 1, 28, 28, &net));
 *     CAIRN_TRY(cairn_net_add(net, "conv1", cairn_conv2d(&options)));            ... shapes are checked here
 *     CAIRN_TRY(cairn_net_plan(net, device, &(cairn_net_options){.batch = 32, .train = true}));
 *     CAIRN_TRY(cairn_net_init(net, seed));
 *     ... write images into cairn_net_input(net) ...
 *     CAIRN_TRY(cairn_net_forward(net, &(cairn_forward){.train = true, .step = update}));
 *     CAIRN_TRY(cairn_net_loss(net, &loss));
 *     CAIRN_TRY(cairn_net_backward(net, false));                               gradients are now in the gradient slab
 *     cairn_net_destroy(net);
 *
 * Planning fuses conv + ReLU and linear + ReLU, moves a ReLU's backward mask onto the max-pool that follows it, asks each operation for
 * the layouts it wants, puts a reorder only where two neighbours disagree, and lays all activations, their gradients and one shared
 * workspace into one arena by their lifetimes. After it, forward and backward allocate nothing.
 *
 * In f16 or bf16 the layers read a copy of the weights in that type. The f32 weights stay the ones that are initialised, updated and kept; whoever
 * writes them otherwise than cairn_net_init calls cairn_net_refresh. Batch norm's parameters, the logits and the loss are f32 always.
 */
#ifndef CAIRN_LAYERS_NET_H
#define CAIRN_LAYERS_NET_H

#include "layers/layer.h"

typedef struct cairn_net cairn_net;

/* channels, height, width of the images it takes. */
cairn_status cairn_net_create(const char *name, int64_t channels, int64_t height, int64_t width, cairn_net **out);
void cairn_net_destroy(cairn_net *net); /* NULL is allowed; call before closing the device */

/* Appends a layer and takes ownership of it, also on failure. `name` is unique in the net and prefixes its parameters
 * ("conv1" has "conv1.weight" and "conv1.bias"). CAIRN_USAGE names the layer when the shape doesn't fit; NULL layer: CAIRN_MEMORY. */
cairn_status cairn_net_add(cairn_net *net, const char *name, cairn_layer *layer);

/* The same with another prefix for its parameters: "conv1" with prefix "features.0" has "features.0.weight". */
cairn_status cairn_net_add_as(cairn_net *net, const char *name, const char *prefix, cairn_layer *layer);

typedef struct cairn_net_options {
    int64_t batch;
    bool train;            /* plan backward, and allocate a gradient slab */
    bool keep_activations; /* for tests: give every activation and gradient its own memory, so that all can be read */
    bool no_fusion;        /* for tests: run every ReLU by itself */
    bool input_gradient;   /* with train: backward also gives the gradient of the input */
    cairn_dtype dtype; /* of activations and of the weights that the layers read: CAIRN_F32, CAIRN_F16, CAIRN_BF16 */
    uint64_t seed;     /* of dropout */
} cairn_net_options;

/* Makes every plan and takes all memory on the device. Once a net. CAIRN_DEVICE with the reason where it doesn't compute in the dtype. */
cairn_status cairn_net_plan(cairn_net *net, cairn_device *device, const cairn_net_options *options);

/* Fills the parameters as their layers say; the same numbers on every device. */
cairn_status cairn_net_init(cairn_net *net, uint64_t seed);

/* Brings the copy in low precision up to the f32 weights; nothing to do in f32. After an update: only where that didn't write the copy itself,
 * see updates_low of cairn_parameter. */
cairn_status cairn_net_refresh(cairn_net *net, bool after_update);

/* ---- running ---- */

typedef struct cairn_forward {
    bool train;           /* dropout draws, batch norm uses the batch */
    uint32_t step;        /* number of the update, for dropout */
    int64_t first_sample; /* position of this micro-batch in the update's batch, for dropout */
    bool check_finite;    /* slow: stop with CAIRN_NONFINITE naming the first layer whose output is not finite */
} cairn_forward;

cairn_status cairn_net_forward(cairn_net *net, const cairn_forward *forward);

/* The loss of the last forward, core/backend.h's softmax_loss on the net's output. All pointers are device addresses. With train,
 * also writes the gradient of the logits that cairn_net_backward starts from. */
typedef struct cairn_loss {
    const int32_t *labels;      /* [batch] */
    const float *scale;         /* [batch]: 1 / (weight of the samples of the update), 0 to ignore a sample */
    const float *class_weights; /* [classes] or NULL */
    const float *loss_scale;    /* one number, multiplies the gradients alone; NULL: 1 */
    float smoothing;
    bool train;
    float *totals; /* f32 [4], added to: loss, top-1 hits, top-5 hits, samples */
} cairn_loss;

cairn_status cairn_net_loss(cairn_net *net, const cairn_loss *loss);

/* From the gradient of the logits to the gradients of all parameters: overwritten, or added to with accumulate. */
cairn_status cairn_net_backward(cairn_net *net, bool accumulate);

/* ---- what it holds ---- */

/* With memory of their own: the input stays until it is written again. The input is of the net's dtype, and where the device augments into
 * layouts in the one that the first layer likes; the others are plain f32. Before planning, and the gradients where none is planned: data NULL. */
cairn_tensor cairn_net_input(const cairn_net *net);       /* (batch, C, H, W); written by whoever feeds the net */
cairn_tensor cairn_net_output(const cairn_net *net);      /* (batch, classes) */
cairn_tensor cairn_net_diff_output(const cairn_net *net); /* backward starts here */
cairn_tensor cairn_net_diff_input(const cairn_net *net);  /* with input_gradient */
const char *cairn_net_name(const cairn_net *net);
int64_t cairn_net_batch(const cairn_net *net);     /* 0 before planning */
int64_t cairn_net_classes(const cairn_net *net);   /* features of the last layer */
cairn_dtype cairn_net_dtype(const cairn_net *net); /* as planned */
cairn_device *cairn_net_device(const cairn_net *net);

typedef struct cairn_parameter {
    char name[64];
    cairn_shape shape; /* plain: (O, C / groups, kh, kw), (out, in), (O) */
    cairn_init init;   /* resolved: never CAIRN_INIT_DEFAULT */
    int64_t fan_in, fan_out;
    bool decay;                 /* a weight; false for biases and normalisation */
    const cairn_layout *layout; /* after planning, as offset and count: */
    int64_t offset, count;      /* elements in the slabs, padding included; offset is a multiple of 16 */
    bool updates_low; /* there is a copy in low precision, and it lies alike: an update can write it in the same pass */
} cairn_parameter;

int cairn_net_parameter_count(const cairn_net *net);
const cairn_parameter *cairn_net_parameter(const cairn_net *net, int index);
int cairn_net_find_parameter(const cairn_net *net, const char *name); /* -1 when there is none */

/* Buffers that training changes but no gradient reaches: batch norm's running mean and variance. Read and written like parameters. */
int cairn_net_buffer_count(const cairn_net *net);
const char *cairn_net_buffer_name(const cairn_net *net, int index);
cairn_tensor cairn_net_buffer(const cairn_net *net, int index);

/* The slabs, f32, `count` elements each, parameter i at its offset. gradients.data is NULL without train. */
cairn_slab cairn_net_weights(const cairn_net *net);
cairn_slab cairn_net_gradients(const cairn_net *net);
int64_t cairn_net_slab_count(const cairn_net *net);

/* The copies in low precision; those of parameters that say updates_low at the same offsets in elements. data NULL in f32. */
cairn_slab cairn_net_weights_low(const cairn_net *net);

/* Parameter `index` as it lies in a slab of the net's shape (weights, gradients or optimizer state). */
cairn_tensor cairn_net_view(const cairn_net *net, const cairn_slab *slab, int index);

/* ---- what it costs ---- */

typedef struct cairn_layer_info {
    const char *name, *kind;
    cairn_shape shape;       /* output for one sample: dim[0] is 1 */
    int64_t parameters;      /* elements in plain layout */
    int64_t macs;            /* multiply-adds of forward for one sample; convolution and linear only */
    size_t activation_bytes; /* of the output for the planned batch (0: fused, view); for one sample before planning */
    const char *
        algorithm; /* after planning; "fused" for a layer folded into another, "view" for one that costs nothing, "" before */
    bool first_trainable; /* its input needs no gradient */
} cairn_layer_info;

int cairn_net_layer_count(const cairn_net *net);
cairn_layer_info cairn_net_layer(const cairn_net *net, int index);

int64_t cairn_net_parameters_total(const cairn_net *net);
int64_t cairn_net_macs(const cairn_net *net); /* forward, one sample */
int64_t cairn_net_train_flops(
    const cairn_net
        *net); /* forward and backward for one sample, 2 a multiply-add, no data gradient of the first layer */

typedef struct cairn_net_memory {
    size_t weights, gradients, arena, workspace; /* weights with their copies; workspace is part of the arena */
} cairn_net_memory;
cairn_net_memory cairn_net_memory_use(const cairn_net *net);

/* Activation or its gradient after layer `index`; only where keep_activations was asked (data NULL otherwise, and for fused layers).
 * Where a ReLU is folded in, the activation is that after the ReLU, and the gradient that before it. */
cairn_tensor cairn_net_activation(const cairn_net *net, int index);
cairn_tensor cairn_net_diff_activation(const cairn_net *net, int index);

#endif
