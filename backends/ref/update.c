/* update.c - one step of SGD, Adam or AdamW over runs of the parameter slabs. */
#include "backends/ref/ref.h"
#include <math.h>

/* What an update needs besides its arguments; lr and t are the state's where there is one. */
typedef struct factors {
    double lr, unscale;
    double correct1, correct2; /* 1 - beta1^t and 1 - beta2^t: what Adam's averages lack for having started at 0 */
} factors;

static double rate_of(const cairn_update *args, int64_t step)
{
    if (!args->state || !args->rates) return (double)args->lr;
    int64_t i = step - args->first_rate;
    return (double)args->rates[i < 0 ? 0 : i >= args->rate_count ? args->rate_count - 1 : i];
}

static factors factors_of(const cairn_update *args)
{
    int64_t step = args->state ? args->state->updates : args->step;
    double t = (double)(step + 1);
    return (factors){.lr = rate_of(args, step),
                     .unscale = args->state ? 1 / (double)args->state->loss_scale : 1,
                     .correct1 = 1 - pow((double)args->beta1, t),
                     .correct2 = 1 - pow((double)args->beta2, t)};
}

static void update_sgd(const cairn_update *args, const factors *f, int64_t i, double decay)
{
    double w = (double)args->weights[i], momentum = (double)args->momentum;
    double d = (double)args->gradients[i] * f->unscale + decay * w;
    if (momentum > 0) {
        double v = momentum * (double)args->state0[i] + d;
        args->state0[i] = (float)v;
        d = args->nesterov ? d + momentum * v : v;
    }
    args->weights[i] = (float)(w - f->lr * d);
}

static void update_adam(const cairn_update *args, const factors *f, int64_t i, double decay)
{
    double w = (double)args->weights[i], d = (double)args->gradients[i] * f->unscale;
    double beta1 = (double)args->beta1, beta2 = (double)args->beta2;
    if (args->kind == CAIRN_UPDATE_ADAMW)
        w -= f->lr * decay * w;
    else
        d += decay * w;
    double m = beta1 * (double)args->state0[i] + (1 - beta1) * d;
    double v = beta2 * (double)args->state1[i] + (1 - beta2) * d * d;
    args->state0[i] = (float)m;
    args->state1[i] = (float)v;
    args->weights[i] = (float)(w - f->lr * (m / f->correct1) / (sqrt(v / f->correct2) + (double)args->eps));
}

static void update_segment(const cairn_update *args, const factors *f, const cairn_update_segment *segment)
{
    for (int64_t i = segment->offset; i < segment->offset + segment->count; i++) {
        if (args->kind == CAIRN_UPDATE_SGD)
            update_sgd(args, f, i, (double)segment->weight_decay);
        else
            update_adam(args, f, i, (double)segment->weight_decay);
        if (segment->low) cairn_ref_set(args->weights_low, args->low_dtype, i, (double)args->weights[i]);
    }
}

static bool all_finite(const cairn_update *args)
{
    for (int s = 0; s < args->segment_count; s++)
        for (int64_t i = 0; i < args->segments[s].count; i++)
            if (!isfinite(args->gradients[args->segments[s].offset + i])) return false;
    return true;
}

cairn_status cairn_ref_update(cairn_device *device, const cairn_update *args)
{
    (void)device;
    if (args->state) args->state->nonfinite = !all_finite(args);
    if (args->state && args->state->nonfinite && args->dynamic_scale) {
        cairn_update_state_skip(args->state);
        return CAIRN_OK;
    }
    const factors f = factors_of(args);
    for (int s = 0; s < args->segment_count; s++)
        update_segment(args, &f, &args->segments[s]);
    if (args->state) cairn_update_state_made(args->state, args->dynamic_scale);
    return CAIRN_OK;
}
