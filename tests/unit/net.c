/* A net before it runs: shapes, names, what is refused, parameters, memory, costs. */
#include "layers/net.h"
#include "backends/backends.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

static cairn_net *create(int64_t channels, int64_t height, int64_t width)
{
    cairn_net *net = NULL;
    CHECK_OK(cairn_net_create("test", channels, height, width, &net));
    return net;
}

static void check_shape(const cairn_net *net, const char *want)
{
    char text[64];
    cairn_layer_info info = cairn_net_layer(net, cairn_net_layer_count(net) - 1);
    if (strcmp(cairn_shape_format(info.shape, text, sizeof text), want) != 0)
        TEST_FAIL("%s gives %s, want %s", info.name, text, want);
}

static void every_layer_infers_its_shape(void)
{
    cairn_net *net = create(3, 23, 17);
#define ADD(name, layer, shape)                                                                                        \
    do {                                                                                                               \
        CHECK_OK(cairn_net_add(net, name, layer));                                                                     \
        check_shape(net, shape);                                                                                       \
    } while (0)
    ADD("conv", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 5, .stride = 2, .pad = 2}),
        "1x8x12x9");
    ADD("floor", cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 2, .stride = 1}), "1x8x11x8");
    ADD("ceil", cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 3, .stride = 2, .ceil_mode = true}), "1x8x5x4");
    ADD("bn", cairn_batchnorm2d(NULL), "1x8x5x4");
    ADD("lrn", cairn_lrn(&(cairn_lrn_options){.size = 5, .alpha = 1e-4f, .beta = 0.75f, .k = 2}), "1x8x5x4");
    ADD("relu", cairn_relu(), "1x8x5x4");
    /* Ceil mode would start a third column of windows in the right padding: PyTorch's rule leaves it out. */
    ADD("pad", cairn_avgpool2d(&(cairn_pool2d_options){.kernel = 2, .pad = 1, .ceil_mode = true}), "1x8x3x3");
    ADD("adaptive", cairn_adaptive_avgpool2d(2, 4), "1x8x2x4");
    ADD("drop", cairn_dropout(0.5f), "1x8x2x4");
    ADD("flatten", cairn_flatten(), "1x64");
    ADD("fc", cairn_linear(&(cairn_linear_options){.out_features = 7}), "1x7");
#undef ADD
    CHECK_INT(cairn_net_classes(net), 7);
    CHECK_INT(cairn_net_batch(net), 0);
    CHECK_TEXT(cairn_net_layer(net, 0).algorithm, "");
    cairn_net_destroy(net);
}

static void what_does_not_fit_is_refused_by_layer(void)
{
    cairn_net *net = create(4, 6, 6);
#define REFUSED(layer, part)                                                                                           \
    do {                                                                                                               \
        CHECK_FAILS(cairn_net_add(net, "bad", layer), CAIRN_USAGE, part);                                              \
        CHECK_INT(cairn_net_layer_count(net), 0);                                                                      \
    } while (0)
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 7}), "bad (conv2d): a kernel of 7");
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 0, .kernel = 3}), "out_channels is 0");
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8}), "kernel is 0");
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 3, .stride = -1}), "stride is -1");
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 3, .pad = -1}), "pad is -1");
    REFUSED(cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 3, .groups = 3}), "groups is 3");
    REFUSED(cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 8}), "bad (maxpool2d): a window of 8");
    REFUSED(cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 3, .pad = 2}), "pad is 2");
    REFUSED(cairn_avgpool2d(&(cairn_pool2d_options){.kernel = 0}), "bad (avgpool2d): kernel is 0");
    REFUSED(cairn_avgpool2d(&(cairn_pool2d_options){.kernel = 2, .stride = -2}), "stride is -2");
    REFUSED(cairn_adaptive_avgpool2d(0, 6), "bad (adaptive_avgpool2d): the output is 0x6");
    REFUSED(cairn_lrn(&(cairn_lrn_options){.size = 4, .alpha = 1, .beta = 1, .k = 1}), "bad (lrn): size is 4");
    REFUSED(cairn_lrn(&(cairn_lrn_options){.size = 5, .alpha = 1, .beta = 1}), "k 0");
    REFUSED(cairn_dropout(1.0f), "bad (dropout): the dropout rate is 1");
    REFUSED(cairn_dropout(NAN), "the dropout rate is nan");
    REFUSED(cairn_batchnorm2d(&(cairn_batchnorm_options){.eps = -1}), "bad (batchnorm2d): eps is -1");
    REFUSED(cairn_batchnorm2d(&(cairn_batchnorm_options){.momentum = 2}), "momentum is 2");
    REFUSED(cairn_linear(&(cairn_linear_options){.out_features = 8}), "put a flatten layer before it");
    CHECK_OK(cairn_net_add(net, "flatten", cairn_flatten()));
