#include "cli/synthetic.h"
#include "cairn.h"
#include "cli/synthetic_dump.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cli_synthetic {
    cairn_device *device;
    cairn_net *net;
    cairn_optimizer *optimizer;
    cairn_slab labels, scale, totals;
    int64_t batch;
    uint32_t step;
};

/* Noise about as wide as normalised pictures: four bytes of each random number, in -2..2. */
static cairn_status fill_input(cli_synthetic *s, uint64_t seed)
{
    cairn_tensor input = cairn_net_input(s->net);
    int64_t count = cairn_shape_count(input.shape);
    float *value = malloc((size_t)count * sizeof *value);
    if (!value) return cairn_fail(CAIRN_MEMORY, "no memory for %lld made-up pictures", (long long)s->batch);
    cairn_rng rng = cairn_rng_make(seed, CAIRN_RNG_SYNTHETIC, 0, 0);
    for (int64_t i = 0; i < count; i += 4) {
        uint32_t bits = cairn_rng_bits(rng, (uint64_t)i / 4);
        for (int64_t k = i; k < i + 4 && k < count; k++, bits >>= 8)
            value[k] = (float)(bits & 255) / 64 - 2;
    }
    cairn_status status = cairn_tensor_write(&input, value, count);
    free(value);
    return status;
}

/* Labels, and scales of 1 / batch. Unless `dump` is NULL, the start is complete and goes into that folder. */
static cairn_status fill_targets(cli_synthetic *s, uint64_t seed, const char *dump)
{
    int32_t *label = malloc((size_t)s->batch * sizeof *label);
    float *scale = malloc((size_t)s->batch * sizeof *scale);
    cairn_status status = CAIRN_OK;
    if (!label || !scale) {
        status = cairn_fail(CAIRN_MEMORY, "no memory for %lld labels", (long long)s->batch);
        goto done;
    }
    cairn_rng rng = cairn_rng_make(seed, CAIRN_RNG_SYNTHETIC, 1, 0);
    for (int64_t i = 0; i < s->batch; i++) {
        label[i] = (int32_t)cairn_rng_below(rng, (uint64_t)i, (uint32_t)cairn_net_classes(s->net));
        scale[i] = 1 / (float)s->batch;
    }
    CAIRN_TRY_DONE(cairn_device_upload(s->device, s->labels.data, label, (size_t)s->batch * sizeof *label));
    if (dump) CAIRN_TRY_DONE(cli_synthetic_dump(s->net, label, s->batch, dump));
    CAIRN_TRY_DONE(cairn_device_upload(s->device, s->scale.data, scale, (size_t)s->batch * sizeof *scale));
done:
    free(label);
    free(scale);
    return status;
}

static cairn_model_options model_options(const cli_options *options)
{
    return (cairn_model_options){.dropout = (float)cli_real(options, OPTION_DROPOUT),
                                 .width_divisor = cli_int(options, OPTION_WIDTH_DIVISOR)};
}

cairn_status cli_synthetic_precision(const cli_options *options, cairn_device *device, cairn_precision *out,
                                     char reason[CAIRN_PRECISION_REASON_SIZE])
{
    const cairn_precision_trial trial = {
        .device = device,
        .model = cli_text(options, OPTION_MODEL),
        .preset = cli_text(options, OPTION_PRESET),
        .classes = cli_int(options, OPTION_CLASSES),
        .model_options = model_options(options),
        .batch = cli_int(options, OPTION_BATCH),
    };
    CAIRN_TRY(cairn_precision_parse(cli_text(options, OPTION_PRECISION), out));
    return cairn_precision_resolve(&trial, out, reason);
}

static cairn_status make_net(cli_synthetic *s, const cli_options *options, cairn_precision precision, uint64_t seed)
{
    const cairn_model_options model = model_options(options);
    const cairn_net_options net = {
        .batch = s->batch, .train = true, .dtype = cairn_precision_dtype(precision), .seed = seed};
    CAIRN_TRY(cairn_model_create(cli_text(options, OPTION_MODEL), cli_text(options, OPTION_PRESET),
                                 cli_int(options, OPTION_CLASSES), &model, &s->net));
    CAIRN_TRY(cairn_net_plan(s->net, s->device, &net));
    return cairn_net_init(s->net, seed);
}

