/* Would the conformance tests notice? Devices that are ref but for one fault each are put through the very comparison that the other
 * backends must pass: it has to refuse every one of them, and accept ref itself. */
#include "backends/backends.h"
#include "tests/support/conformance.h"
#include "tests/support/golden.h"
#include "tests/test.h"

/* As in conformance/operations.c and alexnet_shapes.c: the faults must show through tolerances this wide. */
static const double tolerance = 1e-5;

/* A plan of ref's whose calls are tampered with on the way. Memory of ref is host memory. */
typedef struct faulty_plan {
    cairn_plan base;
    cairn_plan *inner;
    int64_t count; /* elements of one group's weights, or of dst */
} faulty_plan;

static void destroy(cairn_plan *plan)
{
    cairn_plan_destroy(((faulty_plan *)plan)->inner);
    free(plan);
}

static cairn_status forward(cairn_plan *plan, const cairn_operands *operands)
{
    cairn_plan *inner = ((faulty_plan *)plan)->inner;
    return inner->ops->forward(inner, operands);
}

static cairn_status backward(cairn_plan *plan, const cairn_operands *operands)
{
    cairn_plan *inner = ((faulty_plan *)plan)->inner;
    return inner->ops->backward(inner, operands);
}

/* Fault: the weights of the first two groups are mistaken for each other. */
static cairn_status forward_with_swapped_groups(cairn_plan *plan, const cairn_operands *operands)
{
    int64_t n = ((faulty_plan *)plan)->count;
    float *weights = golden_alloc(2 * n, sizeof *weights);
    memcpy(weights, (const float *)operands->weights + n, (size_t)n * sizeof *weights);
    memcpy(weights + n, operands->weights, (size_t)n * sizeof *weights);
    cairn_operands swapped = *operands;
    swapped.weights = weights;
    cairn_status status = forward(plan, &swapped);
    free(weights);
    return status;
}

/* Fault: gradients overwrite (beta 0) where they should accumulate. */
static cairn_status backward_that_overwrites(cairn_plan *plan, const cairn_operands *operands)
{
    cairn_operands overwriting = *operands;
    overwriting.accumulate = false;
    return backward(plan, &overwriting);
}

/* Wraps what ref planned. */
static cairn_status wrap(cairn_status planned, const cairn_plan_ops *ops, int64_t count, cairn_plan **plan)
{
    if (planned != CAIRN_OK) return planned;
    faulty_plan *wrapped = golden_alloc(1, sizeof *wrapped);
    wrapped->base = **plan;
    wrapped->base.ops = ops;
    wrapped->inner = *plan;
    wrapped->count = count;
    *plan = &wrapped->base;
    return CAIRN_OK;
}

static cairn_status swapping_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {
        .forward = forward_with_swapped_groups, .backward = backward, .destroy = destroy};
    int64_t weights =
        desc->out_channels / desc->groups * (desc->src.dim[1] / desc->groups) * desc->kernel_h * desc->kernel_w;
    return wrap(cairn_backend_ref.plan_conv2d(device, desc, out), &ops, weights, out);
}

static cairn_status overwriting_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward, .backward = backward_that_overwrites, .destroy = destroy};
    return wrap(cairn_backend_ref.plan_conv2d(device, desc, out), &ops, 0, out);
}

static cairn_status overwriting_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward, .backward = backward_that_overwrites, .destroy = destroy};
    return wrap(cairn_backend_ref.plan_linear(device, desc, out), &ops, 0, out);
}

/* Fault: the gradient passes a ReLU that was shut. */
static cairn_status unmasked_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    cairn_conv2d_desc unmasked = *desc;
    unmasked.relu_backward = false;
    return cairn_backend_ref.plan_conv2d(device, &unmasked, out);
}

static cairn_status unmasked_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    cairn_pool2d_desc unmasked = *desc;
    unmasked.relu_backward = false;
    return cairn_backend_ref.plan_pool2d(device, &unmasked, out);
}

/* Fault: alpha is not divided by the window's size, TensorFlow's convention. */
static cairn_status undivided_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    cairn_lrn_desc undivided = *desc;
    undivided.alpha *= (float)desc->size;
    return cairn_backend_ref.plan_lrn(device, &undivided, out);
}

/* Fault: the mask is drawn from the stream of another layer. */
static cairn_status forgetful_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out)
{
    cairn_dropout_desc forgetful = *desc;
    forgetful.rng.key[1]++;
    return cairn_backend_ref.plan_dropout(device, &forgetful, out);
}

/* Fault: the last element of dst is never written. */
static cairn_status forward_short_of_one(cairn_plan *plan, const cairn_operands *operands)
{
    faulty_plan *faulty = (faulty_plan *)plan;
    float *last = (float *)operands->dst + faulty->count - 1, before = *last;
    cairn_status status = forward(plan, operands);
    *last = before;
    return status;
}

/* Fault: one element too many is written. */
static cairn_status forward_past_the_end(cairn_plan *plan, const cairn_operands *operands)
{
    ((float *)operands->dst)[((faulty_plan *)plan)->count] = 0;
    return forward(plan, operands);
}

/* Fault: the source is used as scratch. */
static cairn_status forward_over_the_source(cairn_plan *plan, const cairn_operands *operands)
{
    cairn_status status = forward(plan, operands);
    *(float *)(uintptr_t)operands->src = 0;
    return status;
}

static cairn_status plan_faulty_relu(cairn_device *device, const cairn_relu_desc *desc, const cairn_plan_ops *ops,
                                     cairn_plan **out)
{
    return wrap(cairn_backend_ref.plan_relu(device, desc, out), ops, cairn_shape_count(desc->src), out);
}

