/* What a planned net computes must not depend on how it was planned: folded ReLUs, shared memory, micro-batches, backends. */
#include "backends/backends.h"
#include "optim/optimizer.h"
#include "tests/support/golden.h"
#include "tests/support/small_net.h"
#include "tests/test.h"

enum { BATCH = 6 };

static const char *backend; /* under test */

static double tolerance(void)
{
    return strcmp(backend, "ref") == 0 ? 1e-6 : 1e-5;
}

static const cairn_net_options training = {.batch = BATCH, .train = true, .seed = 3};

/* Logits and gradients of one training step, after another one over other images that leaves its traces in memory. */
typedef struct outcome {
    float *logits, *gradients;
    int64_t logit_count, gradient_count;
} outcome;

static outcome run(const cairn_net_options *options)
{
    small_net s;
    outcome o = {0};
    CHECK_OK(small_net_open(backend, small_net_convolutional, options, &s));
    small_net_feed(&s, 50, BATCH);
    CHECK_OK(small_net_step(&s, &(cairn_forward){.train = true, .step = 8}, false));
    small_net_feed(&s, 0, BATCH);
    CHECK_OK(small_net_step(&s, &(cairn_forward){.train = true, .step = 9}, false));
    o.logits = small_net_logits(&s, &o.logit_count);
    o.gradients = small_net_gradients(&s, &o.gradient_count);
    small_net_close(&s);
    return o;
}

static void release(outcome *o)
{
    free(o->logits);
    free(o->gradients);
}

static void check_same(const cairn_net_options *a_options, const cairn_net_options *b_options, double most)
{
    outcome a = run(a_options), b = run(b_options);
    REQUIRE(a.logit_count == b.logit_count && a.gradient_count == b.gradient_count);
    CHECK(relative_l2(a.logits, b.logits, a.logit_count) <= most);
    CHECK(relative_l2(a.gradients, b.gradients, a.gradient_count) <= most);
    release(&a);
    release(&b);
}

static void folding_relus_changes_nothing(void)
{
    cairn_net_options apart = training;
    apart.no_fusion = true;
    check_same(&apart, &training, tolerance());
}

/* Bit for bit: a value whose memory was taken too early would show. */
static void sharing_memory_changes_nothing(void)
{
    cairn_net_options kept = training;
    kept.keep_activations = true;
    check_same(&kept, &training, 0);
}

static void the_input_gradient_costs_the_others_nothing(void)
{
    cairn_net_options more = training;
    more.input_gradient = true;
    check_same(&more, &training, tolerance());
}

/* Dropout draws by a sample's place in the update, so it may stay on. */
static void micro_batches_add_up_to_one_batch(void)
{
    enum { PARTS = 3 };
    cairn_net_options small_batch = training;
    small_batch.batch = BATCH / PARTS;
    small_net whole, part;
    REQUIRE_OK(small_net_open(backend, small_net_without_norm, &training, &whole));
    REQUIRE_OK(small_net_open(backend, small_net_without_norm, &small_batch, &part));
    small_net_feed(&whole, 0, BATCH);
    CHECK_OK(small_net_step(&whole, &(cairn_forward){.train = true, .step = 4}, false));
    for (int64_t i = 0; i < PARTS; i++) {
        int64_t first = i * BATCH / PARTS;
        small_net_feed(&part, first, BATCH);
        CHECK_OK(small_net_step(&part, &(cairn_forward){.train = true, .step = 4, .first_sample = first}, i > 0));
    }
    int64_t count, same;
    float *a = small_net_gradients(&whole, &count), *b = small_net_gradients(&part, &same);
    REQUIRE(count == same);
    CHECK(relative_l2(b, a, count) <= tolerance());
    float totals[2][4];
    CHECK_OK(cairn_device_download(whole.device, totals[0], whole.totals.data, sizeof totals[0]));
    CHECK_OK(cairn_device_download(part.device, totals[1], part.totals.data, sizeof totals[1]));
    CHECK_NEAR(totals[1][0], totals[0][0], 1e-5);
    CHECK_NEAR(totals[1][3], BATCH, 0);
    free(a);
    free(b);
    small_net_close(&whole);
    small_net_close(&part);
}

