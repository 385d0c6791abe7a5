#include "layers/net_state.h"
#include <stdlib.h>

static cairn_status check(const cairn_net *net, const cairn_net_options *options)
{
    if (net->device) return cairn_fail(CAIRN_USAGE, "%s: is planned already; make another net", net->name);
    if (net->layer_count == 0) return cairn_fail(CAIRN_USAGE, "%s: has no layers to plan", net->name);
    if (options->batch < 1)
        return cairn_fail(CAIRN_USAGE, "%s: a batch of %lld; it must be at least 1", net->name,
                          (long long)options->batch);
    if (options->dtype != CAIRN_F32 && options->dtype != CAIRN_F16 && options->dtype != CAIRN_BF16)
        return cairn_fail(CAIRN_USAGE, "%s: activations and weights of type %s; f32, f16 and bf16 are supported",
                          net->name, cairn_dtype_name(options->dtype));
    for (int i = 0; i < net->layer_count; i++) {
        int64_t elements = cairn_shape_count(net->layers[i].dst);
        if (elements > INT64_MAX / 64 / options->batch)
            return cairn_fail(CAIRN_USAGE, "%s: a batch of %lld is too large to count", net->layers[i].name,
                              (long long)options->batch);
    }
    return CAIRN_OK;
}

/* Worst cases. Forward, a layer: a reorder and itself; an output, a reordered input and saved state. Backward the same.
 * Once: the reorders at both ends; input, output, their gradients and the workspace. */
static cairn_status reserve_program(cairn_net *net)
{
    size_t layers = (size_t)net->layer_count;
    net->steps = calloc(4 * layers + 2, sizeof *net->steps);
    net->values = calloc(5 * layers + 5, sizeof *net->values);
    if (net->steps && net->values) return CAIRN_OK;
    return cairn_fail(CAIRN_MEMORY, "%s: no memory for the plan of %d layers", net->name, net->layer_count);
}

cairn_status cairn_net_plan(cairn_net *net, cairn_device *device, const cairn_net_options *options)
{
    CAIRN_TRY(check(net, options));
    CAIRN_TRY(cairn_device_supports(device, options->dtype));
    net->device = device;
    net->options = *options;
    CAIRN_TRY(reserve_program(net));
    net_fuse(net);
    CAIRN_TRY(net_plan_forward(net));
    CAIRN_TRY(net_plan_backward(net));
    CAIRN_TRY(net_place_parameters(net));
    CAIRN_TRY(net_place_low(net));
    CAIRN_TRY(net_place_values(net));
    net->planned = true;
    return CAIRN_OK;
}
