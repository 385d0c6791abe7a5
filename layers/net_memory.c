#include "core/memory_plan.h"
#include "layers/net_state.h"

/* ---- parameters ---- */

static void place_parameters_of(cairn_net *net, const net_layer *layer, int64_t *end)
{
    for (int i = 0; i < layer->parameter_count; i++) {
        cairn_parameter *parameter = &net->parameters[layer->first_parameter + i];
        parameter->layout = i == 0 ? net->steps[layer->step].plan->layout.weights : NULL;
        size_t bytes = cairn_layout_bytes(net->device, parameter->shape, CAIRN_F32, parameter->layout);
        parameter->offset = *end;
        parameter->count = (int64_t)(bytes / sizeof(float));
        *end = cairn_slab_align(*end + parameter->count);
    }
}

cairn_status net_place_parameters(cairn_net *net)
{
    int64_t end = 0;
    for (int i = 0; i < net->layer_count; i++)
        place_parameters_of(net, &net->layers[i], &end);
    net->slab_count = end;

    int64_t running = 0;
    for (int i = 0; i < net->buffer_count; i++) {
        net->buffers[i].offset = running;
        running = cairn_slab_align(running + net->buffers[i].count);
    }
    size_t bytes = (size_t)end * sizeof(float);
    CAIRN_TRY(cairn_slab_create(net->device, bytes, "weights", &net->weights));
    if (net->options.train) CAIRN_TRY(cairn_slab_create(net->device, bytes, "gradients", &net->gradients));
    return cairn_slab_create(net->device, (size_t)running * sizeof(float), "running statistics", &net->running);
}

/* ---- lifetimes ---- */

static void use(cairn_net *net, int value, int time)
{
    if (value == NET_NONE) return;
    net_value *root = &net->values[net->values[value].root];
    if (root->first == NET_NONE || time < root->first) root->first = time;
    if (root->last == NET_NONE || time > root->last) root->last = time;
}

/* The user writes the input and reads the output and the gradients at both ends whenever it likes: they keep their memory. */
static void use_always(cairn_net *net, int value)
{
    use(net, value, 0);
    use(net, value, net_last_time(net));
}

static void find_lifetimes(cairn_net *net)
{
    for (int i = 0; i < net->step_count; i++) {
        const net_step *step = &net->steps[i];
        const int operands[] = {step->src, step->dst, step->diff_dst, step->diff_src, step->saved};
        for (size_t k = 0; k < sizeof operands / sizeof *operands; k++)
            use(net, operands[k], net_time(net, i));
    }
    use_always(net, net->input);
    use_always(net, net->output);
    use_always(net, net->diff_input);
    use_always(net, net->diff_output);
    use_always(net, net->workspace);
    if (net->options.keep_activations)
        for (int i = 0; i < net->value_count; i++)
            use_always(net, i);
}

/* ---- places ---- */

static void add_workspace(cairn_net *net)
{
    for (int i = 0; i < net->step_count; i++)
        if (net->steps[i].plan->workspace > net->workspace_bytes) net->workspace_bytes = net->steps[i].plan->workspace;
    for (int i = 0; net->low && i < net->parameter_count; i++)
        if (net->low[i].plan && net->low[i].plan->workspace > net->workspace_bytes)
            net->workspace_bytes = net->low[i].plan->workspace;
    net->workspace = net_add_bytes(net, net->workspace_bytes);
}

/* Activations grow with the batch, weights don't: what is to be had tells how many images fit. A tenth is kept back for what doesn't
 * shrink in proportion: rounding to pages, parts of the workspace. */
static cairn_status batch_does_not_fit(const cairn_net *net, size_t bytes)
{
    const cairn_error failure = *cairn_error_last();
    double share = (double)cairn_device_memory_available(net->device, bytes) / (double)bytes;
    int64_t batch = net->options.batch, fits = (int64_t)(0.9 * (double)batch * share);
    cairn_error_raise(&failure);
    if (fits < 1) return cairn_error_add_context("a batch of %lld does not fit", (long long)batch);
    return cairn_error_add_context("a batch of %lld does not fit, one of about %lld does without an optimizer",
                                   (long long)batch, (long long)fits);
}

static cairn_status place(cairn_net *net, cairn_memory_plan *plan)
{
    for (int i = 0; i < net->value_count; i++) {
        net_value *value = &net->values[i];
        if (value->root == i && value->first != NET_NONE)
            value->slot = cairn_memory_plan_add(plan, value->bytes, value->first, value->last);
    }
    CAIRN_TRY(cairn_memory_plan_solve(plan));
    size_t bytes = cairn_memory_plan_bytes(plan);
    cairn_status status = cairn_slab_create(net->device, bytes, "activations", &net->arena);
    if (status == CAIRN_MEMORY) return batch_does_not_fit(net, bytes);
    CAIRN_TRY(status);
    for (int i = 0; i < net->value_count; i++) {
        int slot = net->values[net->values[i].root].slot;
        if (slot != NET_NONE && net->arena.data)
            net->values[i].data = (char *)net->arena.data + cairn_memory_plan_offset(plan, slot);
    }
    return CAIRN_OK;
}

static void *address(const cairn_net *net, int value)
{
    return value == NET_NONE ? NULL : net->values[value].data;
}

static void *at(const cairn_slab *slab, int64_t element)
{
    return slab->data ? (float *)slab->data + element : NULL;
}

/* What the layer reads: the copy in low precision where there is one. */
static const void *parameter_address(const cairn_net *net, int parameter)
{
    const void *low = net_low_address(net, parameter);
    return low ? low : at(&net->weights, net->parameters[parameter].offset);
}

static void bind(cairn_net *net, net_step *step)
{
    const net_layer *layer = &net->layers[step->layer];
    cairn_operands *operands = &step->operands;
    operands->src = address(net, step->src);
    operands->dst = address(net, step->dst);
    operands->diff_dst = address(net, step->diff_dst);
    operands->diff_src = address(net, step->diff_src);
    operands->saved = address(net, step->saved);
    operands->workspace = address(net, net->workspace);
    if (step->reorder) return;
    int first = layer->first_parameter;
    if (layer->parameter_count > 0) {
        operands->weights = parameter_address(net, first);
        operands->diff_weights = at(&net->gradients, net->parameters[first].offset);
    }
    if (layer->parameter_count > 1) {
        operands->bias = parameter_address(net, first + 1);
        operands->diff_bias = at(&net->gradients, net->parameters[first + 1].offset);
    }
    if (layer->buffer_count == 2) {
        operands->running_mean = at(&net->running, net->buffers[layer->first_buffer].offset);
        operands->running_variance = at(&net->running, net->buffers[layer->first_buffer + 1].offset);
    }
}

cairn_status net_place_values(cairn_net *net)
{
    add_workspace(net);
    find_lifetimes(net);
    cairn_memory_plan *plan;
    CAIRN_TRY(cairn_memory_plan_create(&plan));
    cairn_status status = place(net, plan);
    cairn_memory_plan_destroy(plan);
    CAIRN_TRY(status);
    for (int i = 0; i < net->step_count; i++)
        bind(net, &net->steps[i]);
    return CAIRN_OK;
}
