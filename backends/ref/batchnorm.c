/* batchnorm.c - batch normalisation, one channel at a time. */
#include "backends/ref/ref.h"
#include <math.h>

typedef struct batchnorm_plan {
    cairn_plan base;
    cairn_batchnorm_desc desc;
    int64_t batch, channels, plane;
} batchnorm_plan;

/* What a training forward saves of a channel. */
typedef struct batchnorm_saved {
    double mean, scale; /* scale = 1 / sqrt(variance + eps) */
} batchnorm_saved;

/* Index of element i of sample n, channel c. */
static int64_t element(const batchnorm_plan *plan, int64_t n, int64_t c, int64_t i)
{
    return (n * plan->channels + c) * plan->plane + i;
}

static double mean_of(const batchnorm_plan *plan, const void *src, int64_t c)
{
    double sum = 0;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t i = 0; i < plan->plane; i++)
            sum += cairn_ref_get(src, plan->desc.dtype, element(plan, n, c, i));
    return sum / (double)(plan->batch * plan->plane);
}

/* Biased: divided by the count. */
static double variance_of(const batchnorm_plan *plan, const void *src, int64_t c, double mean)
{
    double sum = 0;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t i = 0; i < plan->plane; i++) {
            double off = cairn_ref_get(src, plan->desc.dtype, element(plan, n, c, i)) - mean;
            sum += off * off;
        }
    return sum / (double)(plan->batch * plan->plane);
}

/* Statistics of channel c that this forward normalises by; a training one moves the running values too. */
static batchnorm_saved statistics(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    float *running_mean = operands->running_mean, *running_variance = operands->running_variance;
    double mean = (double)running_mean[c], variance = (double)running_variance[c];
    if (operands->train) {
        double keep = 1 - (double)plan->desc.momentum, count = (double)(plan->batch * plan->plane);
        mean = mean_of(plan, operands->src, c);
        variance = variance_of(plan, operands->src, c, mean);
        running_mean[c] = (float)(keep * (double)running_mean[c] + (double)plan->desc.momentum * mean);
        running_variance[c] =
            (float)(keep * (double)running_variance[c] + (double)plan->desc.momentum * variance * count / (count - 1));
    }
    return (batchnorm_saved){.mean = mean, .scale = 1 / sqrt(variance + (double)plan->desc.eps)};
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    cairn_dtype dtype = plan->desc.dtype;
    batchnorm_saved *saved = operands->saved;
    for (int64_t c = 0; c < plan->channels; c++) {
        batchnorm_saved s = statistics(plan, operands, c);
        double gamma = cairn_ref_get(operands->weights, CAIRN_F32, c),
               beta = cairn_ref_get(operands->bias, CAIRN_F32, c);
        for (int64_t n = 0; n < plan->batch; n++)
            for (int64_t i = 0; i < plan->plane; i++) {
                int64_t at = element(plan, n, c, i);
                double x = cairn_ref_get(operands->src, dtype, at);
                cairn_ref_set(operands->dst, dtype, at, gamma * (x - s.mean) * s.scale + beta);
            }
        if (operands->train) saved[c] = s;
    }
    return CAIRN_OK;
}

/* With xhat = (x - mean) * scale: dbeta = sum dy, dgamma = sum dy xhat,
 * dx = gamma * scale * (dy - dbeta / count - xhat dgamma / count)   (Ioffe & Szegedy 2015, section 3). */
static void backward_channel(const batchnorm_plan *plan, const cairn_operands *operands, int64_t c)
{
    cairn_dtype dtype = plan->desc.dtype;
    batchnorm_saved s = ((const batchnorm_saved *)operands->saved)[c];
    double gamma = cairn_ref_get(operands->weights, CAIRN_F32, c), count = (double)(plan->batch * plan->plane);
    double dbeta = 0, dgamma = 0;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t i = 0; i < plan->plane; i++) {
            int64_t at = element(plan, n, c, i);
            double dy = cairn_ref_get(operands->diff_dst, dtype, at);
            dbeta += dy;
            dgamma += dy * (cairn_ref_get(operands->src, dtype, at) - s.mean) * s.scale;
        }
    cairn_ref_put_gradient(operands->diff_weights, c, dgamma, operands->accumulate);
    cairn_ref_put_gradient(operands->diff_bias, c, dbeta, operands->accumulate);
    for (int64_t n = 0; operands->diff_src && n < plan->batch; n++)
        for (int64_t i = 0; i < plan->plane; i++) {
            int64_t at = element(plan, n, c, i);
            double dy = cairn_ref_get(operands->diff_dst, dtype, at);
            double xhat = (cairn_ref_get(operands->src, dtype, at) - s.mean) * s.scale;
            cairn_ref_set(operands->diff_src, dtype, at,
                          gamma * s.scale * (dy - dbeta / count - xhat * dgamma / count));
        }
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const batchnorm_plan *plan = (const batchnorm_plan *)base;
    for (int64_t c = 0; c < plan->channels; c++)
        backward_channel(plan, operands, c);
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("batchnorm", desc->dtype, desc->src_layout));
    int64_t batch = desc->src.dim[0], plane = desc->src.dim[2] * desc->src.dim[3];
    if (desc->train && batch * plane < 2)
        return cairn_fail(CAIRN_USAGE, "batchnorm: one value a channel has no variance; train on a larger batch");
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(batchnorm_plan), &ops[desc->train], out));
    batchnorm_plan *plan = (batchnorm_plan *)*out;
    plan->desc = *desc;
    plan->batch = batch;
    plan->channels = desc->src.dim[1];
    plan->plane = plane;
    if (desc->train) plan->base.saved = (size_t)plan->channels * sizeof(batchnorm_saved);
    return CAIRN_OK;
}
