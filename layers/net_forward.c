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

/* The layout of the flattened value that is the same memory, or NULL where there is none such and the value must be plain first. */
static const cairn_layout *flattened(const cairn_net *net, const net_value *value)
{
    const cairn_backend *backend = net->device->backend;
    if (!value->layout || !backend->flatten) return NULL;
    return backend->flatten(net->device, value->shape, value->layout);
}

static cairn_status plan_view(cairn_net *net, int index, cairn_layer_view view, int *value)
{
    net_layer *layer = &net->layers[index];
    const net_value from = net->values[*value];
    const cairn_layout *layout = view == CAIRN_VIEW_PLAIN ? flattened(net, &from) : from.layout;
    if (!layout) CAIRN_TRY(net_add_reorder(net, index, from.dtype, NULL, value));
    layer->viewed = true;
    layer->input = *value;
    layer->output = *value = net_add_alias(net, *value, net_batched(net, layer->dst), layout);
    return CAIRN_OK;
}

cairn_layer_request net_request(const cairn_net *net, int index, const cairn_layout *src_layout)
{
    const net_layer *layer = &net->layers[index];
    const cairn_net_options *options = &net->options;
    return (cairn_layer_request){
        .device = net->device,
        .src = net_batched(net, layer->src),
        .dtype = options->dtype,
        .src_layout = src_layout,
        .train = options->train,
        .need_diff_src = options->train && (options->input_gradient || index > net_first_trainable(net)),
        .relu = layer->relu,
        .relu_backward = layer->relu_backward,
        .lrn = layer->lrn,
        .rng = cairn_rng_make(options->seed, CAIRN_RNG_DROPOUT, (uint32_t)index, 0),
    };
}

/* The net's pictures are written as the first layer's plan likes them, where the device can. */
static void take_layout_of_input(cairn_net *net, const cairn_layer_class *class, const cairn_layout *layout, int value)
{
    net_value *input = &net->values[value];
    if (value != net->input || !class->takes_pictures || !net->device->backend->augments_into_layouts) return;
    input->layout = layout;
    input->bytes = cairn_layout_bytes(net->device, input->shape, input->dtype, layout);
}

static cairn_status plan_operation(cairn_net *net, int index, int *value)
{
    net_layer *layer = &net->layers[index];
    const cairn_layer_class *class = layer->layer->class;
    const cairn_net_options *options = &net->options;
    const cairn_layer_request request = net_request(net, index, net->values[*value].layout);
    cairn_plan *plan;
    CAIRN_TRY(class->plan(layer->layer, &request, &plan));

    take_layout_of_input(net, class, plan->layout.src, *value);
    cairn_status reordered = net_add_reorder(net, index, options->dtype, plan->layout.src, value);
    layer->step = net->step_count;
    net_step *step = net_add_step(net, index, plan);
    step->owns_plan = true; /* from here on the net releases it, whatever fails */
    CAIRN_TRY(reordered);
    step->src = layer->input = *value;
    bool in_place = class->in_place && !options->keep_activations && plan->layout.dst == plan->layout.src &&
                    !needed_later(net, *value);
    step->dst = in_place ? net_add_alias(net, *value, net_batched(net, layer->dst), plan->layout.dst)
                         : net_add_value(net, net_batched(net, layer->dst), options->dtype, plan->layout.dst);
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
    int value = net->input = net_add_value(net, net_batched(net, net->input_shape), net->options.dtype, NULL);
    for (int i = 0; i < net->layer_count; i++) {
        if (plan_layer(net, i, &value) != CAIRN_OK) return net_layer_failed(&net->layers[i]);
        net->forward_count = net->step_count;
    }
    CAIRN_TRY(net_add_reorder(net, net->layer_count - 1, CAIRN_F32, NULL, &value));
    net->forward_count = net->step_count;
    net->output = value;
    return CAIRN_OK;
}
