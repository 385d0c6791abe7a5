/* backend.h - the contract between Cairn and the code that drives one kind of device.
 *
 * A backend is a table of functions. Operations with shapes are planned once and run many times: a plan owns its native
 * descriptors and its chosen algorithm, says which memory layout it wants for each operand and how much shared workspace it
 * needs, and then runs forward and backward on raw device addresses.
 *
 *     cairn_plan *plan;
 *     CAIRN_TRY(device->backend->plan_conv2d(device, &desc, &plan));
 *     ... put src where plan->layout.src says, allocate plan->workspace bytes ...
 *     CAIRN_TRY(plan->ops->forward(plan, &(cairn_operands){.src = x, .weights = w, .bias = b, .dst = y, .workspace = s}));
 *     cairn_plan_destroy(plan);
 *
 * A plan function that doesn't support what is asked returns CAIRN_DEVICE with the reason in the message: that is how
 * "supports" is asked. Nothing is allocated while a plan runs.
 *
 * Notation: N batch, C channels, H W height and width, O output channels, g groups; x src, y dst, w weights, b bias;
 * dy = dL/dy (diff_dst), dx = dL/dx (diff_src), dw, db. Plain layouts: activations NCHW, weights OIHW or [out][in].
 *
 * Low precision: with desc.dtype f16 or bf16, activations, their gradients, and the weights and bias that a plan reads are of that type;
 * sums are f32 or better, and diff_weights and diff_bias are always f32, laid out as layout.weights says. The f32 weights that the optimizer
 * updates (the master weights) lie as layout.weights; the copy that the plan reads lies as layout.weights_low. Batch norm's gamma and beta,
 * running statistics, logits, loss and totals stay f32.
 */
#ifndef CAIRN_CORE_BACKEND_H
#define CAIRN_CORE_BACKEND_H

#include "core/device.h"
#include "core/queue.h"
#include "core/rng.h"
#include "core/update_state.h"

/* Grows by one whenever anything in this file changes; a plug-in with another number is refused. */
#define CAIRN_BACKEND_ABI 3

/* ------------------------------------------------------------------------------------------------------------ device */

/* What a backend's open fills in. Backends put this first in a struct of their own. */
struct cairn_device {
    const cairn_backend *backend;
    cairn_device_options options;
    char name[160]; /* see cairn_device_name */
    char library[48];
    int threads;
    struct cairn_memory_ledger *ledger; /* core's account of what is held by whom; made and released by core */
};

/* --------------------------------------------------------------------------------------------------------- operations */

typedef struct cairn_plan cairn_plan;

/* Every operand an operation may take; each plan kind says which it reads and writes. Device addresses. */
typedef struct cairn_operands {
    const void *src;
    const void *weights;  /* of the plan's dtype, as layout.weights (f32) or layout.weights_low says */
    const void *bias;     /* of the plan's dtype */
    void *dst;            /* written by forward; read by backward where the plan says so */
    void *diff_dst;       /* read by backward; overwritten where the plan says so */
    void *diff_src;       /* NULL: not wanted */
    void *diff_weights;   /* f32 */
    void *diff_bias;      /* f32 */
    void *saved;          /* plan->saved bytes that a training forward leaves for backward */
    void *workspace;      /* plan->workspace bytes, contents undefined before and after every call */
    bool train;           /* forward: leave what backward needs */
    bool accumulate;      /* backward: add to diff_weights and diff_bias instead of overwriting them */
    uint32_t step;        /* dropout: number of the update */
    int64_t first_sample; /* dropout: position of this micro-batch's first sample in the update's batch */
    void *running_mean;   /* batch norm, f32 [C]; updated by a training forward, read by an evaluating one */
    void *running_variance;
} cairn_operands;

typedef struct cairn_plan_ops {
    cairn_status (*forward)(cairn_plan *plan, const cairn_operands *operands);
    cairn_status (*backward)(cairn_plan *plan, const cairn_operands *operands); /* NULL when planned without train */
    void (*destroy)(cairn_plan *plan);
} cairn_plan_ops;

