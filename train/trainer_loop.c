#include "core/os.h"
#include "train/trainer_state.h"
#include <inttypes.h>
#include <stdio.h>

static bool stop_requested(void *context)
{
    trainer *t = context;
    if (t->options.stop_requested) return t->options.stop_requested(t->options.stop_context);
    return cairn_os_caught_signal() != 0;
}

void trainer_note_state(trainer *t, const cairn_update_state *state)
{
    bool scaled = cairn_optimizer_loss_scale(t->optimizer) != NULL;
    t->state.update = state->updates;
    t->state.skipped = state->skipped;
    t->state.loss_scale = scaled ? state->loss_scale : 0;
    t->state.good = scaled ? state->good : 0;
    t->state.skipped_in_a_row = scaled ? state->skipped_in_a_row : 0;
}

static cairn_status take_outcome(trainer *t, const cairn_step_outcome *outcome)
{
    t->state.update = cairn_optimizer_updates(t->optimizer);
    if (outcome->updates == 0) return CAIRN_OK;
    trainer_note_state(t, &outcome->state);
    return trainer_report_update(t, outcome);
}

/* Looks at what the device has done of its own: nobody may rely on an update before. */
static cairn_status catch_up(trainer *t)
{
    cairn_step_outcome outcome;
    CAIRN_TRY(cairn_stepper_catch_up(t->stepper, &outcome));
    return take_outcome(t, &outcome);
}

static cairn_status save(trainer *t, const char *name, bool whole)
{
    CAIRN_TRY(catch_up(t));
    char path[CAIRN_PATH_SIZE];
    CAIRN_TRY(cairn_run_folder_file(t->run, name, path, sizeof path));
    cairn_status status = cairn_checkpoint_save(path, t->net, whole ? t->optimizer : NULL, &t->state);
    if (status != CAIRN_FILE) return status;
    char last[CAIRN_PATH_SIZE], reason[CAIRN_ERROR_MESSAGE_SIZE];
    const char *folder = cairn_run_folder_path(t->run);
    snprintf(reason, sizeof reason, "%s", cairn_error_last()->message);
    CAIRN_TRY(cairn_run_folder_file(t->run, "last.safetensors", last, sizeof last));
    if (cairn_os_stat(last, NULL) != CAIRN_OS_FILE)
        return cairn_fail(
            CAIRN_FILE,
            "the checkpoint can't be saved: %s; there is none to go on from yet: mend that and start anew "
            "with another --run folder",
            reason);
    return cairn_fail(CAIRN_FILE,
                      "the checkpoint can't be saved: %s; what was saved before is untouched: mend that and go on "
                      "with --resume %s",
                      reason, folder);
}

static cairn_status save_last(trainer *t)
{
    return save(t, "last.safetensors", true);
}

/* Saves, and fails with CAIRN_INTERRUPTED. */
static cairn_status stop_in_order(trainer *t)
{
    CAIRN_TRY(save_last(t));
    return cairn_fail(CAIRN_INTERRUPTED,
                      "stopped as asked after update %" PRId64 " of %" PRId64 ", and saved: go on with --resume %s",
                      t->state.update, t->options.schedule.updates, cairn_run_folder_path(t->run));
}

/* The rest of the epoch from state.position on. */
static cairn_status train_epoch(trainer *t)
{
    int64_t every = t->options.checkpoint_every;
    CAIRN_TRY(cairn_loader_start(t->loader, (uint32_t)t->state.epoch, t->state.position));
    trainer_report_start_epoch(t);
    for (;;) {
        const cairn_batch *batch;
        cairn_step_outcome outcome;
        CAIRN_TRY(cairn_loader_next(t->loader, &batch));
        if (!batch) return catch_up(t);
        cairn_status status = cairn_stepper_run(t->stepper, batch, &outcome);
        t->state.position += batch->count;
        if (status == CAIRN_OK) status = take_outcome(t, &outcome);
        cairn_loader_release(t->loader, batch);
        CAIRN_TRY(status);
        if (stop_requested(t)) return stop_in_order(t);
        if (every > 0 && cairn_optimizer_attempts(t->optimizer) % every == 0) CAIRN_TRY(save_last(t));
    }
}

static void show_evaluation(void *context, int64_t done, int64_t total)
{
    trainer_report_evaluating(context, done, total);
}

static bool better(const cairn_checkpoint_info *state, const cairn_evaluation *evaluation)
{
    if (state->best_epoch == 0 || evaluation->top1 > state->best_top1) return true;
    return evaluation->top1 == state->best_top1 && evaluation->loss < state->best_loss;
}

/* Evaluates, and keeps the best. A stop in here is resumed in here: the state still says that the epoch's pictures are used up. */
static cairn_status evaluate_epoch(trainer *t)
{
    cairn_evaluation evaluation;
    cairn_train_result *r = t->result;
    cairn_status status = cairn_evaluator_run(t->evaluator, &evaluation);
    if (status == CAIRN_INTERRUPTED) return stop_in_order(t);
    if (status == CAIRN_NONFINITE)
        return cairn_fail(status, "epoch %" PRId64 ": %s: try a lower --learning-rate, or a longer --warmup",
                          t->state.epoch + 1, cairn_error_last()->message);
    CAIRN_TRY(status);
    r->evaluated = true;
    r->loss = evaluation.loss;
    r->top1 = evaluation.top1;
    r->top5 = evaluation.top5;
    bool best = better(&t->state, &evaluation);
    CAIRN_TRY(trainer_report_evaluated(t, &evaluation, best));
    if (!best) return CAIRN_OK;
    t->state.best_top1 = evaluation.top1;
    t->state.best_loss = evaluation.loss;
    t->state.best_epoch = t->state.epoch + 1;
    return save(t, "best.safetensors", false);
}

cairn_status trainer_run(trainer *t)
{
    trainer_report_start(t);
    if (!t->options.stop_requested && cairn_os_caught_signal() != 0) /* a caller is asked after an update only */
        return cairn_fail(CAIRN_INTERRUPTED, "stopped as asked before the first update: nothing was done%s",
                          t->source ? ", and what was saved before is as it was" : ", and nothing is saved");
    while (t->state.epoch < t->options.epochs) {
        CAIRN_TRY(train_epoch(t));
        CAIRN_TRY(trainer_report_trained(t));
        if (t->evaluator) CAIRN_TRY(evaluate_epoch(t));
        t->state.epoch++;
        t->state.position = 0;
        CAIRN_TRY(save_last(t));
    }
    return CAIRN_OK;
}

cairn_status trainer_make_evaluator(trainer *t)
{
    const cairn_train_options *o = &t->options;
    if (t->dataset->validation.count == 0) return CAIRN_OK;
    cairn_evaluate_options options = {
        .preprocess = t->state.preprocess,
        .loader_threads = o->loader_threads,
        .max_bad = o->max_bad,
        .max_pixels = o->max_pixels,
        .log = t->log,
        .progress = show_evaluation,
        .stop_requested = stop_requested,
        .context = t,
    };
    return cairn_evaluator_create(t->net, &t->dataset->validation, &options, &t->evaluator);
}
