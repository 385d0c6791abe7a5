/* linear.c - the fully connected layer, one row of weights (one output feature) at a time. */
#include "backends/ref/ref.h"
#include <string.h>

typedef struct linear_plan {
    cairn_plan base;
    cairn_linear_desc desc;
} linear_plan;

/* The parts of the workspace. */
typedef struct linear_scratch {
    double *x;  /* (N, I) */
    double *dx; /* (N, I) */
    double *w;  /* (I): a row of weights */
    double *dw; /* (I): and its gradient */
} linear_scratch;

static linear_scratch scratch_of(const cairn_linear_desc *d, void *workspace)
{
    linear_scratch s = {.x = workspace};
    s.dx = s.x + d->batch * d->in_features;
    s.w = s.dx + d->batch * d->in_features;
    s.dw = s.w + d->in_features;
    return s;
}

enum { LANES = 8 }; /* independent partial sums, so that one addition needn't wait for the last */

static double dot(const double *a, const double *b, int64_t count)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* y += a * x */
static void add_scaled(double a, const double *restrict x, double *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] += a * x[i];
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_linear_desc *d = &((const linear_plan *)base)->desc;
    linear_scratch s = scratch_of(d, operands->workspace);
    cairn_ref_widen(operands->src, d->dtype, 0, d->batch * d->in_features, s.x);
    for (int64_t o = 0; o < d->out_features; o++) {
        double bias = d->has_bias ? cairn_ref_get(operands->bias, d->dtype, o) : 0;
        cairn_ref_widen(operands->weights, d->dtype, o * d->in_features, d->in_features, s.w);
        for (int64_t n = 0; n < d->batch; n++) {
            double y = bias + dot(s.x + n * d->in_features, s.w, d->in_features);
            cairn_ref_set(operands->dst, d->dtype, n * d->out_features + o, d->relu ? cairn_ref_relu(y) : y);
        }
    }
    return CAIRN_OK;
}

/* The gradients that output feature `o` has a part in: its bias, its row of weights, and the source. */
static void backward_feature(const cairn_linear_desc *d, const linear_scratch *s, const cairn_operands *operands,
                             int64_t o)
{
    double bias_sum = 0;
    memset(s->dw, 0, (size_t)d->in_features * sizeof *s->dw);
    if (operands->diff_src) cairn_ref_widen(operands->weights, d->dtype, o * d->in_features, d->in_features, s->w);
    for (int64_t n = 0; n < d->batch; n++) {
        double dy = cairn_ref_get(operands->diff_dst, d->dtype, n * d->out_features + o);
        bias_sum += dy;
        add_scaled(dy, s->x + n * d->in_features, s->dw, d->in_features);
        if (operands->diff_src) add_scaled(dy, s->w, s->dx + n * d->in_features, d->in_features);
    }
    if (d->has_bias) cairn_ref_put_gradient(operands->diff_bias, o, bias_sum, operands->accumulate);
    for (int64_t i = 0; i < d->in_features; i++)
        cairn_ref_put_gradient(operands->diff_weights, o * d->in_features + i, s->dw[i], operands->accumulate);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const cairn_linear_desc *d = &((const linear_plan *)base)->desc;
    linear_scratch s = scratch_of(d, operands->workspace);
    int64_t sources = d->batch * d->in_features;
    if (d->relu_backward) cairn_ref_relu_mask(operands->diff_dst, operands->dst, d->dtype, d->batch * d->out_features);
    cairn_ref_widen(operands->src, d->dtype, 0, sources, s.x);
    memset(s.dx, 0, (size_t)sources * sizeof *s.dx);
    for (int64_t o = 0; o < d->out_features; o++)
        backward_feature(d, &s, operands, o);
    for (int64_t i = 0; operands->diff_src && i < sources; i++)
        cairn_ref_set(operands->diff_src, d->dtype, i, s.dx[i]);
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("linear", desc->dtype, desc->src_layout));
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(linear_plan), &ops[desc->train], out));
    ((linear_plan *)*out)->desc = *desc;
    (*out)->spares_dst = !desc->relu_backward;
    (*out)->workspace = (size_t)(2 * (desc->batch + 1) * desc->in_features) * sizeof(double);
    return CAIRN_OK;
}
