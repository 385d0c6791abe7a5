/* The dynamic loss scale and the state of updates on ref and cpu: an overflow skips, halves and leaves everything as it was; updates after it go
 * on where they stood, in momentum and schedule; the scale grows after 2000 and never falls below 1. */
#include "backends/backends.h"
#include "optim/optimizer.h"
#include "tests/test.h"

enum { COUNT = 64 };

static const char *backend;

typedef struct rig {
    cairn_device *device;
    cairn_optimizer *optimizer;
    cairn_slab weights, gradients, low;
} rig;

static cairn_status rig_open(rig *r, bool dynamic)
{
    cairn_optimizer_options options = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    options.dynamic_scale = dynamic;
    *r = (rig){0};
    CAIRN_TRY(cairn_device_open(backend, &(cairn_device_options){.threads = 1}, &r->device));
    CAIRN_TRY(cairn_slab_create(r->device, COUNT * sizeof(float), "test", &r->weights));
    CAIRN_TRY(cairn_slab_create(r->device, COUNT * sizeof(float), "test", &r->gradients));
    CAIRN_TRY(cairn_slab_create(r->device, COUNT * sizeof(uint16_t), "test", &r->low));
    CAIRN_TRY(cairn_optimizer_create(r->device, &options, COUNT, &r->optimizer));
    CAIRN_TRY(cairn_optimizer_add_low(r->optimizer, 0, 32, true));
    CAIRN_TRY(cairn_optimizer_add(r->optimizer, 32, 32, true));
    cairn_optimizer_set_low(r->optimizer, &r->low, CAIRN_F16);
    return CAIRN_OK;
}

static void rig_close(rig *r)
{
    cairn_optimizer_destroy(r->optimizer);
    cairn_slab_destroy(&r->weights);
    cairn_slab_destroy(&r->gradients);
    cairn_slab_destroy(&r->low);
    cairn_device_close(r->device);
}

/* Gradients as a backward of this loss scale would leave them, all `value` but the last, which is `last`. */
static void set_gradients(rig *r, float value, float last)
{
    for (int i = 0; i < COUNT; i++)
        ((float *)r->gradients.data)[i] = i + 1 < COUNT ? value : last; /* both devices' memory is the host's */
}

static cairn_update_state step(rig *r, const cairn_schedule *schedule)
{
    cairn_update_state state = {0};
    CHECK_OK(cairn_optimizer_step_scheduled(r->optimizer, &r->weights, &r->gradients, schedule));
    CHECK_OK(cairn_optimizer_read(r->optimizer, &state));
    return state;
}

static const cairn_schedule falling = {
    .kind = CAIRN_SCHEDULE_STEP, .base = 1, .updates = 100, .step_size = 1, .gamma = 0.5f};

/* With momentum 0.9, gradients of 1 and rates 1, 0.5: v is 1, 1.9; w is -1, -1.95. */
static void an_overflow_costs_an_update_and_nothing_else(void)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    rig r;
    REQUIRE_OK(rig_open(&r, true));
    const float *weights = r.weights.data, *momentum = cairn_optimizer_state(r.optimizer, 0).data;
    float scale = CAIRN_LOSS_SCALE_START;
    set_gradients(&r, scale, scale);
    cairn_update_state state = step(&r, &falling);
    CHECK_INT(state.updates, 1);
    CHECK_NEAR(weights[0], -1, 1e-6);
    for (int i = 0; i < 3; i++) {
        set_gradients(&r, scale, bad[i]);
        state = step(&r, &falling);
        CHECK_INT(state.updates, 1);
        CHECK_INT(state.nonfinite, 1);
        CHECK_INT(state.skipped, i + 1);
        CHECK_INT(state.skipped_in_a_row, i + 1);
        CHECK_NEAR(state.loss_scale, scale /= 2, 0);
        CHECK_NEAR(weights[0], -1, 1e-6);
        CHECK_NEAR(momentum[0], 1, 1e-6);
        CHECK_INT(((uint16_t *)r.low.data)[0], cairn_f32_to_f16(-1));
        CHECK_INT(cairn_optimizer_updates(r.optimizer), 1);
        CHECK_INT(cairn_optimizer_attempts(r.optimizer), i + 2);
    }
    set_gradients(&r, scale, scale);
    state = step(&r, &falling);
    CHECK_INT(state.updates, 2);
    CHECK_INT(state.nonfinite, 0);
    CHECK_INT(state.skipped_in_a_row, 0);
    CHECK_INT(state.skipped, 3);
    CHECK_NEAR(weights[COUNT - 1], -1.95, 1e-6);
    CHECK_INT(((uint16_t *)r.low.data)[31], cairn_f32_to_f16(weights[31]));
    CHECK_INT(((uint16_t *)r.low.data)[32], 0); /* of a run that has no copy */
    rig_close(&r);
}

