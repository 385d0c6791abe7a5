/* Every planned operation of every backend against ref: random shapes and flags, and the corners that matter most. */
#include "tests/support/conformance.h"
#include "tests/support/random_operation.h"
#include "tests/support/tested.h"
#include "tests/test.h"

static conformance pair;

/* Sums of up to some hundred products in f32, or a handful of roundings an element. */
enum { RANDOM_CASES = 100 };
static const double tight = 5e-6;

#define CHECK_HOLDS_FOR(kind, count, tolerance)                                                                        \
    do {                                                                                                               \
        char text_[1200];                                                                                              \
        if (!conformance_holds_for(&pair, (kind), 1, (count), (tolerance), text_, sizeof text_))                       \
            TEST_FAIL("%s", text_);                                                                                    \
    } while (0)

static void check_holds(operation *op, double tolerance)
{
    char text[1200];
    operation_prepare(op, 77);
    if (!conformance_holds(&pair, op, tolerance, text, sizeof text)) TEST_FAIL("%s", text);
    operation_free(op);
}

static void conv2d_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_CONV2D, 2 * RANDOM_CASES, tight);
}

static cairn_conv2d_desc conv2d(int64_t channels, int64_t size, int64_t outputs, int64_t kernel, int64_t groups)
{
    return (cairn_conv2d_desc){.src = cairn_shape_make(4, 2, channels, size, size),
                               .out_channels = outputs,
                               .kernel_h = kernel,
                               .kernel_w = kernel,
                               .stride_h = 1,
                               .stride_w = 1,
                               .groups = groups,
                               .has_bias = true,
                               .relu = true,
                               .relu_backward = true,
                               .train = true,
                               .need_diff_src = true};
}

static void conv2d_corners(void)
{
    operation depthwise = {.desc.conv2d = conv2d(12, 7, 12, 3, 12), .given_dst = true};
    operation whole_image = {.desc.conv2d = conv2d(5, 6, 9, 6, 1), .given_dst = true, .accumulate = true};
    operation skips = {.desc.conv2d = conv2d(3, 14, 8, 2, 1), .given_dst = true};
    skips.desc.conv2d.stride_h = skips.desc.conv2d.stride_w = 5; /* some of the source is under no tap */
    operation one_pixel = {.desc.conv2d = conv2d(1, 1, 1, 1, 1), .given_dst = true};
    operation mostly_padding = {.desc.conv2d = conv2d(4, 2, 4, 5, 2), .given_dst = true};
    mostly_padding.desc.conv2d.pad_h = mostly_padding.desc.conv2d.pad_w = 4;
    check_holds(&depthwise, tight);
    check_holds(&whole_image, tight);
    check_holds(&skips, tight);
    check_holds(&one_pixel, tight);
    check_holds(&mostly_padding, tight);
}

/* Channels enough that Winograd's ways are worth their while, in images whose edges don't fit its tiles; once with the algorithm that is
 * the fastest now, once with the one that is fixed by shape. */
static void wide_conv2d(void)
{
    chance c = {.seed = 12};
    for (int i = 0; i < 24; i++) {
        int64_t kernel = chance_of(&c, 3) ? 5 : 3;
        operation op = {.given_dst = true, .accumulate = chance_of(&c, 2), .blocked_source = chance_of(&c, 2)};
        op.desc.conv2d = conv2d(8 * chance_between(&c, 4, 9), 8, 8 * chance_between(&c, 4, 9), kernel, 1);
        op.desc.conv2d.pad_h = op.desc.conv2d.pad_w = chance_between(&c, 0, kernel - 1);
        op.desc.conv2d.src.dim[0] = chance_between(&c, 1, 3);
        op.desc.conv2d.src.dim[2] = chance_between(&c, kernel, 21);
        op.desc.conv2d.src.dim[3] = chance_between(&c, kernel, 21);
        check_holds(&op, tight);
    }
}

static void linear_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_LINEAR, RANDOM_CASES, tight);
}

static void pool2d_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_POOL2D, 2 * RANDOM_CASES, tight);
}

/* AlexNet at 224 pools 6x6 to 6x6, which is a copy; other sizes make windows overlap or repeat. */
static void adaptive_pool_corners(void)
{
    static const int64_t size[] = {6, 12, 13, 7, 1, 5};
    for (int i = 0; i < 6; i++) {
        operation op = {.kind = OPERATION_POOL2D,
                        .desc.pool2d = {.kind = CAIRN_POOL_ADAPTIVE_AVERAGE,
                                        .src = cairn_shape_make(4, 2, 16, size[i], size[i]),
                                        .out_h = 6,
                                        .out_w = 6,
                                        .train = true},
                        .blocked_source = i % 2 == 0};
        check_holds(&op, tight);
    }
}

