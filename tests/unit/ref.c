/* The ref backend's own promises: what it refuses and why, and what it does that no other backend is compared on. */
#include "backends/backends.h"
#include "tests/support/random_operation.h"
#include "tests/test.h"

static cairn_device *device;

static void says_what_it_is(void)
{
    CHECK_TEXT(cairn_device_name(device), "ref (plain C, double accumulation)");
    CHECK_TEXT(cairn_device_library(device), "");
    CHECK_INT(cairn_device_threads(device), 1);
    CHECK_NEAR(cairn_backend_ref.peak_gflops(device, CAIRN_F32), 0, 0);
}

static void obeys_the_memory_limit(void)
{
    cairn_device *small;
    void *memory;
    REQUIRE_OK(cairn_device_open("ref", &(cairn_device_options){.memory_limit = 1000}, &small));
    CHECK_FAILS(cairn_device_alloc(small, 2000, "test", &memory), CAIRN_MEMORY, "would pass the limit");
    cairn_device_close(small);
}

static void refuses_foreign_layouts_and_dtypes(void)
{
    const cairn_layout *foreign = (const cairn_layout *)device; /* any address but NULL: ref makes no layouts */
    cairn_relu_desc relu = {.src = cairn_shape_make(2, 1, 1), .src_layout = foreign};
    cairn_lrn_desc lrn = {.src = cairn_shape_make(4, 1, 1, 1, 1), .size = 5, .dtype = CAIRN_U8};
    cairn_reorder_desc into = {.shape = cairn_shape_make(1, 1), .to = foreign};
    cairn_reorder_desc outof = {.shape = cairn_shape_make(1, 1), .from = foreign};
    cairn_plan *plan;
    CHECK_FAILS(cairn_backend_ref.plan_relu(device, &relu, &plan), CAIRN_DEVICE, "relu on ref: only plain layouts");
    CHECK_FAILS(cairn_backend_ref.plan_lrn(device, &lrn, &plan), CAIRN_DEVICE, "lrn on ref: dtype u8");
    CHECK_FAILS(cairn_backend_ref.plan_reorder(device, &into, &plan), CAIRN_DEVICE, "only plain layouts");
    CHECK_FAILS(cairn_backend_ref.plan_reorder(device, &outof, &plan), CAIRN_DEVICE, "only plain layouts");
}

static cairn_conv2d_desc conv2d(void)
{
    return (cairn_conv2d_desc){.src = cairn_shape_make(4, 1, 4, 5, 5),
                               .out_channels = 6,
                               .kernel_h = 3,
                               .kernel_w = 3,
                               .stride_h = 1,
                               .stride_w = 1,
                               .groups = 1};
}

static void refuses_impossible_convolutions(void)
{
    cairn_conv2d_desc groups = conv2d(), kernel = conv2d(), stride = conv2d();
    cairn_plan *plan;
    groups.groups = 4;
    kernel.kernel_w = 6;
    stride.stride_h = 0;
    CHECK_FAILS(cairn_backend_ref.plan_conv2d(device, &groups, &plan), CAIRN_USAGE,
                "4 input and 6 output channels can't be split into 4 groups");
    CHECK_FAILS(cairn_backend_ref.plan_conv2d(device, &kernel, &plan), CAIRN_USAGE,
                "the 3x6 kernel is larger than the padded 5x5 source");
    CHECK_FAILS(cairn_backend_ref.plan_conv2d(device, &stride, &plan), CAIRN_USAGE, "stride must be at least 1");
}

static cairn_pool2d_desc pool2d(void)
{
    return (cairn_pool2d_desc){.src = cairn_shape_make(4, 1, 1, 5, 5),
                               .kernel_h = 2,
                               .kernel_w = 2,
                               .stride_h = 2,
                               .stride_w = 2,
                               .out_h = 2,
                               .out_w = 2};
}

static void refuses_impossible_pools(void)
{
    cairn_pool2d_desc empty = pool2d(), outside = pool2d(), padding = pool2d(), mask = pool2d();
    cairn_plan *plan;
    empty.out_h = 0;
    outside.out_w = 4;
    padding.pad_h = 2;
    mask.kind = CAIRN_POOL_AVERAGE;
    mask.relu_backward = true;
    CHECK_FAILS(cairn_backend_ref.plan_pool2d(device, &empty, &plan), CAIRN_USAGE, "an output of 0x2 is empty");
    CHECK_FAILS(cairn_backend_ref.plan_pool2d(device, &outside, &plan), CAIRN_USAGE,
                "the last of 2x4 windows starts outside the 5x5 source");
    CHECK_FAILS(cairn_backend_ref.plan_pool2d(device, &padding, &plan), CAIRN_USAGE, "below the kernel's size");
    CHECK_FAILS(cairn_backend_ref.plan_pool2d(device, &mask, &plan), CAIRN_USAGE, "only a max-pool");
}

