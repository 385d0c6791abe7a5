#include "train/precision.h"
#include "core/backend.h"
#include "core/os.h"
#include "core/tensor.h"
#include "layers/net.h"
#include <stdio.h>
#include <string.h>

enum { TIMED_STEPS = 3 }; /* after one that isn't: the least of them counts, which noise can only make longer */

static const struct {
    const char *name;
    cairn_dtype dtype;
} precisions[] = {
    [CAIRN_PRECISION_AUTO] = {"auto", CAIRN_F32}, [CAIRN_PRECISION_FP32] = {"fp32", CAIRN_F32},
    [CAIRN_PRECISION_TF32] = {"tf32", CAIRN_F32}, [CAIRN_PRECISION_BF16] = {"bf16", CAIRN_BF16},
    [CAIRN_PRECISION_FP16] = {"fp16", CAIRN_F16},
};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

const char *cairn_precision_name(cairn_precision precision)
{
    return (unsigned)precision < PRECISIONS ? precisions[precision].name : "unknown";
}

cairn_dtype cairn_precision_dtype(cairn_precision precision)
{
    return precisions[precision].dtype;
}

cairn_status cairn_precision_parse(const char *text, cairn_precision *out)
{
    for (int i = 0; i < PRECISIONS; i++)
        if (strcmp(text, precisions[i].name) == 0) {
            *out = (cairn_precision)i;
            return CAIRN_OK;
        }
    return cairn_fail(CAIRN_USAGE, "no precision \"%s\"; there are: auto, fp32, tf32, bf16, fp16", text);
}

/* ---- what the device can ---- */

static cairn_status check(cairn_device *device, cairn_precision precision)
{
    const char *name = cairn_precision_name(precision);
    if (precision == CAIRN_PRECISION_TF32 && !device->options.tf32)
        return cairn_fail(CAIRN_DEVICE, "--precision tf32: %s has no such products: use auto or fp32",
                          cairn_device_name(device));
    if (cairn_device_supports(device, cairn_precision_dtype(precision)) == CAIRN_OK) return CAIRN_OK;
    char why[CAIRN_ERROR_MESSAGE_SIZE];
    snprintf(why, sizeof why, "%s", cairn_error_last()->message);
    return cairn_fail(CAIRN_DEVICE, "--precision %s: %s: use auto or fp32", name, why);
}

/* The type of half the size worth a trial, or AUTO with the reason why there is none. A device that knows no peak isn't meant to be fast. */
static cairn_precision candidate(cairn_device *device, char *reason)
{
    static const cairn_precision halves[] = {CAIRN_PRECISION_FP16, CAIRN_PRECISION_BF16};
    if (device->options.deterministic) {
        snprintf(reason, CAIRN_PRECISION_REASON_SIZE, "nothing is timed where runs are to be repeated exactly");
        return CAIRN_PRECISION_AUTO;
    }
    cairn_precision found = CAIRN_PRECISION_AUTO;
    for (size_t i = 0; found == CAIRN_PRECISION_AUTO && i < sizeof halves / sizeof *halves; i++) {
        if (cairn_device_supports(device, cairn_precision_dtype(halves[i])) == CAIRN_OK)
            found = halves[i];
        else
            snprintf(reason, CAIRN_PRECISION_REASON_SIZE, "%.300s", cairn_error_last()->message);
    }
    if (found == CAIRN_PRECISION_AUTO || device->backend->peak_gflops(device, CAIRN_F32) > 0) return found;
    snprintf(reason, CAIRN_PRECISION_REASON_SIZE, "%s is not made for speed", cairn_device_backend_name(device));
    return CAIRN_PRECISION_AUTO;
}

/* ---- the trial ---- */

