/* One update on ref: slices add up to the batch, the tail of an epoch and unreadable pictures count as they should, class weights weigh, and a loss
 * that is not finite names its layer and leaves the weights alone. */
#include "train/step.h"
#include "backends/backends.h"
#include "core/rng.h"
#include "models/models.h"
#include "tests/test.h"

enum { BATCH = 8, SIZE = 32, CLASSES = 3 };

typedef struct rig {
    cairn_device *device;
    cairn_net *net;
    cairn_optimizer *optimizer;
    cairn_stepper *stepper;
    int64_t count; /* of weights, padding included */
} rig;

static uint8_t rgb[BATCH * SIZE * SIZE * 3];
static int32_t label[BATCH];
static uint8_t valid[BATCH];
static int64_t sample[BATCH];
static const cairn_batch batch = {.rgb = rgb, .label = label, .valid = valid, .sample = sample, .count = BATCH};

static void fill_batch(int pictures)
{
    cairn_rng rng = cairn_rng_make(5, CAIRN_RNG_SYNTHETIC, 0, 0);
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = i < (size_t)pictures * SIZE * SIZE * 3 ? (uint8_t)cairn_rng_below(rng, i, 256) : 0;
    for (int i = 0; i < BATCH; i++) {
        label[i] = i % CLASSES;
        valid[i] = i < pictures;
    }
}

static cairn_status rig_open(rig *r, int slice, const float *class_weights, float rate)
{
    *r = (rig){0};
    CAIRN_TRY(cairn_device_open("ref", &(cairn_device_options){.threads = 1}, &r->device));
    CAIRN_TRY(cairn_model_create("lenet", "", CLASSES, &(cairn_model_options){.dropout = 0.25f, .width_divisor = 4},
                                 &r->net));
    CAIRN_TRY(cairn_net_plan(r->net, r->device, &(cairn_net_options){.batch = slice, .train = true, .seed = 3}));
    CAIRN_TRY(cairn_net_init(r->net, 3));
    r->count = cairn_net_slab_count(r->net);
    cairn_optimizer_options sgd = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    CAIRN_TRY(cairn_optimizer_create(r->device, &sgd, r->count, &r->optimizer));
    for (int p = 0; p < cairn_net_parameter_count(r->net); p++) {
        const cairn_parameter *parameter = cairn_net_parameter(r->net, p);
        CAIRN_TRY(cairn_optimizer_add(r->optimizer, parameter->offset, parameter->count, parameter->decay));
    }
    const cairn_step_options options = {.net = r->net,
                                        .optimizer = r->optimizer,
                                        .schedule = {.kind = CAIRN_SCHEDULE_CONSTANT, .base = rate, .updates = 10},
                                        .preprocess = cairn_preprocess_default(SIZE),
                                        .batch = BATCH,
                                        .class_weights = class_weights};
    return cairn_stepper_create(&options, &r->stepper);
}

static void rig_close(rig *r)
{
    cairn_stepper_destroy(r->stepper);
    cairn_optimizer_destroy(r->optimizer);
    cairn_net_destroy(r->net);
    cairn_device_close(r->device);
}

/* Runs two updates and gives the weights (ref's lie plain in memory a program can read); the caller frees them. */
static float *weights_after_two(int slice, const float *class_weights, cairn_step_outcome *outcome)
{
    rig r;
    float *weights = NULL;
    CHECK_OK(rig_open(&r, slice, class_weights, 0.05f));
    if (r.stepper) {
        cairn_step_outcome first;
        CHECK_OK(cairn_stepper_run(r.stepper, &batch, &first));
        CHECK_OK(cairn_stepper_run(r.stepper, &batch, outcome));
        weights = malloc((size_t)r.count * sizeof *weights);
        if (weights) memcpy(weights, cairn_net_weights(r.net).data, (size_t)r.count * sizeof *weights);
    }
    rig_close(&r);
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
    rig r;
    CHECK_OK(rig_open(&r, 1, NULL, 0.05f));
    int64_t count = r.count;
    rig_close(&r);
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
            fill_batch(pictures[p]);
            cairn_step_outcome whole, sliced;
            const float *class_weights = weighted ? uneven : NULL;
            float *want = weights_after_two(BATCH, class_weights, &whole);
            REQUIRE(want);
            for (int slice = 1; slice < BATCH; slice *= 2) {
                float *got = weights_after_two(slice, class_weights, &sliced);
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
    rig r;
    cairn_step_outcome outcome;
    fill_batch(BATCH);
    valid[2] = valid[5] = 0;
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    REQUIRE_OK(cairn_stepper_run(r.stepper, &batch, &outcome));
    CHECK_NEAR(outcome.weight, 6, 0);
    CHECK_INT(outcome.totals[3], 6);
    CHECK_NEAR(outcome.totals[0], log(CLASSES), 0.2); /* the first loss of a small start, as a mean */
    rig_close(&r);
}

static void no_readable_picture_makes_no_update(void)
{
    rig r;
    cairn_step_outcome outcome;
    fill_batch(0);
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    REQUIRE_OK(cairn_stepper_run(r.stepper, &batch, &outcome));
    CHECK_NEAR(outcome.weight, 0, 0);
    CHECK_INT(cairn_optimizer_updates(r.optimizer), 0);
    rig_close(&r);
}

static void an_infinite_weight_is_named(void)
{
    rig r;
    cairn_step_outcome outcome;
    fill_batch(BATCH);
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    cairn_slab weights = cairn_net_weights(r.net);
    ((float *)weights.data)[cairn_net_parameter(r.net, 2)->offset] = INFINITY;
    CHECK_FAILS(cairn_stepper_run(r.stepper, &batch, &outcome), CAIRN_NONFINITE, cairn_net_parameter(r.net, 2)->name);
    CHECK(strstr(cairn_error_last()->message, "update 1"));
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
    CHECK_INT(cairn_optimizer_updates(r.optimizer), 0);
    rig_close(&r);
}

/* Finite weights so large that a layer's output overflows: the layer is named, not the last one that shows it. */
static void the_first_layer_that_overflows_is_named(void)
{
    rig r;
    cairn_step_outcome outcome;
    fill_batch(BATCH);
    REQUIRE_OK(rig_open(&r, 4, NULL, 0.05f));
    cairn_slab weights = cairn_net_weights(r.net);
    const cairn_parameter *parameter = cairn_net_parameter(r.net, cairn_net_find_parameter(r.net, "conv2.weight"));
    for (int64_t i = 0; i < parameter->count; i++)
        ((float *)weights.data)[parameter->offset + i] = 3e38f;
    CHECK_FAILS(cairn_stepper_run(r.stepper, &batch, &outcome), CAIRN_NONFINITE, "conv2");
    rig_close(&r);
}

/* A rate without bounds makes the first weights infinite at once, though the loss before was fine. */
static void a_weight_that_overflows_is_seen_at_once(void)
{
    rig r;
    cairn_step_outcome outcome;
    fill_batch(BATCH);
    REQUIRE_OK(rig_open(&r, 4, NULL, 3e38f));
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < 3 && status == CAIRN_OK; i++)
        status = cairn_stepper_run(r.stepper, &batch, &outcome);
    CHECK_INT(status, CAIRN_NONFINITE);
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
    rig_close(&r);
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
