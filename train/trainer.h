/* trainer.h - trains a model on a folder of pictures: the whole of `cairn train` behind one call.
 *
 *     cairn_train_options options = cairn_train_defaults();
 *     options.device = device;                                    opened by the caller: cairn_device_open("auto", ...)
 *     options.folder = "photos";
 *     cairn_train_result result;
 *     CAIRN_TRY(cairn_train(&options, &result));
 *     printf("%.1f %% of the validation pictures are right: %s\n", 100 * result.best_top1, result.best_path);
 *
 * An update is one optimizer step over `batch` pictures, run as batch / micro_batch forward and backward passes whose gradients add up; each
 * picture weighs 1 / (valid pictures of the update), so the last, shorter update of an epoch counts its pictures fully too.
 * With the same options, device and threads two runs write the same bytes into their checkpoints, and so do a run cut anywhere and resumed.
 */
#ifndef CAIRN_TRAIN_TRAINER_H
#define CAIRN_TRAIN_TRAINER_H

#include "core/device.h"
#include "core/log.h"
#include "data/transform.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/precision.h"
#include "train/progress.h"

#define CAIRN_PATH_SIZE 4096 /* bytes of the longest path kept, its zero included */

/* Every choice of a run. Start from cairn_train_defaults(); what "defaults" says below is what it fills in. */
typedef struct cairn_train_options {
    cairn_device *device;   /* where to run; stays the caller's */
    const char *folder;     /* pictures, see data/dataset.h */
    const char *run_folder; /* where the run is kept; NULL: runs/<folder>-<time>, or the resumed checkpoint's folder */
    const char *resume;     /* NULL, or a last.safetensors, or a run folder that has one */

    const char *model, *preset; /* see models/models.h; defaults "alexnet", "owt" */
    float dropout;              /* rate; negative (default): the preset's own */
    bool paper_init;            /* see cairn_model_options */
    int64_t width_divisor;      /* see cairn_model_options */

    int64_t epochs;
    int batch;                         /* pictures of an update */
    int micro_batch;                   /* pictures of one pass, a divisor of batch; 0 (default): batch */
    cairn_optimizer_options optimizer; /* weight_decay negative (default): the optimizer's usual one */
    cairn_schedule
        schedule;          /* updates: filled in; base 0: the optimizer's usual rate; warmup -1: by the run's length */
    float label_smoothing; /* in [0, 1) */
    bool class_weights;    /* weigh a class by samples / (classes * its samples), for folders with rare classes */

    cairn_augment_kind augment;
    bool no_flip;       /* training pictures are never mirrored: for digits, letters and signs */
    int image_size;     /* side of the window that the net sees; 0 (default): the model's own */
    int resize;         /* short side before the window; 0 (default): image_size * 256 / 224 */
    double val_split;   /* share of each class kept for validation where the folder has no val/ */
    double max_bad;     /* share of unreadable pictures beyond which the run stops */
    int64_t max_pixels; /* of one picture, 0: data/image.h's own limit */
    int loader_threads; /* 0 (default): as many as processors */

    /* Of the net's numbers; default auto: the one of the resumed checkpoint, else by timing. In fp16 an update whose gradients overflow is skipped. */
    cairn_precision precision;

    uint64_t seed;
    int64_t checkpoint_every; /* updates between saves of last.safetensors; 0 (default): only when an epoch ends */
    int64_t report_every;     /* updates of one line in metrics.jsonl */
    double alarm_wait;        /* a warning tells when more than this share of an epoch went into waiting for data */

    const char *config_text;  /* the run folder's `config`: every option as the program reads it back; may be NULL */
    const char *command_line; /* for the manifest; may be NULL */
    const cairn_log *log;     /* may be NULL */

    /* Called after every update, and between the batches of an evaluation; may be NULL. */
    void (*progress)(void *context, const cairn_progress *progress);
    void *progress_context;

    /* Asked after every update and between the batches of an evaluation: true ends the run in good order.
     * NULL: when cairn_os_caught_signal has one. */
    bool (*stop_requested)(void *context);
    void *stop_context;
} cairn_train_options;

/* The table of defaults, here and nowhere else. The numbers of model, optimizer, rate and warm-up come from the experiment in docs/defaults.md. */
cairn_train_options cairn_train_defaults(void);

/* CAIRN_USAGE naming the option, its value and what is allowed. cairn_train checks by itself. */
cairn_status cairn_train_check(const cairn_train_options *options);

typedef struct cairn_train_result {
    int64_t epochs, updates; /* done, the resumed ones included */
    int64_t first_update;    /* updates done before this call; what is per second is of those after it */
    double train_loss;       /* mean of the last epoch */
    bool evaluated;          /* there were validation pictures, and the fields below mean something */
    double loss, top1, top5; /* of the last evaluation; shares in 0..1 */
    double best_top1, best_loss;
    int64_t best_epoch; /* counted from 1 */
    int classes;
    double images_per_second; /* of training alone, over the whole call */
    double seconds;
    char run_folder[CAIRN_PATH_SIZE];
    char best_path
        [CAIRN_PATH_SIZE]; /* the checkpoint to use: best.safetensors, or last.safetensors without validation */
    char last_path[CAIRN_PATH_SIZE];
} cairn_train_result;

/* Runs to the last epoch. `result` (may be NULL) is filled as far as the run came, also on failure.
 * CAIRN_INTERRUPTED: asked to stop; last.safetensors is saved. CAIRN_NONFINITE: the message names the first layer whose output is not finite, or
 * that 50 updates in a row were skipped;
 * the checkpoints on disk are older and sound. CAIRN_FILE: run folder or checkpoint; CAIRN_DATA: pictures; CAIRN_USAGE: an option. */
cairn_status cairn_train(const cairn_train_options *options, cairn_train_result *result);

#endif