static cairn_status short_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward_short_of_one, .backward = backward, .destroy = destroy};
    return plan_faulty_relu(device, desc, &ops, out);
}

static cairn_status long_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward_past_the_end, .backward = backward, .destroy = destroy};
    return plan_faulty_relu(device, desc, &ops, out);
}

static cairn_status scribbling_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out)
{
    static const cairn_plan_ops ops = {.forward = forward_over_the_source, .backward = backward, .destroy = destroy};
    return plan_faulty_relu(device, desc, &ops, out);
}

/* Does the comparison accept a device with this table? */
static bool accepts(const cairn_backend *table, operation *op, char *text, size_t size)
{
    conformance pair;
    bool accepted = false;
    snprintf(text, size, "the devices can't be opened");
    if (conformance_open("ref", NULL, &pair) != CAIRN_OK) return false;
    pair.tested->backend = table;
    operation_prepare(op, 3);
    accepted = conformance_holds(&pair, op, tolerance, text, size);
    operation_free(op);
    conformance_close(&pair);
    return accepted;
}

/* ref itself must pass; the faulty one must be refused, with `why` in the text. */
static void check_caught(const cairn_backend *faulty, operation op, const char *why)
{
    char text[1200];
    if (!accepts(&cairn_backend_ref, &op, text, sizeof text)) TEST_FAIL("the sound backend is refused: %s", text);
    if (accepts(faulty, &op, text, sizeof text))
        TEST_FAIL("the fault went unseen; want: %s", why);
    else if (!strstr(text, why))
        TEST_FAIL("refused for another reason: %s", text);
}

static operation grouped_conv2d(void)
{
    return (operation){.kind = OPERATION_CONV2D,
                       .desc.conv2d = {.src = cairn_shape_make(4, 2, 6, 9, 8),
                                       .out_channels = 8,
                                       .kernel_h = 3,
                                       .kernel_w = 3,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .pad_h = 1,
                                       .pad_w = 1,
                                       .groups = 2,
                                       .has_bias = true,
                                       .relu = true,
                                       .relu_backward = true,
                                       .train = true,
                                       .need_diff_src = true},
                       .given_dst = true,
                       .accumulate = true};
}

static void swapped_groups(void)
{
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_conv2d = swapping_conv2d;
    check_caught(&faulty, grouped_conv2d(), "dst is off by");
}

static void gradients_that_overwrite(void)
{
    operation linear = {
        .kind = OPERATION_LINEAR,
        .desc.linear = {.batch = 3, .in_features = 20, .out_features = 7, .has_bias = true, .train = true},
        .accumulate = true};
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_conv2d = overwriting_conv2d;
    faulty.plan_linear = overwriting_linear;
    check_caught(&faulty, grouped_conv2d(), "diff_weights is off by");
    check_caught(&faulty, linear, "diff_weights is off by");
}

static void missing_relu_mask(void)
{
    operation pool = {.kind = OPERATION_POOL2D,
                      .desc.pool2d = {.kind = CAIRN_POOL_MAX,
                                      .src = cairn_shape_make(4, 2, 3, 9, 9),
                                      .kernel_h = 3,
                                      .kernel_w = 3,
                                      .stride_h = 2,
                                      .stride_w = 2,
                                      .out_h = 4,
                                      .out_w = 4,
                                      .relu_backward = true,
                                      .train = true}};
    pool.desc.pool2d.kernel_h = pool.desc.pool2d.kernel_w = 2; /* maxima of few values, so that some are below 0 */
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_conv2d = unmasked_conv2d;
    faulty.plan_pool2d = unmasked_pool2d;
    check_caught(&faulty, grouped_conv2d(), "diff_dst is off by");
    check_caught(&faulty, pool, "diff_src is off by");
}

/* With the paper's alpha of 1e-4 the fault is a matter of the fifth digit. */
static void wrong_lrn_divisor(void)
{
    operation op = {
        .kind = OPERATION_LRN,
        .desc.lrn = {
            .src = cairn_shape_make(4, 2, 7, 4, 3), .size = 5, .alpha = 1e-4f, .beta = 0.75f, .k = 1, .train = true}};
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_lrn = undivided_lrn;
    check_caught(&faulty, op, "dst is off by");
}

static void another_layers_mask(void)
{
    operation op = {.kind = OPERATION_DROPOUT,
                    .desc.dropout = {.src = cairn_shape_make(2, 4, 50),
                                     .rate = 0.5f,
                                     .rng = cairn_rng_make(1, CAIRN_RNG_DROPOUT, 6, 0),
                                     .train = true}};
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_dropout = forgetful_dropout;
    check_caught(&faulty, op, "dst is off by");
}

static void strayed_writes(void)
{
    operation op = {.kind = OPERATION_RELU, .desc.relu = {.src = cairn_shape_make(4, 2, 3, 4, 5)}};
    cairn_backend faulty = cairn_backend_ref;
    faulty.plan_relu = short_relu;
    check_caught(&faulty, op, "dst is off by inf");
    faulty.plan_relu = long_relu;
    check_caught(&faulty, op, "dst: written past its 480 bytes");
    faulty.plan_relu = scribbling_relu;
    check_caught(&faulty, op, "src was changed");
}

int main(void)
{
    RUN(swapped_groups);
    RUN(gradients_that_overwrite);
    RUN(missing_relu_mask);
    RUN(wrong_lrn_divisor);
    RUN(another_layers_mask);
    RUN(strayed_writes);
    return test_result();
}
