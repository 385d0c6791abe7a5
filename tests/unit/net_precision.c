/* Nets in f16 and bf16: near to the net in f32, the weights' copies kept up, the loss scale, and what a device may do about layouts. */
#include "backends/backends.h"
#include "tests/support/golden.h"
#include "tests/support/picky.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

enum { BATCH = 3 };

static const struct {
    cairn_dtype dtype;
    double
        near; /* relative, of logits and gradients: roundings in a dozen layers, and the odd unit that they push over a kink */
} low[] = {{CAIRN_F16, 4e-3}, {CAIRN_BF16, 0.12}};
enum { LOW = sizeof low / sizeof *low };

static cairn_net_options training(cairn_dtype dtype)
{
    return (cairn_net_options){.batch = BATCH, .train = true, .seed = 3, .dtype = dtype};
}

static void step(const small_net *s)
{
    small_net_feed(s, 0, BATCH);
    CHECK_OK(small_net_step(s, &(cairn_forward){.train = true, .step = 1}, false));
    CHECK_OK(small_net_step(s, &(cairn_forward){.train = true, .step = 2}, true));
}

static void check_near(const small_net *got, const small_net *want, double most)
{
    int64_t count, same;
    float *a = small_net_logits(got, &count), *b = small_net_logits(want, &same);
    CHECK(count == same && relative_l2(a, b, count) <= most);
    free(a);
    free(b);
    a = small_net_gradients(got, &count);
    b = small_net_gradients(want, &same);
    CHECK(count == same && relative_l2(a, b, count) <= most);
    free(a);
    free(b);
}

static void low_precision_is_near_to_f32(void)
{
    for (int i = 0; i < LOW; i++) {
        small_net full, reduced;
        const cairn_net_options f32 = training(CAIRN_F32), other = training(low[i].dtype);
        REQUIRE_OK(small_net_open("ref", small_net_convolutional, &f32, &full));
        REQUIRE_OK(small_net_open("ref", small_net_convolutional, &other, &reduced));
        step(&full);
        step(&reduced);
        check_near(&reduced, &full, low[i].near);
        CHECK(cairn_net_output(reduced.net).dtype == CAIRN_F32);
        CHECK(cairn_net_input(reduced.net).dtype == low[i].dtype);
        CHECK(cairn_net_weights_low(full.net).data == NULL);
        small_net_close(&full);
        small_net_close(&reduced);
    }
}

/* Layouts, flattening, pictures augmented into a layout, LRN and pool in one: none may change a bit. */
static void layouts_do_not_change_a_bit(void)
{
    for (int i = 0; i < LOW; i++)
        for (int obliging = 0; obliging <= 1; obliging++) {
            picky device;
            small_net ref, turned;
            const cairn_net_options options = training(low[i].dtype);
            REQUIRE_OK(picky_open(obliging, &device));
            REQUIRE_OK(small_net_open_on(device.device, small_net_convolutional, &options, &turned));
            REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &ref));
            step(&ref);
            step(&turned);
            check_near(&turned, &ref, 0);
            small_net_close(&ref);
            small_net_close(&turned);
        }
}

/* Every parameter's copy, read back, is its f32 weights rounded. Batch norm has none. */
static void check_copies(const cairn_net *net, cairn_dtype dtype)
{
    cairn_slab weights = cairn_net_weights(net), copies = cairn_net_weights_low(net);
    for (int p = 0; p < cairn_net_parameter_count(net); p++) {
        const cairn_parameter *parameter = cairn_net_parameter(net, p);
        if (!parameter->updates_low) continue;
        cairn_tensor view = cairn_net_view(net, &weights, p);
        int64_t count;
        float *values = small_net_read(&view, &count);
        const uint16_t *copy = (const uint16_t *)copies.data + parameter->offset;
        for (int64_t i = 0; i < count; i++)
            CHECK_INT(copy[i], dtype == CAIRN_F16 ? cairn_f32_to_f16(values[i]) : cairn_f32_to_bf16(values[i]));
        free(values);
    }
}