static cairn_status make_optimizer(cli_synthetic *s, const cli_options *options)
{
    cairn_update_kind kind;
    CAIRN_TRY(cairn_optimizer_parse(cli_text(options, OPTION_OPTIMIZER), &kind));
    cairn_optimizer_options o = cairn_optimizer_defaults(kind);
    o.momentum = (float)cli_real(options, OPTION_MOMENTUM);
    if (cli_real(options, OPTION_WEIGHT_DECAY) >= 0) o.weight_decay = (float)cli_real(options, OPTION_WEIGHT_DECAY);
    return cairn_net_optimizer_create(s->net, &o, &s->optimizer);
}

cairn_status cli_synthetic_create(const cli_options *options, cairn_device *device, cairn_precision precision,
                                  cli_synthetic **out)
{
    *out = NULL;
    cli_synthetic *s = calloc(1, sizeof *s);
    if (!s) return cairn_fail(CAIRN_MEMORY, "no memory for a benchmark");
    *s = (cli_synthetic){.device = device, .batch = cli_int(options, OPTION_BATCH)};
    uint64_t seed = (uint64_t)cli_int(options, OPTION_SEED);
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(make_net(s, options, precision, seed));
    CAIRN_TRY_DONE(make_optimizer(s, options));
    CAIRN_TRY_DONE(cairn_slab_create(device, (size_t)s->batch * sizeof(int32_t), "labels", &s->labels));
    CAIRN_TRY_DONE(cairn_slab_create(device, (size_t)s->batch * sizeof(float), "scale", &s->scale));
    CAIRN_TRY_DONE(cairn_slab_create(device, 4 * sizeof(float), "totals", &s->totals));
    CAIRN_TRY_DONE(fill_input(s, seed));
    CAIRN_TRY_DONE(fill_targets(s, seed, cli_text(options, OPTION_DUMP)));
    *out = s;
    s = NULL;
done:
    cli_synthetic_destroy(s);
    return status;
}

void cli_synthetic_destroy(cli_synthetic *s)
{
    if (!s) return;
    cairn_slab_destroy(&s->totals);
    cairn_slab_destroy(&s->scale);
    cairn_slab_destroy(&s->labels);
    cairn_optimizer_destroy(s->optimizer);
    cairn_net_destroy(s->net);
    free(s);
}

cairn_status cli_synthetic_step(cli_synthetic *s, cli_step_times *times)
{
    const cairn_loss loss = {.labels = s->labels.data,
                             .scale = s->scale.data,
                             .loss_scale = cairn_optimizer_loss_scale(s->optimizer),
                             .train = true,
                             .totals = s->totals.data};
    cairn_slab weights = cairn_net_weights(s->net), gradients = cairn_net_gradients(s->net);
    CAIRN_TRY(cairn_device_zero(s->device, s->totals.data, s->totals.bytes));
    CAIRN_TRY(cairn_device_synchronize(s->device));
    double start = cairn_os_seconds();
    CAIRN_TRY(cairn_net_forward(s->net, &(cairn_forward){.train = true, .step = s->step}));
    CAIRN_TRY(cairn_net_loss(s->net, &loss));
    CAIRN_TRY(cairn_device_synchronize(s->device));
    double forward = cairn_os_seconds();
    CAIRN_TRY(cairn_net_backward(s->net, false));
    CAIRN_TRY(cairn_device_synchronize(s->device));
    double backward = cairn_os_seconds();
    CAIRN_TRY(cairn_optimizer_step(s->optimizer, &weights, &gradients, 1e-3f));
    CAIRN_TRY(cairn_net_refresh(s->net, true));
    CAIRN_TRY(cairn_device_synchronize(s->device));
    *times = (cli_step_times){forward - start, backward - forward, cairn_os_seconds() - backward};
    s->step++;
    return CAIRN_OK;
}

cairn_status cli_synthetic_loss(cli_synthetic *s, float *loss)
{
    float totals[4];
    CAIRN_TRY(cairn_device_download(s->device, totals, s->totals.data, sizeof totals));
    *loss = totals[0];
    if (isfinite(totals[0])) return CAIRN_OK;
    return cairn_fail(CAIRN_NONFINITE,
                      "the loss of the made-up pictures is not finite after %u steps: the times mean nothing", s->step);
}

int64_t cli_synthetic_batch(const cli_synthetic *s)
{
    return s->batch;
}

double cli_synthetic_flops(const cli_synthetic *s)
{
    return (double)cairn_net_train_flops(s->net) * (double)s->batch;
}
