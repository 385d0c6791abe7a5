/* The optimizer over slabs: which runs it hands to the backend, its state, its count of updates, and what it refuses. The formulas are
 * held by the golden tests. */
#include "optim/optimizer.h"
#include "backends/backends.h"
#include "tests/test.h"

enum { COUNT = 64 };

static cairn_device *open_ref(void)
{
    const cairn_backend *const backends[] = {&cairn_backend_ref, NULL};
    cairn_device *device = NULL;
    CHECK_OK(cairn_device_select(backends, "ref", &(cairn_device_options){0}, &device));
    return device;
}

static void fill(cairn_slab *slab, float value)
{
    for (size_t i = 0; i < slab->bytes / sizeof(float); i++)
        ((float *)slab->data)[i] = value; /* ref's memory is the host's */
}

/* Weights of 1, gradients of 1, one step of plain SGD at 0.5: 1 - 0.5 (1 + decay). */
static void step_once(const cairn_optimizer_options *options, float want_weight, float want_bias)
{
    cairn_device *device = open_ref();
    cairn_optimizer *optimizer = NULL;
    cairn_slab weights = {0}, gradients = {0};
    CHECK_OK(cairn_slab_create(device, COUNT * sizeof(float), "test", &weights));
    CHECK_OK(cairn_slab_create(device, COUNT * sizeof(float), "test", &gradients));
    CHECK_OK(cairn_optimizer_create(device, options, COUNT, &optimizer));
    CHECK_OK(cairn_optimizer_add(optimizer, 0, 20, true));
    CHECK_OK(cairn_optimizer_add(optimizer, 32, 5, false));
    fill(&weights, 1.0f);
    fill(&gradients, 1.0f);
    CHECK_OK(cairn_optimizer_step(optimizer, &weights, &gradients, 0.5f));
    const float *w = weights.data;
    CHECK_NEAR(w[0], want_weight, 1e-6);
    CHECK_NEAR(w[19], want_weight, 1e-6);
    CHECK_NEAR(w[32], want_bias, 1e-6);
    CHECK_NEAR(w[36], want_bias, 1e-6);
    CHECK_NEAR(w[37], 1.0, 0); /* nobody's */
    CHECK_NEAR(w[63], 1.0, 0);
    CHECK_INT(cairn_optimizer_updates(optimizer), 1);
    cairn_optimizer_destroy(optimizer);
    cairn_slab_destroy(&weights);
    cairn_slab_destroy(&gradients);
    cairn_device_close(device);
}

static void decay_spares_biases_unless_asked(void)
{
    cairn_optimizer_options options = {.kind = CAIRN_UPDATE_SGD, .weight_decay = 0.2f};
    step_once(&options, 0.4f, 0.5f);
    options.decay_biases = true;
    step_once(&options, 0.4f, 0.4f);
}

/* What the optimizer hands to its backend. */
static struct {
    int segments;
    cairn_update_segment segment[4];
    int64_t step;
} seen;

static cairn_status watch_update(cairn_device *device, const cairn_update *args)
{
    (void)device;
    seen.segments = args->segment_count;
    for (int i = 0; i < args->segment_count && i < 4; i++)
        seen.segment[i] = args->segments[i];
    seen.step = args->step;
    return CAIRN_OK;
}

static void neighbours_alike_are_one_run(void)
{
    cairn_device *device = open_ref();
    cairn_backend watched = *device->backend;
    const cairn_backend *own = device->backend;
    watched.update = watch_update;
    cairn_optimizer *optimizer = NULL;
    cairn_slab slab = {0};
    cairn_optimizer_options options = cairn_optimizer_defaults(CAIRN_UPDATE_ADAM);
    options.weight_decay = 0.1f;
    CHECK_OK(cairn_slab_create(device, 128 * sizeof(float), "test", &slab));
    CHECK_OK(cairn_optimizer_create(device, &options, 128, &optimizer));
    CHECK_OK(cairn_optimizer_add(optimizer, 0, 10, true));
    CHECK_OK(cairn_optimizer_add(optimizer, 16, 16, true));  /* after the padding of the first */
    CHECK_OK(cairn_optimizer_add(optimizer, 32, 3, false));  /* another decay */
    CHECK_OK(cairn_optimizer_add(optimizer, 64, 64, false)); /* a gap that is nobody's */
    CHECK_OK(cairn_optimizer_restore(optimizer, &(cairn_update_state){.updates = 41}));
    device->backend = &watched;
    CHECK_OK(cairn_optimizer_step(optimizer, &slab, &slab, 0.1f));
    device->backend = own;
    CHECK_INT(seen.segments, 3);
    CHECK_INT(seen.segment[0].offset, 0);
    CHECK_INT(seen.segment[0].count, 32);
    CHECK_NEAR(seen.segment[0].weight_decay, 0.1, 1e-7);
    CHECK_INT(seen.segment[1].offset, 32);
    CHECK_INT(seen.segment[1].count, 3);
    CHECK_NEAR(seen.segment[1].weight_decay, 0, 0);
    CHECK_INT(seen.segment[2].count, 64);
    CHECK_INT(seen.step, 41);
    CHECK_INT(cairn_optimizer_updates(optimizer), 42);
    cairn_optimizer_destroy(optimizer);
    cairn_slab_destroy(&slab);
    cairn_device_close(device);
}

