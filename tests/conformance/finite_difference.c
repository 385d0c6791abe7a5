/* Backward against the slope of forward, on ref, for every operation and every input: with L = sum of dst * diff_dst, the gradient of an
 * input x is dL/dx, measured as (L(x + h) - L(x - h)) / 2h.
 *
 * Where a maximum or a ReLU changes its mind between x - h and x + h that is no derivative: the slopes to the left and to the right then
 * disagree, and the element is stepped around. Too many such elements fail the test. */
#include "backends/backends.h"
#include "tests/support/direct.h"
#include "tests/support/golden.h"
#include "tests/support/operation.h"
#include "tests/test.h"

static cairn_device *device;

/* Outputs are f32, each rounded by up to 2^-25 of itself: about 1e-6 in a sum of some hundred, so 1e-4 in a slope over 2h; the curvature
 * of LRN and batch norm adds h^2 / 6 times a third derivative of order 1. */
static const float step = 0.01f;
static const double allowed = 2e-3; /* times the size of the gradient */

static double loss_of(const operation *op)
{
    operation evaluated = *op; /* borrows the values */
    operation_result result;
    double sum = 0;
    if (operation_run(device, &evaluated, &result) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return NAN;
    }
    for (int64_t i = 0; i < cairn_shape_count(op->shape[OPERAND_DST]); i++)
        sum += (double)result.value[OPERAND_DST][i] * (double)op->value[OPERAND_DIFF_DST][i];
    operation_result_free(&result);
    return sum;
}

/* Slopes to both sides of input element `x`. */
static void slopes(const operation *op, float *x, double here, double *left, double *right)
{
    float middle = *x, above = middle + step, below = middle - step;
    *x = above;
    *right = (loss_of(op) - here) / ((double)above - (double)middle);
    *x = below;
    *left = (here - loss_of(op)) / ((double)middle - (double)below);
    *x = middle;
}

static double rms(const float *value, int64_t count)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += (double)value[i] * (double)value[i];
    return sqrt(squares / (double)count);
}

/* Checks every element of one input against its gradient. An operation that isn't smooth is linear between its kinks, so there the
 * slopes to both sides are equal or a kink is near; and one too slight to be seen so moves the mean of the two by less than is allowed. */
static void check_input(const operation *op, operand input, const float *gradient, bool smooth)
{
    int64_t count = cairn_shape_count(op->shape[input]), kinks = 0;
    double here = loss_of(op), size = rms(gradient, count) + 0.1;
    for (int64_t i = 0; i < count; i++) {
        double left, right;
        slopes(op, &op->value[input][i], here, &left, &right);
        if (!smooth && fabs(left - right) > allowed * size) {
            kinks++;
            continue;
        }
        double slope = (left + right) / 2;
        if (fabs(slope - (double)gradient[i]) <= allowed * size) continue;
        char what[512];
        operation_describe(op, what, sizeof what);
        TEST_FAIL("%s: gradient of %s[%lld] is %.7g, the slope %.7g", what, operand_name(input), (long long)i,
                  (double)gradient[i], slope);
        return;
    }
    if (kinks * 3 > count)
        TEST_FAIL("%lld of %lld elements of %s lie at a kink: nothing was shown", (long long)kinks, (long long)count,
                  operand_name(input));
}

static void check_gradients(operation *op, bool smooth)
{
    static const operand input[] = {OPERAND_SRC, OPERAND_WEIGHTS, OPERAND_BIAS};
    static const operand gradient[] = {OPERAND_DIFF_SRC, OPERAND_DIFF_WEIGHTS, OPERAND_DIFF_BIAS};
    operation_result result;
    operation_prepare(op, 11);
    if (operation_run(device, op, &result) == CAIRN_OK) {
        for (int i = 0; i < 3; i++)
            if (result.value[gradient[i]]) check_input(op, input[i], result.value[gradient[i]], smooth);
    } else {
        TEST_FAIL("%s", cairn_error_last()->message);
    }
    operation_result_free(&result);
    operation_free(op);
}

static operation conv2d(bool relu)
{
    return (operation){.kind = OPERATION_CONV2D,
                       .desc.conv2d = {.src = cairn_shape_make(4, 2, 4, 5, 6),
                                       .out_channels = 6,
                                       .kernel_h = 3,
                                       .kernel_w = 2,
                                       .stride_h = 2,
                                       .stride_w = 1,
                                       .pad_h = 1,
                                       .pad_w = 1,
                                       .groups = 2,
                                       .has_bias = true,
                                       .relu = relu,
                                       .relu_backward = relu,
                                       .train = true,
                                       .need_diff_src = true}};
}

static void of_conv2d(void)
{
    operation plain = conv2d(false), with_relu = conv2d(true);
    check_gradients(&plain, true);
    check_gradients(&with_relu, false);
}

