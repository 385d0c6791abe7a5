/* softmax_loss.c - softmax cross-entropy; samples are spread over the threads, sums are in double. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/operations.h"
#include <math.h>
#include <omp.h>

/* What a batch adds to the totals, in their order. */
enum { LOSS, TOP1, TOP5, SAMPLES, TOTALS };

static double log_sum_exp(const float *x, int64_t count)
{
    float most = x[0];
    double sum = 0;
    for (int64_t c = 1; c < count; c++)
        if (x[c] > most) most = x[c];
    for (int64_t c = 0; c < count; c++)
        sum += (double)expf(x[c] - most);
    return (double)most + log(sum);
}

/* Logits that stand before the label's: greater ones, and equal ones of a lower class. */
static int64_t rank_of(const float *x, int64_t count, int64_t label)
{
    int64_t before = 0;
    for (int64_t c = 0; c < count; c++)
        before += x[c] > x[label] || (x[c] == x[label] && c < label);
    return before;
}

/* The class's part of the target, times its weight. */
static double target(const cairn_softmax_loss *args, int64_t c, int64_t label)
{
    double q = (double)args->smoothing / (double)args->classes + (c == label ? 1 - (double)args->smoothing : 0);
    return q * (args->class_weights ? (double)args->class_weights[c] : 1);
}

static double sample_loss(const cairn_softmax_loss *args, int64_t n)
{
    const float *x = args->logits + n * args->classes;
    double scale = (double)args->scale[n], lse = log_sum_exp(x, args->classes), loss = 0, weight = 0;
    double diff_scale = args->loss_scale ? scale * (double)*args->loss_scale : scale;
    for (int64_t c = 0; c < args->classes; c++) {
        double t = target(args, c, args->labels[n]);
        weight += t;
        loss += t * (lse - (double)x[c]);
    }
    for (int64_t c = 0; args->dlogits && c < args->classes; c++)
        args->dlogits[n * args->classes + c] =
            (float)(diff_scale *
                    (weight * (double)expf((float)((double)x[c] - lse)) - target(args, c, args->labels[n])));
    return scale * loss;
}

static void add_sample(const cairn_softmax_loss *args, int64_t n, double *totals)
{
    if (!(args->scale[n] > 0)) { /* ignored: its logits and label may be anything */
        for (int64_t c = 0; args->dlogits && c < args->classes; c++)
            args->dlogits[n * args->classes + c] = 0;
        return;
    }
    int64_t rank = rank_of(args->logits + n * args->classes, args->classes, args->labels[n]);
    totals[LOSS] += sample_loss(args, n);
    totals[TOP1] += rank < 1;
    totals[TOP5] += rank < 5;
    totals[SAMPLES] += 1;
}

static cairn_status check_labels(const cairn_softmax_loss *args)
{
    for (int64_t n = 0; n < args->batch; n++)
        if (args->scale[n] > 0 && (args->labels[n] < 0 || args->labels[n] >= args->classes))
            return cairn_fail(CAIRN_USAGE, "softmax_loss: label %d of sample %lld is outside the %lld classes",
                              (int)args->labels[n], (long long)n, (long long)args->classes);
    return CAIRN_OK;
}

cairn_status cairn_cpu_softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    cairn_cpu *cpu = cairn_cpu_of(device);
    CAIRN_TRY(check_labels(args));
    cairn_cpu_enter(cpu);
    for (int i = 0; i < cpu->base.threads * CAIRN_CPU_PARTIALS; i++)
        cpu->partial[i] = 0;
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < args->batch; n++)
        add_sample(args, n, cpu->partial + omp_get_thread_num() * CAIRN_CPU_PARTIALS);
    for (int k = 0; k < TOTALS; k++) {
        double sum = (double)args->totals[k];
        for (int thread = 0; thread < cpu->base.threads; thread++)
            sum += cpu->partial[thread * CAIRN_CPU_PARTIALS + k];
        args->totals[k] = (float)sum;
    }
    return CAIRN_OK;
}
