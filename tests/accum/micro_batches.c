/* Passes whose gradients add up to an update, with dropout off: as many of them as there may be give the update of one pass over the whole batch.
 * Every picture weighs one over the valid pictures of the update (or its class weight over their sum), in the short tail of an epoch too; in
 * f16 with the loss scale. On ref and cpu, or on the backend that is named: `micro_batches cuda`. */
#include "tests/support/golden.h"
#include "tests/support/stepper.h"
#include "tests/test.h"

enum { UPDATES = 3 };

static const float uneven[STEPPER_CLASSES] = {0.5f, 2, 1};

static const struct rounding {
    const char *backend;
    cairn_dtype dtype;
    double most;      /* relative difference of what the updates made of the weights */
    double loss_most; /* difference of the last loss */
} rounding[] = {
    {"ref", CAIRN_F32, 1e-6, 1e-5},
    /* Each picture passes through the net as in the whole batch, and f32 adds up the gradients. */
    {"ref", CAIRN_F16, 1e-6, 1e-5},
    {"cpu", CAIRN_F32, 1e-5, 1e-5},
    {"cuda", CAIRN_F32, 1e-5, 1e-5},
    /* cuDNN rounds the filter gradient of each pass to f16 before it is added, and the next update begins with other f16 weights. A gradient that
     * was lost would show as tenths. */
    {"cuda", CAIRN_F16, 5e-2, 2e-3},
};

/* ref and cpu, or the one backend that the command line named. */
static const char *chosen;

static bool is_asked(const struct rounding *on)
{
    return chosen ? strcmp(on->backend, chosen) == 0 : strcmp(on->backend, "cuda") != 0;
}

/* What so many updates change, and the mean loss of the last one. */
static float *change(const struct rounding *on, const char *model, const char *preset, int slice, int pictures,
                     const float *class_weights, int64_t *count, float *loss)
{
    stepper_rig r;
    const stepper_options options = {.backend = on->backend,
                                     .dtype = on->dtype,
                                     .model = model,
                                     .preset = preset,
                                     .slice = slice,
                                     .class_weights = class_weights,
                                     .rate = 0.05f};
    CHECK_OK(stepper_open(&options, &r));
    stepper_fill(&r, pictures);
    float *before = stepper_weights(&r, count);
    for (int i = 0; i < UPDATES; i++) {
        cairn_step_outcome outcome;
        CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
        CHECK_INT(outcome.totals[3], pictures);
        CHECK_INT(outcome.state.skipped, 0);
        *loss = outcome.totals[0];
    }
    float *after = stepper_weights(&r, count);
    for (int64_t i = 0; i < *count; i++)
        after[i] -= before[i];
    free(before);
    stepper_close(&r);
    return after;
}

static void check_backend(const struct rounding *on, const char *model, const char *preset, int pictures,
                          const float *class_weights)
{
    int64_t count;
    float loss, same;
    float *whole = change(on, model, preset, STEPPER_BATCH, pictures, class_weights, &count, &loss);
    for (int slice = STEPPER_BATCH / 2; slice >= 1; slice /= 2) {
        float *sliced = change(on, model, preset, slice, pictures, class_weights, &count, &same);
        double off = relative_l2(sliced, whole, count);
        if (!(off <= on->most))
            TEST_FAIL("%s %s, %s: %d pictures in slices of %d are off by %.3g, more than %.3g", on->backend,
                      cairn_dtype_name(on->dtype), model ? preset : "lenet", pictures, slice, off, on->most);
        CHECK_NEAR(same, loss, on->loss_most);
        free(sliced);
    }
    free(whole);
}

static void check_slices(const char *model, const char *preset, int pictures, const float *class_weights)
{
    for (size_t i = 0; i < sizeof rounding / sizeof *rounding; i++)
        if (is_asked(&rounding[i])) check_backend(&rounding[i], model, preset, pictures, class_weights);
}

static void passes_add_up_to_the_batch(void)
{
    check_slices(NULL, NULL, STEPPER_BATCH, NULL);
}

static void the_tail_of_an_epoch_counts_fully(void)
{
    check_slices(NULL, NULL, 5, NULL);
}

static void class_weights_weigh_over_the_whole_update(void)
{
    check_slices(NULL, NULL, 7, uneven);
}

/* With groups and LRN. */
static void alexnet_adds_up_too(void)
{
    check_slices("alexnet", "paper", 6, NULL);
}

int main(int count, char **arguments)
{
    if (count > 1) chosen = arguments[1];
    RUN(passes_add_up_to_the_batch);
    RUN(the_tail_of_an_epoch_counts_fully);
    RUN(class_weights_weigh_over_the_whole_update);
    RUN(alexnet_adds_up_too);
    return test_result();
}
