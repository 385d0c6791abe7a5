#include "optim/optimizer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 2, RATES = 1024 };

static const char *const names[] = {"sgd", "adam", "adamw"};
enum { KINDS = sizeof names / sizeof *names };

struct cairn_optimizer {
    cairn_device *device;
    cairn_optimizer_options options;
    int64_t count;            /* elements of every slab */
    cairn_update_state known; /* as last read */
    int64_t since;            /* updates asked for since */
    cairn_slab control;       /* on the device: see control_block */
    int64_t first_rate, rate_count;
    cairn_slab low; /* not owned */
    cairn_dtype low_dtype;
    cairn_slab state[MAX_STATES];
    int state_count;
    cairn_update_segment *segments;
    int segment_count, segment_capacity;
};

/* What decides about updates. Each part on cache lines of its own. */
typedef struct control_block {
    cairn_update_state state;
    char apart[64 - sizeof(cairn_update_state)];
    float rates[RATES]; /* of updates first_rate, first_rate + 1, ... */
} control_block;

/* ---- kinds ---- */

cairn_optimizer_options cairn_optimizer_defaults(cairn_update_kind kind)
{
    return (cairn_optimizer_options){.kind = kind, .momentum = 0.9f, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f};
}

const char *cairn_optimizer_name(cairn_update_kind kind)
{
    return (unsigned)kind < KINDS ? names[kind] : "unknown";
}

cairn_status cairn_optimizer_parse(const char *text, cairn_update_kind *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (cairn_update_kind)i;
            return CAIRN_OK;
        }
    return cairn_fail(CAIRN_USAGE, "no optimizer \"%s\"; there are: sgd, adam, adamw", text);
}

static cairn_status check_number(const char *field, float value, bool allowed, const char *rule)
{
    if (allowed && isfinite(value)) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "optimizer: %s is %g; it must be %s", field, (double)value, rule);
}

static cairn_status check(const cairn_optimizer_options *o, int64_t count)
{
    if ((unsigned)o->kind >= KINDS)
        return cairn_fail(CAIRN_USAGE, "optimizer: kind is %d; there are 0 to %d", (int)o->kind, KINDS - 1);
    if (count < 1)
        return cairn_fail(CAIRN_USAGE, "optimizer: %lld parameters; there must be at least 1", (long long)count);
    CAIRN_TRY(check_number("weight_decay", o->weight_decay, o->weight_decay >= 0, "at least 0"));
    if (o->kind == CAIRN_UPDATE_SGD) {
        CAIRN_TRY(check_number("momentum", o->momentum, o->momentum >= 0 && o->momentum < 1, "at least 0 and below 1"));
        if (o->nesterov && o->momentum == 0.0f)
            return cairn_fail(CAIRN_USAGE, "optimizer: nesterov needs a momentum above 0");
        return CAIRN_OK;
    }
    CAIRN_TRY(check_number("beta1", o->beta1, o->beta1 >= 0 && o->beta1 < 1, "at least 0 and below 1"));
    CAIRN_TRY(check_number("beta2", o->beta2, o->beta2 >= 0 && o->beta2 < 1, "at least 0 and below 1"));
    return check_number("eps", o->eps, o->eps > 0, "above 0");
}

/* ---- life ---- */

static int states_of(const cairn_optimizer_options *options)
{
    if (options->kind == CAIRN_UPDATE_SGD) return options->momentum > 0 ? 1 : 0;
    return 2;
}

cairn_status cairn_optimizer_create(cairn_device *device, const cairn_optimizer_options *options, int64_t count,
                                    cairn_optimizer **out)
{
    *out = NULL;
    CAIRN_TRY(check(options, count));
    cairn_optimizer *optimizer = calloc(1, sizeof *optimizer);
    if (!optimizer) return cairn_fail(CAIRN_MEMORY, "no memory for an optimizer");
    *optimizer = (cairn_optimizer){.device = device, .options = *options, .count = count};
    int states = states_of(options);
    for (; optimizer->state_count < states; optimizer->state_count++) {
        cairn_status status = cairn_slab_create(device, (size_t)count * sizeof(float), "optimizer state",
                                                &optimizer->state[optimizer->state_count]);
        if (status == CAIRN_OK) continue;
        cairn_optimizer_destroy(optimizer);
        return status;
    }
    cairn_status status = cairn_slab_create(device, sizeof(control_block), "update state", &optimizer->control);
    if (status == CAIRN_OK) status = cairn_optimizer_restore(optimizer, &(cairn_update_state){0});
    if (status != CAIRN_OK) {
        cairn_optimizer_destroy(optimizer);
        return status;
    }
    *out = optimizer;
    return CAIRN_OK;
}