static void refuses_other_nonsense(void)
{
    cairn_lrn_desc lrn = {.src = cairn_shape_make(4, 1, 1, 1, 1)};
    cairn_dropout_desc dropout = {.src = cairn_shape_make(2, 1, 1), .rate = 1};
    cairn_batchnorm_desc batchnorm = {.src = cairn_shape_make(4, 1, 3, 1, 1), .train = true};
    cairn_plan *plan;
    CHECK_FAILS(cairn_backend_ref.plan_lrn(device, &lrn, &plan), CAIRN_USAGE, "a window of 0 channels");
    CHECK_FAILS(cairn_backend_ref.plan_dropout(device, &dropout, &plan), CAIRN_USAGE, "a rate of 1 is outside [0, 1)");
    CHECK_FAILS(cairn_backend_ref.plan_batchnorm(device, &batchnorm, &plan), CAIRN_USAGE, "train on a larger batch");
}

static void refuses_labels_and_crops_out_of_range(void)
{
    const float logits[2] = {0, 1}, scale[1] = {1};
    const int32_t label[1] = {2}, crop[3] = {1, 3, 0};
    const uint8_t image[4 * 4 * 3] = {0};
    float totals[4] = {0}, dst[3 * 2 * 2];
    cairn_softmax_loss loss = {
        .batch = 1, .classes = 2, .logits = logits, .labels = label, .scale = scale, .totals = totals};
    cairn_augment augment = {
        .batch = 1, .src_h = 4, .src_w = 4, .height = 2, .width = 2, .src = image, .crop = crop, .dst = dst};
    CHECK_FAILS(cairn_backend_ref.softmax_loss(device, &loss), CAIRN_USAGE,
                "label 2 of sample 0 is outside the 2 classes");
    CHECK_FAILS(cairn_backend_ref.augment(device, &augment), CAIRN_USAGE,
                "sample 0: a 2x2 crop at row 1, column 3 leaves the 4x4 image");
}

/* A broken net must be seen at its output, so neither maxima nor ReLUs may swallow a NaN. */
static void lets_nan_through(void)
{
    operation relu = {.kind = OPERATION_RELU, .desc.relu = {.src = cairn_shape_make(2, 1, 4)}};
    operation pool = {.kind = OPERATION_POOL2D, .desc.pool2d = pool2d()};
    operation_result result = {0};
    operation_prepare(&relu, 1);
    relu.value[OPERAND_SRC][2] = NAN;
    CHECK_OK(operation_run(device, &relu, &result));
    CHECK(isnan(result.value[OPERAND_DST][2]));
    operation_result_free(&result);
    operation_free(&relu);
    operation_prepare(&pool, 1);
    pool.value[OPERAND_SRC][6] = NAN;
    CHECK_OK(operation_run(device, &pool, &result));
    CHECK(isnan(result.value[OPERAND_DST][0]));
    operation_result_free(&result);
    operation_free(&pool);
}

/* In f16 and bf16 the same sums are rounded at the end: on values that the dtype holds, results are those of f32 rounded to it, and
 * gradients of parameters, which stay f32, are the same bits. */
static void check_low_precision(operation_kind kind, uint32_t seed, cairn_dtype dtype)
{
    operation op;
    operation_result want = {0}, got = {0};
    char text[1200];
    random_operation(kind, seed, &op);
    operation_set_dtype(&op, dtype);
    CHECK_OK(operation_run(device, &op, &got));
    operation_set_dtype(&op, CAIRN_F32);
    CHECK_OK(operation_run(device, &op, &want));
    if (!operation_agrees(&op, &want, &got, dtype == CAIRN_F16 ? 0x1p-11 : 0x1p-8, text, sizeof text))
        TEST_FAIL("seed %u, %s: %s", seed, cairn_dtype_name(dtype), text);
    for (operand id = OPERAND_DIFF_WEIGHTS; id <= OPERAND_DIFF_BIAS; id++)
        if (got.value[id])
            CHECK(memcmp(got.value[id], want.value[id], (size_t)cairn_shape_count(op.shape[id]) * sizeof(float)) == 0);
    operation_result_free(&want);
    operation_result_free(&got);
    operation_free(&op);
}

static void rounds_low_precision_once(void)
{
    for (operation_kind kind = OPERATION_CONV2D; kind <= OPERATION_BATCHNORM; kind++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            check_low_precision(kind, seed, CAIRN_F16);
            check_low_precision(kind, seed, CAIRN_BF16);
        }
}

int main(void)
{
    if (cairn_device_open("ref", NULL, &device) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return test_result();
    }
    RUN(says_what_it_is);
    RUN(obeys_the_memory_limit);
    RUN(refuses_foreign_layouts_and_dtypes);
    RUN(refuses_impossible_convolutions);
    RUN(refuses_impossible_pools);
    RUN(refuses_other_nonsense);
    RUN(refuses_labels_and_crops_out_of_range);
    RUN(lets_nan_through);
    RUN(rounds_low_precision_once);
    cairn_device_close(device);
    return test_result();
}