/* Windows of more elements than a byte counts, global ones among them. */
static void pool2d_of_large_windows(void)
{
    for (int kind = CAIRN_POOL_MAX; kind <= CAIRN_POOL_AVERAGE; kind++)
        for (int64_t kernel = 15; kernel <= 17; kernel++) {
            operation op = {.kind = OPERATION_POOL2D,
                            .desc.pool2d = {.kind = (cairn_pool_kind)kind,
                                            .src = cairn_shape_make(4, 2, 9, 23, 17),
                                            .kernel_h = kernel,
                                            .kernel_w = 17,
                                            .stride_h = 3,
                                            .stride_w = 1,
                                            .out_h = (23 - kernel) / 3 + 1,
                                            .out_w = 1,
                                            .relu_backward = kind == CAIRN_POOL_MAX && kernel == 16,
                                            .train = true},
                            .blocked_source = true};
            check_holds(&op, tight);
        }
}

static void relu_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_RELU, RANDOM_CASES, 0);
}

static void lrn_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_LRN, RANDOM_CASES, tight);
}

/* Where the device has LRN and max-pool as one, it is what the operations one by one are. */
static void lrn_pool_of_random_shape(void)
{
    if (pair.tested->backend->plan_lrn_pool) CHECK_HOLDS_FOR(OPERATION_LRN_POOL, RANDOM_CASES, tight);
}

static void lrn_window_over_all_channels(void)
{
    operation op = {
        .kind = OPERATION_LRN,
        .desc.lrn = {
            .src = cairn_shape_make(4, 1, 3, 5, 4), .size = 9, .alpha = 2, .beta = 0.75f, .k = 1, .train = true}};
    check_holds(&op, tight);
    op.desc.lrn.src = cairn_shape_make(4, 2, 16, 3, 3);
    op.blocked_source = true;
    check_holds(&op, tight);
}

/* More channels than a GPU's warp has in hand, and numbers of them that leave a rest. */
static const int64_t many_channels[] = {128, 129, 192, 250, 256, 384, 515};
enum { MANY_CHANNELS = sizeof many_channels / sizeof *many_channels };

static cairn_lrn_desc wide_lrn(int64_t channels)
{
    return (cairn_lrn_desc){
        .src = cairn_shape_make(4, 2, channels, 9, 7), .size = 5, .alpha = 2, .beta = 0.75f, .k = 1, .train = true};
}

static void lrn_of_many_channels(void)
{
    for (int i = 0; i < MANY_CHANNELS; i++) {
        operation op = {.kind = OPERATION_LRN, .desc.lrn = wide_lrn(many_channels[i]), .blocked_source = true};
        check_holds(&op, tight);
    }
}

static void lrn_pool_of_many_channels(void)
{
    for (int i = 0; pair.tested->backend->plan_lrn_pool && i < MANY_CHANNELS; i++) {
        cairn_pool2d_desc pool = {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .out_h = 4, .out_w = 3};
        operation op = {.kind = OPERATION_LRN_POOL,
                        .desc.lrn_pool = {.lrn = wide_lrn(many_channels[i]), .pool = pool, .relu = i % 2},
                        .blocked_source = true};
        check_holds(&op, tight);
    }
}

static void dropout_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_DROPOUT, RANDOM_CASES, 1e-6);
}

/* The mask bit for bit: what is zero on one device is zero on the other, in dst and diff_src, for any part of a larger batch. */
static void dropout_masks_are_the_same_bits(void)
{
    operation op = {.kind = OPERATION_DROPOUT,
                    .desc.dropout = {.src = cairn_shape_make(2, 5, 1003),
                                     .rate = 0.5f,
                                     .rng = cairn_rng_make(0x123456789abcdef0, CAIRN_RNG_DROPOUT, 6, 0),
                                     .train = true},
                    .step = 4000000000U,
                    .first_sample = 1LL << 40};
    operation_result want = {0}, got = {0};
    int64_t differ = 0, dropped = 0, count = 5 * 1003;
    operation_prepare(&op, 5);
    CHECK_OK(operation_run(pair.ref, &op, &want));
    CHECK_OK(operation_run(pair.tested, &op, &got));
    for (int64_t i = 0; got.value[OPERAND_DIFF_SRC] && i < count; i++) {
        differ += (want.value[OPERAND_DST][i] == 0) != (got.value[OPERAND_DST][i] == 0);
        differ += (want.value[OPERAND_DIFF_SRC][i] == 0) != (got.value[OPERAND_DIFF_SRC][i] == 0);
        dropped += want.value[OPERAND_DST][i] == 0;
    }
    CHECK_INT(differ, 0);
    CHECK_NEAR(dropped, 0.5 * (double)count, 5 * sqrt(0.25 * (double)count)); /* five standard deviations */
    operation_result_free(&want);
    operation_result_free(&got);
    operation_free(&op);
}

