/* operation.c - the shapes and values of an operation's operands, and their comparison. operation_run.c runs one. */
#include "tests/support/operation.h"
#include "tests/support/golden.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *operand_name(operand id)
{
    static const char *const name[OPERANDS] = {"src",          "weights",         "bias",         "dst",
                                               "diff_dst",     "diff_src",        "diff_weights", "diff_bias",
                                               "running_mean", "running_variance"};
    return name[id];
}

int64_t operation_pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode)
{
    int64_t span = size + 2 * pad - kernel, out = span / stride + 1;
    if (ceil_mode && span % stride) out++;
    return ceil_mode && (out - 1) * stride >= size + pad ? out - 1 : out;
}

/* Members that every desc has, under one name. */
typedef struct common {
    cairn_dtype *dtype;
    const bool *train;
    const cairn_shape *src; /* NULL for linear, which has no shape */
} common;

static common common_of(operation *op)
{
#define COMMON(member) ((common){&op->desc.member.dtype, &op->desc.member.train, &op->desc.member.src})
    switch (op->kind) {
    case OPERATION_LINEAR:
        return (common){&op->desc.linear.dtype, &op->desc.linear.train, NULL};
    case OPERATION_POOL2D:
        return COMMON(pool2d);
    case OPERATION_RELU:
        return COMMON(relu);
    case OPERATION_LRN:
        return COMMON(lrn);
    case OPERATION_DROPOUT:
        return COMMON(dropout);
    case OPERATION_BATCHNORM:
        return COMMON(batchnorm);
    case OPERATION_LRN_POOL:
        return COMMON(lrn_pool.lrn);
    default:
        return COMMON(conv2d);
    }
#undef COMMON
}

cairn_dtype operation_dtype(const operation *op)
{
    operation copy = *op;
    return *common_of(&copy).dtype;
}

cairn_shape operation_source(const operation *op)
{
    operation copy = *op;
    const cairn_shape *src = common_of(&copy).src;
    return src ? *src : cairn_shape_make(2, op->desc.linear.batch, op->desc.linear.in_features);
}

bool operation_runs_backward(const operation *op)
{
    operation copy = *op;
    return *common_of(&copy).train && !op->evaluate;
}

static void conv2d_shapes(operation *op)
{
    const cairn_conv2d_desc *d = &op->desc.conv2d;
    int64_t rows = (d->src.dim[2] + 2 * d->pad_h - d->kernel_h) / d->stride_h + 1;
    int64_t columns = (d->src.dim[3] + 2 * d->pad_w - d->kernel_w) / d->stride_w + 1;
    op->shape[OPERAND_WEIGHTS] =
        cairn_shape_make(4, d->out_channels, d->src.dim[1] / d->groups, d->kernel_h, d->kernel_w);
    if (d->has_bias) op->shape[OPERAND_BIAS] = cairn_shape_make(1, d->out_channels);
    op->shape[OPERAND_DST] = cairn_shape_make(4, d->src.dim[0], d->out_channels, rows, columns);
}

/* NULL where the operation doesn't pool. */
static const cairn_pool2d_desc *pool_of(const operation *op)
{
    if (op->kind == OPERATION_LRN_POOL) return &op->desc.lrn_pool.pool;
    return op->kind == OPERATION_POOL2D ? &op->desc.pool2d : NULL;
}

/* Shapes of what forward reads and writes. */
static void forward_shapes(operation *op)
{
    op->shape[OPERAND_SRC] = op->shape[OPERAND_DST] = operation_source(op);
    if (op->kind == OPERATION_CONV2D) conv2d_shapes(op);
    if (op->kind == OPERATION_LINEAR) {
        const cairn_linear_desc *d = &op->desc.linear;
        op->shape[OPERAND_WEIGHTS] = cairn_shape_make(2, d->out_features, d->in_features);
        if (d->has_bias) op->shape[OPERAND_BIAS] = cairn_shape_make(1, d->out_features);
        op->shape[OPERAND_DST] = cairn_shape_make(2, d->batch, d->out_features);
    }
    const cairn_pool2d_desc *pool = pool_of(op);
    if (pool) {
        op->shape[OPERAND_DST].dim[2] = pool->out_h;
        op->shape[OPERAND_DST].dim[3] = pool->out_w;
    }
    if (op->kind == OPERATION_BATCHNORM) {
        cairn_shape channels = cairn_shape_make(1, op->desc.batchnorm.src.dim[1]);
        op->shape[OPERAND_WEIGHTS] = op->shape[OPERAND_BIAS] = channels;
        op->shape[OPERAND_RUNNING_MEAN] = op->shape[OPERAND_RUNNING_VARIANCE] = channels;
    }
}

