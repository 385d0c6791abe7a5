/* optimizer.h - SGD, Adam and AdamW over a contiguous slab of parameters: an update is one pass over memory.
 *
 *     cairn_optimizer *optimizer;
 *     CAIRN_TRY(cairn_optimizer_create(device, &options, slab_count, &optimizer));
 *     CAIRN_TRY(cairn_optimizer_add(optimizer, offset, count, is_weight));          for each parameter
 *     CAIRN_TRY(cairn_optimizer_step(optimizer, weights, gradients, learning_rate));
 *
 * The formulas stand at cairn_update in core/backend.h.
 */
#ifndef CAIRN_OPTIM_OPTIMIZER_H
#define CAIRN_OPTIM_OPTIMIZER_H

#include "core/backend.h"
#include "core/tensor.h"

typedef struct cairn_optimizer cairn_optimizer;

typedef struct cairn_optimizer_options {
    cairn_update_kind kind;
    float momentum;     /* SGD; 0 keeps no state */
    bool nesterov;      /* SGD; needs momentum > 0 */
    float beta1, beta2; /* Adam, AdamW */
    float eps;
    float weight_decay;
    bool decay_biases; /* also on biases and normalisation parameters */
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

/* One update. Slabs as long as the optimizer's own. */
cairn_status cairn_optimizer_step(cairn_optimizer *optimizer, const cairn_slab *weights, const cairn_slab *gradients,
                                  float learning_rate);

/* Updates done; set when resuming. */
int64_t cairn_optimizer_updates(const cairn_optimizer *optimizer);
void cairn_optimizer_set_updates(cairn_optimizer *optimizer, int64_t updates);

/* State slabs for checkpoints: 0, 1 or 2 of them, with the names "momentum", or "exp_avg" and "exp_avg_sq". */
int cairn_optimizer_state_count(const cairn_optimizer *optimizer);
cairn_slab cairn_optimizer_state(const cairn_optimizer *optimizer, int index);
const char *cairn_optimizer_state_name(const cairn_optimizer *optimizer, int index);

#endif
