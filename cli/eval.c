/* eval.c - `cairn eval CHECKPOINT FOLDER`. */
#include "cairn.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/device.h"
#include "cli/json.h"
#include "cli/table.h"
#include "train/metrics.h"
#include "train/scorer.h"
#include <string.h>

static cairn_evaluate_part part_of(const char *word)
{
    if (strcmp(word, "train") == 0) return CAIRN_PART_TRAIN;
    return strcmp(word, "all") == 0 ? CAIRN_PART_ALL : CAIRN_PART_VALIDATION;
}

static void show_progress(void *context, int64_t done, int64_t total)
{
    cli_progress(context, "evaluating: %lld of %lld pictures", (long long)done, (long long)total);
}

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static cairn_status print_table(const cairn_scorer *scorer, const cairn_evaluation *e, const cli_terminal *terminal)
{
    cli_table *table;
    CAIRN_TRY(cli_table_create(4, (const char *[]){"class", ">pictures", ">right", ">top-1"}, &table));
    cairn_status status = CAIRN_OK;
    for (int c = 0; c < e->classes && status == CAIRN_OK; c++) {
        char samples[24], correct[24], top1[24];
        const cairn_class_score *score = &e->per_class[c];
        snprintf(samples, sizeof samples, "%lld", (long long)score->samples);
        snprintf(correct, sizeof correct, "%lld", (long long)score->correct);
        snprintf(top1, sizeof top1, score->samples ? "%.1f %%" : "-", 100 * share(score->correct, score->samples));
        status = cli_table_row(table, (const char *[]){cairn_scorer_class_name(scorer, c), samples, correct, top1});
    }
    if (status == CAIRN_OK) {
        cli_table_print(table, terminal, stdout);
        printf("\nloss %.4f, top-1 %.2f %%", e->loss, 100 * e->top1);
        if (cairn_metrics_has_top5(e->classes)) printf(", top-5 %.2f %%", 100 * e->top5);
        printf(" of %s\n", cairn_scorer_what(scorer));
    }
    cli_table_destroy(table);
    return status;
}

static cairn_status print_json(const cairn_scorer *scorer, const cairn_evaluation *e)
{
    json_t *root = json_object(), *classes = json_array();
    json_object_set_new(root, "pictures", json_integer(e->samples));
    json_object_set_new(root, "unreadable", json_integer(e->unreadable));
    json_object_set_new(root, "loss", cli_json_real(e->loss, 6));
    json_object_set_new(root, "top1", cli_json_real(e->top1, 6));
    if (cairn_metrics_has_top5(e->classes)) json_object_set_new(root, "top5", cli_json_real(e->top5, 6));
    json_object_set_new(root, "images_per_second", cli_json_real((double)e->samples / e->seconds, 2));
    for (int c = 0; c < e->classes; c++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(cairn_scorer_class_name(scorer, c)));
        json_object_set_new(one, "pictures", json_integer(e->per_class[c].samples));
        json_object_set_new(one, "right", json_integer(e->per_class[c].correct));
        json_array_append_new(classes, one);
    }
    json_object_set_new(root, "classes", classes);
    return cli_json_print(root);
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    char checkpoint[CAIRN_PATH_SIZE];
    cairn_device *device = NULL;
    cairn_scorer *scorer = NULL;
    cairn_status status = CAIRN_OK;
    const cairn_evaluate_options evaluate = {.loader_threads = (int)cli_int(options, OPTION_LOADER_THREADS),
                                             .max_bad = cli_real(options, OPTION_MAX_BAD),
                                             .max_pixels = cli_int(options, OPTION_MAX_PIXELS),
                                             .log = cli_terminal_log(terminal),
                                             .progress = show_progress,
                                             .context = terminal};
    CAIRN_TRY(cli_checkpoint_path(options->argument[0], checkpoint, sizeof checkpoint));
    CAIRN_TRY_DONE(cli_device_open(options, terminal, &device));
    CAIRN_TRY_DONE(cairn_scorer_create(checkpoint, options->argument[1], part_of(cli_text(options, OPTION_PART)),
                                       (int)cli_int(options, OPTION_BATCH), device, &evaluate, &scorer));
    cli_say(terminal, "%s: %s on %s", checkpoint, cairn_scorer_what(scorer), cairn_device_name(device));
    cairn_evaluation result;
    CAIRN_TRY_DONE(cairn_scorer_run(scorer, &result));
    cli_progress_clear(terminal);
    if (result.unreadable) cli_warn(terminal, "%lld unreadable pictures are left out", (long long)result.unreadable);
    status = cli_flag(options, OPTION_JSON) ? print_json(scorer, &result) : print_table(scorer, &result, terminal);
done:
    cairn_scorer_destroy(scorer);
    cairn_device_close(device);
    return status;
}

const cli_command cli_command_eval = {
    .name = "eval",
    .mask = EVAL,
    .arguments = "CHECKPOINT FOLDER",
    .arguments_min = 2,
    .arguments_max = 2,
    .about = "Measures a trained net on a folder of pictures: loss, top-1, top-5, and each class.",
    .example = "cairn eval runs/photos photos\n"
               "cairn eval runs/photos/last.safetensors other-photos --part all --json",
    .notes = "CHECKPOINT is a .safetensors file of cairn train, or a run folder for its best one. The folder's classes "
             "are matched by name, and its "
             "pictures are prepared as they were for training.",
    .run = run,
};