static void the_scale_never_falls_below_one(void)
{
    rig r;
    cairn_update_state state = {.loss_scale = 4};
    REQUIRE_OK(rig_open(&r, true));
    REQUIRE_OK(cairn_optimizer_restore(r.optimizer, &state));
    set_gradients(&r, 1, INFINITY);
    for (int i = 0; i < 5; i++)
        state = step(&r, &falling);
    CHECK_NEAR(state.loss_scale, 1, 0);
    CHECK_INT(state.skipped_in_a_row, 5);
    rig_close(&r);
}

static void the_scale_doubles_after_so_many_good_updates(void)
{
    rig r;
    cairn_update_state state = {.loss_scale = 8, .good = CAIRN_LOSS_SCALE_INTERVAL - 2, .updates = 7};
    REQUIRE_OK(rig_open(&r, true));
    REQUIRE_OK(cairn_optimizer_restore(r.optimizer, &state));
    CHECK_NEAR(*cairn_optimizer_loss_scale(r.optimizer), 8, 0);
    set_gradients(&r, 1, 1);
    CHECK_NEAR(step(&r, &falling).loss_scale, 8, 0);
    state = step(&r, &falling);
    CHECK_NEAR(state.loss_scale, 16, 0);
    CHECK_INT(state.good, 0);
    CHECK_INT(state.updates, 9);
    state = (cairn_update_state){.loss_scale = CAIRN_LOSS_SCALE_MOST, .good = CAIRN_LOSS_SCALE_INTERVAL - 1};
    CHECK_OK(cairn_optimizer_restore(r.optimizer, &state));
    CHECK_NEAR(step(&r, &falling).loss_scale, CAIRN_LOSS_SCALE_MOST, 0);
    rig_close(&r);
}

/* Without a dynamic scale there is none to restore, and a gradient that is not finite is told, not skipped. */
static void without_a_scale_nothing_is_skipped(void)
{
    rig r;
    const cairn_update_state before = {
        .loss_scale = 512, .good = 3, .skipped = 4, .skipped_in_a_row = 2, .updates = 20};
    REQUIRE_OK(rig_open(&r, false));
    CHECK(cairn_optimizer_loss_scale(r.optimizer) == NULL);
    CHECK_OK(cairn_optimizer_restore(r.optimizer, &before));
    CHECK_INT(cairn_optimizer_attempts(r.optimizer), 24);
    set_gradients(&r, 1, INFINITY);
    cairn_update_state state = step(&r, &falling);
    CHECK_NEAR(state.loss_scale, 1, 0);
    CHECK_INT(state.nonfinite, 1);
    CHECK_INT(state.updates, 21);
    CHECK_INT(state.skipped, 4);
    CHECK(!isfinite(((float *)r.weights.data)[COUNT - 1]));
    rig_close(&r);
}

/* The device's table of rates is filled again in time, skipped updates or not. */
static void rates_follow_the_schedule_over_any_length(void)
{
    const cairn_schedule schedule = {.kind = CAIRN_SCHEDULE_POLYNOMIAL, .base = 1, .updates = 2600, .power = 1};
    rig r;
    REQUIRE_OK(rig_open(&r, true));
    REQUIRE_OK(cairn_optimizer_restore(r.optimizer, &(cairn_update_state){.loss_scale = 1}));
    double want = 0, v = 0;
    const float *weights = r.weights.data;
    for (int i = 0; i < 2500; i++) {
        bool skip = i % 5 == 4; /* and no reading in between */
        float scale = *cairn_optimizer_loss_scale(r.optimizer);
        set_gradients(&r, scale, skip ? INFINITY : scale);
        if (!skip) {
            v = 0.9 * v + 1;
            want -= (double)cairn_schedule_at(&schedule, i - (i + 1) / 5) * v;
        }
        CHECK_OK(cairn_optimizer_step_scheduled(r.optimizer, &r.weights, &r.gradients, &schedule));
    }
    CHECK_NEAR(weights[0] / want, 1, 1e-4);
    rig_close(&r);
}

int main(void)
{
    static const char *const backends[] = {"ref", "cpu"};
    for (int i = 0; i < 2; i++) {
        backend = backends[i];
        puts(backend);
        RUN(an_overflow_costs_an_update_and_nothing_else);
        RUN(the_scale_never_falls_below_one);
        RUN(the_scale_doubles_after_so_many_good_updates);
        RUN(without_a_scale_nothing_is_skipped);
        RUN(rates_follow_the_schedule_over_any_length);
    }
    return test_result();
}
