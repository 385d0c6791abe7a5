/* 04_alexnet.c - AlexNet on a folder of pictures, through the library: what `cairn train` does, in a program of your own.
 *
 *     build/samples/04_alexnet FOLDER [EPOCHS [WIDTH_DIVISOR]]
 *
 * FOLDER has one sub-folder a class. A WIDTH_DIVISOR of 8 makes every layer eight times narrower: a quick try. The trained net is then asked
 * what it sees in the first picture of each class.
 */
#include "cairn.h"
#include <stdlib.h>

/* The library prints nothing. What it has to say comes here... */
static void show_log(void *context, cairn_log_level level, const char *text)
{
    (void)context;
    fprintf(stderr, "%s%s\n", level >= CAIRN_LOG_WARNING ? "warning: " : "", text);
}

/* ... and after every update, how far it is. */
static void show_progress(void *context, const cairn_progress *progress)
{
    (void)context;
    char text[CAIRN_PROGRESS_SIZE];
    if (progress->report) fprintf(stderr, "%s\n", cairn_progress_format(progress, text, sizeof text));
}

static cairn_status train(cairn_device *device, const char *folder, int64_t epochs, int64_t width_divisor,
                          const cairn_log *log, cairn_train_result *result)
{
    cairn_train_options options = cairn_train_defaults(); /* every choice has a usable default; see train/trainer.h */
    options.device = device;
    options.folder = folder;
    options.model = "alexnet";
    options.preset = "owt";
    options.epochs = epochs;
    options.width_divisor = width_divisor;
    options.log = log;
    options.progress = show_progress;
    CAIRN_TRY(cairn_train(&options, result));
    printf("trained: %.1f images/s, %s\n", result->images_per_second, result->best_path);
    if (result->evaluated) printf("validation: %.1f %% right\n", 100 * result->best_top1);
    return CAIRN_OK;
}

/* Asks the checkpoint about the first validation picture of each class. A predictor is all that a program which only uses a net needs. */
static cairn_status ask(cairn_device *device, const char *checkpoint, const char *folder)
{
    cairn_predictor *predictor = NULL;
    cairn_dataset *dataset = NULL;
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_predictor_create(checkpoint, device, &predictor));
    CAIRN_TRY_DONE(cairn_dataset_open(folder, &(cairn_dataset_options){.val_split = 0.2, .seed = 1}, &dataset));
    int32_t asked = -1;
    for (int64_t i = 0; i < dataset->validation.count; i++) {
        const cairn_sample *sample = &dataset->validation.sample[i];
        if (sample->label <= asked) continue; /* they come class by class */
        asked = sample->label;
        cairn_guess guess[2];
        int count;
        CAIRN_TRY_DONE(cairn_predictor_run(predictor, sample->path, guess, 2, &count));
        printf("%s: %s, %.0f %%; or %s, %.0f %%\n", sample->path, guess[0].name, 100 * guess[0].probability,
               guess[1].name, 100 * guess[1].probability);
    }
done:
    cairn_dataset_close(dataset);
    cairn_predictor_destroy(predictor);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "04_alexnet FOLDER [EPOCHS [WIDTH_DIVISOR]]\n");
        return 2;
    }
    int64_t epochs = argc > 2 ? strtoll(argv[2], NULL, 10) : 20;
    int64_t width_divisor = argc > 3 ? strtoll(argv[3], NULL, 10) : 1;
    const cairn_log log = {.write = show_log, .level = CAIRN_LOG_INFO};
    cairn_device *device = NULL;
    cairn_train_result *result = calloc(1, sizeof *result); /* holds long paths */
    cairn_status status = CAIRN_OK;
    cairn_os_catch_signals(); /* Ctrl-C ends the update, saves and returns CAIRN_INTERRUPTED */
    if (!result) return 1;
    CAIRN_TRY_DONE(cairn_device_open("auto", &(cairn_device_options){.log = &log}, &device));
    CAIRN_TRY_DONE(train(device, argv[1], epochs, width_divisor, &log, result));
    CAIRN_TRY_DONE(ask(device, result->best_path, argv[1]));
done:
    if (status != CAIRN_OK) fprintf(stderr, "04_alexnet: %s\n", cairn_error_last()->message);
    cairn_device_close(device);
    free(result);
    return status == CAIRN_OK ? 0 : 1;
}
