/* step.h - one update: the batch of an update through the net in slices, their gradients added up, one step of the optimizer.
 *
 *     cairn_stepper *stepper;
 *     CAIRN_TRY(cairn_stepper_create(&options, &stepper));
 *     CAIRN_TRY(cairn_stepper_run(stepper, batch, &outcome));           as often as wanted; allocates nothing
 *     CAIRN_TRY(cairn_stepper_catch_up(stepper, &outcome));             before anyone relies on what was computed
 *     cairn_stepper_destroy(stepper);
 *
 * Where the device works on its own (it has queues), the host doesn't wait for every update: it reads loss and state of several at a time.
 * What goes wrong in between is then found at the next reading, at most that many updates late.
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
    int64_t
        read_every; /* read when the number of updates asked for is a multiple of this; 0: after each, as on a device without queues */
    float smoothing;
    const float *class_weights; /* host, [classes], copied; NULL: all 1 */
} cairn_step_options;

typedef struct cairn_step_outcome {
    int64_t
        updates; /* read here, since the outcome before; 0: nothing was read, or no picture was readable and no update made */
    float totals[4];     /* of those, as cairn_metrics_add takes them; each update's mean loss counts alike */
    double weight;       /* the sum of their pictures' class weights */
    float learning_rate; /* of the last */
    cairn_update_state state;
} cairn_step_outcome;

/* So many updates skipped in a row are a failure: no loss scale helps. */
#define CAIRN_STEP_MOST_SKIPS 50

cairn_status cairn_stepper_create(const cairn_step_options *options, cairn_stepper **out);
void cairn_stepper_destroy(cairn_stepper *stepper); /* NULL is allowed */

/* Runs the next update. CAIRN_NONFINITE when a loss is not finite, naming the first parameter or layer that is not (read after each update,
 * the weights are then as before it), when gradients were not, or after CAIRN_STEP_MOST_SKIPS skipped updates. */
cairn_status cairn_stepper_run(cairn_stepper *stepper, const cairn_batch *batch, cairn_step_outcome *out);

/* Reads what no outcome has told yet. Fails as cairn_stepper_run. */
cairn_status cairn_stepper_catch_up(cairn_stepper *stepper, cairn_step_outcome *out);

#endif
