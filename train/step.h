/* step.h - one update: the batch of an update through the net in slices, their gradients added up, one step of the optimizer.
 *
 *     cairn_stepper *stepper;
 *     CAIRN_TRY(cairn_stepper_create(&options, &stepper));
 *     CAIRN_TRY(cairn_stepper_run(stepper, batch, &outcome));           as often as wanted; allocates nothing
 *     cairn_stepper_destroy(stepper);
 *
 * Private to this room.
 */
#ifndef CAIRN_TRAIN_STEP_H
#define CAIRN_TRAIN_STEP_H

#include "data/loader.h"
#include "layers/net.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

typedef struct cairn_stepper cairn_stepper;

typedef struct cairn_step_options {
    cairn_net *net; /* planned; its batch is the slice */
    cairn_optimizer *optimizer;
    cairn_schedule schedule;
    cairn_preprocess preprocess;
    int batch; /* slots of an update, a multiple of the slice */
    float smoothing;
    const float *class_weights; /* host, [classes], copied; NULL: all 1 */
} cairn_step_options;

typedef struct cairn_step_outcome {
    float totals[4]; /* as cairn_metrics_add takes them */
    double weight;   /* the sum of the pictures' class weights; 0: no picture was readable, and no update was made */
    float learning_rate;
} cairn_step_outcome;

cairn_status cairn_stepper_create(const cairn_step_options *options, cairn_stepper **out);
void cairn_stepper_destroy(cairn_stepper *stepper); /* NULL is allowed */

/* Runs the update that cairn_optimizer_updates says is next. CAIRN_NONFINITE when the loss is not finite, naming the first parameter or layer
 * that is not (the weights are then as before the update), or when the first parameter isn't after it. */
cairn_status cairn_stepper_run(cairn_stepper *stepper, const cairn_batch *batch, cairn_step_outcome *out);

#endif