#undef REFUSED
    CHECK_FAILS(cairn_net_add(net, "bad", cairn_linear(&(cairn_linear_options){0})), CAIRN_USAGE, "out_features is 0");
    CHECK_FAILS(cairn_net_add(net, "bad", cairn_maxpool2d(&(cairn_pool2d_options){.kernel = 2})), CAIRN_USAGE,
                "takes images (N, C, H, W), but its input is 1x144");
    cairn_net_destroy(net);
}

static void names_are_checked(void)
{
    cairn_net *net = create(1, 8, 8);
    CHECK_OK(cairn_net_add_as(net, "one", "features.0", cairn_relu()));
    CHECK_FAILS(cairn_net_add(net, "one", cairn_relu()), CAIRN_USAGE, "already a layer \"one\"");
    CHECK_FAILS(cairn_net_add_as(net, "two", "features.0", cairn_relu()), CAIRN_USAGE, "parameters \"features.0\"");
    CHECK_FAILS(cairn_net_add(net, "", cairn_relu()), CAIRN_USAGE, "characters");
    CHECK_FAILS(cairn_net_add(net, "a_name_that_is_far_too_long_for_any_layer", cairn_relu()), CAIRN_USAGE,
                "1 to 39 characters");
    CHECK_FAILS(cairn_net_add(net, "none", NULL), CAIRN_MEMORY, "none");
    CHECK_INT(cairn_net_layer_count(net), 1);
    cairn_net_destroy(net);
    CHECK_FAILS(cairn_net_create("empty", 3, 0, 8, &net), CAIRN_USAGE, "every size must be at least 1");
    CHECK(net == NULL);
    cairn_net_destroy(net);
}