void cairn_optimizer_destroy(cairn_optimizer *optimizer)
{
    if (!optimizer) return;
    for (int i = 0; i < optimizer->state_count; i++)
        cairn_slab_destroy(&optimizer->state[i]);
    cairn_slab_destroy(&optimizer->control);
    free(optimizer->segments);
    free(optimizer);
}

/* ---- segments ---- */

/* Longer by a run that begins where the last one ends, or after its padding: the padding is zeros and an update keeps it so. */
static bool extend(cairn_optimizer *optimizer, const cairn_update_segment *added)
{
    if (optimizer->segment_count == 0) return false;
    cairn_update_segment *last = &optimizer->segments[optimizer->segment_count - 1];
    if (last->weight_decay != added->weight_decay || last->low != added->low) return false;
    if (cairn_slab_align(last->offset + last->count) != added->offset) return false;
    last->count = added->offset + added->count - last->offset;
    return true;
}

static cairn_status add(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight, bool low)
{
    if (offset < 0 || count < 1 || offset % CAIRN_SLAB_ALIGNMENT != 0 || offset > optimizer->count - count)
        return cairn_fail(CAIRN_USAGE,
                          "optimizer: a run of %lld elements at %lld; it must start at a multiple of %d and lie in the "
                          "%lld of the slab",
                          (long long)count, (long long)offset, CAIRN_SLAB_ALIGNMENT, (long long)optimizer->count);
    bool decayed = is_weight || optimizer->options.decay_biases;
    const cairn_update_segment added = {
        .offset = offset,
        .count = count,
        .weight_decay = decayed ? optimizer->options.weight_decay : 0.0f,
        .low = low,
    };
    if (extend(optimizer, &added)) return CAIRN_OK;
    if (optimizer->segment_count == optimizer->segment_capacity) {
        int larger = 2 * optimizer->segment_capacity + 16;
        cairn_update_segment *moved = realloc(optimizer->segments, (size_t)larger * sizeof *moved);
        if (!moved) return cairn_fail(CAIRN_MEMORY, "no memory for %d runs of parameters", larger);
        optimizer->segments = moved;
        optimizer->segment_capacity = larger;
    }
    optimizer->segments[optimizer->segment_count++] = added;
    return CAIRN_OK;
}

cairn_status cairn_optimizer_add(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight)
{
    return add(optimizer, offset, count, is_weight, false);
}

cairn_status cairn_optimizer_add_low(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight)
{
    return add(optimizer, offset, count, is_weight, true);
}

void cairn_optimizer_set_low(cairn_optimizer *optimizer, const cairn_slab *weights_low, cairn_dtype dtype)
{
    optimizer->low = *weights_low;
    optimizer->low_dtype = dtype;
}

/* ---- what decides about updates ---- */

static control_block *control(const cairn_optimizer *optimizer)
{
    return optimizer->control.data; /* on the device: for addresses only */
}

const float *cairn_optimizer_loss_scale(const cairn_optimizer *optimizer)
{
    return optimizer->options.dynamic_scale ? &control(optimizer)->state.loss_scale : NULL;
}

cairn_status cairn_optimizer_read(cairn_optimizer *optimizer, cairn_update_state *out)
{
    CAIRN_TRY(cairn_device_download(optimizer->device, &optimizer->known, &control(optimizer)->state,
                                    sizeof optimizer->known));
    optimizer->since = 0;
    *out = optimizer->known;
    return CAIRN_OK;
}

cairn_status cairn_optimizer_restore(cairn_optimizer *optimizer, const cairn_update_state *state)
{
    cairn_update_state next = *state;
    bool dynamic = optimizer->options.dynamic_scale;
    if (!dynamic || !(next.loss_scale > 0)) {
        next.loss_scale = dynamic ? CAIRN_LOSS_SCALE_START : 1;
        next.good = next.skipped_in_a_row = 0;
    }
    optimizer->known = next;
    optimizer->since = optimizer->rate_count = 0;
    return cairn_device_upload(optimizer->device, &control(optimizer)->state, &next, sizeof next);
}

