/* net_low.c - the copies of the weights that the layers of a net in f16 or bf16 read; the f32 weights are the optimizer's. */
#include "layers/net_state.h"
#include <stdlib.h>

static cairn_status plan_copy(cairn_net *net, const cairn_parameter *parameter, net_low *low)
{
    const cairn_reorder_desc desc = {
        .shape = parameter->shape,
        .from = parameter->layout,
        .to = low->layout,
        .from_dtype = CAIRN_F32,
        .to_dtype = net->options.dtype,
    };
    if (net->device->backend->plan_reorder(net->device, &desc, &low->plan) != CAIRN_OK)
        return cairn_error_add_context("%s in %s", parameter->name, cairn_dtype_name(net->options.dtype));
    return CAIRN_OK;
}

/* At the place of its f32 weights, where an update can write it too; one that lies otherwise and doesn't fit there goes to the end. */
static void place_copy(cairn_net *net, cairn_parameter *parameter, net_low *low, int64_t *end)
{
    int64_t count = parameter->count;
    parameter->updates_low = low->layout == parameter->layout;
    if (!parameter->updates_low)
        count = (int64_t)(cairn_layout_bytes(net->device, parameter->shape, net->options.dtype, low->layout) /
                          cairn_dtype_size(net->options.dtype));
    bool fits = count <= cairn_slab_align(parameter->count);
    low->offset = fits ? parameter->offset : *end;
    if (!fits) *end = cairn_slab_align(*end + count);
}

static cairn_status place_copies_of(cairn_net *net, const net_layer *layer, int64_t *end)
{
    if (layer->layer->class->full_precision) return CAIRN_OK;
    for (int i = 0; i < layer->parameter_count; i++) {
        cairn_parameter *parameter = &net->parameters[layer->first_parameter + i];
        net_low *low = &net->low[layer->first_parameter + i];
        if (i == 0) low->layout = net->steps[layer->step].plan->layout.weights_low;
        place_copy(net, parameter, low, end);
        CAIRN_TRY(plan_copy(net, parameter, low));
    }
    return CAIRN_OK;
}

cairn_status net_place_low(cairn_net *net)
{
    if (net->options.dtype == CAIRN_F32) return CAIRN_OK;
    net->low = calloc((size_t)net->parameter_count + 1, sizeof *net->low);
    if (!net->low)
        return cairn_fail(CAIRN_MEMORY, "%s: no memory for the record of %d weights", net->name, net->parameter_count);
    int64_t end = net->slab_count;
    for (int i = 0; i < net->layer_count; i++)
        CAIRN_TRY(place_copies_of(net, &net->layers[i], &end));
    size_t bytes = (size_t)end * cairn_dtype_size(net->options.dtype);
    return cairn_slab_create(net->device, bytes, "weights in low precision", &net->weights_low);
}

void *net_low_address(const cairn_net *net, int parameter)
{
    if (!net->low || !net->low[parameter].plan) return NULL;
    return (uint16_t *)net->weights_low.data + net->low[parameter].offset;
}

cairn_status cairn_net_refresh(cairn_net *net, bool after_update)
{
    if (!net->planned) return cairn_fail(CAIRN_USAGE, "%s: is not planned; call cairn_net_plan first", net->name);
    for (int i = 0; net->low && i < net->parameter_count; i++) {
        const cairn_parameter *parameter = &net->parameters[i];
        cairn_plan *plan = net->low[i].plan;
        if (!plan || (after_update && parameter->updates_low)) continue;
        const cairn_operands operands = {
            .src = (const float *)net->weights.data + parameter->offset,
            .dst = net_low_address(net, i),
            .workspace = net->values[net->workspace].data,
        };
        if (plan->ops->forward(plan, &operands) != CAIRN_OK)
            return cairn_error_add_context("%s in %s", parameter->name, cairn_dtype_name(net->options.dtype));
    }
    return CAIRN_OK;
}
