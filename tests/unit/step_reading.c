/* Updates of which the host reads several at a time, as where the device works on its own, and updates that f16 skips, fifty at most. */
#include "backends/backends.h"
#include "core/os.h"
#include "core/queue.h"
#include "tests/support/stepper.h"
#include "tests/test.h"

/* ref with queues: everything is done when it is asked, so the order in which the host reads is all that differs. Its loss can spoil gradients. */
static struct {
    cairn_backend backend;
    bool spoil;
} device_of;

static void *host_alloc(cairn_device *device, size_t bytes)
{
    (void)device;
    return cairn_os_aligned_alloc(bytes);
}

static void host_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)device, (void)bytes;
    cairn_os_aligned_free(memory);
}

static cairn_status copy(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes)
{
    (void)queue;
    return device->backend->upload(device, to, from, bytes);
}

static cairn_status event_create(cairn_device *device, cairn_event **out)
{
    (void)device;
    *out = NULL;
    return CAIRN_OK;
}

static void event_destroy(cairn_device *device, cairn_event *event)
{
    (void)device, (void)event;
}

static cairn_status event_in_queue(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    (void)device, (void)event, (void)queue;
    return CAIRN_OK;
}

static cairn_status event_synchronize(cairn_device *device, cairn_event *event)
{
    (void)device, (void)event;
    return CAIRN_OK;
}

static cairn_status event_reached(cairn_device *device, cairn_event *event, bool *reached)
{
    (void)device, (void)event;
    *reached = true;
    return CAIRN_OK;
}

static cairn_status softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    CAIRN_TRY(cairn_backend_ref.softmax_loss(device, args));
    if (device_of.spoil) args->dlogits[0] = INFINITY;
    return CAIRN_OK;
}

static cairn_status open_rig(bool queued, const stepper_options *options, stepper_rig *out)
{
    const cairn_backend *const ref[] = {&cairn_backend_ref, NULL};
    cairn_backend *b = &device_of.backend;
    stepper_options on = *options;
    device_of.spoil = false;
    *b = cairn_backend_ref;
    b->softmax_loss = softmax_loss;
    if (queued) {
        b->host_alloc = host_alloc;
        b->host_free = host_free;
        b->copy_in = b->copy_out = copy;
        b->event_create = event_create;
        b->event_destroy = event_destroy;
        b->event_record = b->event_wait = event_in_queue;
        b->event_synchronize = event_synchronize;
        b->event_reached = event_reached;
    }
    CAIRN_TRY(cairn_device_select(ref, "ref", &(cairn_device_options){.threads = 1}, &on.device));
    on.device->backend = b;
    return stepper_open(&on, out);
}

static const stepper_options every_fourth = {.slice = 4, .rate = 0.05f, .read_every = 4};

/* Six updates read as 4 and 2 leave the weights of six read one by one, and tell the same loss. */
static void reading_seldom_changes_nothing(void)
{
    float *weights[2];
    double loss[2] = {0};
    int64_t count, updates[2] = {0};
    for (int queued = 0; queued <= 1; queued++) {
        stepper_rig r;
        REQUIRE_OK(open_rig(queued, &every_fourth, &r));
        stepper_fill(&r, STEPPER_BATCH);
        for (int i = 0; i < 7; i++) {
            cairn_step_outcome outcome;
            CHECK_OK(i < 6 ? cairn_stepper_run(r.stepper, &r.batch, &outcome)
                           : cairn_stepper_catch_up(r.stepper, &outcome));
            CHECK_INT(outcome.updates, queued ? (i == 3 ? 4 : i == 6 ? 2 : 0) : i < 6 ? 1 : 0);
            if (outcome.updates == 0) continue;
            CHECK_INT(outcome.totals[3], outcome.updates * STEPPER_BATCH);
            CHECK_NEAR(outcome.weight, outcome.updates * STEPPER_BATCH, 0);
            loss[queued] += (double)outcome.totals[0] * (double)outcome.updates;
            updates[queued] = outcome.state.updates;
        }
        weights[queued] = stepper_weights(&r, &count);
        stepper_close(&r);
    }
    CHECK_INT(updates[1], 6);
    CHECK_NEAR(loss[1] / loss[0], 1, 1e-6);
    CHECK(memcmp(weights[0], weights[1], (size_t)count * sizeof(float)) == 0);
    free(weights[0]);
    free(weights[1]);
}

