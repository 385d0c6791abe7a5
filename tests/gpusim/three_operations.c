/* A grouped convolution, an accumulating linear layer and a ReLU of several blocks on cuda against ref: each shows one of the faults that
 * faults.sh seeds. */
#include "tests/support/conformance.h"
#include "tests/test.h"

static conformance pair;

static void check_holds(operation *op)
{
    char text[1200];
    operation_prepare(op, 3);
    if (!conformance_holds(&pair, op, 5e-6, text, sizeof text)) TEST_FAIL("%s", text);
    operation_free(op);
}

static void grouped_convolution(void)
{
    operation op = {.kind = OPERATION_CONV2D,
                    .given_dst = true,
                    .desc.conv2d = {.src = cairn_shape_make(4, 2, 8, 6, 5),
                                    .out_channels = 16,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .groups = 2,
                                    .has_bias = true,
                                    .relu = true,
                                    .relu_backward = true,
                                    .train = true,
                                    .need_diff_src = true}};
    check_holds(&op);
}

static void accumulating_linear(void)
{
    operation op = {
        .kind = OPERATION_LINEAR,
        .accumulate = true,
        .desc.linear = {
            .batch = 3, .in_features = 40, .out_features = 24, .has_bias = true, .train = true, .need_diff_src = true}};
    check_holds(&op);
}

static void relu_of_several_blocks(void)
{
    operation op = {.kind = OPERATION_RELU, .desc.relu = {.src = cairn_shape_make(4, 2, 3, 33, 35), .train = true}};
    check_holds(&op);
}

int main(void)
{
    if (conformance_open("cuda", NULL, &pair) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return test_result();
    }
    RUN(grouped_convolution);
    RUN(accumulating_linear);
    RUN(relu_of_several_blocks);
    conformance_close(&pair);
    return test_result();
}
