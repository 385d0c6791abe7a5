/* The layers of the owt and paper presets as they are, at batch 2, on every backend against ref. fc6 keeps a quarter of its rows:
 * the sums are as long as in the net, and the test stays in a few hundred megabytes. */
#include "tests/support/conformance.h"
#include "tests/support/tested.h"
#include "tests/test.h"

static conformance pair;

/* Relative L2 over sums of up to 9,216 products (fc6) and 6,050 (conv1's weight gradient) in f32. */
static const double tolerance = 1e-5;

static void check_holds(operation *op, uint32_t seed)
{
    char text[1200];
    operation_prepare(op, seed);
    if (!conformance_holds(&pair, op, tolerance, text, sizeof text)) TEST_FAIL("%s", text);
    operation_free(op);
}

typedef struct convolution {
    int64_t channels, size, outputs, kernel, stride, pad, groups;
} convolution;

static void check_convolutions(const convolution *layer, int count)
{
    for (int i = 0; i < count; i++) {
        const convolution *l = &layer[i];
        operation op = {.kind = OPERATION_CONV2D, .given_dst = true};
        op.desc.conv2d = (cairn_conv2d_desc){.src = cairn_shape_make(4, 2, l->channels, l->size, l->size),
                                             .out_channels = l->outputs,
                                             .kernel_h = l->kernel,
                                             .kernel_w = l->kernel,
                                             .stride_h = l->stride,
                                             .stride_w = l->stride,
                                             .pad_h = l->pad,
                                             .pad_w = l->pad,
                                             .groups = l->groups,
                                             .has_bias = true,
                                             .relu = true,
                                             .relu_backward = true,
                                             .train = true,
                                             .need_diff_src = i > 0};
        check_holds(&op, (uint32_t)i);
    }
}

static void convolutions_of_owt(void)
{
    static const convolution layer[] = {{3, 224, 64, 11, 4, 2, 1},
                                        {64, 27, 192, 5, 1, 2, 1},
                                        {192, 13, 384, 3, 1, 1, 1},
                                        {384, 13, 256, 3, 1, 1, 1},
                                        {256, 13, 256, 3, 1, 1, 1}};
    check_convolutions(layer, 5);
}

static void convolutions_of_paper(void)
{
    static const convolution layer[] = {{3, 227, 96, 11, 4, 0, 1},
                                        {96, 27, 256, 5, 1, 2, 2},
                                        {256, 13, 384, 3, 1, 1, 1},
                                        {384, 13, 384, 3, 1, 1, 2},
                                        {384, 13, 256, 3, 1, 1, 2}};
    check_convolutions(layer, 5);
}

static void pools_and_norms(void)
{
    static const int64_t pool[][2] = {{64, 55}, {96, 55}, {192, 27}, {256, 13}}, norm[][2] = {{96, 55}, {256, 27}};
    for (int i = 0; i < 4; i++) {
        int64_t size = pool[i][1], out = (size - 3) / 2 + 1;
        operation op = {.kind = OPERATION_POOL2D, .blocked_source = true};
        op.desc.pool2d = (cairn_pool2d_desc){.kind = CAIRN_POOL_MAX,
                                             .src = cairn_shape_make(4, 2, pool[i][0], size, size),
                                             .kernel_h = 3,
                                             .kernel_w = 3,
                                             .stride_h = 2,
                                             .stride_w = 2,
                                             .out_h = out,
                                             .out_w = out,
                                             .relu_backward = true,
                                             .train = true};
        check_holds(&op, (uint32_t)i);
    }
    for (int i = 0; i < 2; i++) {
        operation op = {.kind = OPERATION_LRN, .blocked_source = true};
        op.desc.lrn = (cairn_lrn_desc){.src = cairn_shape_make(4, 2, norm[i][0], norm[i][1], norm[i][1]),
                                       .size = 5,
                                       .alpha = 1e-4f,
                                       .beta = 0.75f,
                                       .k = i ? 1 : 2,
                                       .train = true};
        check_holds(&op, (uint32_t)i);
    }
}

static void fully_connected(void)
{
    static const int64_t layer[][2] = {{9216, 1024}, {4096, 1000}};
    for (int i = 0; i < 2; i++) {
        operation op = {.kind = OPERATION_LINEAR, .given_dst = true};
        op.desc.linear = (cairn_linear_desc){.batch = 2,
                                             .in_features = layer[i][0],
                                             .out_features = layer[i][1],
                                             .has_bias = true,
                                             .relu = i == 0,
                                             .relu_backward = i == 0,
                                             .train = true,
                                             .need_diff_src = true};
        check_holds(&op, (uint32_t)i);
    }
}

int main(int argc, char **argv)
{
    const tested backends = tested_against_ref(argc, argv);
    for (int i = 0; i < backends.count; i++) {
        if (conformance_open(backends.name[i], NULL, &pair) != CAIRN_OK) {
            TEST_FAIL("%s", cairn_error_last()->message);
            continue;
        }
        printf("%s:\n", cairn_device_name(pair.tested));
        RUN(convolutions_of_owt);
        RUN(convolutions_of_paper);
        RUN(pools_and_norms);
        RUN(fully_connected);
        conformance_close(&pair);
    }
    return test_result();
}
