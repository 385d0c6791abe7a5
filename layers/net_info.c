#include "layers/net_state.h"
#include <string.h>

/* ---- tensors ---- */

static cairn_tensor tensor_of(const cairn_net *net, int value)
{
    if (value == NET_NONE || !net->planned) return (cairn_tensor){0};
    const net_value *v = &net->values[value];
    return cairn_tensor_view(net->device, v->data, v->shape, v->dtype, v->layout);
}

cairn_tensor cairn_net_input(const cairn_net *net)
{
    return tensor_of(net, net->input);
}

cairn_tensor cairn_net_output(const cairn_net *net)
{
    return tensor_of(net, net->output);
}

cairn_tensor cairn_net_diff_input(const cairn_net *net)
{
    return tensor_of(net, net->diff_input);
}

cairn_tensor cairn_net_diff_output(const cairn_net *net)
{
    return tensor_of(net, net->diff_output);
}

static bool is_kept(const cairn_net *net, int index)
{
    return net->planned && net->options.keep_activations && !net->layers[index].fused;
}

cairn_tensor cairn_net_activation(const cairn_net *net, int index)
{
    return tensor_of(net, is_kept(net, index) ? net->layers[index].output : NET_NONE);
}

cairn_tensor cairn_net_diff_activation(const cairn_net *net, int index)
{
    return tensor_of(net, is_kept(net, index) ? net->layers[index].diff_output : NET_NONE);
}

/* ---- the net ---- */

const char *cairn_net_name(const cairn_net *net)
{
    return net->name;
}

int64_t cairn_net_batch(const cairn_net *net)
{
    return net->planned ? net->options.batch : 0;
}

int64_t cairn_net_classes(const cairn_net *net)
{
    return net->layer_count ? net->layers[net->layer_count - 1].dst.dim[1] : 0;
}

cairn_dtype cairn_net_dtype(const cairn_net *net)
{
    return net->options.dtype;
}

cairn_device *cairn_net_device(const cairn_net *net)
{
    return net->device;
}

/* ---- parameters and buffers ---- */

int cairn_net_parameter_count(const cairn_net *net)
{
    return net->parameter_count;
}

const cairn_parameter *cairn_net_parameter(const cairn_net *net, int index)
{
    return &net->parameters[index];
}

int cairn_net_find_parameter(const cairn_net *net, const char *name)
{
    for (int i = 0; i < net->parameter_count; i++)
        if (strcmp(net->parameters[i].name, name) == 0) return i;
    return -1;
}

int cairn_net_buffer_count(const cairn_net *net)
{
    return net->buffer_count;
}

const char *cairn_net_buffer_name(const cairn_net *net, int index)
{
    return net->buffers[index].name;
}

cairn_tensor cairn_net_buffer(const cairn_net *net, int index)
{
    const net_buffer *buffer = &net->buffers[index];
    float *data = net->running.data ? (float *)net->running.data + buffer->offset : NULL;
    return cairn_tensor_view(net->device, data, cairn_shape_make(1, buffer->count), CAIRN_F32, NULL);
}

cairn_slab cairn_net_weights(const cairn_net *net)
{
    return net->weights;
}

cairn_slab cairn_net_weights_low(const cairn_net *net)
{
    return net->weights_low;
}

cairn_slab cairn_net_gradients(const cairn_net *net)
{
    return net->gradients;
}

int64_t cairn_net_slab_count(const cairn_net *net)
{
    return net->slab_count;
}

cairn_tensor cairn_net_view(const cairn_net *net, const cairn_slab *slab, int index)
{
    const cairn_parameter *parameter = &net->parameters[index];
    float *data = slab->data ? (float *)slab->data + parameter->offset : NULL;
    return cairn_tensor_view(net->device, data, parameter->shape, CAIRN_F32, parameter->layout);
}

/* ---- costs ---- */

int cairn_net_layer_count(const cairn_net *net)
{
    return net->layer_count;
}

static int64_t macs_of(const net_layer *layer)
{
    const cairn_layer_class *class = layer->layer->class;
    return class->macs ? class->macs(layer->layer, layer->src, layer->dst) : 0;
}

static int64_t parameters_of(const cairn_net *net, const net_layer *layer)
{
    int64_t total = 0;
    for (int i = 0; i < layer->parameter_count; i++)
        total += cairn_shape_count(net->parameters[layer->first_parameter + i].shape);
    return total;
}

static const char *algorithm_of(const cairn_net *net, const net_layer *layer)
{
    if (!net->planned) return "";
    if (layer->fused) return "fused";
    if (layer->viewed) return "view";
    return net->steps[layer->step].plan->algorithm;
}

static size_t activation_bytes(const cairn_net *net, const net_layer *layer)
{
    if (net->planned) return layer->fused || layer->viewed ? 0 : net->values[layer->output].bytes;
    return (size_t)cairn_shape_count(layer->dst) * sizeof(float);
}

cairn_layer_info cairn_net_layer(const cairn_net *net, int index)
{
    const net_layer *layer = &net->layers[index];
    return (cairn_layer_info){
        .name = layer->name,
        .kind = layer->layer->class->kind,
        .shape = layer->dst,
        .parameters = parameters_of(net, layer),
        .macs = macs_of(layer),
        .activation_bytes = activation_bytes(net, layer),
        .algorithm = algorithm_of(net, layer),
        .first_trainable = index == net_first_trainable(net),
    };
}

int64_t cairn_net_parameters_total(const cairn_net *net)
{
    int64_t total = 0;
    for (int i = 0; i < net->layer_count; i++)
        total += parameters_of(net, &net->layers[i]);
    return total;
}

int64_t cairn_net_macs(const cairn_net *net)
{
    int64_t total = 0;
    for (int i = 0; i < net->layer_count; i++)
        total += macs_of(&net->layers[i]);
    return total;
}

int64_t cairn_net_train_flops(const cairn_net *net)
{
    int first = net_first_trainable(net);
    int64_t spared = first < net->layer_count ? macs_of(&net->layers[first]) : 0;
    return 2 * (3 * cairn_net_macs(net) - spared);
}

cairn_net_memory cairn_net_memory_use(const cairn_net *net)
{
    return (cairn_net_memory){
        .weights = net->weights.bytes + net->weights_low.bytes,
        .gradients = net->gradients.bytes,
        .arena = net->arena.bytes,
        .workspace = net->workspace_bytes,
    };
}
