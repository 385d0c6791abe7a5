#include "layers/net_state.h"

/* Is the memory of `value` read by a backward step of what is planned so far, or by the net's user? */
static bool needed_later(const cairn_net *net, int value)
{
    int root = net->values[value].root;
    if (root == net->input) return true;
    if (!net->options.train) return false;
    for (int i = 0; i < net->forward_count; i++) {
        const net_step *step = &net->steps[i];
        if (net->values[step->src].root == root && net_backward_reads_src(net, step)) return true;
        if (net->values[step->dst].root == root && net_backward_reads_dst(net, step)) return true;
    }
    return false;
}

static cairn_status plan_view(cairn_net *net, int index, cairn_layer_view view, int *value)
{
    net_layer *layer = &net->layers[index];
    if (view == CAIRN_VIEW_PLAIN) CAIRN_TRY(net_add_reorder(net, index, NULL, value));
    layer->viewed = true;
    layer->input = *value;
    layer->output = *value = net_add_alias(net, *value, net_batched(net, layer->dst));
    return CAIRN_OK;
}

static cairn_status plan_operation(cairn_net *net, int index, int *value)
{
    net_layer *layer = &net->layers[index];
    const cairn_layer_class *class = layer->layer->class;
    const cairn_net_options *options = &net->options;
    const cairn_layer_request request = {
        .device = net->device,
        .src = net_batched(net, layer->src),
        .dtype = options->dtype,
        .src_layout = net->values[*value].layout,
        .train = options->train,
        .need_diff_src = options->train && (options->input_gradient || index > net_first_trainable(net)),
        .relu = layer->relu,
        .relu_backward = layer->relu_backward,
        .rng = cairn_rng_make(options->seed, CAIRN_RNG_DROPOUT, (uint32_t)index, 0),
    };
    cairn_plan *plan;
    CAIRN_TRY(class->plan(layer->layer, &request, &plan));

    cairn_status reordered = net_add_reorder(net, index, plan->layout.src, value);
    layer->step = net->step_count;
    net_step *step = net_add_step(net, index, plan);
    step->owns_plan = true; /* from here on the net releases it, whatever fails */
    CAIRN_TRY(reordered);
    step->src = layer->input = *value;
    bool in_place = class->in_place && !options->keep_activations && plan->layout.dst == plan->layout.src &&
                    !needed_later(net, *value);
    step->dst = in_place ? net_add_alias(net, *value, net_batched(net, layer->dst))
                         : net_add_value(net, net_batched(net, layer->dst), plan->layout.dst);
    layer->output = *value = step->dst;
    if (options->train && plan->saved > 0) step->saved = net_add_bytes(net, plan->saved);
    return CAIRN_OK;
}

static cairn_status plan_layer(cairn_net *net, int index, int *value)
{
    net_layer *layer = &net->layers[index];
    const cairn_layer_class *class = layer->layer->class;
    layer->output = *value;
    if (layer->fused) return CAIRN_OK;
    cairn_layer_view view =
        class->view ? class->view(layer->layer, net_batched(net, layer->src), net->options.train) : CAIRN_VIEW_NONE;
    return view == CAIRN_VIEW_NONE ? plan_operation(net, index, value) : plan_view(net, index, view, value);
}

cairn_status net_plan_forward(cairn_net *net)
{
    int value = net->input = net_add_value(net, net_batched(net, net->input_shape), NULL);
    for (int i = 0; i < net->layer_count; i++) {
        if (plan_layer(net, i, &value) != CAIRN_OK) return net_layer_failed(&net->layers[i]);
        net->forward_count = net->step_count;
    }
    CAIRN_TRY(net_add_reorder(net, net->layer_count - 1, NULL, &value));
    net->forward_count = net->step_count;
    net->output = value;
    return CAIRN_OK;
}
