/* The operations without a plan - loss, augmentation, update - and the reorder, of every backend against ref. */
#include "tests/support/direct.h"
#include "core/tensor.h"
#include "tests/support/conformance.h"
#include "tests/support/golden.h"
#include "tests/support/guarded.h"
#include "tests/support/random_operation.h"
#include "tests/support/tested.h"
#include "tests/test.h"

static conformance pair;

static float *filled(uint32_t seed, double lo, double hi, int64_t count)
{
    float *value = golden_alloc(count, sizeof *value);
    golden_fill(seed, lo, hi, value, count);
    return value;
}

/* ---- softmax_loss ---- */

/* Once more samples than a GPU takes blocks for; some samples ignored, some logits equal, some labels' weights 0. */
static void loss_case(uint32_t seed)
{
    chance c = {.seed = seed};
    int64_t batch = seed == 1 ? 1100 : chance_between(&c, 1, 40),
            classes = chance_of(&c, 4) ? 1000 : chance_between(&c, 1, 30);
    int64_t count = batch * classes;
    double reach = chance_of(&c, 4) ? 200 : 5; /* exp(200) overflows f32: the largest must come out first */
    float *logits = filled(seed, -reach, reach, count), *scale = filled(seed + 1, 0.01, 0.1, batch);
    float *class_weights = filled(seed + 2, 0, 2, classes);
    float *want = golden_alloc(count, sizeof *want), *got = golden_alloc(count, sizeof *got);
    float want_totals[4] = {1, 2, 3, 4}, got_totals[4] = {1, 2, 3, 4};
    const float loss_scale = 4096;
    int32_t *labels = golden_alloc(batch, sizeof *labels);
    golden_labels(seed, (int32_t)classes, labels, batch);
    for (int64_t n = 0; n < batch; n++) {
        if (chance_of(&c, 4))
            logits[n * classes + chance_between(&c, 0, classes - 1)] = logits[n * classes + labels[n]];
        if (!chance_of(&c, 5)) continue;
        scale[n] = 0;
        labels[n] = -1;
        logits[n * classes] = NAN;
    }
    cairn_softmax_loss args = {.batch = batch,
                               .classes = classes,
                               .logits = logits,
                               .labels = labels,
                               .scale = scale,
                               .class_weights = chance_of(&c, 2) ? class_weights : NULL,
                               .smoothing = chance_of(&c, 2) ? 0.1f : 0,
                               .loss_scale = chance_of(&c, 2) ? &loss_scale : NULL,
                               .dlogits = chance_of(&c, 5) ? NULL : want,
                               .totals = want_totals};
    CHECK_OK(direct_softmax_loss(pair.ref, &args));
    if (args.dlogits) args.dlogits = got;
    args.totals = got_totals;
    CHECK_OK(direct_softmax_loss(pair.tested, &args));
    double error = relative_l2(got, want, count);
    bool hits = memcmp(want_totals + 1, got_totals + 1, 3 * sizeof(float)) == 0;
    double loss_error = fabs((double)got_totals[0] - (double)want_totals[0]);
    if (!(error <= 5e-6) || !hits || !(loss_error <= 5e-6 * fabs((double)want_totals[0])))
        TEST_FAIL(
            "seed %u, %lld samples of %lld classes: gradient off by %.3g, totals %.9g %g %g %g, want %.9g %g %g %g",
            seed, (long long)batch, (long long)classes, error, (double)got_totals[0], (double)got_totals[1],
            (double)got_totals[2], (double)got_totals[3], (double)want_totals[0], (double)want_totals[1],
            (double)want_totals[2], (double)want_totals[3]);
    free(logits);
    free(scale);
    free(class_weights);
    free(want);
    free(got);
    free(labels);
}

static void softmax_loss(void)
{
    for (uint32_t seed = 1; seed <= 200; seed++)
        loss_case(seed);
}

/* ---- augment ---- */