static void a_step_allocates_nothing(void)
{
    small_net s;
    cairn_optimizer *optimizer;
    const cairn_optimizer_options adam = cairn_optimizer_defaults(CAIRN_UPDATE_ADAM);
    REQUIRE_OK(small_net_open(backend, small_net_convolutional, &training, &s));
    REQUIRE_OK(cairn_optimizer_create(s.device, &adam, cairn_net_slab_count(s.net), &optimizer));
    REQUIRE_OK(cairn_optimizer_add(optimizer, 0, cairn_net_slab_count(s.net), true));
    small_net_feed(&s, 0, BATCH);
    cairn_slab weights = cairn_net_weights(s.net), gradients = cairn_net_gradients(s.net);
    cairn_memory_stats before = cairn_device_memory(s.device);
    for (uint32_t step = 0; step < 2; step++) {
        CHECK_OK(small_net_step(&s, &(cairn_forward){.train = true, .step = step}, step > 0));
        CHECK_OK(cairn_optimizer_step(optimizer, &weights, &gradients, 1e-3f));
    }
    CHECK_INT(cairn_device_memory(s.device).allocations, before.allocations);
    CHECK_INT(cairn_device_memory(s.device).held, before.held);
    cairn_optimizer_destroy(optimizer);
    small_net_close(&s);
}

static void an_evaluating_net_agrees_and_keeps_its_input(void)
{
    small_net trained, plain;
    REQUIRE_OK(small_net_open(backend, small_net_convolutional, &training, &trained));
    REQUIRE_OK(small_net_open(backend, small_net_convolutional, &(cairn_net_options){.batch = BATCH}, &plain));
    small_net_feed(&trained, 0, BATCH);
    small_net_feed(&plain, 0, BATCH);
    CHECK_OK(small_net_step(&trained, &(cairn_forward){0}, false));
    CHECK_OK(small_net_step(&plain, &(cairn_forward){0}, false));
    CHECK_OK(small_net_step(&plain, &(cairn_forward){0}, false)); /* over the same input */
    int64_t count;
    float *a = small_net_logits(&trained, &count), *b = small_net_logits(&plain, &count);
    CHECK(relative_l2(b, a, count) <= tolerance());
    CHECK(cairn_net_memory_use(plain.net).arena < cairn_net_memory_use(trained.net).arena);
    CHECK_INT(cairn_net_memory_use(plain.net).gradients, 0);
    free(a);
    free(b);
    small_net_close(&trained);
    small_net_close(&plain);
}

/* masks[0]: what a forward lets through; masks[1]: its backward. */
static void draw_masks(const char *name, float *masks[2], int64_t *count)
{
    small_net s;
    cairn_net_options options = training;
    options.input_gradient = true;
    CHECK_OK(small_net_open(name, small_net_dropout, &options, &s));
    small_net_feed(&s, 0, BATCH);
    CHECK_OK(cairn_net_forward(s.net, &(cairn_forward){.train = true, .step = 7, .first_sample = 5}));
    masks[0] = small_net_logits(&s, count);
    cairn_tensor gradient = cairn_net_diff_output(s.net);
    float *ones = golden_alloc(*count, sizeof *ones);
    for (int64_t i = 0; i < *count; i++)
        ones[i] = 1.0f;
    CHECK_OK(cairn_tensor_write(&gradient, ones, *count));
    CHECK_OK(cairn_net_backward(s.net, false));
    cairn_tensor input = cairn_net_diff_input(s.net);
    masks[1] = small_net_read(&input, count);
    free(ones);
    small_net_close(&s);
}

