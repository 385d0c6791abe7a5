/* batchnorm.c - batch normalisation over plain memory, one channel a thread at a time; sums in double. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/operations.h"
#include "backends/cpu/simd.h"
#include <math.h>
#include <stdlib.h>

typedef struct batchnorm_plan {
    cairn_plan base;
    cairn_batchnorm_desc desc;
    int64_t batch, channels, plane;
} batchnorm_plan;

/* What a training forward leaves of a channel. */
typedef struct channel_statistics {
    double mean, scale; /* scale is 1 / sqrt(variance + eps) */
} channel_statistics;

CAIRN_CPU_CLONES static double sum_of(const float *x, int64_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i];
    return sum;
}

/* sum of (x - mean)^2 */
CAIRN_CPU_CLONES static double spread_of(const float *x, double mean, int64_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += ((double)x[i] - mean) * ((double)x[i] - mean);
    return sum;
}

/* sum of dy (x - mean) */
CAIRN_CPU_CLONES static double moment_of(const float *x, const float *dy, double mean, int64_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)dy[i] * ((double)x[i] - mean);
    return sum;
}

/* y = a x + b */
CAIRN_CPU_CLONES static void scale_shift(float *y, const float *x, double a, double b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)(a * (double)x[i] + b);
}

/* dx = a dy - b x - c */
CAIRN_CPU_CLONES static void combine(float *dx, const float *dy, const float *x, double a, double b, double c,
                                     int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        dx[i] = (float)(a * (double)dy[i] - b * (double)x[i] - c);
}

static int64_t offset_of(const batchnorm_plan *plan, int64_t n, int64_t c)
{
    return (n * plan->channels + c) * plan->plane;
}

/* Of the batch; moves the running values. */
static channel_statistics batch_statistics(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    const float *src = operands->src;
    float *running_mean = operands->running_mean, *running_variance = operands->running_variance;
    double count = (double)(plan->batch * plan->plane), momentum = (double)plan->desc.momentum, mean = 0, variance = 0;
    for (int64_t n = 0; n < plan->batch; n++)
        mean += sum_of(src + offset_of(plan, n, c), plan->plane);
    mean /= count;
    for (int64_t n = 0; n < plan->batch; n++)
        variance += spread_of(src + offset_of(plan, n, c), mean, plan->plane);
    variance /= count;
    running_mean[c] = (float)((1 - momentum) * (double)running_mean[c] + momentum * mean);
    running_variance[c] =
        (float)((1 - momentum) * (double)running_variance[c] + momentum * variance * count / (count - 1));
    return (channel_statistics){mean, 1 / sqrt(variance + (double)plan->desc.eps)};
}

static channel_statistics running_statistics(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    double mean = (double)((const float *)operands->running_mean)[c];
    double variance = (double)((const float *)operands->running_variance)[c];
    return (channel_statistics){mean, 1 / sqrt(variance + (double)plan->desc.eps)};
}

static void forward_channel(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    channel_statistics s =
        operands->train ? batch_statistics(plan, operands, c) : running_statistics(plan, operands, c);
    if (operands->train) ((channel_statistics *)operands->saved)[c] = s;
    double a = (double)((const float *)operands->weights)[c] * s.scale;
    double b = (double)((const float *)operands->bias)[c] - a * s.mean;
    for (int64_t n = 0; n < plan->batch; n++) {
        int64_t o = offset_of(plan, n, c);
        scale_shift((float *)operands->dst + o, (const float *)operands->src + o, a, b, plan->plane);
    }
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    cairn_cpu_enter(cairn_cpu_of(base->device));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < plan->channels; c++)
        forward_channel(plan, operands, c);
    return CAIRN_OK;
}

/* With xhat = (x - mean) scale: dbeta = sum dy, dgamma = sum dy xhat, and
 * dx = gamma scale (dy - dbeta / count - xhat dgamma / count)            (Ioffe & Szegedy 2015, section 3). */
static void backward_channel(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    const float *src = operands->src, *dy = operands->diff_dst;
    float *diff_weights = operands->diff_weights, *diff_bias = operands->diff_bias, *dx = operands->diff_src;
    channel_statistics s = ((const channel_statistics *)operands->saved)[c];
    double count = (double)(plan->batch * plan->plane), dbeta = 0, dgamma = 0;
    for (int64_t n = 0; n < plan->batch; n++) {
        int64_t o = offset_of(plan, n, c);
        dbeta += sum_of(dy + o, plan->plane);
        dgamma += moment_of(src + o, dy + o, s.mean, plan->plane);
    }
    dgamma *= s.scale;
    diff_weights[c] = (float)(dgamma + (operands->accumulate ? (double)diff_weights[c] : 0));
    diff_bias[c] = (float)(dbeta + (operands->accumulate ? (double)diff_bias[c] : 0));
    double a = (double)((const float *)operands->weights)[c] * s.scale;
    double slope = a * s.scale * dgamma / count; /* of dx in x */
    for (int64_t n = 0; dx && n < plan->batch; n++) {
        int64_t o = offset_of(plan, n, c);
        combine(dx + o, dy + o, src + o, a, slope, a * dbeta / count - slope * s.mean, plan->plane);
    }
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    cairn_cpu_enter(cairn_cpu_of(base->device));
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < plan->channels; c++)
        backward_channel(plan, operands, c);
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    free(base);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

cairn_status cairn_cpu_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cpu_check_dtype(desc->dtype));
    int64_t batch = desc->src.dim[0], channels = desc->src.dim[1], plane = desc->src.dim[2] * desc->src.dim[3];
    if (desc->train && batch * plane < 2)
        return cairn_fail(CAIRN_USAGE, "batchnorm: one value a channel has no variance; train on a larger batch");
    batchnorm_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for a batch normalisation");
    *plan = (batchnorm_plan){.base = {.ops = desc->train ? &training_ops : &inference_ops,
                                      .device = device,
                                      .saved = desc->train ? (size_t)channels * sizeof(channel_statistics) : 0,
                                      .algorithm = "loop"},
                             .desc = *desc,
                             .batch = batch,
                             .channels = channels,
                             .plane = plane};
    *out = &plan->base;
    return CAIRN_OK;
}