static void augment_case(uint32_t seed)
{
    chance c = {.seed = seed};
    cairn_augment args = {.batch = chance_between(&c, 1, 5),
                          .src_h = chance_between(&c, 1, 40),
                          .src_w = chance_between(&c, 1, 40),
                          .mean = {0.485f, 0.456f, 0.406f},
                          .std = {0.229f, 0.224f, 0.225f}};
    args.height = chance_between(&c, 1, args.src_h);
    args.width = chance_between(&c, 1, args.src_w);
    int64_t bytes = args.batch * args.src_h * args.src_w * 3, count = args.batch * 3 * args.height * args.width;
    uint8_t *src = golden_alloc(bytes, 1);
    int32_t *crop = golden_alloc(args.batch * 3, sizeof *crop);
    float *want = golden_alloc(count, sizeof *want), *got = golden_alloc(count, sizeof *got);
    for (int64_t i = 0; i < bytes; i++)
        src[i] = (uint8_t)(golden_hash((uint32_t)i ^ seed) & 255);
    for (int64_t n = 0; n < args.batch; n++) {
        crop[3 * n] = (int32_t)chance_between(&c, 0, args.src_h - args.height);
        crop[3 * n + 1] = (int32_t)chance_between(&c, 0, args.src_w - args.width);
        crop[3 * n + 2] = chance_of(&c, 2);
    }
    args.src = src;
    args.crop = crop;
    args.dst = want;
    CHECK_OK(direct_augment(pair.ref, &args));
    args.dst = got;
    CHECK_OK(direct_augment(pair.tested, &args));
    double error = relative_l2(got, want, count);
    if (!(error <= 1e-6))
        TEST_FAIL("seed %u: %lldx%lld out of %lldx%lld is off by %.3g", seed, (long long)args.height,
                  (long long)args.width, (long long)args.src_h, (long long)args.src_w, error);
    free(src);
    free(crop);
    free(want);
    free(got);
}

static void augment(void)
{
    for (uint32_t seed = 1; seed <= 100; seed++)
        augment_case(seed);
}

enum { PICTURES = 3, SRC_H = 20, SRC_W = 16, PICTURE_BYTES = PICTURES * SRC_H * SRC_W * 3 };

/* Runs the augmentation on the tested device into `memory`, which lies in `args->dst_layout`. */
static cairn_status augment_there(cairn_augment args, const guarded *memory)
{
    guarded pictures, crops;
    size_t crop_bytes = PICTURES * 3 * sizeof *args.crop;
    CAIRN_TRY(guarded_create(pair.tested, PICTURE_BYTES, &pictures));
    CAIRN_TRY(guarded_create(pair.tested, crop_bytes, &crops));
    CAIRN_TRY(cairn_device_upload(pair.tested, pictures.data, args.src, PICTURE_BYTES));
    CAIRN_TRY(cairn_device_upload(pair.tested, crops.data, args.crop, crop_bytes));
    args.src = pictures.data;
    args.crop = crops.data;
    args.dst = memory->data;
    cairn_status status = pair.tested->backend->augment(pair.tested, &args);
    if (status == CAIRN_OK) status = guarded_check(memory, "dst");
    guarded_destroy(&pictures);
    guarded_destroy(&crops);
    return status;
}

/* Elements of 2 bytes that still hold the poison. */
static int64_t poisoned(const guarded *memory)
{
    uint8_t *stored = golden_alloc((int64_t)memory->bytes, 1);
    int64_t count = 0;
    CHECK_OK(cairn_device_download(pair.tested, stored, memory->data, memory->bytes));
    for (size_t i = 0; i + 1 < memory->bytes; i += 2)
        count += stored[i] == 0xff && stored[i + 1] == 0xff;
    free(stored);
    return count;
}

