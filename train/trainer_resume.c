#include "core/atomic_file.h"
#include "core/os.h"
#include "train/trainer_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t largest_checkpoint = (size_t)64 << 30;

cairn_status trainer_open_source(trainer *t)
{
    return t->options.resume ? cairn_checkpoint_open_last(t->options.resume, &t->source) : CAIRN_OK;
}

static cairn_status refuse_source(const trainer *t, const char *option, const char *there, const char *here)
{
    return cairn_fail(
        CAIRN_FILE,
        "--resume %s: it was trained with %s %s, and this run has %s: give that, or leave --resume out to start anew",
        t->options.resume, option, there, here);
}

cairn_status trainer_check_source(const trainer *t)
{
    const cairn_checkpoint_info *there = cairn_checkpoint_information(t->source), *here = &t->state;
    const char *optimizer = cairn_optimizer_name(t->options.optimizer.kind);
    const struct {
        const char *option;
        double there, here;
    } number[] = {
        {"--width-divisor", (double)there->model_options.width_divisor, (double)here->model_options.width_divisor},
        {"--seed", (double)there->seed, (double)here->seed},
        {"--image-size", there->preprocess.size, here->preprocess.size},
        {"--resize", there->preprocess.resize, here->preprocess.resize},
    };
    if (strcmp(there->model, here->model) != 0) return refuse_source(t, "--model", there->model, here->model);
    if (strcmp(there->preset, here->preset) != 0) return refuse_source(t, "--preset", there->preset, here->preset);
    if (!there->optimizer[0])
        return cairn_fail(
            CAIRN_FILE,
            "--resume %s: it holds weights only, no optimizer state: resume from the last.safetensors beside it",
            t->options.resume);
    if (strcmp(there->optimizer, optimizer) != 0) return refuse_source(t, "--optimizer", there->optimizer, optimizer);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        char a[32], b[32];
        if (number[i].there == number[i].here) continue;
        snprintf(a, sizeof a, "%.17g", number[i].there);
        snprintf(b, sizeof b, "%.17g", number[i].here);
        return refuse_source(t, number[i].option, a, b);
    }
    if (there->epoch >= t->options.epochs)
        return cairn_fail(CAIRN_USAGE,
                          "--resume %s: that run is finished, %lld of %lld epochs are done: give more with --epochs",
                          t->options.resume, (long long)there->epoch, (long long)t->options.epochs);
    if (there->classes != here->classes)
        return cairn_fail(
            CAIRN_FILE, "--resume %s: it was trained for %d classes, and %s has %d: give the folder it was trained on",
            t->options.resume, there->classes, t->options.folder, here->classes);
    if (strcmp(there->split, here->split) != 0)
        return cairn_fail(CAIRN_FILE,
                          "--resume %s: the pictures of %s are not those it was trained on (split %s, not %s): "
                          "bring them back, or leave --resume out to start anew",
                          t->options.resume, t->options.folder, here->split, there->split);
    return CAIRN_OK;
}

/* The best checkpoint so far comes along when the run goes on in another folder; without it the best starts anew. */
static cairn_status bring_best(trainer *t)
{
    char folder[CAIRN_PATH_SIZE], from[CAIRN_PATH_SIZE], to[CAIRN_PATH_SIZE];
    void *data = NULL;
    size_t bytes;
    if (t->state.best_epoch == 0) return CAIRN_OK;
    CAIRN_TRY(cairn_run_folder_file(t->run, "best.safetensors", to, sizeof to));
    if (cairn_os_stat(to, NULL) == CAIRN_OS_FILE) return CAIRN_OK;
    CAIRN_TRY(cairn_run_folder_of(t->options.resume, folder, sizeof folder));
    CAIRN_TRY(cairn_os_join(from, sizeof from, folder, "best.safetensors"));
    if (cairn_os_stat(from, NULL) != CAIRN_OS_FILE) {
        t->state.best_epoch = 0;
        t->state.best_top1 = t->state.best_loss = 0;
        return CAIRN_OK;
    }
    CAIRN_TRY(cairn_os_read_file(from, largest_checkpoint, &data, &bytes));
    cairn_status status = cairn_atomic_file_put(to, data, bytes);
    free(data);
    return status;
}

cairn_status trainer_take_position(trainer *t)
{
    const cairn_checkpoint_info *from = cairn_checkpoint_information(t->source);
    t->state.update = from->update;
    t->state.epoch = from->epoch;
    t->state.position = from->position;
    t->state.best_top1 = from->best_top1;
    t->state.best_loss = from->best_loss;
    t->state.best_epoch = from->best_epoch;
    return bring_best(t);
}
