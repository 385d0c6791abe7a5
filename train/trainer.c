#include "train/trainer.h"
#include "core/os.h"
#include "train/model_table.h"
#include "train/trainer_state.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void log_line(void *context, const char *text)
{
    cairn_log_write(context, CAIRN_LOG_INFO, "%s", text);
}

/* The result as far as the run came. */
static void fill_result(trainer *t)
{
    cairn_train_result *r = t->result;
    const cairn_checkpoint_info *s = &t->state;
    r->epochs = s->epoch;
    r->updates = s->update;
    r->first_update = t->first_update;
    r->classes = s->classes;
    r->best_epoch = s->best_epoch;
    r->best_top1 = s->best_top1;
    r->best_loss = s->best_loss;
    r->seconds = cairn_os_seconds() - t->start;
    r->images_per_second = t->training_seconds > 0 ? (double)t->training_pictures / t->training_seconds : 0;
    if (!t->run) return;
    const char *best = s->best_epoch > 0 ? "best.safetensors" : "last.safetensors";
    snprintf(r->run_folder, sizeof r->run_folder, "%s", cairn_run_folder_path(t->run));
    if (cairn_run_folder_file(t->run, best, r->best_path, sizeof r->best_path) != CAIRN_OK) r->best_path[0] = '\0';
    if (cairn_run_folder_file(t->run, "last.safetensors", r->last_path, sizeof r->last_path) != CAIRN_OK)
        r->last_path[0] = '\0';
}

static cairn_status show_model(const trainer *t)
{
    cairn_log log = *t->log; /* a table's context isn't const */
    return cairn_model_table(t->net, log_line, &log);
}

/* The failure goes into log.txt and the manifest, and stays the one that the caller sees, whatever becomes of those. */
static cairn_status record_failure(const trainer *t, cairn_status status)
{
    if (!t->run) return status;
    cairn_error error = *cairn_error_last();
    cairn_run_folder_note(t->run, status == CAIRN_INTERRUPTED ? CAIRN_LOG_INFO : CAIRN_LOG_ERROR, error.message);
    if (trainer_write_manifest(t, true, status, error.message) != CAIRN_OK)
        cairn_log_write(t->log, CAIRN_LOG_WARNING, "%s", cairn_error_last()->message);
    return cairn_error_raise(&error);
}

/* The end of log.txt; whoever called gets the result and shows it in a way of their own. */
static void note_result(const trainer *t)
{
    const cairn_train_result *r = t->result;
    char text[320], took[32], resumed[64] = "", best[96] = "";
    if (r->best_epoch > 0)
        snprintf(best, sizeof best, ", best validation top-1 %.1f %% (loss %.4f) after epoch %" PRId64,
                 100 * r->best_top1, r->best_loss, r->best_epoch);
    if (t->source)
        snprintf(resumed, sizeof resumed, "since the resume %" PRId64 " updates in ", r->updates - r->first_update);
    snprintf(text, sizeof text, "finished: %" PRId64 " epoch%s, %" PRId64 " updates, %s%s, %.1f images/s%s", r->epochs,
             r->epochs == 1 ? "" : "s", r->updates, resumed, cairn_format_seconds(r->seconds, took, sizeof took),
             r->images_per_second, best);
    cairn_run_folder_note(t->run, CAIRN_LOG_INFO, text);
}

static cairn_status run(trainer *t)
{
    CAIRN_TRY(cairn_train_check(&t->options));
    CAIRN_TRY(trainer_open(t));
    CAIRN_TRY(trainer_write_manifest(t, false, CAIRN_OK, ""));
    CAIRN_TRY(show_model(t));
    CAIRN_TRY(trainer_run(t));
    fill_result(t);
    note_result(t);
    return trainer_write_manifest(t, true, CAIRN_OK, "");
}

cairn_status cairn_train(const cairn_train_options *options, cairn_train_result *result)
{
    cairn_train_result own = {0};
    trainer t = {.options = *options, .result = result ? result : &own, .log = options->log};
    *t.result = (cairn_train_result){0};
    t.start = cairn_os_seconds();
    cairn_os_timestamp(t.start_time, sizeof t.start_time);
    cairn_status status = run(&t);
    if (status != CAIRN_OK) {
        fill_result(&t);
        status = record_failure(&t, status);
    }
    trainer_close(&t);
    return status;
}