/* What every plan says of itself. Backends put this first in a struct of their own. */
struct cairn_plan {
    const cairn_plan_ops *ops;
    cairn_device *device;
    struct {
        const cairn_layout *src, *dst; /* of forward */
        const cairn_layout *weights;   /* f32 weights; their gradients and optimizer state lie as they do */
        /* The copy that a plan in f16 or bf16 reads; unused in f32. The same pointer as `weights` where it lies element for element as the
         * f32 weights do: then the update writes it, else the net reorders the new weights into it. */
        const cairn_layout *weights_low;
        const cairn_layout *diff_src, *diff_dst; /* of backward */
    } layout;
    /* True where backward doesn't read src (dst) although the operation's comment lets it: the net gives NULL and reuses the memory. */
    bool spares_src, spares_dst;
    size_t saved;
    size_t workspace;
    char algorithm[64]; /* for people: "jit:avx512_core", "winograd F(4x4,3x3)" */
};

static inline void cairn_plan_destroy(cairn_plan *plan)
{
    if (plan) plan->ops->destroy(plan);
}

/* y[n,o,i,j] = b[o] + sum_{c,u,v} x[n, c, i*stride_h - pad_h + u, j*stride_w - pad_w + v] w[o,c,u,v], c over o's group;
 * with relu, y = max(y, 0). Reads src, weights, bias (NULL without has_bias); overwrites dst. dst is (N, O, P, Q) with
 * P = (H + 2 pad_h - kernel_h) / stride_h + 1.
 * Backward, in this order: with relu_backward, diff_dst *= (dst > 0) in place (reads dst); diff_bias (+)= sum over n,i,j of dy;
 * diff_weights (+)= dy * x (reads src); diff_src = dy * w (overwritten; skipped when NULL). */
typedef struct cairn_conv2d_desc {
    cairn_shape src; /* (N, C, H, W) */
    int64_t out_channels;
    int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    int64_t groups; /* C and out_channels are multiples; weights are (O, C / groups, kernel_h, kernel_w) */
    bool has_bias;
    bool relu;          /* forward: clamp dst at 0 */
    bool relu_backward; /* backward: mask diff_dst by dst > 0; false where a max-pool above has done it already */
    bool train;         /* plan backward too */
    bool need_diff_src; /* false for the first layer */
    cairn_dtype dtype;
    const cairn_layout *src_layout; /* how src will come; the plan may ask for another in layout.src */
} cairn_conv2d_desc;

/* CAIRN_USAGE where the numbers make no convolution, on whatever backend. */
cairn_status cairn_conv2d_desc_check(const cairn_conv2d_desc *desc);

