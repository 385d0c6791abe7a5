/* predict.c - `cairn predict CHECKPOINT FILE...`. */
#include "train/predict.h"
#include "cairn.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/device.h"
#include "cli/json.h"
#include <stdlib.h>
#include <string.h>

/* One picture's line, or its JSON object in `pictures` where that is not NULL. */
static void show(const char *path, int width, const cairn_guess *guess, int count, json_t *pictures)
{
    if (pictures) {
        json_t *one = json_object(), *classes = json_array();
        json_object_set_new(one, "file", cli_json_text(path));
        for (int i = 0; i < count; i++) {
            json_t *pair = json_object();
            json_object_set_new(pair, "name", cli_json_text(guess[i].name));
            json_object_set_new(pair, "probability", cli_json_real(guess[i].probability, 6));
            json_array_append_new(classes, pair);
        }
        json_object_set_new(one, "classes", classes);
        json_array_append_new(pictures, one);
        return;
    }
    char text[CAIRN_PATH_SIZE];
    snprintf(text, sizeof text, "%s", path);
    printf("%-*s ", width, cli_harmless(text));
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s", guess[i].name);
        printf("%s %s %.1f %%", i ? "," : "", cli_harmless(text), 100 * guess[i].probability);
    }
    putchar('\n');
    fflush(stdout); /* pictures may come slowly */
}

static void show_bad(const char *path, json_t *pictures, cli_terminal *terminal)
{
    cli_warn(terminal, "%s", cairn_error_last()->message);
    if (!pictures) return;
    json_t *one = json_object();
    json_object_set_new(one, "file", cli_json_text(path));
    json_object_set_new(one, "error", cli_json_text(cairn_error_last()->message));
    json_array_append_new(pictures, one);
}

/* Every picture in turn; one that can't be read is named, and makes the whole CAIRN_DATA after the others. */
static cairn_status predict_all(cairn_predictor *predictor, char **path, int files, int top, json_t *pictures,
                                cli_terminal *terminal)
{
    int bad = 0, width = 0, count;
    cairn_guess *guess = calloc((size_t)top, sizeof *guess);
    if (!guess) return cairn_fail(CAIRN_MEMORY, "no memory for %d guesses", top);
    for (int i = 0; i < files; i++)
        if ((int)strlen(path[i]) > width) width = (int)strlen(path[i]);
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < files && status == CAIRN_OK; i++) {
        status = cairn_predictor_run(predictor, path[i], guess, top, &count);
        if (status == CAIRN_OK)
            show(path[i], width, guess, count, pictures);
        else if (files > 1 && (status == CAIRN_DATA || status == CAIRN_FILE)) {
            show_bad(path[i], pictures, terminal);
            bad++;
            status = CAIRN_OK;
        }
    }
    free(guess);
    if (status == CAIRN_OK && bad)
        return cairn_fail(CAIRN_DATA, "%d of %d pictures couldn't be read; they are named above", bad, files);
    return status;
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    const char *given = cli_text(options, OPTION_CHECKPOINT);
    int first = given ? 0 : 1, files = options->argument_count - first, top = (int)cli_int(options, OPTION_TOP);
    if (!given) given = options->argument[0];
    if (files < 1) return cairn_fail(CAIRN_USAGE, "no picture is given; for example: cairn predict %s cat.jpg", given);
    char checkpoint[CAIRN_PATH_SIZE];
    cairn_device *device = NULL;
    cairn_predictor *predictor = NULL;
    cairn_status status = CAIRN_OK;
    json_t *pictures = cli_flag(options, OPTION_JSON) ? json_array() : NULL;
    CAIRN_TRY_DONE(cli_checkpoint_path(given, checkpoint, sizeof checkpoint));
    CAIRN_TRY_DONE(cli_device_open(options, terminal, &device));
    CAIRN_TRY_DONE(cairn_predictor_create(checkpoint, device, &predictor));
    status = predict_all(predictor, options->argument + first, files, top, pictures, terminal);
    if (pictures && (status == CAIRN_OK || status == CAIRN_DATA)) {
        json_t *root = json_object();
        json_object_set_new(root, "checkpoint", cli_json_text(checkpoint));
        json_object_set(root, "pictures", pictures);
        cairn_status printed = cli_json_print(root);
        if (printed != CAIRN_OK) status = printed;
    }
done:
    json_decref(pictures);
    cairn_predictor_destroy(predictor);
    cairn_device_close(device);
    return status;
}

const cli_command cli_command_predict = {
    .name = "predict",
    .mask = PREDICT,
    .arguments = "CHECKPOINT FILE...",
    .arguments_min = 1,
    .arguments_max = -1,
    .about = "Says what a trained net sees in each picture, with probabilities.",
    .example = "cairn predict runs/photos cat.jpg dog.jpg\n"
               "cairn predict --checkpoint runs/photos/best.safetensors --top 1 --json *.jpg",
    .notes = "CHECKPOINT is a .safetensors file of cairn train, or a run folder for its best one. A file that can't be "
             "read is named, the others are "
             "told all the same, and the exit code is 4.",
    .run = run,
};
