/* One update on ref: slices add up to the batch, the tail of an epoch and unreadable pictures count as they should, class weights weigh, and a loss
 * that is not finite names its layer and leaves the weights alone. */
#include "tests/support/stepper.h"
#include "tests/test.h"

enum { BATCH = STEPPER_BATCH, CLASSES = STEPPER_CLASSES };

static cairn_status rig_open(stepper_rig *r, int slice, const float *class_weights, float rate)
{
    const stepper_options options = {
        .backend = "ref", .slice = slice, .class_weights = class_weights, .rate = rate, .dropout = 0.25f};
    return stepper_open(&options, r);
}

/* Runs two updates on so many pictures and gives the weights; the caller frees them. */
static float *weights_after_two(int slice, int pictures, const float *class_weights, cairn_step_outcome *outcome)
{
    stepper_rig r;
    int64_t count;
    cairn_step_outcome first;
    CHECK_OK(rig_open(&r, slice, class_weights, 0.05f));
    stepper_fill(&r, pictures);
    CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &first));
    CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, outcome));
    float *weights = stepper_weights(&r, &count);
    stepper_close(&r);
    return weights;
}

static double largest_difference(const float *a, const float *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static int64_t weight_count(void)
{
    stepper_rig r;
    CHECK_OK(rig_open(&r, 1, NULL, 0.05f));
    int64_t count = cairn_net_parameters_total(r.net);
    stepper_close(&r);
    return count;
}

/* Dropout and all: a slice draws the masks of its place in the batch. */
static void slices_add_up_to_the_batch(void)
{
    static const float uneven[CLASSES] = {0.5f, 2, 1};
    static const int pictures[] = {BATCH, 5}; /* full, and the tail of an epoch */
    int64_t count = weight_count();
    for (size_t p = 0; p < 2; p++)
        for (int weighted = 0; weighted < 2; weighted++) {
            cairn_step_outcome whole, sliced;
            const float *class_weights = weighted ? uneven : NULL;
            float *want = weights_after_two(BATCH, pictures[p], class_weights, &whole);
            REQUIRE(want);
            for (int slice = 1; slice < BATCH; slice *= 2) {
                float *got = weights_after_two(slice, pictures[p], class_weights, &sliced);
                REQUIRE(got);
                CHECK_NEAR(largest_difference(got, want, count), 0, 2e-7);
                CHECK_NEAR(sliced.totals[0], whole.totals[0], 1e-6);
                CHECK_INT(sliced.totals[3], pictures[p]);
                free(got);
            }
            free(want);
        }
}

/* A mean over the readable pictures: an unreadable one changes nothing but its own absence. */
static void the_weights_are_those_of_the_readable(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    stepper_fill(&r, BATCH);
    r.valid[2] = r.valid[5] = 0;
    REQUIRE_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
    CHECK_NEAR(outcome.weight, 6, 0);
    CHECK_INT(outcome.totals[3], 6);
    CHECK_NEAR(outcome.totals[0], log(CLASSES), 0.2); /* the first loss of a small start, as a mean */
    stepper_close(&r);
}

static void no_readable_picture_makes_no_update(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    stepper_fill(&r, 0);
    REQUIRE_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
    CHECK_NEAR(outcome.weight, 0, 0);
    CHECK_INT(cairn_optimizer_updates(r.optimizer), 0);
    stepper_close(&r);
}

static void an_infinite_weight_is_named(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    stepper_fill(&r, BATCH);
    cairn_slab weights = cairn_net_weights(r.net);
    ((float *)weights.data)[cairn_net_parameter(r.net, 2)->offset] = INFINITY;
    CHECK_FAILS(cairn_stepper_run(r.stepper, &r.batch, &outcome), CAIRN_NONFINITE, cairn_net_parameter(r.net, 2)->name);
    CHECK(strstr(cairn_error_last()->message, "update 1"));
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
    CHECK_INT(cairn_optimizer_updates(r.optimizer), 0);
    stepper_close(&r);
}

/* Finite weights so large that a layer's output overflows: the layer is named, not the last one that shows it. */
static void the_first_layer_that_overflows_is_named(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    stepper_fill(&r, BATCH);
    cairn_slab weights = cairn_net_weights(r.net);
    const cairn_parameter *parameter = cairn_net_parameter(r.net, cairn_net_find_parameter(r.net, "conv2.weight"));
    for (int64_t i = 0; i < parameter->count; i++)
        ((float *)weights.data)[parameter->offset + i] = 3e38f;
    CHECK_FAILS(cairn_stepper_run(r.stepper, &r.batch, &outcome), CAIRN_NONFINITE, "conv2");
    stepper_close(&r);
}

/* A rate without bounds makes the first weights infinite at once, though the loss before was fine. */
static void a_weight_that_overflows_is_seen_at_once(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(rig_open(&r, 4, NULL, 3e38f));
    stepper_fill(&r, BATCH);
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < 3 && status == CAIRN_OK; i++)
        status = cairn_stepper_run(r.stepper, &r.batch, &outcome);
    CHECK_INT(status, CAIRN_NONFINITE);
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
    stepper_close(&r);
}

int main(void)
{
    RUN(slices_add_up_to_the_batch);
    RUN(the_weights_are_those_of_the_readable);
    RUN(no_readable_picture_makes_no_update);
    RUN(an_infinite_weight_is_named);
    RUN(the_first_layer_that_overflows_is_named);
    RUN(a_weight_that_overflows_is_seen_at_once);
    return test_result();
}