static void an_update_keeps_the_copies_up(void)
{
    for (int i = 0; i < LOW; i++) {
        small_net s;
        const cairn_net_options options = training(low[i].dtype);
        REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &s));
        check_copies(s.net, low[i].dtype);
        CHECK(cairn_net_parameter(s.net, cairn_net_find_parameter(s.net, "conv1.weight"))->updates_low);
        CHECK(cairn_net_parameter(s.net, cairn_net_find_parameter(s.net, "conv1.bias"))->updates_low);
        CHECK(!cairn_net_parameter(s.net, cairn_net_find_parameter(s.net, "bn2.weight"))->updates_low);
        float *weights = cairn_net_weights(s.net).data; /* ref's memory is the host's */
        for (int64_t k = 0; k < cairn_net_slab_count(s.net); k++)
            weights[k] *= 1.0371f;
        REQUIRE_OK(cairn_net_refresh(s.net, true)); /* leaves to the update what the update writes */
        CHECK_INT(*(uint16_t *)cairn_net_weights_low(s.net).data == cairn_f32_to_f16(weights[0]), 0);
        REQUIRE_OK(cairn_net_refresh(s.net, false));
        check_copies(s.net, low[i].dtype);
        small_net_close(&s);
    }
}

/* Where the copy lies otherwise than the f32 weights, the net reorders it after an update: the next step sees the new weights. */
static void copies_of_another_layout_are_reordered(void)
{
    picky device;
    small_net ref, turned;
    const cairn_net_options options = training(CAIRN_BF16);
    REQUIRE_OK(picky_open(false, &device));
    REQUIRE_OK(small_net_open_on(device.device, small_net_convolutional, &options, &turned));
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &ref));
    int conv = cairn_net_find_parameter(ref.net, "conv1.weight");
    CHECK(!cairn_net_parameter(turned.net, conv)->updates_low);
    small_net *const both[] = {&ref, &turned};
    for (int i = 0; i < 2; i++) {
        cairn_slab slab = cairn_net_weights(both[i]->net);
        cairn_tensor view = cairn_net_view(both[i]->net, &slab, conv);
        int64_t count = cairn_shape_count(view.shape);
        float *values = golden_alloc(count, sizeof *values);
        golden_fill(77, -0.3, 0.3, values, count);
        CHECK_OK(cairn_tensor_write(&view, values, count));
        free(values);
        CHECK_OK(cairn_net_refresh(both[i]->net, both[i] == &turned));
        step(both[i]);
    }
    check_near(&turned, &ref, 0);
    small_net_close(&ref);
    small_net_close(&turned);
}

/* Gradients times the scale, the loss as it is: a power of two loses nothing in bf16, whose exponents are f32's. */
static void the_loss_scale_multiplies_the_gradients_alone(void)
{
    small_net s;
    const cairn_net_options options = training(CAIRN_BF16);
    const float scale = 1024;
    float *gradients[2], totals[2][4];
    int64_t count;
    REQUIRE_OK(small_net_open("ref", small_net_convolutional, &options, &s));
    cairn_loss loss = {.labels = s.labels.data, .scale = s.scale.data, .train = true, .totals = s.totals.data};
    small_net_feed(&s, 0, BATCH);
    for (int i = 0; i < 2; i++) {
        loss.loss_scale = i ? &scale : NULL; /* ref's memory is the host's */
        CHECK_OK(cairn_device_zero(s.device, s.totals.data, s.totals.bytes));
        CHECK_OK(cairn_net_forward(s.net, &(cairn_forward){.train = true}));
        CHECK_OK(cairn_net_loss(s.net, &loss));
        CHECK_OK(cairn_net_backward(s.net, false));
        CHECK_OK(cairn_device_download(s.device, totals[i], s.totals.data, sizeof totals[i]));
        gradients[i] = small_net_gradients(&s, &count);
    }
    CHECK_NEAR(totals[1][0], totals[0][0], 0);
    for (int64_t i = 0; i < count; i++)
        gradients[1][i] /= scale;
    CHECK(relative_l2(gradients[1], gradients[0], count) == 0);
    free(gradients[0]);
    free(gradients[1]);
    small_net_close(&s);
}

/* ---- what an obliging device spares ---- */

static cairn_status pooled_and_flattened(cairn_net *net)
{
    const cairn_pool2d_options pool = {.kernel = 3, .stride = 2};
    const cairn_lrn_options norm = {.size = 5, .alpha = 0.5f, .beta = 0.75f, .k = 2.0f};
    CAIRN_TRY(cairn_net_add(net, "conv", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 8, .kernel = 3})));
    CAIRN_TRY(cairn_net_add(net, "relu", cairn_relu()));
    CAIRN_TRY(cairn_net_add(net, "norm", cairn_lrn(&norm)));
    CAIRN_TRY(cairn_net_add(net, "pool", cairn_maxpool2d(&pool)));
    CAIRN_TRY(cairn_net_add(net, "conv2", cairn_conv2d(&(cairn_conv2d_options){.out_channels = 6, .kernel = 3})));
    CAIRN_TRY(cairn_net_add(net, "flatten", cairn_flatten()));
    CAIRN_TRY(cairn_net_add(net, "drop", cairn_dropout(0.25f)));
    return cairn_net_add(net, "fc", cairn_linear(&(cairn_linear_options){.out_features = SMALL_CLASSES}));
}