static void state_is_what_the_kind_needs(void)
{
    static const struct {
        cairn_update_kind kind;
        float momentum;
        int states;
        const char *name;
    } want[] = {{CAIRN_UPDATE_SGD, 0.0f, 0, ""},
                {CAIRN_UPDATE_SGD, 0.9f, 1, "momentum"},
                {CAIRN_UPDATE_ADAM, 0.9f, 2, "exp_avg"},
                {CAIRN_UPDATE_ADAMW, 0.9f, 2, "exp_avg"}};
    cairn_device *device = open_ref();
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        cairn_optimizer_options options = cairn_optimizer_defaults(want[i].kind);
        options.momentum = want[i].momentum;
        cairn_optimizer *optimizer;
        REQUIRE_OK(cairn_optimizer_create(device, &options, COUNT, &optimizer));
        CHECK_INT(cairn_optimizer_state_count(optimizer), want[i].states);
        if (want[i].states > 0) CHECK_TEXT(cairn_optimizer_state_name(optimizer, 0), want[i].name);
        if (want[i].states > 1) CHECK_TEXT(cairn_optimizer_state_name(optimizer, 1), "exp_avg_sq");
        for (int k = 0; k < want[i].states; k++)
            CHECK_INT(cairn_optimizer_state(optimizer, k).bytes, COUNT * sizeof(float));
        cairn_optimizer_destroy(optimizer);
    }
    CHECK_INT(cairn_device_memory(device).held, 0);
    cairn_device_close(device);
}

static void what_is_out_of_range_is_named(void)
{
    cairn_device *device = open_ref();
    cairn_optimizer *optimizer = NULL;
    const cairn_optimizer_options sgd = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    const cairn_optimizer_options adam = cairn_optimizer_defaults(CAIRN_UPDATE_ADAM);
    cairn_optimizer_options o;
#define REFUSED(start, field, bad)                                                                                     \
    do {                                                                                                               \
        o = (start);                                                                                                   \
        o.field = (bad);                                                                                               \
        CHECK_FAILS(cairn_optimizer_create(device, &o, COUNT, &optimizer), CAIRN_USAGE, #field " is ");                \
        CHECK(optimizer == NULL);                                                                                      \
    } while (0)
    REFUSED(sgd, momentum, 1.0f);
    REFUSED(sgd, momentum, NAN);
    REFUSED(sgd, weight_decay, -1.0f);
    REFUSED(sgd, weight_decay, INFINITY);
    REFUSED(adam, beta1, 1.0f);
    REFUSED(adam, beta2, -0.1f);
    REFUSED(adam, eps, 0.0f);
    REFUSED(adam, kind, (cairn_update_kind)3);
#undef REFUSED
    o = sgd;
    o.momentum = 0;
    o.nesterov = true;
    CHECK_FAILS(cairn_optimizer_create(device, &o, COUNT, &optimizer), CAIRN_USAGE, "nesterov");
    CHECK_FAILS(cairn_optimizer_create(device, &sgd, 0, &optimizer), CAIRN_USAGE, "0 parameters");
    cairn_device_close(device);
}

static void runs_and_slabs_must_fit(void)
{
    cairn_device *device = open_ref();
    cairn_optimizer *optimizer = NULL;
    cairn_slab slab = {0}, small = {0};
    const cairn_optimizer_options sgd = cairn_optimizer_defaults(CAIRN_UPDATE_SGD);
    REQUIRE_OK(cairn_slab_create(device, COUNT * sizeof(float), "test", &slab));
    REQUIRE_OK(cairn_slab_create(device, 4, "test", &small));
    REQUIRE_OK(cairn_optimizer_create(device, &sgd, COUNT, &optimizer));
    CHECK_FAILS(cairn_optimizer_add(optimizer, 8, 8, true), CAIRN_USAGE, "multiple of 16");
    CHECK_FAILS(cairn_optimizer_add(optimizer, 48, 17, true), CAIRN_USAGE, "17 elements at 48");
    CHECK_FAILS(cairn_optimizer_add(optimizer, 0, 0, true), CAIRN_USAGE, "0 elements");
    CHECK_FAILS(cairn_optimizer_step(optimizer, &slab, &small, 0.1f), CAIRN_USAGE, "256 and 4 bytes");
    CHECK_FAILS(cairn_optimizer_step(optimizer, &slab, &slab, NAN), CAIRN_USAGE, "learning rate");
    CHECK_INT(cairn_optimizer_updates(optimizer), 0);
    cairn_optimizer_destroy(optimizer);
    cairn_slab_destroy(&slab);
    cairn_slab_destroy(&small);
    cairn_device_close(device);
}

static void memory_that_runs_out_is_given_back(void)
{
    const cairn_backend *const backends[] = {&cairn_backend_ref, NULL};
    const cairn_optimizer_options adam = cairn_optimizer_defaults(CAIRN_UPDATE_ADAM);
    cairn_optimizer *optimizer = NULL;
    cairn_device *device;
    REQUIRE_OK(cairn_device_select(backends, "ref", &(cairn_device_options){.memory_limit = 6000}, &device));
    CHECK_FAILS(cairn_optimizer_create(device, &adam, 1024, &optimizer), CAIRN_MEMORY, "optimizer state");
    CHECK(optimizer == NULL);
    CHECK_INT(cairn_device_memory(device).held, 0);
    cairn_device_close(device);
}

static void names_go_both_ways(void)
{
    cairn_update_kind kind;
    for (int i = 0; i < 3; i++) {
        REQUIRE_OK(cairn_optimizer_parse(cairn_optimizer_name((cairn_update_kind)i), &kind));
        CHECK_INT(kind, i);
    }
    CHECK_FAILS(cairn_optimizer_parse("lion", &kind), CAIRN_USAGE, "sgd, adam, adamw");
}

int main(void)
{
    RUN(decay_spares_biases_unless_asked);
    RUN(neighbours_alike_are_one_run);
    RUN(state_is_what_the_kind_needs);
    RUN(what_is_out_of_range_is_named);
    RUN(runs_and_slabs_must_fit);
    RUN(memory_that_runs_out_is_given_back);
    RUN(names_go_both_ways);
    return test_result();
}