static void of_linear(void)
{
    for (int relu = 0; relu < 2; relu++) {
        operation op = {.kind = OPERATION_LINEAR,
                        .desc.linear = {.batch = 3,
                                        .in_features = 11,
                                        .out_features = 5,
                                        .has_bias = true,
                                        .relu = relu,
                                        .relu_backward = relu,
                                        .train = true,
                                        .need_diff_src = true}};
        check_gradients(&op, !relu);
    }
}

static void of_pool2d(void)
{
    for (int kind = CAIRN_POOL_MAX; kind <= CAIRN_POOL_ADAPTIVE_AVERAGE; kind++) {
        operation op = {.kind = OPERATION_POOL2D,
                        .desc.pool2d = {.kind = (cairn_pool_kind)kind,
                                        .src = cairn_shape_make(4, 2, 2, 7, 6),
                                        .kernel_h = 3,
                                        .kernel_w = 2,
                                        .stride_h = 2,
                                        .stride_w = 2,
                                        .pad_h = 1,
                                        .pad_w = 0,
                                        .out_h = 4,
                                        .out_w = 3,
                                        .train = true}};
        check_gradients(&op, kind != CAIRN_POOL_MAX);
    }
}

static void of_relu(void)
{
    operation op = {.kind = OPERATION_RELU, .desc.relu = {.src = cairn_shape_make(4, 2, 3, 4, 5), .train = true}};
    check_gradients(&op, false);
}

static void of_lrn(void)
{
    for (int64_t size = 1; size <= 6; size++) {
        operation op = {.kind = OPERATION_LRN,
                        .desc.lrn = {.src = cairn_shape_make(4, 2, 5, 3, 2),
                                     .size = size,
                                     .alpha = 0.8f,
                                     .beta = 0.75f,
                                     .k = 1,
                                     .train = true}};
        check_gradients(&op, true);
    }
}

static void of_dropout(void)
{
    operation op = {.kind = OPERATION_DROPOUT,
                    .desc.dropout = {.src = cairn_shape_make(2, 4, 25),
                                     .rate = 0.4f,
                                     .rng = cairn_rng_make(9, CAIRN_RNG_DROPOUT, 1, 0),
                                     .train = true},
                    .step = 3,
                    .first_sample = 8};
    check_gradients(&op, true);
}

static void of_batchnorm(void)
{
    operation op = {
        .kind = OPERATION_BATCHNORM,
        .desc.batchnorm = {.src = cairn_shape_make(4, 3, 2, 4, 3), .eps = 0.01f, .momentum = 0.1f, .train = true}};
    check_gradients(&op, true);
}

enum { SAMPLES = 5, CLASSES = 6 };

static double softmax_loss_of(cairn_softmax_loss *args)
{
    float totals[4] = {0};
    args->totals = totals;
    if (direct_softmax_loss(device, args) != CAIRN_OK) TEST_FAIL("%s", cairn_error_last()->message);
    return (double)totals[0];
}

/* Smoothed, weighted by class, and with one sample ignored. */
static void of_softmax_loss(void)
{
    float logits[SAMPLES * CLASSES], gradient[SAMPLES * CLASSES], weights[CLASSES];
    float scale[SAMPLES] = {0.25f, 0.25f, 0, 0.25f, 0.25f};
    int32_t labels[SAMPLES] = {0, 5, -7, 2, 2};
    cairn_softmax_loss args = {.batch = SAMPLES,
                               .classes = CLASSES,
                               .logits = logits,
                               .labels = labels,
                               .scale = scale,
                               .class_weights = weights,
                               .smoothing = 0.1f,
                               .dlogits = gradient};
    golden_fill(21, -3, 3, logits, SAMPLES * CLASSES);
    golden_fill(22, 0.5, 2, weights, CLASSES);
    softmax_loss_of(&args);
    args.dlogits = NULL;
    for (int i = 0; i < SAMPLES * CLASSES; i++) {
        float middle = logits[i], above = middle + step, below = middle - step;
        logits[i] = above;
        double slope = softmax_loss_of(&args);
        logits[i] = below;
        slope = (slope - softmax_loss_of(&args)) / ((double)above - (double)below);
        logits[i] = middle;
        CHECK_NEAR(gradient[i], slope, 1e-4);
    }
}

int main(void)
{
    if (cairn_device_open("ref", NULL, &device) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return test_result();
    }
    RUN(of_conv2d);
    RUN(of_linear);
    RUN(of_pool2d);
    RUN(of_relu);
    RUN(of_lrn);
    RUN(of_dropout);
    RUN(of_batchnorm);
    RUN(of_softmax_loss);
    cairn_device_close(device);
    return test_result();
}
