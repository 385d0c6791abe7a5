/* A net on a device that is picky about layouts: the right numbers, and a reorder only where two neighbours disagree. */
#include "tests/support/golden.h"
#include "tests/support/picky.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

enum { BATCH = 3 };

static const cairn_net_options training = {.batch = BATCH, .train = true, .seed = 3};

static void step(const small_net *s)
{
    small_net_feed(s, 0, BATCH);
    CHECK_OK(small_net_step(s, &(cairn_forward){.train = true, .step = 1}, false));
    CHECK_OK(small_net_step(s, &(cairn_forward){.train = true, .step = 2}, true));
}

static void check_equal(float *got, int64_t count, float *want, int64_t same)
{
    CHECK(count == same && memcmp(got, want, (size_t)count * sizeof *got) == 0);
    free(got);
    free(want);
}

static void layouts_do_not_change_a_bit(void)
{
    picky device;
    small_net ref, turned;
    REQUIRE_OK(picky_open(false, &device));
    REQUIRE_OK(small_net_open_on(device.device, small_net_convolutional, &training, &turned));
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &training, &ref));
    step(&ref);
    step(&turned);
    int64_t count, same;
    float *got = small_net_logits(&turned, &count), *want = small_net_logits(&ref, &same);
    check_equal(got, count, want, same);
    got = small_net_gradients(&turned, &count);
    want = small_net_gradients(&ref, &same);
    check_equal(got, count, want, same);
    small_net_close(&ref);
    small_net_close(&turned);
}

/* Forward: into conv1, out of pool1 for the LRN, into conv2, out of it for the batch norm. Backward: into conv2, out of it for dropout,
 * into pool1; and the gradient of the input, out of conv1. */
static void neighbours_that_agree_need_no_reorder(void)
{
    cairn_net_options options = training;
    for (int extra = 0; extra <= 1; extra++) {
        picky device;
        small_net s;
        options.input_gradient = extra;
        REQUIRE_OK(picky_open(false, &device));
        REQUIRE_OK(small_net_open_on(device.device, small_net_convolutional, &options, &s));
        int first_values = 2; /* cairn_net_init writes the weights of conv1 and conv2 through a reorder each */
        CHECK_INT(device.reorders - first_values, 7 + extra);
        small_net_close(&s);
    }
}

static cairn_status ends_with_a_pool(cairn_net *net)
{
    CAIRN_TRY(cairn_net_add(net, "conv", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 4, .kernel = 3})));
    return cairn_net_add(net, "pool", cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 2}));
}

static void what_a_user_sees_is_plain(void)
{
    picky device;
    small_net s;
    cairn_net_options options = training;
    options.input_gradient = true;
    REQUIRE_OK(picky_open(false, &device));
    REQUIRE_OK(small_net_open_on(device.device, ends_with_a_pool, &options, &s));
    CHECK(cairn_net_input(s.net).layout == NULL);
    CHECK(cairn_net_output(s.net).layout == NULL);
    CHECK(cairn_net_diff_output(s.net).layout == NULL);
    CHECK(cairn_net_diff_input(s.net).layout == NULL);
    CHECK(cairn_net_parameter(s.net, 0)->layout != NULL);
    CHECK_INT(cairn_net_parameter(s.net, 0)->count, 4 * 3 * 9 + 5);
    CHECK_INT(cairn_net_parameter(s.net, 1)->offset, 128); /* 113, up to a multiple of 16 */
    small_net_close(&s);
}

int main(void)
{
    RUN(layouts_do_not_change_a_bit);
    RUN(neighbours_that_agree_need_no_reorder);
    RUN(what_a_user_sees_is_plain);
    return test_result();
}
