/* optimizer.h - SGD, Adam and AdamW over a contiguous slab of parameters: an update is one pass over memory.
 *
 *     cairn_optimizer *optimizer;
 *     CAIRN_TRY(cairn_optimizer_create(device, &options, slab_count, &optimizer));
 *     CAIRN_TRY(cairn_optimizer_add(optimizer, offset, count, is_weight));          for each parameter
 *     CAIRN_TRY(cairn_optimizer_step(optimizer, weights, gradients, learning_rate));
 *
 * The formulas stand at cairn_update in core/backend.h. How many updates were made, and with which loss scale, is decided on the device (see
 * core/update_state.h); the host asks for it with cairn_optimizer_read when it wants to know, and needn't before.
 */
#ifndef CAIRN_OPTIM_OPTIMIZER_H
#define CAIRN_OPTIM_OPTIMIZER_H

#include "core/backend.h"
#include "core/tensor.h"
#include "optim/schedule.h"

typedef struct cairn_optimizer cairn_optimizer;

typedef struct cairn_optimizer_options {
    cairn_update_kind kind;
    float momentum;     /* SGD; 0 keeps no state */
    bool nesterov;      /* SGD; needs momentum > 0 */
    float beta1, beta2; /* Adam, AdamW */
    float eps;
    float weight_decay;
    bool decay_biases; /* also on biases and normalisation parameters */
    bool
        dynamic_scale; /* for f16: the loss is scaled, and an update whose gradients overflow is skipped; see cairn_optimizer_loss_scale */
} cairn_optimizer_options;

/* The usual values of a kind: momentum 0.9; betas 0.9 and 0.999, eps 1e-8; no decay. */
cairn_optimizer_options cairn_optimizer_defaults(cairn_update_kind kind);

/* "sgd", "adam", "adamw"; parse gives CAIRN_USAGE listing them. */
const char *cairn_optimizer_name(cairn_update_kind kind);
cairn_status cairn_optimizer_parse(const char *text, cairn_update_kind *out);

/* Allocates the state slabs, `count` f32 elements each, zeroed. CAIRN_USAGE names a value out of range. */
cairn_status cairn_optimizer_create(cairn_device *device, const cairn_optimizer_options *options, int64_t count,
                                    cairn_optimizer **out);
void cairn_optimizer_destroy(cairn_optimizer *optimizer); /* NULL is allowed */

/* Adds a run of the slabs to update: elements [offset, offset + count); decayed if is_weight or decay_biases. Neighbours alike are joined. */
cairn_status cairn_optimizer_add(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight);

/* The same, and the update also writes these elements, rounded, into the slab that cairn_optimizer_set_low names. */
cairn_status cairn_optimizer_add_low(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight);
void cairn_optimizer_set_low(cairn_optimizer *optimizer, const cairn_slab *weights_low, cairn_dtype dtype);

/* One update at the given rate. Slabs as long as the optimizer's own. */
cairn_status cairn_optimizer_step(cairn_optimizer *optimizer, const cairn_slab *weights, const cairn_slab *gradients,
                                  float learning_rate);

/* One update at the schedule's rate for it: the device picks it by the updates made, so that a skipped one takes no step of the schedule. The same
 * schedule in every call. */
cairn_status cairn_optimizer_step_scheduled(cairn_optimizer *optimizer, const cairn_slab *weights,
                                            const cairn_slab *gradients, const cairn_schedule *schedule);

/* What the loss is to be multiplied with (cairn_loss), one number on the device; NULL without dynamic_scale. */
const float *cairn_optimizer_loss_scale(const cairn_optimizer *optimizer);

/* The state after all updates so far. Waits for the device. */
cairn_status cairn_optimizer_read(cairn_optimizer *optimizer, cairn_update_state *out);

/* Goes on from the state of a run before. A loss scale of 0 stands for none: it then starts as the options say. */
cairn_status cairn_optimizer_restore(cairn_optimizer *optimizer, const cairn_update_state *state);

/* Without waiting. Updates made, those since the last reading taken for made though they may have been skipped; and updates asked for,
 * the skipped ones included, which is always exact. */
int64_t cairn_optimizer_updates(const cairn_optimizer *optimizer);
int64_t cairn_optimizer_attempts(const cairn_optimizer *optimizer);

/* State slabs for checkpoints: 0, 1 or 2 of them, with the names "momentum", or "exp_avg" and "exp_avg_sq". */
int cairn_optimizer_state_count(const cairn_optimizer *optimizer);
cairn_slab cairn_optimizer_state(const cairn_optimizer *optimizer, int index);
const char *cairn_optimizer_state_name(const cairn_optimizer *optimizer, int index);

#endif
