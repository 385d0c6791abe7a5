/* trainer_state.h - what a run consists of; shared by the trainer's files only.
 *
 * trainer_setup.c builds it (trainer_net.c what is on the device, trainer_resume.c from a checkpoint), trainer_loop.c runs it, report.c tells of it, manifest.c writes it down.
 */
#ifndef CAIRN_TRAIN_TRAINER_STATE_H
#define CAIRN_TRAIN_TRAINER_STATE_H

#include "data/dataset.h"
#include "data/loader.h"
#include "layers/net.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/metrics.h"
#include "train/run_folder.h"
#include "train/step.h"
#include "train/trainer.h"

/* Sums since some moment. */
typedef struct trainer_window {
    cairn_metrics metrics;
    int64_t pictures, updates;
    double start;  /* cairn_os_seconds */
    double waited; /* the loader's, at the start */
} trainer_window;

typedef struct trainer {
    cairn_train_options options; /* complete, see train/options.h */
    cairn_train_result *result;
    const cairn_log *log; /* options.log, and log.txt too once the run folder is open */

    cairn_checkpoint *source; /* what the run goes on from; NULL for a fresh one */
    cairn_dataset *dataset;
    cairn_run_folder *run;
    cairn_net *net;
    cairn_optimizer *optimizer;
    cairn_stepper *stepper;
    cairn_loader *loader;
    cairn_evaluator *evaluator; /* NULL without validation pictures */

    cairn_checkpoint_info state; /* where the run stands: what a checkpoint says */
    int64_t first_update;        /* at which this call began */
    double start, start_training;
    char start_time[64];

    trainer_window window, previous, epoch; /* of the report under way, the one before it, and the epoch */
    bool part_of_epoch;                     /* the epoch began in an earlier session, and its sums lack that part */
    double training_seconds;                /* without evaluations */
    int64_t training_pictures;
    int64_t memory, memory_peak; /* as last read */
    double memory_read;
    double learning_rate;
    bool told_plateau, told_waiting;
} trainer;

/* ---- trainer_setup.c ---- */

/* Everything up to the first update; a failure leaves what trainer_close releases. */
cairn_status trainer_open(trainer *t);
void trainer_close(trainer *t);

/* ---- trainer_net.c ---- */

cairn_status trainer_create_net(trainer *t); /* layers and shapes; nothing on the device yet */

/* Plans the net, and makes optimizer, stepper and evaluator: all that a run holds on the device, with the checkpoint's numbers where it goes
 * on from one. Out of memory says which --micro-batch would fit. */
cairn_status trainer_make_passes(trainer *t);

/* ---- trainer_resume.c: options.resume ---- */

cairn_status trainer_open_source(trainer *t); /* nothing without it */

/* CAIRN_FILE for a checkpoint that this run can't go on from: another model, optimizer, seed, window, folder. */
cairn_status trainer_check_source(const trainer *t);

/* Goes on where the checkpoint stood, and brings its best.safetensors into the run folder. */
cairn_status trainer_take_position(trainer *t);

/* ---- trainer_loop.c ---- */

/* Takes what the device says of the updates into t->state. */
void trainer_note_state(trainer *t, const cairn_update_state *state);

/* Makes t->evaluator where there are validation pictures. */
cairn_status trainer_make_evaluator(trainer *t);

cairn_status trainer_run(trainer *t);

/* ---- report.c ---- */

void trainer_report_start(trainer *t);       /* of the run */
void trainer_report_start_epoch(trainer *t); /* or of what a resumed run has left of it */
cairn_status trainer_report_update(trainer *t, const cairn_step_outcome *outcome);
cairn_status trainer_report_trained(trainer *t); /* the epoch's updates are done */
void trainer_report_evaluating(trainer *t, int64_t done, int64_t total);
cairn_status trainer_report_evaluated(trainer *t, const cairn_evaluation *evaluation, bool best);

/* ---- manifest.c ---- */

/* Writes manifest.json: `status` CAIRN_OK and finished false while the run is under way. */
cairn_status trainer_write_manifest(const trainer *t, bool finished, cairn_status status, const char *message);

#endif
