/* update.c - one optimizer update over the slabs: one kernel, two where a dynamic loss scale must first see all gradients. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"
#include <math.h>

static int64_t blocks_of(const cairn_update_segment *segment)
{
    return (segment->count + CAIRN_UPDATE_CHUNK - 1) / CAIRN_UPDATE_CHUNK;
}

static cairn_update_args arguments(const cairn_update *u, int64_t blocks)
{
    return (cairn_update_args){.weights = u->weights,
                               .state0 = u->state0,
                               .state1 = u->state1,
                               .gradients = u->gradients,
                               .rates = u->rates,
                               .weights_low = u->weights_low,
                               .state = u->state,
                               .step = u->step,
                               .first_rate = u->first_rate,
                               .rate_count = u->rate_count,
                               .lr = u->lr,
                               .momentum = u->momentum,
                               .beta1 = u->beta1,
                               .beta2 = u->beta2,
                               .eps = u->eps,
                               .log_beta1 = (float)log((double)u->beta1),
                               .log_beta2 = (float)log((double)u->beta2),
                               .blocks = (int32_t)blocks,
                               .nesterov = u->nesterov,
                               .decoupled = u->kind == CAIRN_UPDATE_ADAMW,
                               .dynamic_scale = u->dynamic_scale};
}

/* Puts segments from *next on into `args` until it is full; returns the blocks they take. */
static int32_t fill_parts(const cairn_update *u, int *next, cairn_update_args *args)
{
    int64_t block = 0;
    args->parts = 0;
    for (; *next < u->segment_count && args->parts < CAIRN_UPDATE_PARTS; ++*next) {
        const cairn_update_segment *s = &u->segments[*next];
        if (s->count < 1) continue;
        args->part[args->parts++] = (cairn_update_part){.offset = s->offset,
                                                        .count = s->count,
                                                        .decay = s->weight_decay,
                                                        .low = s->low,
                                                        .first_block = (int32_t)block};
        block += blocks_of(s);
    }
    return (int32_t)block;
}

/* One kernel over all segments; several launches where they are many. */
static cairn_status launch(cairn_cuda *cuda, const cairn_update *u, int64_t blocks, bool scan)
{
    cairn_update_args args = arguments(u, blocks);
    cairn_update_rule rule = u->kind != CAIRN_UPDATE_SGD ? CAIRN_RULE_ADAM
                             : u->momentum > 0           ? CAIRN_RULE_SGD
                                                         : CAIRN_RULE_SGD_PLAIN;
    for (int next = 0; next < u->segment_count;) {
        int32_t part = fill_parts(u, &next, &args);
        if (scan)
            CUDA_TRY(cairn_launch_update_scan(&args, part, cuda->compute));
        else
            CUDA_TRY(cairn_launch_update(&args, rule, u->low_dtype, part, cuda->compute));
    }
    return CAIRN_OK;
}

cairn_status cairn_cuda_update(cairn_device *device, const cairn_update *args)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    int64_t blocks = 0;
    for (int i = 0; i < args->segment_count; i++)
        blocks += blocks_of(&args->segments[i]);
    if (blocks == 0) return cairn_fail(CAIRN_USAGE, "update: there are no parameters to update");
    if (blocks > INT32_MAX / 4)
        return cairn_fail(CAIRN_DEVICE, "update on cuda: more than %lld parameters",
                          (long long)INT32_MAX / 4 * CAIRN_UPDATE_CHUNK);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (args->state && args->dynamic_scale) CAIRN_TRY(launch(cuda, args, blocks, true));
    return launch(cuda, args, blocks, false);
}
