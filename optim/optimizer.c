#include "optim/optimizer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 2 };

static const char *const names[] = {"sgd", "adam", "adamw"};
enum { KINDS = sizeof names / sizeof *names };

struct cairn_optimizer {
    cairn_device *device;
    cairn_optimizer_options options;
    int64_t count; /* elements of every slab */
    int64_t updates;
    cairn_slab state[MAX_STATES];
    int state_count;
    cairn_update_segment *segments;
    int segment_count, segment_capacity;
};

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
    *out = optimizer;
    return CAIRN_OK;
}

void cairn_optimizer_destroy(cairn_optimizer *optimizer)
{
    if (!optimizer) return;
    for (int i = 0; i < optimizer->state_count; i++)
        cairn_slab_destroy(&optimizer->state[i]);
    free(optimizer->segments);
    free(optimizer);
}

/* ---- segments ---- */

/* Longer by a run that begins where the last one ends, or after its padding: the padding is zeros and an update keeps it so. */
static bool extend(cairn_optimizer *optimizer, const cairn_update_segment *added)
{
    if (optimizer->segment_count == 0) return false;
    cairn_update_segment *last = &optimizer->segments[optimizer->segment_count - 1];
    if (last->weight_decay != added->weight_decay || cairn_slab_align(last->offset + last->count) != added->offset)
        return false;
    last->count = added->offset + added->count - last->offset;
    return true;
}

cairn_status cairn_optimizer_add(cairn_optimizer *optimizer, int64_t offset, int64_t count, bool is_weight)
{
    if (offset < 0 || count < 1 || offset % CAIRN_SLAB_ALIGNMENT != 0 || offset > optimizer->count - count)
        return cairn_fail(CAIRN_USAGE,
                          "optimizer: a run of %lld elements at %lld; it must start at a multiple of %d and lie in the "
                          "%lld of the slab",
                          (long long)count, (long long)offset, CAIRN_SLAB_ALIGNMENT, (long long)optimizer->count);
    bool decayed = is_weight || optimizer->options.decay_biases;
    const cairn_update_segment added = {
        .offset = offset, .count = count, .weight_decay = decayed ? optimizer->options.weight_decay : 0.0f};
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

/* ---- updating ---- */

cairn_status cairn_optimizer_step(cairn_optimizer *optimizer, const cairn_slab *weights, const cairn_slab *gradients,
                                  float learning_rate)
{
    size_t bytes = (size_t)optimizer->count * sizeof(float);
    if (weights->bytes != bytes || gradients->bytes != bytes)
        return cairn_fail(CAIRN_USAGE, "optimizer: slabs of %zu and %zu bytes; both must have %zu", weights->bytes,
                          gradients->bytes, bytes);
    if (!(learning_rate >= 0) || !isfinite(learning_rate))
        return cairn_fail(CAIRN_USAGE, "optimizer: the learning rate is %g; it must be at least 0",
                          (double)learning_rate);
    const cairn_optimizer_options *o = &optimizer->options;
    const cairn_update update = {
        .kind = o->kind,
        .lr = learning_rate,
        .momentum = o->momentum,
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .eps = o->eps,
        .nesterov = o->nesterov,
        .step = optimizer->updates,
        .weights = weights->data,
        .gradients = gradients->data,
        .state0 = optimizer->state[0].data,
        .state1 = optimizer->state[1].data,
        .segments = optimizer->segments,
        .segment_count = optimizer->segment_count,
    };
    if (optimizer->device->backend->update(optimizer->device, &update) != CAIRN_OK)
        return cairn_error_add_context("optimizer (%s)", cairn_optimizer_name(o->kind));
    optimizer->updates++;
    return CAIRN_OK;
}

int64_t cairn_optimizer_updates(const cairn_optimizer *optimizer)
{
    return optimizer->updates;
}

void cairn_optimizer_set_updates(cairn_optimizer *optimizer, int64_t updates)
{
    optimizer->updates = updates;
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