int64_t cairn_optimizer_updates(const cairn_optimizer *optimizer)
{
    return optimizer->known.updates + optimizer->since;
}

int64_t cairn_optimizer_attempts(const cairn_optimizer *optimizer)
{
    return cairn_optimizer_updates(optimizer) + optimizer->known.skipped;
}

/* The table of rates reaches over the next update, whichever that is of those that may have been made or skipped since the last reading. */
static cairn_status provide_rates(cairn_optimizer *optimizer, const cairn_schedule *schedule)
{
    float rates[RATES];
    if (cairn_optimizer_updates(optimizer) < optimizer->first_rate + optimizer->rate_count) return CAIRN_OK;
    if (optimizer->options.dynamic_scale && optimizer->since > 0)
        CAIRN_TRY(cairn_optimizer_read(optimizer, &optimizer->known));
    optimizer->first_rate = cairn_optimizer_updates(optimizer);
    optimizer->rate_count = RATES;
    for (int i = 0; i < RATES; i++)
        rates[i] = cairn_schedule_at(schedule, optimizer->first_rate + i);
    return cairn_device_upload(optimizer->device, control(optimizer)->rates, rates, sizeof rates);
}

/* ---- updating ---- */

/* By the table of rates, or at `learning_rate`. */
static cairn_status step(cairn_optimizer *optimizer, const cairn_slab *weights, const cairn_slab *gradients,
                         bool scheduled, float learning_rate)
{
    size_t bytes = (size_t)optimizer->count * sizeof(float);
    if (weights->bytes != bytes || gradients->bytes != bytes)
        return cairn_fail(CAIRN_USAGE, "optimizer: slabs of %zu and %zu bytes; both must have %zu", weights->bytes,
                          gradients->bytes, bytes);
    const cairn_optimizer_options *o = &optimizer->options;
    const cairn_update update = {
        .kind = o->kind,
        .lr = learning_rate,
        .momentum = o->momentum,
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .eps = o->eps,
        .nesterov = o->nesterov,
        .step = cairn_optimizer_updates(optimizer),
        .state = &control(optimizer)->state,
        .dynamic_scale = o->dynamic_scale,
        .rates = scheduled ? control(optimizer)->rates : NULL,
        .first_rate = optimizer->first_rate,
        .rate_count = optimizer->rate_count,
        .weights = weights->data,
        .gradients = gradients->data,
        .state0 = optimizer->state[0].data,
        .state1 = optimizer->state[1].data,
        .weights_low = optimizer->low.data,
        .low_dtype = optimizer->low_dtype,
        .segments = optimizer->segments,
        .segment_count = optimizer->segment_count,
    };
    if (optimizer->device->backend->update(optimizer->device, &update) != CAIRN_OK)
        return cairn_error_add_context("optimizer (%s)", cairn_optimizer_name(o->kind));
    optimizer->since++;
    return CAIRN_OK;
}

cairn_status cairn_optimizer_step(cairn_optimizer *optimizer, const cairn_slab *weights, const cairn_slab *gradients,
                                  float learning_rate)
{
    if (!(learning_rate >= 0) || !isfinite(learning_rate))
        return cairn_fail(CAIRN_USAGE, "optimizer: the learning rate is %g; it must be at least 0",
                          (double)learning_rate);
    return step(optimizer, weights, gradients, false, learning_rate);
}

cairn_status cairn_optimizer_step_scheduled(cairn_optimizer *optimizer, const cairn_slab *weights,
                                            const cairn_slab *gradients, const cairn_schedule *schedule)
{
    CAIRN_TRY(provide_rates(optimizer, schedule));
    return step(optimizer, weights, gradients, true, 0);
}

/* ---- state ---- */

int cairn_optimizer_state_count(const cairn_optimizer *optimizer)
{
    return optimizer->state_count;
}

cairn_slab cairn_optimizer_state(const cairn_optimizer *optimizer, int index)
{
    return optimizer->state[index];
}

const char *cairn_optimizer_state_name(const cairn_optimizer *optimizer, int index)
{
    if (optimizer->options.kind == CAIRN_UPDATE_SGD) return "momentum";
    return index == 0 ? "exp_avg" : "exp_avg_sq";
}
