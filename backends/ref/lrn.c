/* lrn.c - local response normalisation across channels. */
#include "backends/ref/ref.h"
#include <math.h>

typedef struct lrn_plan {
    cairn_plan base;
    cairn_lrn_desc desc;
    int64_t batch, channels, plane;
} lrn_plan;

/* The parts of the workspace, one number a channel each: the column of channels at one position of one sample. */
typedef struct lrn_column {
    double *x;
    double *s;     /* k + alpha / size * sum of squares in the window */
    double *ratio; /* dy y / s */
} lrn_column;

static lrn_column column_of(const lrn_plan *plan, void *workspace)
{
    double *start = workspace;
    return (lrn_column){.x = start, .s = start + plan->channels, .ratio = start + 2 * plan->channels};
}

/* Sum of v[j] for j in [first, last] cut to the channels there are. */
static double window_sum(const lrn_plan *plan, const double *v, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t j = first < 0 ? 0 : first; j <= last && j < plan->channels; j++)
        sum += v[j];
    return sum;
}

/* Loads the column that starts at element `at` and works out x and s. `ratio` serves for the squares meanwhile. */
static void load_column(const lrn_plan *plan, const void *src, int64_t at, lrn_column column)
{
    const cairn_lrn_desc *d = &plan->desc;
    for (int64_t c = 0; c < plan->channels; c++) {
        column.x[c] = cairn_ref_get(src, d->dtype, at + c * plan->plane);
        column.ratio[c] = column.x[c] * column.x[c];
    }
    for (int64_t c = 0; c < plan->channels; c++)
        column.s[c] = (double)d->k + (double)d->alpha / (double)d->size *
                                         window_sum(plan, column.ratio, c - d->size / 2, c + (d->size - 1) / 2);
}

static void forward_column(const lrn_plan *plan, const cairn_operands *operands, int64_t at, lrn_column column)
{
    load_column(plan, operands->src, at, column);
    for (int64_t c = 0; c < plan->channels; c++)
        cairn_ref_set(operands->dst, plan->desc.dtype, at + c * plan->plane,
                      column.x[c] * pow(column.s[c], -(double)plan->desc.beta));
}

static void backward_column(const lrn_plan *plan, const cairn_operands *operands, int64_t at, lrn_column column)
{
    const cairn_lrn_desc *d = &plan->desc;
    double alpha = (double)d->alpha, beta = (double)d->beta;
    load_column(plan, operands->src, at, column);
    for (int64_t c = 0; c < plan->channels; c++) {
        double dy = cairn_ref_get(operands->diff_dst, d->dtype, at + c * plan->plane);
        column.ratio[c] = dy * column.x[c] * pow(column.s[c], -beta - 1);
    }
    for (int64_t c = 0; c < plan->channels; c++) {
        double dy = cairn_ref_get(operands->diff_dst, d->dtype, at + c * plan->plane);
        double around = window_sum(plan, column.ratio, c - (d->size - 1) / 2, c + d->size / 2); /* j that see c */
        cairn_ref_set(operands->diff_src, d->dtype, at + c * plan->plane,
                      dy * pow(column.s[c], -beta) - 2 * alpha * beta / (double)d->size * column.x[c] * around);
    }
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t p = 0; p < plan->plane; p++)
            forward_column(plan, operands, n * plan->channels * plan->plane + p, column_of(plan, operands->workspace));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const lrn_plan *plan = (const lrn_plan *)base;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t p = 0; p < plan->plane; p++)
            backward_column(plan, operands, n * plan->channels * plan->plane + p, column_of(plan, operands->workspace));
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("lrn", desc->dtype, desc->src_layout));
    if (desc->size < 1)
        return cairn_fail(CAIRN_USAGE, "lrn: a window of %lld channels is empty", (long long)desc->size);
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(lrn_plan), &ops[desc->train], out));
    lrn_plan *plan = (lrn_plan *)*out;
    plan->desc = *desc;
    plan->base.spares_dst = true; /* backward works y and s out again from src, in double */
    plan->batch = desc->src.dim[0];
    plan->channels = desc->src.dim[1];
    plan->plane = desc->src.dim[2] * desc->src.dim[3];
    plan->base.workspace = (size_t)(3 * plan->channels) * sizeof(double);
    return CAIRN_OK;
}
