/* Every case of optim.json - weights after each of six steps of PyTorch's optimizers in float64 - on every backend. */
#include "backends/backends.h"
#include "tests/support/direct.h"
#include "tests/support/golden.h"
#include "tests/test.h"

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

static void check_optimizer(cairn_device *device, const json_t *item)
{
    const char *name = json_string_value(golden_get(item, "optimizer"));
    const json_t *steps = golden_get(item, "weights_after_step"), *expected,
                 *gradient = golden_get(item, "grad_of_step_t");
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
    size_t step;
    json_array_foreach(steps, step, expected)
    {
        float *want = golden_numbers(expected, NULL);
        golden_fill(9100 + (uint32_t)step, golden_number(gradient, "lo"), golden_number(gradient, "hi"), gradients,
                    count);
        args.step = (int64_t)step;
        CHECK_OK(direct_update(device, &args, count));
        double error = relative_l2(weights, want, count);
        if (!(error <= tolerance()))
            TEST_FAIL("%s on %s, step %zu: weights are off by %.3g", name, device_name, step, error);
        free(want);
    }
    CHECK_INT(step, 6);
    free(weights);
    free(gradients);
    free(state0);
    free(state1);
}

static void every_optimizer(void)
{
    cairn_device *device;
    json_t *cases = golden_load(GOLDEN_DATA("optim.json"));
    size_t i;
    const json_t *item;
    REQUIRE_OK(cairn_device_open(device_name, &(cairn_device_options){0}, &device));
    json_array_foreach(cases, i, item) check_optimizer(device, item);
    CHECK_INT(i, 5);
    cairn_device_close(device);
    json_decref(cases);
}

int main(void)
{
    for (const cairn_backend *const *backend = cairn_backends(); *backend; backend++) {
        device_name = (*backend)->name;
        printf("%s:\n", device_name);
        RUN(every_optimizer);
    }
    return test_result();
}
