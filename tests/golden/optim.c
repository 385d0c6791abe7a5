/* Every case of optim.json - weights after each of six steps of PyTorch's optimizers in float64 - on every backend, by the backend's
 * own update and by the optimizer over it. */
#include "backends/backends.h"
#include "optim/optimizer.h"
#include "tests/support/direct.h"
#include "tests/support/golden.h"
#include "tests/support/tested.h"
#include "tests/test.h"

enum { STEPS = 6 };

static const char *device_name; /* of the device under test */

static double tolerance(void)
{
    return strcmp(device_name, "ref") == 0 ? 5e-6 : 2e-5;
}

static double hyper(const json_t *item, const char *key)
{
    const json_t *value = json_object_get(golden_get(item, "hyper"), key);
    return value ? json_number_value(value) : 0;
}

static cairn_update_kind kind_of(const char *name)
{
    if (strcmp(name, "adam") == 0) return CAIRN_UPDATE_ADAM;
    return strcmp(name, "adamw") == 0 ? CAIRN_UPDATE_ADAMW : CAIRN_UPDATE_SGD;
}

static void check_weights(const json_t *item, size_t step, const float *weights)
{
    int64_t count;
    float *want = golden_numbers(json_array_get(golden_get(item, "weights_after_step"), step), &count);
    double error = relative_l2(weights, want, count);
    if (!(error <= tolerance()))
        TEST_FAIL("%s on %s, step %zu: weights are off by %.3g", json_string_value(golden_get(item, "optimizer")),
                  device_name, step, error);
    free(want);
}

static void fill_gradients(const json_t *item, size_t step, float *gradients, int64_t count)
{
    const json_t *spec = golden_get(item, "grad_of_step_t");
    golden_fill(9100 + (uint32_t)step, golden_number(spec, "lo"), golden_number(spec, "hi"), gradients, count);
}

static void check_update(cairn_device *device, const json_t *item)
{
    const char *name = json_string_value(golden_get(item, "optimizer"));
    int64_t count;
    float *weights = golden_input(golden_get(item, "weights"), &count);
    float *gradients = golden_alloc(count, sizeof(float));
    float *state0 = golden_alloc(count, sizeof(float)), *state1 = golden_alloc(count, sizeof(float));
    cairn_update_segment segment = {.count = count, .weight_decay = (float)hyper(item, "weight_decay")};
    cairn_update args = {.kind = kind_of(name),
                         .lr = (float)hyper(item, "lr"),
                         .momentum = (float)hyper(item, "momentum"),
                         .beta1 = (float)hyper(item, "beta1"),
                         .beta2 = (float)hyper(item, "beta2"),
                         .eps = (float)hyper(item, "eps"),
                         .nesterov = strcmp(name, "sgd_nesterov") == 0,
                         .weights = weights,
                         .gradients = gradients,
                         .state0 = state0,
                         .state1 = state1,
                         .segments = &segment,
                         .segment_count = 1};
    for (size_t step = 0; step < STEPS; step++) {
        fill_gradients(item, step, gradients, count);
        args.step = (int64_t)step;
        CHECK_OK(direct_update(device, &args, count));
        check_weights(item, step, weights);
    }
    free(weights);
    free(gradients);
    free(state0);
    free(state1);
}

static cairn_optimizer_options options_of(const json_t *item)
{
    const char *name = json_string_value(golden_get(item, "optimizer"));
    cairn_optimizer_options options = cairn_optimizer_defaults(kind_of(name));
    options.momentum = (float)hyper(item, "momentum");
    options.nesterov = strcmp(name, "sgd_nesterov") == 0;
    options.weight_decay = (float)hyper(item, "weight_decay");
    if (options.kind == CAIRN_UPDATE_SGD) return options;
    CHECK_NEAR(options.beta1, hyper(item, "beta1"), 1e-7); /* PyTorch's defaults are ours */
    CHECK_NEAR(options.beta2, hyper(item, "beta2"), 1e-7);
    CHECK_NEAR(options.eps, hyper(item, "eps"), 1e-14);
    return options;
}

static void check_optimizer(cairn_device *device, const json_t *item)
{
    cairn_optimizer_options options = options_of(item);
    cairn_optimizer *optimizer = NULL;
    cairn_slab weights = {0}, gradients = {0};
    int64_t count;
    float *host = golden_input(golden_get(item, "weights"), &count);
    size_t bytes = (size_t)count * sizeof *host;
    CHECK_OK(cairn_slab_create(device, bytes, "weights", &weights));
    CHECK_OK(cairn_slab_create(device, bytes, "gradients", &gradients));
    CHECK_OK(cairn_optimizer_create(device, &options, count, &optimizer));
    CHECK_OK(cairn_optimizer_add(optimizer, 0, count, true));
    CHECK_OK(cairn_device_upload(device, weights.data, host, bytes));
    for (size_t step = 0; step < STEPS; step++) {
        fill_gradients(item, step, host, count);
        CHECK_OK(cairn_device_upload(device, gradients.data, host, bytes));
        CHECK_OK(cairn_optimizer_step(optimizer, &weights, &gradients, (float)hyper(item, "lr")));
        CHECK_OK(cairn_device_download(device, host, weights.data, bytes));
        check_weights(item, step, host);
    }
    cairn_optimizer_destroy(optimizer);
    cairn_slab_destroy(&weights);
    cairn_slab_destroy(&gradients);
    free(host);
}

static void for_every_case(void (*check)(cairn_device *, const json_t *))
{
    cairn_device *device;
    json_t *cases = golden_load(GOLDEN_DATA("optim.json"));
    size_t i;
    const json_t *item;
    REQUIRE_OK(cairn_device_open(device_name, &(cairn_device_options){0}, &device));
    json_array_foreach(cases, i, item)
    {
        CHECK_INT(json_array_size(golden_get(item, "weights_after_step")), STEPS);
        check(device, item);
    }
    CHECK_INT(i, 5);
    cairn_device_close(device);
    json_decref(cases);
}

static void every_update(void)
{
    for_every_case(check_update);
}

static void every_optimizer(void)
{
    for_every_case(check_optimizer);
}

int main(int argc, char **argv)
{
    const tested backends = tested_backends(argc, argv);
    for (int i = 0; i < backends.count; i++) {
        device_name = backends.name[i];
        printf("%s:\n", device_name);
        RUN(every_update);
        RUN(every_optimizer);
    }
    return test_result();
}
