/* Choosing the precision: by name, by the device's word, and by timing where both types are to be had. */
#include "train/precision.h"
#include "backends/backends.h"
#include "core/backend.h"
#include "tests/test.h"

static cairn_status open_cpu(bool deterministic, bool emulate, cairn_device **out)
{
    const cairn_device_options options = {
        .threads = 1, .deterministic = deterministic, .emulate = emulate, .tf32 = true};
    return cairn_device_open("cpu", &options, out);
}

/* What becomes of `precision` for a small net on the device, which is closed. */
static cairn_status resolve(cairn_device *device, cairn_precision *precision, char *reason)
{
    const cairn_precision_trial trial = {.device = device,
                                         .model = "lenet",
                                         .preset = "",
                                         .classes = 3,
                                         .model_options = {.dropout = -1, .width_divisor = 4},
                                         .batch = 2};
    cairn_status status = cairn_precision_resolve(&trial, precision, reason);
    CHECK_INT(cairn_device_memory(device).held, 0); /* a trial leaves nothing behind */
    cairn_device_close(device);
    return status;
}

static void names_go_both_ways(void)
{
    for (cairn_precision p = CAIRN_PRECISION_AUTO; p <= CAIRN_PRECISION_FP16; p++) {
        cairn_precision back;
        REQUIRE_OK(cairn_precision_parse(cairn_precision_name(p), &back));
        CHECK_INT(back, p);
    }
    cairn_precision none;
    CHECK_FAILS(cairn_precision_parse("fp8", &none), CAIRN_USAGE, "auto, fp32, tf32, bf16, fp16");
}

/* bf16 that is worked out in f32 can only be slower: timing must find that, and say so. */
static void auto_takes_the_faster_one(void)
{
    char reason[CAIRN_PRECISION_REASON_SIZE];
    cairn_precision precision = CAIRN_PRECISION_AUTO;
    cairn_device *device;
    REQUIRE_OK(open_cpu(false, true, &device));
    REQUIRE_OK(resolve(device, &precision, reason));
    CHECK(precision == CAIRN_PRECISION_FP32 || precision == CAIRN_PRECISION_BF16);
    CHECK(strstr(reason, "a pass of 2 pictures takes") && strstr(reason, "in bf16") && strstr(reason, "in fp32"));
}

static void where_nothing_may_be_timed_it_is_f32(void)
{
    char reason[CAIRN_PRECISION_REASON_SIZE];
    cairn_precision precision = CAIRN_PRECISION_AUTO;
    cairn_device *device;
    REQUIRE_OK(open_cpu(true, true, &device));
    REQUIRE_OK(resolve(device, &precision, reason));
    CHECK_INT(precision, CAIRN_PRECISION_FP32);
    CHECK(strstr(reason, "nothing is timed"));
}

static void what_is_asked_for_is_taken_or_refused(void)
{
    char reason[CAIRN_PRECISION_REASON_SIZE];
    cairn_precision precision = CAIRN_PRECISION_BF16;
    cairn_device *device;
    REQUIRE_OK(open_cpu(false, true, &device));
    REQUIRE_OK(resolve(device, &precision, reason));
    CHECK_INT(precision, CAIRN_PRECISION_BF16);
    CHECK_TEXT(reason, "");
    precision = CAIRN_PRECISION_FP16;
    REQUIRE_OK(open_cpu(false, true, &device));
    CHECK_FAILS(resolve(device, &precision, reason), CAIRN_DEVICE, "--precision fp16: cpu");
    precision = CAIRN_PRECISION_TF32; /* the device cleared what it can't */
    REQUIRE_OK(open_cpu(false, true, &device));
    CHECK_FAILS(resolve(device, &precision, reason), CAIRN_DEVICE, "--precision tf32");
}

int main(void)
{
    RUN(names_go_both_ways);
    RUN(auto_takes_the_faster_one);
    RUN(where_nothing_may_be_timed_it_is_f32);
    RUN(what_is_asked_for_is_taken_or_refused);
    return test_result();
}
