/* update.c - one step of SGD, Adam or AdamW over runs of the parameter slabs. */
#include "backends/ref/ref.h"
#include <math.h>

static void update_sgd(const cairn_update *args, int64_t i, double decay)
{
    double w = (double)args->weights[i], lr = (double)args->lr, momentum = (double)args->momentum;
    double d = (double)args->gradients[i] + decay * w;
    if (momentum > 0) {
        double v = momentum * (double)args->state0[i] + d;
        args->state0[i] = (float)v;
        d = args->nesterov ? d + momentum * v : v;
    }
    args->weights[i] = (float)(w - lr * d);
}

/* correct1 and correct2 are 1 - beta1^t and 1 - beta2^t: what the averages lack for having started at 0. */
static void update_adam(const cairn_update *args, int64_t i, double decay, double correct1, double correct2)
{
    double w = (double)args->weights[i], d = (double)args->gradients[i], lr = (double)args->lr;
    double beta1 = (double)args->beta1, beta2 = (double)args->beta2;
    if (args->kind == CAIRN_UPDATE_ADAMW)
        w -= lr * decay * w;
    else
        d += decay * w;
    double m = beta1 * (double)args->state0[i] + (1 - beta1) * d;
    double v = beta2 * (double)args->state1[i] + (1 - beta2) * d * d;
    args->state0[i] = (float)m;
    args->state1[i] = (float)v;
    args->weights[i] = (float)(w - lr * (m / correct1) / (sqrt(v / correct2) + (double)args->eps));
}

cairn_status cairn_ref_update(cairn_device *device, const cairn_update *args)
{
    (void)device;
    double t = (double)(args->step + 1);
    double correct1 = 1 - pow((double)args->beta1, t), correct2 = 1 - pow((double)args->beta2, t);
    for (int s = 0; s < args->segment_count; s++) {
        const cairn_update_segment *segment = &args->segments[s];
        for (int64_t i = segment->offset; i < segment->offset + segment->count; i++) {
            if (args->kind == CAIRN_UPDATE_SGD)
                update_sgd(args, i, (double)segment->weight_decay);
            else
                update_adam(args, i, (double)segment->weight_decay, correct1, correct2);
        }
    }
    return CAIRN_OK;
}
