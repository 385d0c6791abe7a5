#include "layers/net_state.h"

/* The gradient of a view is a view of the gradient, with the shape the other way round: in the layout it comes in where the view keeps
 * the shape, in that of the forward where it comes as the forward left, else plain. */
static cairn_status plan_view(cairn_net *net, int index, int *gradient)
{
    net_layer *layer = &net->layers[index];
    const net_value *input = &net->values[layer->input], *output = &net->values[layer->output];
    const net_value from = net->values[*gradient];
    const cairn_layout *layout = from.layout;
    if (input->shape.rank != output->shape.rank) layout = from.layout == output->layout ? input->layout : NULL;
    if (!layout) CAIRN_TRY(net_add_reorder(net, index, from.dtype, NULL, gradient));
    layer->diff_output = *gradient;
    *gradient = net_add_alias(net, *gradient, net_batched(net, layer->src), layout);
    return CAIRN_OK;
}

static cairn_status plan_operation(cairn_net *net, int index, bool wanted, int *gradient)
{
    net_layer *layer = &net->layers[index];
    const cairn_layer_class *class = layer->layer->class;
    const net_step forward = net->steps[layer->step];
    const cairn_plan *plan = forward.plan;
    CAIRN_TRY(net_add_reorder(net, index, net->options.dtype, plan->layout.diff_dst, gradient));
    layer->diff_output = *gradient;

    net_step *step = net_add_step(net, index, forward.plan);
    step->backward = true;
    step->src = net_backward_reads_src(net, &forward) ? forward.src : NET_NONE;
    step->dst = net_backward_reads_dst(net, &forward) ? forward.dst : NET_NONE;
    step->saved = forward.saved;
    step->diff_dst = *gradient;
    if (!wanted) return CAIRN_OK;
    bool in_place = class->in_place_backward && !net->options.keep_activations &&
                    plan->layout.diff_src == plan->layout.diff_dst && net->values[*gradient].root != net->diff_output;
    cairn_shape shape = net_batched(net, layer->src);
    step->diff_src = in_place ? net_add_alias(net, *gradient, shape, plan->layout.diff_src)
                              : net_add_value(net, shape, net->options.dtype, plan->layout.diff_src);
    *gradient = step->diff_src;
    return CAIRN_OK;
}

cairn_status net_plan_backward(cairn_net *net)
{
    net->diff_input = net->diff_output = NET_NONE;
    if (!net->options.train) return CAIRN_OK;
    int gradient = net->diff_output = net_add_value(net, net->values[net->output].shape, CAIRN_F32, NULL);
    int last = net->options.input_gradient ? 0 : net_first_trainable(net);
    for (int i = net->layer_count - 1; i >= last; i--) {
        net_layer *layer = &net->layers[i];
        if (layer->fused) continue;
        bool wanted = i > last || net->options.input_gradient;
        cairn_status status = layer->viewed ? plan_view(net, i, &gradient) : plan_operation(net, i, wanted, &gradient);
        if (status != CAIRN_OK) return net_layer_failed(layer);
    }
    if (!net->options.input_gradient) return CAIRN_OK;
    CAIRN_TRY(net_add_reorder(net, 0, CAIRN_F32, NULL, &gradient));
    net->diff_input = gradient;
    return CAIRN_OK;
}