/* The second of four is bad: told with the fourth, and by the name of what it spoiled. */
static void what_went_wrong_is_told_at_the_next_reading(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(open_rig(true, &every_fourth, &r));
    stepper_fill(&r, STEPPER_BATCH);
    for (int i = 0; i < 3; i++) {
        device_of.spoil = i == 1;
        CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
    }
    CHECK_FAILS(cairn_stepper_run(r.stepper, &r.batch, &outcome), CAIRN_NONFINITE, "updates 1 to 4");
    CHECK(strstr(cairn_error_last()->message, cairn_net_parameter(r.net, 0)->name));
    stepper_close(&r);
}

/* The loss is fine and a gradient is not: in f32 the run stops at once. */
static void a_gradient_that_is_not_finite_is_told(void)
{
    stepper_rig r;
    cairn_step_outcome outcome;
    REQUIRE_OK(open_rig(false, &every_fourth, &r));
    stepper_fill(&r, STEPPER_BATCH);
    device_of.spoil = true;
    CHECK_FAILS(cairn_stepper_run(r.stepper, &r.batch, &outcome), CAIRN_NONFINITE, "update 1: a gradient");
    CHECK(strstr(cairn_error_last()->message, "--learning-rate"));
    stepper_close(&r);
}

static void f16_skips_recovers_and_goes_on(void)
{
    stepper_options options = every_fourth;
    stepper_rig r;
    cairn_step_outcome outcome;
    int64_t count;
    options.dtype = CAIRN_F16;
    REQUIRE_OK(open_rig(false, &options, &r));
    stepper_fill(&r, STEPPER_BATCH);
    CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
    float *before = stepper_weights(&r, &count);
    device_of.spoil = true;
    for (int i = 1; i < CAIRN_STEP_MOST_SKIPS; i++) {
        CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
        CHECK_INT(outcome.state.skipped, i);
        CHECK_INT(outcome.state.updates, 1);
    }
    float *after = stepper_weights(&r, &count);
    CHECK(memcmp(before, after, (size_t)count * sizeof *before) == 0);
    CHECK_NEAR(outcome.state.loss_scale, 1, 0);
    device_of.spoil = false;
    CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
    CHECK_INT(outcome.state.updates, 2);
    CHECK_INT(outcome.state.skipped_in_a_row, 0);
    free(before);
    free(after);
    stepper_close(&r);
}

static void fifty_skips_in_a_row_are_a_failure(void)
{
    for (int queued = 0; queued <= 1; queued++) {
        stepper_options options = every_fourth;
        stepper_rig r;
        cairn_step_outcome outcome;
        cairn_status status = CAIRN_OK;
        int runs = 0;
        options.dtype = CAIRN_F16;
        REQUIRE_OK(open_rig(queued, &options, &r));
        stepper_fill(&r, STEPPER_BATCH);
        device_of.spoil = true;
        for (; status == CAIRN_OK && runs < 100; runs++)
            status = cairn_stepper_run(r.stepper, &r.batch, &outcome);
        CHECK_INT(status, CAIRN_NONFINITE);
        CHECK_INT(runs, queued ? 52 : CAIRN_STEP_MOST_SKIPS);
        CHECK(strstr(cairn_error_last()->message, "in a row were skipped"));
        CHECK(strstr(cairn_error_last()->message, "--precision bf16 or fp32"));
        stepper_close(&r);
    }
}

int main(void)
{
    RUN(reading_seldom_changes_nothing);
    RUN(what_went_wrong_is_told_at_the_next_reading);
    RUN(a_gradient_that_is_not_finite_is_told);
    RUN(f16_skips_recovers_and_goes_on);
    RUN(fifty_skips_in_a_row_are_a_failure);
    return test_result();
}