static void batchnorm_of_random_shape(void)
{
    CHECK_HOLDS_FOR(OPERATION_BATCHNORM, RANDOM_CASES, 2e-5); /* gradients are small differences of large sums */
}

/* Sums over many rows, and over more channels than a block of a GPU takes. */
static operation long_batchnorm(int64_t channels)
{
    return (operation){.kind = OPERATION_BATCHNORM,
                       .desc.batchnorm = {.src = cairn_shape_make(4, 7, channels, 20, 20),
                                          .eps = 1e-5f,
                                          .momentum = 0.1f,
                                          .train = true},
                       .accumulate = channels % 2 == 0};
}

static void batchnorm_of_many_rows(void)
{
    static const int64_t channels[] = {3, 64, 300};
    for (int i = 0; i < 3; i++) {
        operation op = long_batchnorm(channels[i]);
        check_holds(&op, 2e-5);
    }
}

static void check_same_bits(const operation *op)
{
    operation_result first = {0}, second = {0};
    char text[1200];
    CHECK_OK(operation_run(pair.tested, op, &first));
    CHECK_OK(operation_run(pair.tested, op, &second));
    if (!operation_agrees(op, &first, &second, 0, text, sizeof text)) TEST_FAIL("%s", text);
    operation_result_free(&first);
    operation_result_free(&second);
}

/* Whatever order threads run in, sums are taken in one. */
static void runs_give_the_same_bits(void)
{
    static const operation_kind kinds[] = {OPERATION_CONV2D, OPERATION_LINEAR, OPERATION_POOL2D, OPERATION_BATCHNORM};
    operation op = long_batchnorm(300);
    operation_prepare(&op, 3);
    check_same_bits(&op);
    operation_free(&op);
    for (int kind = 0; kind < 4; kind++)
        for (uint32_t seed = 1; seed <= 25; seed++) {
            random_operation(kinds[kind], seed, &op);
            check_same_bits(&op);
            operation_free(&op);
        }
}

/* --kernels cudnn: what cuDNN has calls for, by them. */
static void check_library_kernels(const char *backend)
{
    if (conformance_open(backend, &(cairn_device_options){.library_kernels = true}, &pair) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return;
    }
    printf("the same, by the library's kernels:\n");
    RUN(pool2d_of_random_shape);
    RUN(pool2d_of_large_windows);
    RUN(relu_of_random_shape);
    RUN(lrn_of_random_shape);
    RUN(lrn_of_many_channels);
    conformance_close(&pair);
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
        RUN(conv2d_of_random_shape);
        RUN(conv2d_corners);
        RUN(wide_conv2d);
        RUN(linear_of_random_shape);
        RUN(pool2d_of_random_shape);
        RUN(adaptive_pool_corners);
        RUN(pool2d_of_large_windows);
        RUN(relu_of_random_shape);
        RUN(lrn_of_random_shape);
        RUN(lrn_window_over_all_channels);
        RUN(lrn_pool_of_random_shape);
        RUN(lrn_of_many_channels);
        RUN(lrn_pool_of_many_channels);
        RUN(dropout_of_random_shape);
        RUN(dropout_masks_are_the_same_bits);
        RUN(batchnorm_of_random_shape);
        RUN(batchnorm_of_many_rows);
        conformance_close(&pair);
        if (conformance_open(backends.name[i], &(cairn_device_options){.deterministic = true}, &pair) != CAIRN_OK) {
            TEST_FAIL("%s", cairn_error_last()->message);
            continue;
        }
        printf("the same, deterministic:\n");
        RUN(conv2d_of_random_shape);
        RUN(wide_conv2d);
        RUN(runs_give_the_same_bits);
        conformance_close(&pair);
        if (strcmp(backends.name[i], "cuda") == 0) check_library_kernels(backends.name[i]);
    }
    return test_result();
}