/* Into the layout a first convolution asks for, whose padding must be zeros: the convolution reads it. */
static void augment_layout_case(cairn_dtype dtype)
{
    const cairn_conv2d_desc conv = {.src = cairn_shape_make(4, PICTURES, 3, 13, 11),
                                    .out_channels = 8,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .groups = 1,
                                    .train = true,
                                    .dtype = dtype};
    const int32_t crop[] = {0, 0, 1, 7, 5, 0, 3, 2, 1};
    int64_t count = cairn_shape_count(conv.src);
    cairn_plan *plan;
    guarded memory;
    uint8_t *src = golden_alloc(PICTURE_BYTES, 1);
    float *want = golden_alloc(count, sizeof *want), *got = golden_alloc(count, sizeof *got);
    for (uint32_t i = 0; i < PICTURE_BYTES; i++)
        src[i] = (uint8_t)(golden_hash(i) & 255);
    cairn_augment args = {.batch = PICTURES,
                          .src_h = SRC_H,
                          .src_w = SRC_W,
                          .height = 13,
                          .width = 11,
                          .src = src,
                          .crop = crop,
                          .mean = {0.4f, 0.5f, 0.6f},
                          .std = {0.2f, 0.3f, 0.25f},
                          .dst = want};
    CHECK_OK(direct_augment(pair.ref, &args));
    REQUIRE_OK(pair.tested->backend->plan_conv2d(pair.tested, &conv, &plan));
    args.dtype = dtype;
    args.dst_layout = plan->layout.src;
    REQUIRE_OK(guarded_create(pair.tested, cairn_layout_bytes(pair.tested, conv.src, dtype, args.dst_layout), &memory));
    CHECK_OK(augment_there(args, &memory));
    cairn_tensor tensor = cairn_tensor_view(pair.tested, memory.data, conv.src, dtype, args.dst_layout);
    CHECK_OK(cairn_tensor_read(&tensor, got, count));
    double error = relative_l2(got, want, count);
    if (!(error <= (dtype == CAIRN_F32 ? 1e-6 : dtype == CAIRN_F16 ? 0x1p-10 : 0x1p-7)))
        TEST_FAIL("%s in %s: off by %.3g", cairn_dtype_name(dtype), cairn_layout_name(pair.tested, args.dst_layout),
                  error);
    CHECK_INT(poisoned(&memory), 0);
    cairn_plan_destroy(plan);
    guarded_destroy(&memory);
    free(src);
    free(want);
    free(got);
}

static void augment_into_layouts(void)
{
    if (!pair.tested->backend->augments_into_layouts) return;
    for (cairn_dtype dtype = CAIRN_F32; dtype <= CAIRN_BF16; dtype++)
        if (cairn_device_supports(pair.tested, dtype) == CAIRN_OK) augment_layout_case(dtype);
}

/* ---- update ---- */

enum { SLAB = 1000, SEGMENTS = 3 };

/* The slabs that an update changes. */
typedef struct slabs {
    float *weights, *state0, *state1;
} slabs;

static slabs slabs_of(uint32_t seed)
{
    return (slabs){.weights = filled(seed, -1, 1, SLAB),
                   .state0 = filled(seed + 1, -0.1, 0.1, SLAB),
                   .state1 = filled(seed + 2, 0, 0.1, SLAB)};
}

static void free_slabs(slabs *s)
{
    free(s->weights);
    free(s->state0);
    free(s->state1);
}

static cairn_status run_update(cairn_device *device, cairn_update args, slabs *s)
{
    args.weights = s->weights;
    args.state0 = args.kind == CAIRN_UPDATE_SGD && args.momentum == 0 ? NULL : s->state0;
    args.state1 = args.kind == CAIRN_UPDATE_SGD ? NULL : s->state1;
    return direct_update(device, &args, SLAB);
}

/* Segments leave holes, which must stay as they are: their elements are compared too. */
static void update_case(cairn_update args, uint32_t seed)
{
    const cairn_update_segment segments[SEGMENTS] = {{.offset = 0, .count = 333, .weight_decay = 0.01f},
                                                     {.offset = 336, .count = 7},
                                                     {.offset = 400, .count = 600, .weight_decay = 1e-4f}};
    float *gradients = filled(seed + 9, -1, 1, SLAB), *start = filled(seed, -1, 1, SLAB);
    slabs want = slabs_of(seed), got = slabs_of(seed);
    args.gradients = gradients;
    args.segments = segments;
    args.segment_count = SEGMENTS;
    CHECK_OK(run_update(pair.ref, args, &want));
    CHECK_OK(run_update(pair.tested, args, &got));
    double error = fmax(relative_l2(got.weights, want.weights, SLAB),
                        fmax(relative_l2(got.state0, want.state0, SLAB), relative_l2(got.state1, want.state1, SLAB)));
    if (!(error <= 2e-7))
        TEST_FAIL("kind %d momentum %g nesterov %d step %lld: off by %.3g", (int)args.kind, (double)args.momentum,
                  args.nesterov, (long long)args.step, error);
    for (int i = 343; i < 400; i++)
        if (got.weights[i] != start[i]) TEST_FAIL("kind %d: element %d belongs to no segment", (int)args.kind, i);
    free(gradients);
    free(start);
    free_slabs(&want);
    free_slabs(&got);
}

/* With a state: the rate comes from a table, the gradients are divided by the scale, the low-precision copy follows, and gradients that
 * overflowed are skipped where the scale is dynamic. */
