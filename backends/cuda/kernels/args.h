/* args.h - what each kernel is told: one plain struct a kernel, passed by value. Pointers are device addresses; elements are of the
 * kernel's type unless another is named. Activations are NHWC: rows of channels.
 */
#ifndef CAIRN_CUDA_KERNELS_ARGS_H
#define CAIRN_CUDA_KERNELS_ARGS_H

#include "core/rng.h"
#include "core/update_state.h"
#include <stdbool.h>
#include <stdint.h>

/* dst = max(src, 0), or with `mask` (a ReLU's dst) dst = src where mask > 0, else 0. dst may be src. */
typedef struct cairn_relu_args {
    const void *src, *mask;
    void *dst;
    int64_t count;
} cairn_relu_args;

/* dst = src converted; dst (+)= src for a gradient, dst f32. */
typedef struct cairn_convert_args {
    const void *src;
    void *dst;
    int64_t count;
    bool accumulate;
} cairn_convert_args;

/* dst = src + bias, over rows of channels; with relu, max(dst, 0). dst may be src. */
typedef struct cairn_bias_args {
    const void *src, *bias;
    void *dst;
    int64_t rows, channels;
    bool relu;
} cairn_bias_args;

/* Sums over rows, a channel each, in two launches: every block adds up some rows, then the blocks' sums are added in their order. So the
 * sums are the same bits in every run. `partial`: f32 [sums][blocks][channels], see cairn_columns_of in launch.h. */
typedef struct cairn_columns {
    int64_t rows, channels;
    int across; /* threads of a block side by side, each with its channels; the others take other rows. A power of two */
    int groups; /* of so many packs of channels: the grid's height */
    int blocks; /* that the rows are divided among: the grid's width */
    float *partial;
} cairn_columns;

/* With y, dy *= (y > 0) in place; then diff_bias (+)= sum of dy over rows. */
typedef struct cairn_bias_gradient_args {
    cairn_columns columns;
    void *dy;
    const void *y; /* NULL: no mask */
    float *diff_bias;
    bool accumulate;
} cairn_bias_gradient_args;

/* Windows of a pool over (batch, src_h, src_w, channels). */
typedef struct cairn_pool_args {
    const void *src; /* forward: x; backward: dy */
    void *dst;       /* forward: y; backward: dx */
    void *
        winner; /* max: where in its window each output's maximum stands, row by row; all ones: nowhere, a ReLU's mask is 0. NULL: not wanted */
    int64_t batch;
    int src_h, src_w, dst_h, dst_w, channels;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    bool adaptive; /* average: windows are parts of the source */
    bool masks;    /* max, forward: the winner of a window whose maximum isn't above 0 is `nowhere` */
    bool wide;     /* winner is u16, for windows of 255 elements and more; else u8 */
} cairn_pool_args;

#define CAIRN_LRN_WINDOW 5 /* channels of the window that LRN is fast for */

/* Local response normalisation over rows of channels (pixels). */
typedef struct cairn_lrn_args {
    const void *src;      /* x */
    const void *diff_dst; /* backward */
    void *dst;            /* forward: y; backward: dx */
    int64_t rows;
    int channels, size;
    float k, factor, beta; /* factor = alpha / size */
} cairn_lrn_args;

/* LRN, with a ReLU before it where `relu`, and a max-pool behind it. In backward, pool.src is dy and pool.dst dx. */
typedef struct cairn_lrn_pool_args {
    cairn_pool_args pool;
    const void *src; /* x */
    float k, factor, beta;
    bool relu;
    int strip; /* forward: output rows a thread walks down */
} cairn_lrn_pool_args;

/* dst = src * scale where a draw is at least `rate`, else 0; dst may be src. Plain order of an element of `sample` = channels * plane is channel * plane +
 * pixel. */
typedef struct cairn_dropout_args {
    const void *src;
    void *dst;
    int64_t count, sample, channels, plane; /* plane 1: features in plain order */
    uint64_t first;                         /* position of element 0 in the stream */
    cairn_rng stream;
    float rate, scale; /* scale = 1 / (1 - rate) */
} cairn_dropout_args;

typedef struct cairn_softmax_args {
    int64_t batch, classes;
    const float *logits, *scale, *class_weights, *loss_scale;
    const int32_t *labels;
    float smoothing;
    float *dlogits, *totals;
    bool normalised; /* dlogits holds the logarithms of the softmax already */
    float *partial;  /* [blocks][4] */
    int blocks;      /* at most CAIRN_SOFTMAX_BLOCKS */
} cairn_softmax_args;

#define CAIRN_SOFTMAX_BLOCKS 1024

typedef struct cairn_crop_args {
    const uint8_t *src;
    const int32_t *crop;
    void *dst;
    int64_t batch, src_h, src_w, height, width;
    int channels;             /* of dst, padded; 0: dst is plain NCHW */
    float scale[3], shift[3]; /* dst = byte * scale + shift */
} cairn_crop_args;

typedef struct cairn_batchnorm_args {
    cairn_columns columns;
    const void *src, *diff_dst;
    void *dst; /* forward: y; backward: dx */
    const float *gamma, *beta;
    float *saved;  /* [2][channels]: mean, 1 / sqrt(variance + eps) */
    float *totals; /* [2][channels], backward: sum of dy, sum of dy xhat */
    float *running_mean, *running_variance, *diff_gamma, *diff_beta;
    float eps, momentum;
    bool train, accumulate;
} cairn_batchnorm_args;

/* For each of `batch` matrices: dst[column][row] = src[row][column]; or, for repitch, dst[row][column] = src[row][column]. What a row of dst
 * has beyond is 0. */
typedef struct cairn_transpose_args {
    const void *src;
    void *dst;
    int64_t batch, rows, columns;
    int64_t src_pitch, dst_pitch; /* elements from one row of src, of dst, to the next */
} cairn_transpose_args;

#define CAIRN_UPDATE_PARTS 96   /* of one launch: the arguments of a kernel are 4 KB at most */
#define CAIRN_UPDATE_CHUNK 4096 /* elements of a block */

/* One optimizer update, or the look at its gradients before it. Formulas: core/backend.h. */
typedef struct cairn_update_part {
    int64_t offset, count;
    float decay;
    int32_t low;
    int32_t first_block; /* of this launch */
} cairn_update_part;

typedef struct cairn_update_args {
    float *weights, *state0, *state1;
    const float *gradients, *rates;
    void *weights_low;
    cairn_update_state *state;
    int64_t step, first_rate, rate_count;
    float lr, momentum, beta1, beta2, eps;
    float log_beta1, log_beta2; /* natural logarithms: 1 - beta^t comes from them without cancellation */
    int32_t blocks;             /* of all launches of this kernel for the update: the last to end decides */
    int32_t parts;
    bool nesterov, decoupled, dynamic_scale;
    cairn_update_part part[CAIRN_UPDATE_PARTS];
} cairn_update_args;

#endif
