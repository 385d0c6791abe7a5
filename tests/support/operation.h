/* operation.h - one planned operation with its inputs in plain host arrays, run on any device and read back plain.
 *
 *     operation op = {.kind = OPERATION_RELU, .desc.relu = {.src = shape, .train = true}};
 *     operation_prepare(&op, seed);                                 inputs are drawn; overwrite op.value[...] for others
 *     operation_result want = {0}, got = {0};
 *     REQUIRE_OK(operation_run(ref, &op, &want));
 *     REQUIRE_OK(operation_run(device, &op, &got));
 *     if (!operation_agrees(&op, &want, &got, 1e-6, text, sizeof text)) TEST_FAIL("%s", text);
 *     operation_result_free(&want); operation_result_free(&got); operation_free(&op);
 *
 * A run puts each operand where the plan says its layout is, between guard zones, outputs and workspace poisoned with NaN; afterwards the
 * zones must be whole and the inputs unchanged. So conformance, golden and finite-difference tests drive a backend in one way.
 */
#ifndef CAIRN_TESTS_SUPPORT_OPERATION_H
#define CAIRN_TESTS_SUPPORT_OPERATION_H

#include "core/backend.h"

typedef enum operation_kind {
    OPERATION_CONV2D,
    OPERATION_LINEAR,
    OPERATION_POOL2D,
    OPERATION_RELU,
    OPERATION_LRN,
    OPERATION_DROPOUT,
    OPERATION_BATCHNORM,
    OPERATION_LRN_POOL, /* on a device without one: one_by_one.h */
} operation_kind;

/* The members of cairn_operands that are tensors. */
typedef enum operand {
    OPERAND_SRC,
    OPERAND_WEIGHTS,
    OPERAND_BIAS,
    OPERAND_DST,
    OPERAND_DIFF_DST,
    OPERAND_DIFF_SRC,
    OPERAND_DIFF_WEIGHTS,
    OPERAND_DIFF_BIAS,
    OPERAND_RUNNING_MEAN,
    OPERAND_RUNNING_VARIANCE,
    OPERANDS
} operand;

typedef struct operation {
    operation_kind kind;
    union {
        cairn_conv2d_desc conv2d;
        cairn_linear_desc linear;
        cairn_pool2d_desc pool2d;
        cairn_relu_desc relu;
        cairn_lrn_desc lrn;
        cairn_dropout_desc dropout;
        cairn_batchnorm_desc batchnorm;
        cairn_lrn_pool_desc lrn_pool; /* src, dtype and train of lrn are the pool's too */
    } desc;
    bool evaluate;       /* run an evaluating forward and no backward, though the plan may be able to train */
    bool accumulate;     /* backward adds to what `value` holds for diff_weights and diff_bias */
    bool in_place;       /* dst is src (dropout) and diff_src is diff_dst (relu, dropout), where the layouts agree */
    bool blocked_source; /* src comes as a 1x1 convolution of the same device would leave it */
    bool
        given_dst; /* backward finds value[dst] in place of what forward wrote, so that no ReLU's mask hangs on the last bit of a sum */
    uint32_t step;
    int64_t first_sample;

    /* Filled by operation_prepare. A rank-0 shape and a NULL value where the operation has no such operand. */
    cairn_shape shape[OPERANDS];
    float *value[OPERANDS];
} operation;

/* What a run left in each operand, in plain order. */
typedef struct operation_result {
    float *value[OPERANDS];
    char algorithm[64];
} operation_result;

const char *operand_name(operand id);

/* Rows (or columns) of a max or average pool's output by PyTorch's rule, as the desc's out_h and out_w want them. */
int64_t operation_pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode);

/* dtype and source of whichever desc is in use, and whether it plans backward. */
cairn_dtype operation_dtype(const operation *op);
cairn_shape operation_source(const operation *op);
bool operation_runs_backward(const operation *op);

/* Works out the shapes and draws the values: all in [-1, 1), but running variance in
 * [0.5, 1.5). Ends the program when there is no memory. */
void operation_prepare(operation *op, uint32_t seed);
void operation_free(operation *op);

/* In which an operand comes: the operation's, but f32 for gradients of parameters and all parameters of batch norm. */
cairn_dtype operation_operand_dtype(const operation *op, operand id);

/* Makes a prepared operation one of `dtype`: the values of operands that come in it are rounded to it. */
void operation_set_dtype(operation *op, cairn_dtype dtype);

/* "conv2d 2x3x11x9 -> 2x4x11x9 kernel 3x3 ..." */
void operation_describe(const operation *op, char *text, size_t size);

cairn_status operation_run(cairn_device *device, const operation *op, operation_result *result);
void operation_result_free(operation_result *result);

/* Relative L2 error of every operand within `tolerance` (0: equal bit for bit). If not, `text` says which and by how much. */
bool operation_agrees(const operation *op, const operation_result *want, const operation_result *got, double tolerance,
                      char *text, size_t size);

#endif
