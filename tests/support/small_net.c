#include "tests/support/small_net.h"
#include "backends/backends.h"
#include "tests/support/golden.h"
#include "tests/test.h"

static cairn_status add_convolutions(cairn_net *net, bool norm)
{
    CAIRN_TRY(cairn_net_add(net, "conv1", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 3})));
    CAIRN_TRY(cairn_net_add(net, "relu1", cairn_relu()));
    CAIRN_TRY(cairn_net_add(net, "pool1", cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 3, .stride = 2})));
    CAIRN_TRY(cairn_net_add(net, "norm1",
                            cairn_lrn(&(cairn_lrn_options){.size = 5, .alpha = 0.5f, .beta = 0.75f, .k = 2.0f})));
    CAIRN_TRY(cairn_net_add(net, "drop1", cairn_dropout(0.1f))); /* not in place: LRN's backward may read its output */
    CAIRN_TRY(cairn_net_add(
        net, "conv2", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 12, .kernel = 3, .pad = 1, .groups = 2})));
    CAIRN_TRY(cairn_net_add(net, "relu2", cairn_relu()));
    if (norm) CAIRN_TRY(cairn_net_add(net, "bn2", cairn_batchnorm2d(NULL)));
    CAIRN_TRY(cairn_net_add(net, "relu2b", cairn_relu()));
    return cairn_net_add(net, "pool2", cairn_avgpool2d(&(cairn_pool2d_options){.kernel = 2}));
}

static cairn_status add_head(cairn_net *net)
{
    CAIRN_TRY(cairn_net_add(net, "flatten", cairn_flatten()));
    CAIRN_TRY(cairn_net_add(net, "drop3", cairn_dropout(0.25f)));
    CAIRN_TRY(cairn_net_add(net, "fc3", cairn_linear(&(cairn_linear_options){.out_features = 24})));
    CAIRN_TRY(cairn_net_add(net, "relu3", cairn_relu()));
    CAIRN_TRY(cairn_net_add(net, "drop4", cairn_dropout(0.5f)));
    return cairn_net_add(net, "fc4", cairn_linear(&(cairn_linear_options){.out_features = SMALL_CLASSES}));
}

cairn_status small_net_convolutional(cairn_net *net)
{
    CAIRN_TRY(add_convolutions(net, true));
    return add_head(net);
}

cairn_status small_net_without_norm(cairn_net *net)
{
    CAIRN_TRY(add_convolutions(net, false));
    return add_head(net);
}

cairn_status small_net_dropout(cairn_net *net)
{
    CAIRN_TRY(cairn_net_add(net, "flatten", cairn_flatten()));
    return cairn_net_add(net, "drop", cairn_dropout(0.4f));
}

cairn_status small_net_open(const char *backend, small_net_layers *layers, const cairn_net_options *options,
                            small_net *out)
{
    cairn_device *device;
    *out = (small_net){0};
    CAIRN_TRY(cairn_device_open(backend, &(cairn_device_options){.deterministic = true}, &device));
    return small_net_open_on(device, layers, options, out);
}

cairn_status small_net_open_on(cairn_device *device, small_net_layers *layers, const cairn_net_options *options,
                               small_net *out)
{
    size_t bytes = (size_t)options->batch * sizeof(float);
    *out = (small_net){.device = device};
    CAIRN_TRY(cairn_net_create("small", 3, 13, 13, &out->net));
    CAIRN_TRY(layers(out->net));
    CAIRN_TRY(cairn_net_plan(out->net, out->device, options));
    CAIRN_TRY(cairn_net_init(out->net, 1));
    CAIRN_TRY(cairn_slab_create(out->device, bytes, "test", &out->labels));
    CAIRN_TRY(cairn_slab_create(out->device, bytes, "test", &out->scale));
    return cairn_slab_create(out->device, 4 * sizeof(float), "test", &out->totals);
}

void small_net_close(small_net *s)
{
    cairn_slab_destroy(&s->labels);
    cairn_slab_destroy(&s->scale);
    cairn_slab_destroy(&s->totals);
    cairn_net_destroy(s->net);
    cairn_device_close(s->device);
}

void small_net_feed(const small_net *s, int64_t first, int64_t samples)
{
    cairn_tensor input = cairn_net_input(s->net);
    int64_t batch = input.shape.dim[0], image = cairn_shape_count(input.shape) / batch;
    float *images = golden_alloc(batch * image, sizeof *images), *scale = golden_alloc(batch, sizeof *scale);
    int32_t *labels = golden_alloc(batch, sizeof *labels);
    for (int64_t i = 0; i < batch; i++) {
        golden_fill(1000 + (uint32_t)(first + i), -1, 1, images + i * image, image);
        labels[i] = (int32_t)(golden_hash((uint32_t)(first + i)) % SMALL_CLASSES);
        scale[i] = 1.0f / (float)samples;
    }
    CHECK_OK(cairn_tensor_write(&input, images, batch * image));
    CHECK_OK(cairn_device_upload(s->device, s->labels.data, labels, s->labels.bytes));
    CHECK_OK(cairn_device_upload(s->device, s->scale.data, scale, s->scale.bytes));
    free(images);
    free(labels);
    free(scale);
}

cairn_status small_net_step(const small_net *s, const cairn_forward *forward, bool accumulate)
{
    const cairn_loss loss = {
        .labels = s->labels.data, .scale = s->scale.data, .train = forward->train, .totals = s->totals.data};
    CAIRN_TRY(cairn_net_forward(s->net, forward));
    CAIRN_TRY(cairn_net_loss(s->net, &loss));
    return forward->train ? cairn_net_backward(s->net, accumulate) : CAIRN_OK;
}

float *small_net_read(const cairn_tensor *tensor, int64_t *count)
{
    *count = cairn_shape_count(tensor->shape);
    float *host = golden_alloc(*count, sizeof *host);
    CHECK_OK(cairn_tensor_read(tensor, host, *count));
    return host;
}

float *small_net_logits(const small_net *s, int64_t *count)
{
    cairn_tensor output = cairn_net_output(s->net);
    return small_net_read(&output, count);
}

float *small_net_gradients(const small_net *s, int64_t *count)
{
    cairn_slab slab = cairn_net_gradients(s->net);
    float *all = golden_alloc(cairn_net_parameters_total(s->net), sizeof *all);
    *count = 0;
    for (int i = 0; i < cairn_net_parameter_count(s->net); i++) {
        cairn_tensor gradient = cairn_net_view(s->net, &slab, i);
        int64_t elements = cairn_shape_count(gradient.shape);
        CHECK_OK(cairn_tensor_read(&gradient, all + *count, elements));
        *count += elements;
    }
    return all;
}