static void out_of_order_calls_say_what_is_missing(void)
{
    cairn_device *device;
    REQUIRE_OK(cairn_device_open("ref", &(cairn_device_options){0}, &device));
    cairn_net *net = create(1, 8, 8);
    CHECK_FAILS(cairn_net_plan(net, device, &(cairn_net_options){.batch = 1}), CAIRN_USAGE, "no layers");
    CHECK_OK(cairn_net_add(net, "conv", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 2, .kernel = 3})));
    CHECK_FAILS(cairn_net_forward(net, &(cairn_forward){0}), CAIRN_USAGE, "not planned");
    CHECK_FAILS(cairn_net_init(net, 1), CAIRN_USAGE, "not planned");
    CHECK_FAILS(cairn_net_plan(net, device, &(cairn_net_options){.batch = 0}), CAIRN_USAGE, "a batch of 0");
    CHECK_FAILS(cairn_net_plan(net, device, &(cairn_net_options){.batch = INT64_MAX / 2}), CAIRN_USAGE, "too large");
    CHECK_FAILS(cairn_net_plan(net, device, &(cairn_net_options){.batch = 1, .dtype = CAIRN_U8}), CAIRN_USAGE,
                "type u8");
    CHECK(cairn_net_input(net).data == NULL);
    CHECK_OK(cairn_net_plan(net, device, &(cairn_net_options){.batch = 2}));
    CHECK_FAILS(cairn_net_plan(net, device, &(cairn_net_options){.batch = 2}), CAIRN_USAGE, "planned already");
    CHECK_FAILS(cairn_net_add(net, "late", cairn_relu()), CAIRN_USAGE, "after planning");
    CHECK_FAILS(cairn_net_forward(net, &(cairn_forward){.train = true}), CAIRN_USAGE, "evaluation only");
    CHECK_FAILS(cairn_net_backward(net, false), CAIRN_USAGE, "evaluation only");
    CHECK_OK(cairn_net_init(net, 1));
    CHECK_OK(cairn_net_forward(net, &(cairn_forward){0}));
    CHECK_FAILS(cairn_net_loss(net, &(cairn_loss){0}), CAIRN_USAGE, "it is 2x2x6x6: end the net with linear");
    CHECK_INT(cairn_net_batch(net), 2);
    CHECK(cairn_net_device(net) == device);
    cairn_net_destroy(net);

    small_net s;
    REQUIRE_OK(small_net_open("ref", small_net_dropout, &(cairn_net_options){.batch = 1, .train = true}, &s));
    CHECK_FAILS(cairn_net_backward(s.net, false), CAIRN_USAGE, "a training forward before it");
    CHECK_FAILS(cairn_net_loss(s.net, &(cairn_loss){.smoothing = 1}), CAIRN_USAGE, "smoothing is 1");
    small_net_close(&s);
    CHECK_INT(cairn_device_memory(device).held, 0);
    cairn_device_close(device);
}

/* Wherever memory ends, planning fails in good order and everything is given back. */
static void planning_survives_every_limit(void)
{
    const cairn_net_options options = {.batch = 4, .train = true};
    small_net s;
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &s));
    size_t needed = cairn_device_memory(s.device).peak;
    small_net_close(&s);
    int failures = 0;
    for (size_t limit = 1; limit < needed + needed / 4; limit += needed / 8) {
        cairn_device *device;
        cairn_net *net = create(3, 13, 13);
        REQUIRE_OK(cairn_device_open("ref", &(cairn_device_options){.memory_limit = limit}, &device));
        CHECK_OK(small_net_convolutional(net));
        cairn_status status = cairn_net_plan(net, device, &options);
        CHECK(status == CAIRN_OK || status == CAIRN_MEMORY);
        if (status != CAIRN_OK) {
            failures++;
            CHECK_FAILS(cairn_net_forward(net, &(cairn_forward){0}), CAIRN_USAGE, "not planned");
        }
        cairn_net_destroy(net);
        CHECK_INT(cairn_device_memory(device).held, 0);
        cairn_device_close(device);
    }
    CHECK(failures >= 3 && failures < 10);
}

static void a_batch_too_large_is_told_what_fits(void)
{
    small_net s;
    cairn_net_options options = {.batch = 64, .train = true};
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &s));
    size_t limit = cairn_device_memory(s.device).held - cairn_net_memory_use(s.net).arena / 2;
    small_net_close(&s);
    for (int attempt = 0; attempt < 2; attempt++) {
        cairn_device *device;
        cairn_net *net = create(3, 13, 13);
        REQUIRE_OK(cairn_device_open("ref", &(cairn_device_options){.memory_limit = limit}, &device));
        CHECK_OK(small_net_convolutional(net));
        if (attempt == 0) {
            CHECK_FAILS(cairn_net_plan(net, device, &options), CAIRN_MEMORY,
                        "a batch of 64 does not fit, one of about");
            options.batch = strtol(strstr(cairn_error_last()->message, "about ") + strlen("about "), NULL, 10);
            CHECK(options.batch > 16 && options.batch < 64);
        } else {
            CHECK_OK(cairn_net_plan(net, device, &options));
        }
        cairn_net_destroy(net);
        cairn_device_close(device);
    }
}

