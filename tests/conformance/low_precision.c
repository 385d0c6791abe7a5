/* Every planned operation in f16 and bf16 against ref's in the same type: inputs are rounded to it on both sides, sums are f32 or better, so
 * what may differ is the rounding of what is written - one unit in the last place, now and then. */
#include "tests/support/conformance.h"
#include "tests/support/random_operation.h"
#include "tests/support/tested.h"
#include "tests/test.h"

static conformance pair;
static cairn_dtype dtype;

/* Half a unit in the last place is 2^-11 of a number in f16 and 2^-8 in bf16; an operation of two steps rounds twice. */
static double allowed(void)
{
    return dtype == CAIRN_F16 ? 0x1p-10 : 0x1p-7;
}

static void check_kind(operation_kind kind, uint32_t count)
{
    for (uint32_t seed = 1; seed <= count; seed++) {
        operation op;
        char text[1200];
        random_operation(kind, seed, &op);
        operation_set_dtype(&op, dtype);
        bool holds = conformance_holds(&pair, &op, allowed(), text, sizeof text);
        if (!holds) TEST_FAIL("seed %u: %s", seed, text);
        operation_free(&op);
        if (!holds) return;
    }
}

static void conv2d(void)
{
    check_kind(OPERATION_CONV2D, 100);
}

static void linear(void)
{
    check_kind(OPERATION_LINEAR, 100);
}

static void pool2d(void)
{
    check_kind(OPERATION_POOL2D, 200);
}

static void relu(void)
{
    check_kind(OPERATION_RELU, 100);
}

static void lrn(void)
{
    check_kind(OPERATION_LRN, 100);
}

static void lrn_pool(void)
{
    if (pair.tested->backend->plan_lrn_pool) check_kind(OPERATION_LRN_POOL, 100);
}

static void dropout(void)
{
    check_kind(OPERATION_DROPOUT, 100);
}

static void batchnorm(void)
{
    check_kind(OPERATION_BATCHNORM, 100);
}

static void run_all(void)
{
    RUN(conv2d);
    RUN(linear);
    RUN(pool2d);
    RUN(relu);
    RUN(lrn);
    RUN(lrn_pool);
    RUN(dropout);
    RUN(batchnorm);
}

int main(int argc, char **argv)
{
    static const cairn_dtype dtypes[] = {CAIRN_F16, CAIRN_BF16};
    const tested backends = tested_against_ref(argc, argv);
    for (int i = 0; i < backends.count; i++) {
        if (conformance_open(backends.name[i], NULL, &pair) != CAIRN_OK) {
            TEST_FAIL("%s", cairn_error_last()->message);
            continue;
        }
        for (int t = 0; t < 2; t++) {
            dtype = dtypes[t];
            if (cairn_device_supports(pair.tested, dtype) != CAIRN_OK) {
                printf("left out: %s\n", cairn_error_last()->message);
                continue;
            }
            printf("%s, %s:\n", cairn_device_name(pair.tested), cairn_dtype_name(dtype));
            run_all();
        }
        conformance_close(&pair);
    }
    return test_result();
}