/* conv's output is plain for LRN and pool in one; conv2's is not, and stays so through flatten and dropout into fc and back. */
static void an_obliging_device_needs_fewer_reorders(void)
{
    static const int reorders[] = {
        7, 4}; /* with and without: the input; before LRN, conv2 and flatten; and the same way back */
    small_net s[2];
    const cairn_net_options options = training(CAIRN_F32);
    picky device[2];
    for (int obliging = 0; obliging <= 1; obliging++) {
        int init = 2; /* the weights of the convolutions, written by cairn_net_init */
        REQUIRE_OK(picky_open(obliging, &device[obliging]));
        REQUIRE_OK(small_net_open_on(device[obliging].device, pooled_and_flattened, &options, &s[obliging]));
        CHECK_INT(device[obliging].reorders - init, reorders[obliging]);
        step(&s[obliging]);
    }
    check_near(&s[1], &s[0], 0);
    CHECK(cairn_net_input(s[0].net).layout == NULL);
    CHECK(cairn_net_input(s[1].net).layout != NULL);
    CHECK_TEXT(cairn_net_layer(s[1].net, 2).algorithm, "fused");
    CHECK_TEXT(cairn_net_layer(s[1].net, 3).algorithm, "one by one");
    CHECK_TEXT(cairn_net_layer(s[1].net, 5).algorithm, "view");
    small_net_close(&s[0]);
    small_net_close(&s[1]);
}

static void pictures_arrive_in_the_layout_of_the_first_layer(void)
{
    enum { SIDE = 13 };
    static uint8_t rgb[BATCH * SIDE * SIDE * 3];
    static int32_t crop[3 * BATCH];
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)golden_hash((uint32_t)i);
    float *logits[2];
    int64_t count;
    for (int obliging = 0; obliging <= 1; obliging++) {
        picky device;
        small_net s;
        const cairn_net_options options = training(CAIRN_F16);
        REQUIRE_OK(picky_open(obliging, &device));
        REQUIRE_OK(small_net_open_on(device.device, pooled_and_flattened, &options, &s));
        const cairn_tensor input = cairn_net_input(s.net);
        const cairn_augment augment = {.batch = BATCH,
                                       .src_h = SIDE,
                                       .src_w = SIDE,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .src = rgb,
                                       .crop = crop,
                                       .mean = {0.5f, 0.5f, 0.5f},
                                       .std = {0.25f, 0.25f, 0.25f},
                                       .dtype = input.dtype,
                                       .dst_layout = input.layout,
                                       .dst = input.data};
        CHECK_OK(device.backend.augment(s.device, &augment));
        CHECK_OK(cairn_net_forward(s.net, &(cairn_forward){.train = false}));
        logits[obliging] = small_net_logits(&s, &count);
        small_net_close(&s);
    }
    CHECK(relative_l2(logits[1], logits[0], count) == 0);
    free(logits[0]);
    free(logits[1]);
}

static void what_a_device_does_not_compute_in_is_refused(void)
{
    small_net s;
    cairn_net_options options = training(CAIRN_F16);
    CHECK_FAILS(small_net_open("cpu", small_net_convolutional, &options, &s), CAIRN_DEVICE, "f16");
    small_net_close(&s);
    options.dtype = CAIRN_U8;
    CHECK_FAILS(small_net_open("ref", small_net_convolutional, &options, &s), CAIRN_USAGE, "u8; f32, f16 and bf16");
    small_net_close(&s);
}

int main(void)
{
    RUN(low_precision_is_near_to_f32);
    RUN(layouts_do_not_change_a_bit);
    RUN(an_update_keeps_the_copies_up);
    RUN(copies_of_another_layout_are_reordered);
    RUN(the_loss_scale_multiplies_the_gradients_alone);
    RUN(an_obliging_device_needs_fewer_reorders);
    RUN(pictures_arrive_in_the_layout_of_the_first_layer);
    RUN(what_a_device_does_not_compute_in_is_refused);
    return test_result();
}