/* y[n,o] = b[o] + sum_i x[n,i] w[o,i]; relu, relu_backward, bias and accumulation as for conv2d. src (N, I), dst (N, O). */
typedef struct cairn_linear_desc {
    int64_t batch, in_features, out_features;
    bool has_bias, relu, relu_backward, train, need_diff_src;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_linear_desc;

typedef enum cairn_pool_kind {
    CAIRN_POOL_MAX,     /* padding never wins */
    CAIRN_POOL_AVERAGE, /* divides by the elements of the window inside the padded input (count_include_pad, as PyTorch) */
    CAIRN_POOL_ADAPTIVE_AVERAGE, /* dst (out_h, out_w) given; window of i is [floor(i H / P), ceil((i + 1) H / P)) */
} cairn_pool_kind;

/* dst rows: floor((H + 2 pad - kernel) / stride) + 1, or ceil with ceil_mode, then less one if the last window would start in
 * the right padding (PyTorch's rule). Backward overwrites diff_src; max sends dy to the first maximum in row-major order of the window.
 * With relu_backward (max only), backward takes diff_dst * (dst > 0) for diff_dst, and may do so in place. May read src and dst; uses saved. */
typedef struct cairn_pool2d_desc {
    cairn_pool_kind kind;
    cairn_shape src;
    int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w; /* unused by adaptive */
    int64_t out_h, out_w;                                         /* of dst; for every kind, already worked out */
    bool relu_backward, train;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_pool2d_desc;

/* y = max(x, 0). Backward: dx = dy * (y > 0); reads dst; diff_src may be diff_dst. */
typedef struct cairn_relu_desc {
    cairn_shape src;
    bool train;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_relu_desc;

/* Across channels: y_c = x_c s_c^-beta, s_c = k + alpha / size * sum of x_j^2 for j in [c - size/2, c + (size-1)/2] cut at the
 * edges (size stays the divisor). Backward: dx_c = dy_c s_c^-beta - 2 alpha beta / size x_c sum_{j: c in window of j} dy_j y_j / s_j.
 * Reads src, dst, saved. (Krizhevsky et al. 2012, 3.3; Caffe, cuDNN and PyTorch divide alpha by size.) */
typedef struct cairn_lrn_desc {
    cairn_shape src;
    int64_t size;
    float alpha, beta, k;
    bool train;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_lrn_desc;

/* y = maxpool(LRN(x)), or maxpool(LRN(max(x, 0))) with relu, in one pass; formulas and reads as for the single operations, of which the
 * `src` and `train` of lrn and the `src` of pool must fit. Backward overwrites diff_src with the gradient of x, masked where relu. */
typedef struct cairn_lrn_pool_desc {
    cairn_lrn_desc lrn;
    cairn_pool2d_desc pool; /* CAIRN_POOL_MAX, no relu_backward */
    bool relu;
} cairn_lrn_pool_desc;

/* A training forward: y = x / (1 - rate) where cairn_rng_uniform(stream, first_sample * (elements a sample) + i) >= rate, else 0, with
 * i the element's position in plain order and stream = rng with high[0] = step; an evaluating forward copies. Backward draws the same
 * mask again: dx = dy / (1 - rate) or 0. dst may be src, and diff_src may be diff_dst. */
typedef struct cairn_dropout_desc {
    cairn_shape src; /* dim[0] is the batch */
    float rate;      /* in [0, 1) */
    cairn_rng rng;   /* purpose CAIRN_RNG_DROPOUT, instance: the layer */
    bool train;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_dropout_desc;

/* Per channel: a training forward uses the batch's mean m and biased variance v, y = gamma (x - m) / sqrt(v + eps) + beta, and does
 * running = (1 - momentum) running + momentum * (m, or v * n / (n - 1)); an evaluating one uses the running values. weights: gamma [C],
 * bias: beta [C]; backward gives diff_weights, diff_bias (accumulating as asked) and diff_src. Reads src and saved. (PyTorch's rule.) */
typedef struct cairn_batchnorm_desc {
    cairn_shape src;
    float eps, momentum;
    bool train;
    cairn_dtype dtype;
    const cairn_layout *src_layout;
} cairn_batchnorm_desc;

/* dst = src in another layout or dtype; `from` and `to` NULL for plain. No backward. */
typedef struct cairn_reorder_desc {
    cairn_shape shape;
    const cairn_layout *from, *to;
    cairn_dtype from_dtype, to_dtype;
} cairn_reorder_desc;

/* Softmax cross-entropy over plain f32 logits [N][C], stable log-sum-exp. With q = (1 - smoothing) at the label plus smoothing / C everywhere,
 * l_n = sum_c q_c weight_c (lse_n - x_nc), and the loss of the sample is scale[n] * l_n. scale[n] is 1 / (sum over the samples of the whole
 * update of weight[label]) for a valid sample and 0 for one to be ignored (its label may then be anything).
 * dlogits (NULL: not wanted) = the gradient of sum_n loss_n times *loss_scale, overwritten. totals f32[4] += { sum of loss_n, correct in the top 1,
 * correct in the top 5, samples with scale > 0 }; a label is in the top k when fewer than k other logits are greater or, being equal, come first. */
typedef struct cairn_softmax_loss {
    int64_t batch, classes;
    const float *logits;
    const int32_t *labels;
    const float *scale;
    const float *class_weights; /* [C]; NULL: all 1 */
    const float *loss_scale;    /* one number on the device, see cairn_update_state; NULL: 1 */
    float smoothing;
    float *dlogits;
    float *totals;
} cairn_softmax_loss;

/* dst[n,c,i,j] = (src[n, top_n + i, left_n + j', c] / 255 - mean[c]) / std[c], j' = j or, flipped, width - 1 - j. dst: (N, 3, height,
 * width), rounded to its dtype; plain, or in a layout that plan_conv2d asked for where the table says augments_into_layouts.
 * src: u8 [N][src_h][src_w][3] on the device. crop: i32 [N][3] = top, left, flip (0 or 1) on the device. */
typedef struct cairn_augment {
    int64_t batch, src_h, src_w, height, width;
    const uint8_t *src;
    const int32_t *crop;
    float mean[3], std[3];
    cairn_dtype dtype; /* of dst */
    const cairn_layout *dst_layout;
    void *dst;
} cairn_augment;

typedef enum cairn_update_kind { CAIRN_UPDATE_SGD, CAIRN_UPDATE_ADAM, CAIRN_UPDATE_ADAMW } cairn_update_kind;

/* A run of the parameter slabs that is updated alike. */
typedef struct cairn_update_segment {
    int64_t offset, count; /* elements; offset is a multiple of 16 */
    float weight_decay;    /* 0 on biases unless asked */
    bool low;              /* write the low-precision copy of these elements too */
} cairn_update_segment;

/* One optimizer update over the slabs, all f32, all laid out alike; one pass over memory.
 * SGD:   d = g + decay w;  v = momentum v + d;  w -= lr (nesterov ? d + momentum v : v);   (v starts at 0; momentum 0: w -= lr d, no state)
 * ADAM:  d = g + decay w;  m = b1 m + (1 - b1) d;  v = b2 v + (1 - b2) d^2;  w -= lr mhat / (sqrt(vhat) + eps), mhat = m / (1 - b1^t), t = step + 1
 * ADAMW: w -= lr decay w first, then ADAM with d = g.      (Kingma & Ba 2015; Loshchilov & Hutter 2019; as PyTorch computes them)
 * In all of them g = gradients / loss_scale, and where a segment asks for it the new w is also written, rounded, to weights_low.
 *
 * Without state: lr and step as given here, loss scale 1. With state, on the device: step = state->updates and, where there are rates,
 * lr = rates[step - first_rate], the index held within the table; state->nonfinite = any gradient of the segments is not finite; then the
 * state goes on as core/update_state.h says: with dynamic_scale and a gradient that is not finite, nothing else is written.
 * Without dynamic_scale an update is made also of gradients that are not finite: whoever reads the state stops the run. */
typedef struct cairn_update {
    cairn_update_kind kind;
    float lr, momentum, beta1, beta2, eps;
    bool nesterov;
    int64_t step;              /* updates done before this one */
    cairn_update_state *state; /* device; may be NULL */
    bool dynamic_scale;        /* needs state */
    const float *rates;        /* device, with state; NULL: lr */
    int64_t first_rate, rate_count;
    float *weights;
    const float *gradients;
    float *state0, *state1; /* SGD: v, NULL; Adam: m, v */
    void *weights_low;      /* as many elements as weights; NULL where no segment asks for it */
    cairn_dtype low_dtype;
    const cairn_update_segment *segments; /* host; may be reused when the call returns */
    int segment_count;
} cairn_update;

/* -------------------------------------------------------------------------------------------------------------- table */

struct cairn_backend {
    int abi;           /* CAIRN_BACKEND_ABI */
    const char *name;  /* "ref", "cpu", "cuda" */
    const char *build; /* for --version: "CUDA 13.0, cuDNN 9.19, sm_75 sm_80"; NULL: nothing to tell */
    bool
        numbered; /* there may be several devices: "name:which" chooses, options.which holds what stood behind the colon */
    bool augments_into_layouts;

    /* Can a device be opened here? CAIRN_OK, or CAIRN_DEVICE with the reason and the mend. *present is set when hardware of this kind
     * is in the machine, usable or not: "auto" takes the first present backend, or fails with its reason. A backend to be had by name
     * only, as ref, leaves *present false and returns CAIRN_OK. */
    cairn_status (*probe)(bool *present);

    /* Opens a device; fills the base struct. Copies options. close releases everything, also after a failed open of later parts. */
    cairn_status (*open)(const cairn_device_options *options, cairn_device **out);
    void (*close)(cairn_device *device);

    /* Raw memory, 64-byte aligned; NULL when there is none (core words the error). */
    void *(*raw_alloc)(cairn_device *device, size_t bytes);
    void (*raw_free)(cairn_device *device, void *memory, size_t bytes);
    cairn_status (*upload)(cairn_device *device, void *to, const void *from, size_t bytes);
    cairn_status (*download)(cairn_device *device, void *to, const void *from, size_t bytes);
    cairn_status (*zero)(cairn_device *device, void *to, size_t bytes);
    cairn_status (*synchronize)(cairn_device *device);

    /* Asynchronous copies. A backend whose every call is done when it returns leaves all of these NULL, and core's wrappers in queue.h
     * do the obvious. host_alloc: memory the device reads and writes on its own (pinned), 64-byte aligned; NULL when there is none.
     * copy_in, copy_out: between such memory and the device; both must stay as they are until the queue has passed the copy. record puts
     * the mark behind all that is in the queue so far; wait holds the queue's later work until the mark is reached; synchronize holds the
     * host; reached asks without waiting. An event never recorded counts as reached. */
    void *(*host_alloc)(cairn_device *device, size_t bytes);
    void (*host_free)(cairn_device *device, void *memory, size_t bytes);
    cairn_status (*copy_in)(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);
    cairn_status (*copy_out)(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);
    cairn_status (*event_create)(cairn_device *device, cairn_event **out);
    void (*event_destroy)(cairn_device *device, cairn_event *event);
    cairn_status (*event_record)(cairn_device *device, cairn_event *event, cairn_queue queue);
    cairn_status (*event_wait)(cairn_device *device, cairn_event *event, cairn_queue queue);
    cairn_status (*event_synchronize)(cairn_device *device, cairn_event *event);
    cairn_status (*event_reached)(cairn_device *device, cairn_event *event, bool *reached);

    /* Can nets compute in this dtype here, in the processor's own instructions? CAIRN_OK, or CAIRN_DEVICE with the reason. */
    cairn_status (*supports_dtype)(cairn_device *device, cairn_dtype dtype);

    /* The layout of the tensor (N, C H W) that is the same memory as a tensor (N, C, H, W) in `layout`, so that flattening costs nothing and
     * the linear layer behind it permutes its weights instead. NULL: there is none, flatten from plain. The slot may be NULL too. */
    const cairn_layout *(*flatten)(cairn_device *device, cairn_shape src, const cairn_layout *layout);

    /* Bytes of a tensor of `dtype` in a non-plain layout this device made. A layout may be one of a single dtype, or stand for the order of the
     * elements whatever they are: then f32 weights and their low-precision copy have equal layouts and the update writes both. */
    size_t (*layout_bytes)(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype);
    const char *(*layout_name)(cairn_device *device, const cairn_layout *layout);

    cairn_status (*plan_conv2d)(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out);
    cairn_status (*plan_linear)(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out);
    cairn_status (*plan_pool2d)(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
    cairn_status (*plan_relu)(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
    cairn_status (*plan_lrn)(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);
    cairn_status (*plan_lrn_pool)(cairn_device *device, const cairn_lrn_pool_desc *desc,
                                  cairn_plan **out); /* NULL: it has no such */
    cairn_status (*plan_dropout)(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out);
    cairn_status (*plan_batchnorm)(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out);
    cairn_status (*plan_reorder)(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out);

    cairn_status (*softmax_loss)(cairn_device *device, const cairn_softmax_loss *args);
    cairn_status (*augment)(cairn_device *device, const cairn_augment *args);
    cairn_status (*update)(cairn_device *device, const cairn_update *args);

    /* Multiply-adds a second this device reaches now at `dtype`, in GFLOP/s (an FMA is 2), measured in some milliseconds on every compute
     * thread; 0 where it can't be told. The yardstick of `cairn bench`. */
    double (*peak_gflops)(cairn_device *device, cairn_dtype dtype);
};

#endif
