#include "layers/net_state.h"

static int append_value(cairn_net *net, net_value value)
{
    value.root = net->value_count;
    value.first = value.last = NET_NONE;
    value.slot = NET_NONE;
    net->values[net->value_count] = value;
    return net->value_count++;
}

int net_add_value(cairn_net *net, cairn_shape shape, cairn_dtype dtype, const cairn_layout *layout)
{
    size_t bytes = cairn_layout_bytes(net->device, shape, dtype, layout);
    return append_value(net, (net_value){.shape = shape, .dtype = dtype, .layout = layout, .bytes = bytes});
}

int net_add_bytes(cairn_net *net, size_t bytes)
{
    return append_value(net, (net_value){.bytes = bytes});
}

int net_add_alias(cairn_net *net, int value, cairn_shape shape, const cairn_layout *layout)
{
    const net_value of = net->values[value];
    int alias = append_value(net, (net_value){.shape = shape, .dtype = of.dtype, .layout = layout});
    net->values[alias].root = of.root;
    return alias;
}

net_step *net_add_step(cairn_net *net, int layer, cairn_plan *plan)
{
    net_step *step = &net->steps[net->step_count++];
    *step = (net_step){
        .layer = layer,
        .plan = plan,
        .src = NET_NONE,
        .dst = NET_NONE,
        .diff_dst = NET_NONE,
        .diff_src = NET_NONE,
        .saved = NET_NONE,
    };
    return step;
}

cairn_status net_add_reorder(cairn_net *net, int layer, cairn_dtype dtype, const cairn_layout *layout, int *value)
{
    const net_value from = net->values[*value];
    if (from.layout == layout && from.dtype == dtype) return CAIRN_OK;
    const cairn_reorder_desc desc = {
        .shape = from.shape,
        .from = from.layout,
        .to = layout,
        .from_dtype = from.dtype,
        .to_dtype = dtype,
    };
    cairn_plan *plan;
    CAIRN_TRY(net->device->backend->plan_reorder(net->device, &desc, &plan));
    net_step *step = net_add_step(net, layer, plan);
    step->owns_plan = true;
    step->reorder = true;
    step->src = *value;
    *value = step->dst = net_add_value(net, from.shape, dtype, layout);
    return CAIRN_OK;
}

static const cairn_layer_class *class_of(const cairn_net *net, const net_step *step)
{
    return net->layers[step->layer].layer->class;
}

bool net_backward_reads_src(const cairn_net *net, const net_step *step)
{
    return !step->reorder && class_of(net, step)->backward_reads_src && !step->plan->spares_src;
}

bool net_backward_reads_dst(const cairn_net *net, const net_step *step)
{
    if (step->reorder) return false;
    return net->layers[step->layer].relu_backward ||
           (class_of(net, step)->backward_reads_dst && !step->plan->spares_dst);
}