static bool needs_diff_src(const operation *op)
{
    if (op->kind == OPERATION_CONV2D) return op->desc.conv2d.need_diff_src;
    if (op->kind == OPERATION_LINEAR) return op->desc.linear.need_diff_src;
    return true;
}

void operation_prepare(operation *op, uint32_t seed)
{
    for (int id = 0; id < OPERANDS; id++) {
        op->shape[id] = (cairn_shape){.rank = 0};
        op->value[id] = NULL;
    }
    forward_shapes(op);
    if (operation_runs_backward(op)) {
        op->shape[OPERAND_DIFF_DST] = op->shape[OPERAND_DST];
        op->shape[OPERAND_DIFF_WEIGHTS] = op->shape[OPERAND_WEIGHTS];
        op->shape[OPERAND_DIFF_BIAS] = op->shape[OPERAND_BIAS];
        if (needs_diff_src(op)) op->shape[OPERAND_DIFF_SRC] = op->shape[OPERAND_SRC];
    }
    for (int id = 0; id < OPERANDS; id++) {
        if (op->shape[id].rank == 0) continue;
        int64_t count = cairn_shape_count(op->shape[id]);
        double shift = id == OPERAND_RUNNING_VARIANCE ? 1 : 0, reach = id == OPERAND_RUNNING_VARIANCE ? 0.5 : 1;
        op->value[id] = golden_alloc(count, sizeof(float));
        golden_fill(seed * OPERANDS + (uint32_t)id, shift - reach, shift + reach, op->value[id], count);
    }
}

cairn_dtype operation_operand_dtype(const operation *op, operand id)
{
    bool parameter = id == OPERAND_WEIGHTS || id == OPERAND_BIAS;
    if (id > OPERAND_DIFF_SRC || (parameter && op->kind == OPERATION_BATCHNORM)) return CAIRN_F32;
    return operation_dtype(op);
}

void operation_set_dtype(operation *op, cairn_dtype wanted)
{
    *common_of(op).dtype = wanted;
    for (operand id = 0; id <= OPERAND_DIFF_SRC; id++) {
        cairn_dtype dtype = operation_operand_dtype(op, id);
        for (int64_t i = 0; op->value[id] && i < cairn_shape_count(op->shape[id]); i++) {
            float *value = &op->value[id][i];
            if (dtype == CAIRN_F16) *value = cairn_f16_to_f32(cairn_f32_to_f16(*value));
            if (dtype == CAIRN_BF16) *value = cairn_bf16_to_f32(cairn_f32_to_bf16(*value));
        }
    }
}

void operation_free(operation *op)
{
    for (int id = 0; id < OPERANDS; id++) {
        free(op->value[id]);
        op->value[id] = NULL;
    }
}

void operation_result_free(operation_result *result)
{
    for (int id = 0; id < OPERANDS; id++) {
        free(result->value[id]);
        result->value[id] = NULL;
    }
}