static void stateful_case(cairn_update args, uint32_t seed, bool overflow)
{
    static const float rates[] = {0.5f, 0.1f, 0.02f};
    const cairn_update_segment segments[] = {{.offset = 0, .count = 320, .weight_decay = 0.01f, .low = true},
                                             {.offset = 320, .count = 680}};
    float *gradients = filled(seed + 9, -300, 300, SLAB);
    uint16_t *low_want = golden_alloc(SLAB, sizeof *low_want), *low_got = golden_alloc(SLAB, sizeof *low_got);
    slabs want = slabs_of(seed), got = slabs_of(seed);
    cairn_update_state start = {.updates = 6, .loss_scale = 256, .good = 1999, .skipped = 3, .skipped_in_a_row = 2};
    cairn_update_state want_state = start, got_state = start;
    if (overflow) gradients[997] = seed % 2 ? NAN : -INFINITY;
    args.gradients = gradients;
    args.segments = segments;
    args.segment_count = 2;
    args.rates = rates;
    args.first_rate = (int64_t)(seed % 8); /* the table ends before, at or after update 6 */
    args.rate_count = 3;
    args.state = &want_state;
    args.weights_low = low_want;
    CHECK_OK(run_update(pair.ref, args, &want));
    args.state = &got_state;
    args.weights_low = low_got;
    CHECK_OK(run_update(pair.tested, args, &got));
    CHECK_INT(memcmp(&want_state, &got_state, sizeof start), 0);
    bool made = !overflow || !args.dynamic_scale;
    CHECK_INT(want_state.updates, made ? 7 : 6);
    CHECK_INT(want_state.nonfinite, overflow);
    CHECK_NEAR(want_state.loss_scale, !args.dynamic_scale ? 256 : made ? 512 : 128, 0);
    int64_t compared = overflow && made ? 997 : SLAB; /* element 997 is not finite then */
    double error =
        fmax(relative_l2(got.weights, want.weights, compared), relative_l2(got.state0, want.state0, compared));
    int64_t differ = 0;
    for (int i = 0; i < 320; i++)
        differ += abs((int)low_got[i] - (int)low_want[i]) > 1; /* weights a unit apart may round to neighbours */
    for (int i = 320; i < SLAB; i++)
        differ += low_got[i] != 0;
    if (!(error <= 2e-7) || differ)
        TEST_FAIL("kind %d dynamic %d overflow %d first rate %lld: off by %.3g, %lld of the copy differ",
                  (int)args.kind, args.dynamic_scale, overflow, (long long)args.first_rate, error, (long long)differ);
    free(gradients);
    free(low_want);
    free(low_got);
    free_slabs(&want);
    free_slabs(&got);
}

static void update_with_state(void)
{
    for (uint32_t seed = 0; seed < 32; seed++) {
        cairn_update args = {.dynamic_scale = seed & 16, .low_dtype = seed & 8 ? CAIRN_BF16 : CAIRN_F16};
        args.kind = (cairn_update_kind)(seed % 3);
        args.momentum = 0.9f;
        args.beta1 = 0.9f;
        args.beta2 = 0.999f;
        args.eps = 1e-8f;
        stateful_case(args, seed, false);
        stateful_case(args, seed, true);
    }
}

static void update(void)
{
    static const int64_t steps[] = {0, 1, 7, 100000};
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t nesterov = 0; nesterov < 2; nesterov++)
            update_case(
                (cairn_update){
                    .kind = CAIRN_UPDATE_SGD, .lr = 0.1f, .momentum = 0.9f, .nesterov = nesterov, .step = steps[i]},
                i);
        update_case((cairn_update){.kind = CAIRN_UPDATE_SGD, .lr = 0.1f, .step = steps[i]}, i);
        for (int kind = CAIRN_UPDATE_ADAM; kind <= CAIRN_UPDATE_ADAMW; kind++)
            update_case((cairn_update){.kind = (cairn_update_kind)kind,
                                       .lr = 0.01f,
                                       .beta1 = 0.9f,
                                       .beta2 = 0.999f,
                                       .eps = 1e-8f,
                                       .step = steps[i]},
                        i);
    }
}

