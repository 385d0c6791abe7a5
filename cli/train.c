/* train.c - `cairn train FOLDER`. */
#include "cairn.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/device.h"
#include "cli/train_binding.h"
#include <stdlib.h>
#include <string.h>

typedef struct display {
    cli_terminal *terminal;
    double shown_at; /* seconds of cairn_os_seconds */
    cairn_device *device;
    const char *snapshot; /* file still to be written; NULL: none */
} display;

/* Once, after the first update: from then on memory stays as it is. */
static void take_snapshot(display *d)
{
    if (!d->snapshot) return;
    if (cairn_device_memory_snapshot(d->device, d->snapshot) != CAIRN_OK)
        cairn_log_write(cli_terminal_log(d->terminal), CAIRN_LOG_WARNING, "no memory snapshot: %s",
                        cairn_error_last()->message);
    d->snapshot = NULL;
}

/* On a terminal one line that is redrawn ten times a second at most; elsewhere a line a report. */
static void show_progress(void *context, const cairn_progress *progress)
{
    display *d = context;
    char text[CAIRN_PROGRESS_SIZE];
    take_snapshot(d);
    if (!cli_terminal_is_live(d->terminal)) {
        if (progress->report) cli_say(d->terminal, "%s", cairn_progress_format(progress, text, sizeof text));
        return;
    }
    double now = cairn_os_seconds();
    if (now - d->shown_at < 0.1 && !progress->report) return;
    d->shown_at = now;
    cli_progress(d->terminal, "%s", cairn_progress_format(progress, text, sizeof text));
}

static void show_result(cli_terminal *terminal, const cairn_train_result *result)
{
    char took[CLI_DEFAULT_SIZE];
    cairn_format_seconds(result->seconds, took, sizeof took);
    if (result->first_update > 0)
        cli_say(terminal, "%lld epoch%s, %lld updates; since the resume %lld updates in %s, %.1f images/s",
                (long long)result->epochs, result->epochs == 1 ? "" : "s", (long long)result->updates,
                (long long)(result->updates - result->first_update), took, result->images_per_second);
    else
        cli_say(terminal, "%lld epoch%s in %s, %.1f images/s", (long long)result->epochs,
                result->epochs == 1 ? "" : "s", took, result->images_per_second);
    if (result->evaluated)
        cli_say(terminal, "best validation top-1 %.1f %% (loss %.4f) after epoch %lld", 100 * result->best_top1,
                result->best_loss, (long long)result->best_epoch);
    cli_say(terminal, "run folder: %s", result->run_folder);
    cli_say(terminal, "try it: cairn predict %s PICTURE", result->run_folder);
}

/* No pictures are named: on the command line, nor in the `config` beside what is resumed. */
static cairn_status no_folder(const cairn_train_options *train)
{
    cairn_checkpoint *checkpoint;
    if (!train->resume)
        return cairn_fail(CAIRN_USAGE,
                          "FOLDER is missing: the pictures, one sub-folder a class; for example: cairn train photos");
    CAIRN_TRY(cairn_checkpoint_open_last(train->resume, &checkpoint)); /* a worse fault is told first */
    cairn_checkpoint_close(checkpoint);
    return cairn_fail(CAIRN_USAGE,
                      "FOLDER is missing: no config beside --resume %s says what it was trained on: name the pictures: "
                      "cairn train FOLDER --resume %s",
                      train->resume, train->resume);
}

/* Before hours of training rather than after. */
static cairn_status check_snapshot(const char *path)
{
    char folder[CAIRN_PATH_SIZE];
    if (cairn_os_stat(path, NULL) == CAIRN_OS_FOLDER)
        return cairn_fail(CAIRN_FILE, "--memory-snapshot %s: is a folder: name a file", path);
    CAIRN_TRY(cairn_run_folder_of(path, folder, sizeof folder));
    cairn_status status = cairn_os_check_writable(folder);
    return status == CAIRN_OK ? status : cairn_error_add_context("--memory-snapshot %s", path);
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    cairn_os_catch_signals();
    display d = {.terminal = terminal, .snapshot = cli_text(options, OPTION_MEMORY_SNAPSHOT)};
    cairn_train_options train = cairn_train_defaults();
    CAIRN_TRY(cli_train_binding_fill(options, &train));
    if (!train.folder || !*train.folder) return no_folder(&train);
    if (d.snapshot) CAIRN_TRY(check_snapshot(d.snapshot));
    train.log = cli_terminal_log(terminal);
    train.progress = show_progress;
    train.progress_context = &d;
    char *config = NULL;
    CAIRN_TRY(cli_config_write(options, &config));
    train.config_text = config;
    train.command_line = options->line;
    cairn_train_result result = {0};
    cairn_status status = cli_device_open(options, terminal, &train.device);
    d.device = train.device;
    if (status == CAIRN_OK) status = cairn_train(&train, &result);
    cli_progress_end(terminal);
    if (status == CAIRN_OK) {
        show_result(terminal, &result);
        printf("%s\n", result.best_path);
    }
    cairn_device_close(train.device);
    free(config);
    return status;
}

const cli_command cli_command_train = {
    .name = "train",
    .mask = TRAIN,
    .arguments = "FOLDER",
    .arguments_max = 1,
    .folder_first = true,
    .about = "Trains a net on the pictures of FOLDER, one sub-folder a class.",
    .example = "cairn train photos\n"
               "cairn train photos --epochs 60 --batch 64 --run runs/longer\n"
               "cairn train --resume runs/longer\n"
               "cairn train --config runs/longer/config",
    .notes = "The run folder keeps config, manifest.json, log.txt, metrics.jsonl, classes.txt, split.tsv and the "
             "checkpoints best.safetensors and "
             "last.safetensors. The path of the best one is all that goes to stdout. Ctrl-C ends the update, saves and "
             "exits 130; again: at once.",
    .run = run,
};
