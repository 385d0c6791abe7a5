/* Every operation in bf16 on cpu against ref in bf16. Where the processor has no instructions for it the device is told to do without: then what
 * is tested is everything but oneDNN's own kernels in bf16. */
#include "backends/backends.h"
#include "tests/support/golden.h"
#include "tests/support/operation.h"
#include "tests/support/random_operation.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

enum { SEEDS = 40, BATCH = 4 };

static cairn_device *ref, *cpu;

/* Two roundings to 8 bits that fall to either side. */
static const double tolerance = 1.0 / 128;

static void check_operation(operation_kind kind, uint32_t seed)
{
    operation op;
    operation_result want = {0}, got = {0};
    char text[1200];
    random_operation(kind, seed, &op);
    operation_set_dtype(&op, CAIRN_BF16);
    op.given_dst = kind != OPERATION_LRN; /* whose backward reads what its forward wrote */
    CHECK_OK(operation_run(ref, &op, &want));
    if (operation_run(cpu, &op, &got) != CAIRN_OK)
        TEST_FAIL("seed %u: %s", seed, cairn_error_last()->message);
    else if (!operation_agrees(&op, &want, &got, tolerance, text, sizeof text))
        TEST_FAIL("seed %u: %s", seed, text);
    operation_result_free(&want);
    operation_result_free(&got);
    operation_free(&op);
}

static void every_operation_agrees_with_ref(void)
{
    for (operation_kind kind = OPERATION_CONV2D; kind <= OPERATION_BATCHNORM; kind++)
        for (uint32_t seed = 1; seed <= SEEDS; seed++)
            check_operation(kind, seed);
}

/* Layouts, reorders, copies of weights and the loss, in one: logits as ref's in bf16, to what a dozen roundings may do. */
static void a_net_agrees_with_ref(void)
{
    const cairn_net_options options = {.batch = BATCH, .train = true, .seed = 3, .dtype = CAIRN_BF16};
    float *logits[2], *gradients[2];
    int64_t count[2];
    cairn_device *const device[] = {ref, cpu};
    for (int i = 0; i < 2; i++) {
        small_net s;
        REQUIRE_OK(small_net_open_on(device[i], small_net_convolutional, &options, &s));
        small_net_feed(&s, 0, BATCH);
        CHECK_OK(small_net_step(&s, &(cairn_forward){.train = true, .step = 1}, false));
        CHECK_OK(small_net_step(&s, &(cairn_forward){.train = true, .step = 2}, true));
        logits[i] = small_net_logits(&s, &count[0]);
        gradients[i] = small_net_gradients(&s, &count[1]);
        small_net_close(&s); /* and with it the device: the last test */
    }
    CHECK(relative_l2(logits[1], logits[0], count[0]) <= 0.03);
    CHECK(relative_l2(gradients[1], gradients[0], count[1]) <= 0.1);
    for (int i = 0; i < 2; i++) {
        free(logits[i]);
        free(gradients[i]);
    }
}

static void rounding_is_that_of_core(void)
{
    enum { COUNT = 4096 };
    cairn_tensor wide = {.device = cpu, .shape = cairn_shape_make(1, COUNT), .dtype = CAIRN_F32}, narrow = wide;
    float values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits = golden_hash((uint32_t)i);
        memcpy(&values[i], &bits, sizeof bits);
    }
    values[0] = NAN, values[1] = INFINITY, values[2] = -INFINITY, values[3] = 0x1.ffffp127f, values[4] = 1e-40f;
    cairn_slab from, to;
    REQUIRE_OK(cairn_slab_create(cpu, sizeof values, "test", &from));
    REQUIRE_OK(cairn_slab_create(cpu, COUNT * sizeof(uint16_t), "test", &to));
    wide.data = from.data;
    narrow.data = to.data;
    narrow.dtype = CAIRN_BF16;
    CHECK_OK(cairn_device_upload(cpu, from.data, values, sizeof values));
    CHECK_OK(cairn_tensor_copy(&wide, &narrow));
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(((uint16_t *)to.data)[i], cairn_f32_to_bf16(values[i])); /* cpu's memory is the host's */
    cairn_slab_destroy(&from);
    cairn_slab_destroy(&to);
}

int main(void)
{
    const cairn_device_options options = {.threads = 2, .deterministic = true, .emulate = true};
    if (cairn_device_open("ref", NULL, &ref) != CAIRN_OK || cairn_device_open("cpu", &options, &cpu) != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return test_result();
    }
    RUN(rounding_is_that_of_core);
    RUN(every_operation_agrees_with_ref);
    RUN(a_net_agrees_with_ref);
    return test_result();
}