/* What is particular to the kind. */
static void describe_attributes(const operation *op, char *text, size_t size)
{
    text[0] = '\0';
    if (op->kind == OPERATION_CONV2D) {
        const cairn_conv2d_desc *d = &op->desc.conv2d;
        snprintf(text, size, "kernel %lldx%lld stride %lld,%lld pad %lld,%lld groups %lld%s%s%s%s",
                 (long long)d->kernel_h, (long long)d->kernel_w, (long long)d->stride_h, (long long)d->stride_w,
                 (long long)d->pad_h, (long long)d->pad_w, (long long)d->groups, d->has_bias ? " bias" : "",
                 d->relu ? " relu" : "", d->relu_backward ? " relu_backward" : "", d->need_diff_src ? " diff_src" : "");
    } else if (op->kind == OPERATION_LINEAR) {
        const cairn_linear_desc *d = &op->desc.linear;
        snprintf(text, size, "%s%s%s%s", d->has_bias ? "bias" : "", d->relu ? " relu" : "",
                 d->relu_backward ? " relu_backward" : "", d->need_diff_src ? " diff_src" : "");
    } else if (pool_of(op)) {
        const cairn_pool2d_desc *d = pool_of(op);
        static const char *const kind[] = {"max", "average", "adaptive average"};
        snprintf(text, size, "%s kernel %lldx%lld stride %lld,%lld pad %lld,%lld%s%s", kind[d->kind],
                 (long long)d->kernel_h, (long long)d->kernel_w, (long long)d->stride_h, (long long)d->stride_w,
                 (long long)d->pad_h, (long long)d->pad_w, d->relu_backward ? " relu_backward" : "",
                 op->kind == OPERATION_LRN_POOL && op->desc.lrn_pool.relu ? " relu" : "");
    } else if (op->kind == OPERATION_LRN) {
        const cairn_lrn_desc *d = &op->desc.lrn;
        snprintf(text, size, "size %lld alpha %g beta %g k %g", (long long)d->size, (double)d->alpha, (double)d->beta,
                 (double)d->k);
    } else if (op->kind == OPERATION_DROPOUT) {
        snprintf(text, size, "rate %g step %u first sample %lld", (double)op->desc.dropout.rate, op->step,
                 (long long)op->first_sample);
    }
}

void operation_describe(const operation *op, char *text, size_t size)
{
    static const char *const kind[] = {"conv2d", "linear", "pool2d", "relu", "lrn", "dropout", "batchnorm", "lrn_pool"};
    char src[96], dst[96], attributes[200];
    describe_attributes(op, attributes, sizeof attributes);
    snprintf(text, size, "%s %s -> %s %s%s%s%s%s", kind[op->kind],
             cairn_shape_format(op->shape[OPERAND_SRC], src, sizeof src),
             cairn_shape_format(op->shape[OPERAND_DST], dst, sizeof dst), attributes,
             operation_runs_backward(op) ? " train" : " evaluate", op->accumulate ? " accumulate" : "",
             op->in_place ? " in place" : "", op->blocked_source ? " blocked source" : "");
}

/* Position of the largest difference; a NaN or infinity counts as larger than any. */
static int64_t worst_element(const float *want, const float *got, int64_t count)
{
    int64_t worst = 0;
    double most = -1;
    for (int64_t i = 0; i < count; i++) {
        double off = (double)got[i] - (double)want[i];
        if (off != off) return i;
        if (off < 0) off = -off;
        if (off > most) {
            most = off;
            worst = i;
        }
    }
    return worst;
}

/* A pool that masks may do so in diff_dst or not. */
static bool is_left_open(const operation *op, int id)
{
    return id == OPERAND_DIFF_DST && op->kind == OPERATION_POOL2D && op->desc.pool2d.relu_backward;
}

bool operation_agrees(const operation *op, const operation_result *want, const operation_result *got, double tolerance,
                      char *text, size_t size)
{
    for (int id = 0; id < OPERANDS; id++) {
        if (!want->value[id] || is_left_open(op, id)) continue;
        int64_t count = cairn_shape_count(op->shape[id]);
        const float *w = want->value[id], *g = got->value[id];
        double error = relative_l2(g, w, count);
        bool good = tolerance > 0 ? error <= tolerance : memcmp(w, g, (size_t)count * sizeof *w) == 0;
        if (good) continue;
        char what[512];
        int64_t at = worst_element(w, g, count);
        operation_describe(op, what, sizeof what);
        snprintf(text, size, "%s: %s is off by %.3g (relative L2, allowed %.3g); element %lld is %.9g, want %.9g [%s]",
                 what, operand_name((operand)id), error, tolerance, (long long)at, (double)g[at], (double)w[at],
                 got->algorithm);
        return false;
    }
    return true;
}
