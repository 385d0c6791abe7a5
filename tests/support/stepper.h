/* stepper.h - a small model with its optimizer and stepper, and one batch of noise to train it on.
 *
 *     stepper_rig r;
 *     REQUIRE_OK(stepper_open(&(stepper_options){.backend = "ref", .slice = 4, .rate = 0.05f}, &r));
 *     stepper_fill(&r, STEPPER_BATCH);                       or fewer: the tail of an epoch
 *     CHECK_OK(cairn_stepper_run(r.stepper, &r.batch, &outcome));
 *     stepper_close(&r);
 */
#ifndef CAIRN_TESTS_SUPPORT_STEPPER_H
#define CAIRN_TESTS_SUPPORT_STEPPER_H

#include "train/step.h"

enum { STEPPER_BATCH = 8, STEPPER_CLASSES = 3 };

typedef struct stepper_options {
    const char *backend;
    cairn_device *device;       /* in place of the backend: open already, the rig's from then on */
    const char *model, *preset; /* NULL: lenet */
    int slice;
    const float *class_weights;
    float rate;
    float dropout;
    cairn_dtype dtype;
    int64_t read_every;
} stepper_options;

typedef struct stepper_rig {
    cairn_device *device;
    cairn_net *net;
    cairn_optimizer *optimizer; /* SGD with momentum */
    cairn_stepper *stepper;
    cairn_batch batch;
    uint8_t *rgb, *valid;
    int32_t *label;
    int64_t *sample;
} stepper_rig;

/* Weights, masks and noise are the same in every rig of a model. */
cairn_status stepper_open(const stepper_options *options, stepper_rig *out);
void stepper_close(stepper_rig *r); /* also after a failed open */

/* The batch: so many pictures, and empty slots behind them. */
void stepper_fill(stepper_rig *r, int pictures);

/* All weights in plain order, freed by the caller. */
float *stepper_weights(const stepper_rig *r, int64_t *count);

#endif
