/* softmax_loss.c - softmax cross-entropy with label smoothing and class weights, and the counts of hits. */
#include "backends/ref/ref.h"
#include <math.h>

/* log(sum exp x), the largest taken out first so that nothing overflows. */
static double log_sum_exp(const float *x, int64_t count)
{
    double most = (double)x[0];
    for (int64_t c = 1; c < count; c++)
        most = fmax(most, (double)x[c]);
    double sum = exp((double)x[0] - most);
    for (int64_t c = 1; c < count; c++)
        sum += exp((double)x[c] - most);
    return most + log(sum);
}

/* How many logits stand before the label's: greater ones, and equal ones of a lower class. */
static int64_t rank_of(const float *x, int64_t count, int64_t label)
{
    int64_t before = 0;
    for (int64_t c = 0; c < count; c++)
        before += x[c] > x[label] || (c < label && x[c] == x[label]);
    return before;
}

/* Part of class c in the target, times its weight. */
static double target(const cairn_softmax_loss *args, int64_t c, int64_t label)
{
    double smoothing = (double)args->smoothing;
    double q = smoothing / (double)args->classes + (c == label ? 1 - smoothing : 0);
    return q * (args->class_weights ? (double)args->class_weights[c] : 1);
}

/* Loss of sample n; writes its gradient where it is wanted. */
static double sample_loss(const cairn_softmax_loss *args, int64_t n)
{
    const float *x = args->logits + n * args->classes;
    float *dx = args->dlogits ? args->dlogits + n * args->classes : NULL;
    double scale = (double)args->scale[n], lse = log_sum_exp(x, args->classes), loss = 0, total = 0;
    double diff_scale = args->loss_scale ? scale * (double)*args->loss_scale : scale;
    for (int64_t c = 0; c < args->classes; c++) {
        double t = target(args, c, args->labels[n]);
        total += t;
        loss += t * (lse - (double)x[c]);
    }
    for (int64_t c = 0; dx && c < args->classes; c++) {
        double probability = exp((double)x[c] - lse);
        dx[c] = (float)(diff_scale * (total * probability - target(args, c, args->labels[n])));
    }
    return scale * loss;
}

cairn_status cairn_ref_softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    (void)device;
    double loss = 0, top1 = 0, top5 = 0, samples = 0;
    for (int64_t n = 0; n < args->batch; n++) {
        if (!(args->scale[n] > 0)) { /* ignored; its logits and label may be anything */
            for (int64_t c = 0; args->dlogits && c < args->classes; c++)
                args->dlogits[n * args->classes + c] = 0;
            continue;
        }
        if (args->labels[n] < 0 || args->labels[n] >= args->classes)
            return cairn_fail(CAIRN_USAGE, "softmax_loss: label %d of sample %lld is outside the %lld classes",
                              (int)args->labels[n], (long long)n, (long long)args->classes);
        int64_t rank = rank_of(args->logits + n * args->classes, args->classes, args->labels[n]);
        loss += sample_loss(args, n);
        top1 += rank < 1;
        top5 += rank < 5;
        samples += 1;
    }
    args->totals[0] = (float)((double)args->totals[0] + loss);
    args->totals[1] = (float)((double)args->totals[1] + top1);
    args->totals[2] = (float)((double)args->totals[2] + top5);
    args->totals[3] = (float)((double)args->totals[3] + samples);
    return CAIRN_OK;
}