static void parameters_lie_apart_and_aligned(void)
{
    static const char *const backends[] = {"ref", "cpu"};
    for (int b = 0; b < 2; b++) {
        small_net s;
        REQUIRE_OK(small_net_open(backends[b], small_net_convolutional, &(cairn_net_options){.batch = 2}, &s));
        int64_t end = 0, total = 0;
        for (int i = 0; i < cairn_net_parameter_count(s.net); i++) {
            const cairn_parameter *p = cairn_net_parameter(s.net, i);
            CHECK_INT(p->offset % 16, 0);
            CHECK(p->offset >= end && p->count >= cairn_shape_count(p->shape));
            CHECK_INT(cairn_net_find_parameter(s.net, p->name), i);
            end = p->offset + p->count;
            total += cairn_shape_count(p->shape);
        }
        CHECK(end <= cairn_net_slab_count(s.net));
        CHECK_INT(cairn_net_weights(s.net).bytes, cairn_net_slab_count(s.net) * 4);
        CHECK_INT(cairn_net_parameters_total(s.net), total);
        CHECK(cairn_net_gradients(s.net).data == NULL);
        small_net_close(&s);
    }
}

static const char *algorithm(const cairn_net *net, const char *layer)
{
    for (int i = 0; i < cairn_net_layer_count(net); i++)
        if (strcmp(cairn_net_layer(net, i).name, layer) == 0) return cairn_net_layer(net, i).algorithm;
    return "no such layer";
}

static void the_table_says_what_costs_nothing(void)
{
    small_net s;
    const cairn_net_options options = {.batch = 2, .train = true, .keep_activations = true};
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &s));
    CHECK_TEXT(algorithm(s.net, "relu1"), "fused");
    CHECK_TEXT(algorithm(s.net, "relu2"), "fused");
    CHECK_TEXT(algorithm(s.net, "relu3"), "fused");
    CHECK(strcmp(algorithm(s.net, "relu2b"), "fused") != 0); /* behind batch norm */
    CHECK_TEXT(algorithm(s.net, "flatten"), "view");
    CHECK(cairn_net_activation(s.net, 0).data != NULL);
    CHECK(cairn_net_activation(s.net, 1).data == NULL); /* relu1 */
    CHECK(cairn_net_diff_activation(s.net, 0).data != NULL);
    CHECK(cairn_net_layer(s.net, 0).first_trainable && !cairn_net_layer(s.net, 1).first_trainable);
    CHECK_INT(cairn_net_layer(s.net, 0).activation_bytes, 2 * 8 * 11 * 11 * 4);
    CHECK_INT(cairn_net_layer(s.net, 1).activation_bytes, 0);
    small_net_close(&s);
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &(cairn_net_options){.batch = 2}, &s));
    CHECK_TEXT(algorithm(s.net, "drop3"), "view"); /* evaluation copies nothing */
    CHECK(cairn_net_activation(s.net, 0).data == NULL);
    small_net_close(&s);
}

/* conv1 8 * 11 * 11 * 27, conv2 12 * 5 * 5 * 36, fc3 48 * 24, fc4 24 * 5 multiply-adds; conv1 gives no data gradient. */
static void costs_add_up(void)
{
    const int64_t conv1 = 26136, rest = 10800 + 1152 + 120;
    cairn_net *net = create(3, 13, 13);
    CHECK_OK(small_net_convolutional(net));
    CHECK_INT(cairn_net_macs(net), conv1 + rest);
    CHECK_INT(cairn_net_train_flops(net), 4 * conv1 + 6 * rest);
    cairn_net_destroy(net);
}

int main(void)
{
    RUN(every_layer_infers_its_shape);
    RUN(what_does_not_fit_is_refused_by_layer);
    RUN(names_are_checked);
    RUN(out_of_order_calls_say_what_is_missing);
    RUN(planning_survives_every_limit);
    RUN(a_batch_too_large_is_told_what_fits);
    RUN(parameters_lie_apart_and_aligned);
    RUN(the_table_says_what_costs_nothing);
    RUN(costs_add_up);
    return test_result();
}