static cairn_status run_steps(cairn_net *net, const cairn_slab *targets, double *seconds)
{
    cairn_device *device = cairn_net_device(net);
    const int32_t *labels = targets->data;
    const cairn_loss loss = {
        .labels = labels,
        .scale = (const float *)(labels + cairn_net_batch(net)),
        .train = true,
        .totals = (float *)targets->data + 2 * cairn_net_batch(net),
    };
    for (int i = 0; i <= TIMED_STEPS; i++) {
        CAIRN_TRY(cairn_device_synchronize(device));
        double start = cairn_os_seconds();
        CAIRN_TRY(cairn_net_forward(net, &(cairn_forward){.train = true, .step = (uint32_t)i}));
        CAIRN_TRY(cairn_net_loss(net, &loss));
        CAIRN_TRY(cairn_net_backward(net, false));
        CAIRN_TRY(cairn_net_refresh(net, true));
        CAIRN_TRY(cairn_device_synchronize(device));
        double took = cairn_os_seconds() - start;
        if (i == 1 || (i > 1 && took < *seconds)) *seconds = took;
    }
    return CAIRN_OK;
}

/* Seconds of a training step but for the update, which is the same in every type. All zeros, from the pictures to the weights: no operation
 * takes its time by the numbers. */
static cairn_status time_step(const cairn_precision_trial *trial, cairn_dtype dtype, double *seconds)
{
    cairn_status status = CAIRN_OK;
    cairn_net *net = NULL;
    cairn_slab targets = {0}; /* labels i32 [batch], scale f32 [batch], totals f32 [4] */
    const cairn_net_options options = {.batch = trial->batch, .train = true, .dtype = dtype};
    size_t bytes = (2 * (size_t)trial->batch + 4) * sizeof(float);
    CAIRN_TRY_DONE(cairn_model_create(trial->model, trial->preset, trial->classes, &trial->model_options, &net));
    CAIRN_TRY_DONE(cairn_net_plan(net, trial->device, &options));
    CAIRN_TRY_DONE(cairn_slab_create(trial->device, bytes, "a trial of the precision", &targets));
    CAIRN_TRY_DONE(run_steps(net, &targets, seconds));
done:
    cairn_slab_destroy(&targets);
    cairn_net_destroy(net);
    return status;
}

static cairn_precision full(const cairn_device *device)
{
    return device->options.tf32 ? CAIRN_PRECISION_TF32 : CAIRN_PRECISION_FP32;
}

static cairn_status choose(const cairn_precision_trial *trial, cairn_precision *precision, char *reason)
{
    const cairn_precision wide = full(trial->device), half = candidate(trial->device, reason);
    *precision = wide;
    if (half == CAIRN_PRECISION_AUTO) return CAIRN_OK;
    double seconds[2] = {0};
    cairn_log_write(trial->device->options.log, CAIRN_LOG_INFO, "timing a training step in %s and in %s",
                    cairn_precision_name(half), cairn_precision_name(wide));
    CAIRN_TRY(time_step(trial, cairn_precision_dtype(half), &seconds[0]));
    cairn_status status = time_step(trial, cairn_precision_dtype(wide), &seconds[1]);
    if (status == CAIRN_MEMORY) {
        *precision = half;
        snprintf(reason, CAIRN_PRECISION_REASON_SIZE, "%s takes more memory than there is", cairn_precision_name(wide));
        return CAIRN_OK;
    }
    CAIRN_TRY(status);
    if (seconds[0] < seconds[1]) *precision = half;
    snprintf(reason, CAIRN_PRECISION_REASON_SIZE, "a pass of %lld pictures takes %.3g ms in %s and %.3g ms in %s",
             (long long)trial->batch, 1e3 * seconds[0], cairn_precision_name(half), 1e3 * seconds[1],
             cairn_precision_name(wide));
    return CAIRN_OK;
}

cairn_status cairn_precision_resolve(const cairn_precision_trial *trial, cairn_precision *precision,
                                     char reason[CAIRN_PRECISION_REASON_SIZE])
{
    reason[0] = '\0';
    if (*precision == CAIRN_PRECISION_AUTO) return choose(trial, precision, reason);
    return check(trial->device, *precision);
}
