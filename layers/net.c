#include "layers/net_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cairn_status cairn_net_create(const char *name, int64_t channels, int64_t height, int64_t width, cairn_net **out)
{
    *out = NULL;
    cairn_shape shape = cairn_shape_make(4, 1, channels, height, width);
    if (channels < 1 || height < 1 || width < 1 || cairn_shape_count(shape) < 1)
        return cairn_fail(CAIRN_USAGE, "%s: images of %lld channels, %lldx%lld: every size must be at least 1", name,
                          (long long)channels, (long long)height, (long long)width);
    cairn_net *net = calloc(1, sizeof *net);
    if (!net) return cairn_fail(CAIRN_MEMORY, "%s: no memory for the net", name);
    snprintf(net->name, sizeof net->name, "%s", name);
    net->input_shape = shape;
    *out = net;
    return CAIRN_OK;
}

void cairn_net_destroy(cairn_net *net)
{
    if (!net) return;
    for (int i = 0; i < net->step_count; i++)
        if (net->steps[i].owns_plan) cairn_plan_destroy(net->steps[i].plan);
    for (int i = 0; net->low && i < net->parameter_count; i++)
        cairn_plan_destroy(net->low[i].plan);
    cairn_slab_destroy(&net->weights);
    cairn_slab_destroy(&net->weights_low);
    cairn_slab_destroy(&net->gradients);
    cairn_slab_destroy(&net->running);
    cairn_slab_destroy(&net->arena);
    for (int i = 0; i < net->layer_count; i++)
        cairn_layer_destroy(net->layers[i].layer);
    free(net->layers);
    free(net->parameters);
    free(net->buffers);
    free(net->values);
    free(net->steps);
    free(net->low);
    free(net);
}

/* Room for `more` elements behind the `count` there are. */
static cairn_status reserve(void **array, int count, int *capacity, int more, size_t size)
{
    if (count + more <= *capacity) return CAIRN_OK;
    int larger = 2 * *capacity + more;
    void *moved = realloc(*array, (size_t)larger * size);
    if (!moved) return cairn_fail(CAIRN_MEMORY, "no memory for %d layers", larger);
    *array = moved;
    *capacity = larger;
    return CAIRN_OK;
}

static cairn_status reserve_layer(cairn_net *net)
{
    CAIRN_TRY(reserve((void **)&net->layers, net->layer_count, &net->layer_capacity, 1, sizeof *net->layers));
    CAIRN_TRY(reserve((void **)&net->parameters, net->parameter_count, &net->parameter_capacity, CAIRN_LAYER_PARAMETERS,
                      sizeof *net->parameters));
    return reserve((void **)&net->buffers, net->buffer_count, &net->buffer_capacity, CAIRN_LAYER_BUFFERS,
                   sizeof *net->buffers);
}

static void append_parameters(cairn_net *net, net_layer *added)
{
    cairn_layer_parameter wanted[CAIRN_LAYER_PARAMETERS];
    const cairn_layer_class *class = added->layer->class;
    added->first_parameter = net->parameter_count;
    added->parameter_count = class->parameters ? class->parameters(added->layer, added->src, wanted) : 0;
    for (int i = 0; i < added->parameter_count; i++) {
        cairn_parameter *parameter = &net->parameters[net->parameter_count++];
        *parameter = (cairn_parameter){
            .shape = wanted[i].shape,
            .init = wanted[i].init,
            .fan_in = wanted[i].fan_in,
            .fan_out = wanted[i].fan_out,
            .decay = wanted[i].decay,
        };
        snprintf(parameter->name, sizeof parameter->name, "%s.%s", added->prefix, wanted[i].suffix);
    }
    added->first_buffer = net->buffer_count;
    for (int i = 0; i < CAIRN_LAYER_BUFFERS && class->buffers[i]; i++) {
        net_buffer *buffer = &net->buffers[net->buffer_count++];
        *buffer = (net_buffer){.count = added->src.dim[1]};
        snprintf(buffer->name, sizeof buffer->name, "%s.%s", added->prefix, class->buffers[i]);
    }
    added->buffer_count = net->buffer_count - added->first_buffer;
}

static cairn_status check_name(const cairn_net *net, const char *name, const char *prefix)
{
    if (!*name || strlen(name) >= NET_NAME_SIZE || !*prefix || strlen(prefix) >= NET_NAME_SIZE)
        return cairn_fail(CAIRN_USAGE, "%s: layer \"%s\": a name must have 1 to %d characters", net->name, name,
                          NET_NAME_SIZE - 1);
    for (int i = 0; i < net->layer_count; i++)
        if (strcmp(net->layers[i].name, name) == 0 || strcmp(net->layers[i].prefix, prefix) == 0)
            return cairn_fail(CAIRN_USAGE, "%s: there is already a layer \"%s\" (parameters \"%s\")", net->name,
                              net->layers[i].name, net->layers[i].prefix);
    return CAIRN_OK;
}

static cairn_status add(cairn_net *net, const char *name, const char *prefix, cairn_layer *layer)
{
    if (!layer) return cairn_fail(CAIRN_MEMORY, "%s: no memory for layer \"%s\"", net->name, name);
    if (net->device) return cairn_fail(CAIRN_USAGE, "%s: layer \"%s\" comes after planning", net->name, name);
    CAIRN_TRY(check_name(net, name, prefix));
    CAIRN_TRY(reserve_layer(net));

    net_layer added = {
        .layer = layer, .step = NET_NONE, .input = NET_NONE, .output = NET_NONE, .diff_output = NET_NONE};
    snprintf(added.name, sizeof added.name, "%s", name);
    snprintf(added.prefix, sizeof added.prefix, "%s", prefix);
    added.src = net->layer_count ? net->layers[net->layer_count - 1].dst : net->input_shape;
    if (layer->class->infer(layer, added.src, &added.dst) != CAIRN_OK) return net_layer_failed(&added);
    if (cairn_shape_count(added.dst) < 1) {
        cairn_fail(CAIRN_USAGE, "the output is too large to count");
        return net_layer_failed(&added);
    }
    append_parameters(net, &added);
    net->layers[net->layer_count++] = added;
    return CAIRN_OK;
}

cairn_status cairn_net_add_as(cairn_net *net, const char *name, const char *prefix, cairn_layer *layer)
{
    cairn_status status = add(net, name, prefix, layer);
    if (status != CAIRN_OK) cairn_layer_destroy(layer);
    return status;
}

cairn_status cairn_net_add(cairn_net *net, const char *name, cairn_layer *layer)
{
    return cairn_net_add_as(net, name, name, layer);
}

cairn_status net_layer_failed(const net_layer *layer)
{
    return cairn_error_add_context("%s (%s)", layer->name, layer->layer->class->kind);
}

int net_first_trainable(const cairn_net *net)
{
    int i = 0;
    while (i < net->layer_count && net->layers[i].parameter_count == 0)
        i++;
    return i;
}

cairn_shape net_batched(const cairn_net *net, cairn_shape sample)
{
    sample.dim[0] = net->options.batch;
    return sample;
}