static void dropout_draws_the_same_masks_as_ref(void)
{
    float *got[2], *want[2];
    int64_t count, same;
    draw_masks(backend, got, &count);
    draw_masks("ref", want, &same);
    REQUIRE(count == same);
    int64_t dropped = 0, different = 0;
    for (int64_t i = 0; i < count; i++) {
        bool off = want[0][i] == 0.0f;
        dropped += off;
        different += (got[0][i] == 0.0f) != off || (got[1][i] == 0.0f) != off;
    }
    CHECK_INT(different, 0);
    CHECK_NEAR((double)dropped / (double)count, 0.4, 0.03);
    CHECK(relative_l2(got[0], want[0], count) <= 1e-6);
    for (int i = 0; i < 2; i++) {
        free(got[i]);
        free(want[i]);
    }
}

static void write_nan(const small_net *s, cairn_tensor tensor)
{
    int64_t count;
    float *host = small_net_read(&tensor, &count);
    host[count / 2] = NAN;
    CHECK_OK(cairn_tensor_write(&tensor, host, count));
    CHECK_OK(cairn_device_synchronize(s->device));
    free(host);
}

static void the_first_layer_that_is_not_finite_is_named(void)
{
    const cairn_forward checked = {.train = true, .check_finite = true};
    small_net s;
    REQUIRE_OK(small_net_open(backend, small_net_convolutional, &training, &s));
    small_net_feed(&s, 0, BATCH);
    CHECK_OK(cairn_net_forward(s.net, &checked));
    cairn_slab weights = cairn_net_weights(s.net);
    write_nan(&s, cairn_net_view(s.net, &weights, cairn_net_find_parameter(s.net, "conv2.bias")));
    CHECK_FAILS(cairn_net_forward(s.net, &checked), CAIRN_NONFINITE, "conv2 (conv2d): the output is not finite");
    write_nan(&s, cairn_net_input(s.net));
    CHECK_FAILS(cairn_net_forward(s.net, &checked), CAIRN_NONFINITE, "small: the input is not finite");
    CHECK_OK(cairn_net_forward(s.net, &(cairn_forward){.train = true})); /* looks at nothing unless asked */
    small_net_close(&s);
}

static void batch_norm_keeps_running_statistics(void)
{
    small_net s;
    REQUIRE_OK(small_net_open(backend, small_net_convolutional, &training, &s));
    CHECK_INT(cairn_net_buffer_count(s.net), 2);
    CHECK_TEXT(cairn_net_buffer_name(s.net, 0), "bn2.running_mean");
    CHECK_TEXT(cairn_net_buffer_name(s.net, 1), "bn2.running_var");
    small_net_feed(&s, 0, BATCH);
    int64_t count;
    for (int train = 0; train <= 1; train++) {
        CHECK_OK(cairn_net_forward(s.net, &(cairn_forward){.train = train}));
        cairn_tensor buffers[] = {cairn_net_buffer(s.net, 0), cairn_net_buffer(s.net, 1)};
        float *mean = small_net_read(&buffers[0], &count), *variance = small_net_read(&buffers[1], &count);
        CHECK_INT(count, 12);
        CHECK((mean[0] == 0.0f) == !train);
        CHECK((variance[0] == 1.0f) == !train);
        free(mean);
        free(variance);
    }
    small_net_close(&s);
}

int main(void)
{
    static const char *const backends[] = {"ref", "cpu"};
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        backend = backends[i];
        printf("%s\n", backend);
        RUN(folding_relus_changes_nothing);
        RUN(sharing_memory_changes_nothing);
        RUN(the_input_gradient_costs_the_others_nothing);
        RUN(micro_batches_add_up_to_one_batch);
        RUN(a_step_allocates_nothing);
        RUN(an_evaluating_net_agrees_and_keeps_its_input);
        RUN(dropout_draws_the_same_masks_as_ref);
        RUN(the_first_layer_that_is_not_finite_is_named);
        RUN(batch_norm_keeps_running_statistics);
    }
    return test_result();
}
