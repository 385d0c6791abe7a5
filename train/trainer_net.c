#include "models/models.h"
#include "train/net_optimizer.h"
#include "train/trainer_state.h"
#include <stdlib.h>

/* Up to here a picture's side is sought that a net takes. */
enum { MOST_LEAST_SIZE = 256 };

cairn_status trainer_create_net(trainer *t)
{
    const cairn_train_options *o = &t->options;
    cairn_model_options options = t->state.model_options;
    cairn_status status = cairn_model_create(o->model, o->preset, t->state.classes, &options, &t->net);
    if (status != CAIRN_USAGE) return status;
    const cairn_error error = *cairn_error_last();
    const int64_t asked = options.image_size;
    while (++options.image_size <= MOST_LEAST_SIZE) {
        cairn_net *net;
        if (cairn_model_create(o->model, o->preset, t->state.classes, &options, &net) != CAIRN_OK) continue;
        cairn_net_destroy(net);
        return cairn_fail(CAIRN_USAGE, "--image-size %lld is too small for %s, which takes %lld and more: %s",
                          (long long)asked, o->model, (long long)options.image_size, error.message);
    }
    return cairn_error_raise(&error);
}

static cairn_status plan_net(trainer *t)
{
    const cairn_train_options *o = &t->options;
    const cairn_net_options net = {
        .batch = o->micro_batch, .train = true, .dtype = cairn_precision_dtype(o->precision), .seed = o->seed};
    CAIRN_TRY(cairn_net_plan(t->net, o->device, &net));
    /* Before the optimizer's state is there, because filling a large weight takes memory of its own for a moment. */
    return t->source ? CAIRN_OK : cairn_net_init(t->net, o->seed);
}

static cairn_status make_stepper(trainer *t)
{
    const cairn_train_options *o = &t->options;
    const cairn_dataset *d = t->dataset;
    float *weights = NULL;
    if (o->class_weights) {
        weights = malloc((size_t)d->classes * sizeof *weights);
        if (!weights) return cairn_fail(CAIRN_MEMORY, "no memory for the class weights");
        for (int c = 0; c < d->classes; c++)
            weights[c] =
                d->train_count[c] > 0 ? (float)d->train.count / ((float)d->classes * (float)d->train_count[c]) : 0;
    }
    const cairn_step_options options = {
        .net = t->net,
        .optimizer = t->optimizer,
        .schedule = o->schedule,
        .preprocess = t->state.preprocess,
        .batch = o->batch,
        .read_every = o->report_every,
        .smoothing = o->label_smoothing,
        .class_weights = weights,
    };
    cairn_status status = cairn_stepper_create(&options, &t->stepper);
    free(weights);
    return status;
}

/* All that a run holds on the device. */
static cairn_status hold(trainer *t)
{
    if (!t->net) CAIRN_TRY(trainer_create_net(t));
    CAIRN_TRY(plan_net(t));
    CAIRN_TRY(cairn_net_optimizer_create(t->net, &t->options.optimizer, &t->optimizer));
    CAIRN_TRY(make_stepper(t));
    return trainer_make_evaluator(t);
}

static void let_go(trainer *t)
{
    cairn_evaluator_destroy(t->evaluator);
    cairn_stepper_destroy(t->stepper);
    cairn_optimizer_destroy(t->optimizer);
    cairn_net_destroy(t->net);
    t->evaluator = NULL;
    t->stepper = NULL;
    t->optimizer = NULL;
    t->net = NULL;
}

/* Does the run fit in passes of `part` pictures? Tried, not reckoned, so that everything counts that a run holds and a device takes. */
static bool fits(trainer *t, int part)
{
    let_go(t);
    t->options.micro_batch = part;
    bool held = hold(t) == CAIRN_OK;
    let_go(t);
    return held;
}

/* An update that doesn't fit may be made in passes over parts of its batch. Fails with what failed before and the way out. */
static cairn_status out_of_memory(trainer *t)
{
    const cairn_error error = *cairn_error_last();
    const int batch = t->options.batch;
    int part = t->options.micro_batch;
    if (part == 1 || !fits(t, 1))
        return cairn_fail(CAIRN_MEMORY,
                          "%s, but not even a picture at a time fits: give more memory, or take a smaller net; "
                          "--optimizer sgd holds less than adam and adamw",
                          error.message);
    do {
        do
            part--;
        while (batch % part != 0);
    } while (part > 1 && !fits(t, part));
    return cairn_fail(CAIRN_MEMORY, "%s: --micro-batch %d fits, %d passes an update with the same result",
                      error.message, part, batch / part);
}

cairn_status trainer_make_passes(trainer *t)
{
    cairn_status status = hold(t);
    if (status == CAIRN_MEMORY) return out_of_memory(t);
    CAIRN_TRY(status);
    if (t->source) {
        CAIRN_TRY(cairn_checkpoint_load(t->source, t->net, t->optimizer));
        cairn_checkpoint_drop_tensors(t->source); /* hundreds of megabytes that training doesn't need */
    }
    cairn_update_state state;
    CAIRN_TRY(cairn_optimizer_read(t->optimizer, &state));
    trainer_note_state(t, &state);
    return CAIRN_OK;
}