/* As many segments as a deep net has, and one longer than a GPU's block takes; with overflow the last is where it is. */
static void update_of_many_segments(void)
{
    enum { MANY = 230, EACH = 16, LONG = 20011, ALL = MANY * EACH + LONG };
    cairn_update_segment *segments = golden_alloc(MANY + 1, sizeof *segments);
    float *gradients = filled(5, -1, 1, ALL), *want = filled(6, -1, 1, ALL), *got = filled(6, -1, 1, ALL);
    for (int i = 0; i < MANY; i++)
        segments[i] =
            (cairn_update_segment){.offset = i * EACH, .count = 1 + i % EACH, .weight_decay = 0.001f * (float)i};
    segments[MANY] = (cairn_update_segment){.offset = MANY * EACH, .count = LONG, .weight_decay = 0.5f};
    for (int overflow = 0; overflow < 2; overflow++) {
        cairn_update_state want_state = {.loss_scale = 4}, got_state = want_state;
        cairn_update args = {
            .lr = 0.1f, .gradients = gradients, .dynamic_scale = true, .segments = segments, .segment_count = MANY + 1};
        if (overflow) gradients[ALL - 1] = INFINITY;
        args.weights = want;
        args.state = &want_state;
        CHECK_OK(direct_update(pair.ref, &args, ALL));
        args.weights = got;
        args.state = &got_state;
        CHECK_OK(direct_update(pair.tested, &args, ALL));
        CHECK_INT(memcmp(&want_state, &got_state, sizeof got_state), 0);
        CHECK_INT(got_state.skipped, overflow);
        double error = relative_l2(got, want, ALL);
        if (!(error <= 2e-7)) TEST_FAIL("overflow %d: off by %.3g", overflow, error);
    }
    free(segments);
    free(gradients);
    free(want);
    free(got);
}

/* ---- reorder ---- */

/* There and back again through the layout a convolution likes for its weights, source and output, bit for bit. */
static void reorder_round_trip(uint32_t seed)
{
    operation op;
    cairn_plan *plan;
    random_operation(OPERATION_CONV2D, seed, &op);
    REQUIRE_OK(pair.tested->backend->plan_conv2d(pair.tested, &op.desc.conv2d, &plan));
    const cairn_layout *layout[] = {plan->layout.src, plan->layout.weights, plan->layout.dst};
    static const operand id[] = {OPERAND_SRC, OPERAND_WEIGHTS, OPERAND_DST};
    for (int i = 0; i < 3; i++) {
        cairn_shape shape = op.shape[id[i]];
        int64_t count = cairn_shape_count(shape);
        float *back = golden_alloc(count, sizeof *back);
        guarded memory;
        CHECK_OK(guarded_create(pair.tested, cairn_layout_bytes(pair.tested, shape, CAIRN_F32, layout[i]), &memory));
        cairn_tensor tensor = cairn_tensor_view(pair.tested, memory.data, shape, CAIRN_F32, layout[i]);
        CHECK_OK(cairn_tensor_write(&tensor, op.value[id[i]], count));
        CHECK_OK(cairn_tensor_read(&tensor, back, count));
        CHECK_OK(guarded_check(&memory, operand_name(id[i])));
        if (memcmp(back, op.value[id[i]], (size_t)count * sizeof *back) != 0)
            TEST_FAIL("seed %u: %s changes on its way through layout %s", seed, operand_name(id[i]),
                      cairn_layout_name(pair.tested, layout[i]));
        guarded_destroy(&memory);
        free(back);
    }
    cairn_plan_destroy(plan);
    operation_free(&op);
}

static void reorder(void)
{
    for (uint32_t seed = 1; seed <= 60; seed++)
        reorder_round_trip(seed);
}

int main(int argc, char **argv)
{
    const tested backends = tested_against_ref(argc, argv);
    for (int i = 0; i < backends.count; i++) {
        if (conformance_open(backends.name[i], NULL, &pair) != CAIRN_OK) {
            TEST_FAIL("%s", cairn_error_last()->message);
            continue;
        }
        printf("%s:\n", cairn_device_name(pair.tested));
        RUN(softmax_loss);
        RUN(augment);
        RUN(augment_into_layouts);
        RUN(update);
        RUN(update_with_state);
        RUN(update_of_many_segments);
        RUN(reorder);
        conformance_close(&pair);
        if (strcmp(backends.name[i], "cuda") != 0) continue;
        CHECK_OK(conformance_open("cuda", &(cairn_device_options){.library_kernels = true}, &pair));
        printf("the same, by the library's kernels:\n");
        RUN(softmax_loss);
        conformance_close(&pair);
    }
    return test_result();
}
