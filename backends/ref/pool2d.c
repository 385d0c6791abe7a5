/* pool2d.c - maximum, average and adaptive average over windows of a plane. */
#include "backends/ref/ref.h"
#include <math.h>
#include <string.h>

typedef struct pool2d_plan {
    cairn_plan base;
    cairn_pool2d_desc desc;
    int64_t planes, in_plane, out_plane; /* N * C, and elements of a plane */
} pool2d_plan;

/* One window: rows [top, bottom) and columns [left, right) of the source, and the divisor of its average. */
typedef struct window {
    int64_t top, bottom, left, right;
    double divisor;
} window;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static window window_at(const cairn_pool2d_desc *d, int64_t i, int64_t j)
{
    int64_t h = d->src.dim[2], w = d->src.dim[3];
    if (d->kind == CAIRN_POOL_ADAPTIVE_AVERAGE) {
        window a = {.top = i * h / d->out_h,
                    .bottom = ((i + 1) * h + d->out_h - 1) / d->out_h,
                    .left = j * w / d->out_w,
                    .right = ((j + 1) * w + d->out_w - 1) / d->out_w};
        a.divisor = (double)((a.bottom - a.top) * (a.right - a.left));
        return a;
    }
    int64_t top = i * d->stride_h - d->pad_h, left = j * d->stride_w - d->pad_w;
    int64_t bottom = smaller(top + d->kernel_h, h + d->pad_h), right = smaller(left + d->kernel_w, w + d->pad_w);
    return (window){.top = larger(top, 0),
                    .bottom = smaller(bottom, h),
                    .left = larger(left, 0),
                    .right = smaller(right, w),
                    .divisor = (double)((bottom - top) * (right - left))};
}

/* Position in the plane of the window's first maximum; a NaN wins, so that it is seen. */
static int64_t maximum(const cairn_pool2d_desc *d, const void *src, int64_t plane, window at)
{
    int64_t w = d->src.dim[3], best = at.top * w + at.left;
    double most = -INFINITY;
    for (int64_t i = at.top; i < at.bottom; i++)
        for (int64_t j = at.left; j < at.right; j++) {
            double value = cairn_ref_get(src, d->dtype, plane + i * w + j);
            if (value > most || (isnan(value) && !isnan(most))) {
                most = value;
                best = i * w + j;
            }
        }
    return best;
}

static double average(const cairn_pool2d_desc *d, const void *src, int64_t plane, window at)
{
    double sum = 0;
    for (int64_t i = at.top; i < at.bottom; i++)
        for (int64_t j = at.left; j < at.right; j++)
            sum += cairn_ref_get(src, d->dtype, plane + i * d->src.dim[3] + j);
    return sum / at.divisor;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    const cairn_pool2d_desc *d = &plan->desc;
    int32_t *winner = operands->train ? operands->saved : NULL; /* of each window, its position in the plane */
    int64_t out = 0;
    for (int64_t p = 0; p < plan->planes; p++)
        for (int64_t i = 0; i < d->out_h; i++)
            for (int64_t j = 0; j < d->out_w; j++, out++) {
                int64_t plane = p * plan->in_plane;
                double y;
                if (d->kind == CAIRN_POOL_MAX) {
                    int64_t best = maximum(d, operands->src, plane, window_at(d, i, j));
                    if (winner) winner[out] = (int32_t)best;
                    y = cairn_ref_get(operands->src, d->dtype, plane + best);
                } else {
                    y = average(d, operands->src, plane, window_at(d, i, j));
                }
                cairn_ref_set(operands->dst, d->dtype, out, y);
            }
    return CAIRN_OK;
}

/* Adds what one plane of dy sends to its source into `sum`. */
static void backward_plane(const pool2d_plan *plan, const cairn_operands *operands, int64_t p, double *sum)
{
    const cairn_pool2d_desc *d = &plan->desc;
    const int32_t *winner = operands->saved;
    int64_t out = p * plan->out_plane;
    for (int64_t i = 0; i < d->out_h; i++)
        for (int64_t j = 0; j < d->out_w; j++, out++) {
            double dy = cairn_ref_get(operands->diff_dst, d->dtype, out);
            if (d->kind == CAIRN_POOL_MAX) {
                sum[winner[out]] += dy;
                continue;
            }
            window at = window_at(d, i, j);
            for (int64_t r = at.top; r < at.bottom; r++)
                for (int64_t c = at.left; c < at.right; c++)
                    sum[r * d->src.dim[3] + c] += dy / at.divisor;
        }
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const pool2d_plan *plan = (const pool2d_plan *)base;
    const cairn_pool2d_desc *d = &plan->desc;
    double *sum = operands->workspace;
    if (d->relu_backward)
        cairn_ref_relu_mask(operands->diff_dst, operands->dst, d->dtype, plan->planes * plan->out_plane);
    for (int64_t p = 0; p < plan->planes; p++) {
        memset(sum, 0, (size_t)plan->in_plane * sizeof *sum);
        backward_plane(plan, operands, p, sum);
        for (int64_t i = 0; i < plan->in_plane; i++)
            cairn_ref_set(operands->diff_src, d->dtype, p * plan->in_plane + i, sum[i]);
    }
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

/* Every window must hold an element of the source, or a maximum has nothing to choose from. */
static cairn_status check(const cairn_pool2d_desc *d)
{
    CAIRN_TRY(cairn_ref_check("pool2d", d->dtype, d->src_layout));
    if (d->out_h < 1 || d->out_w < 1)
        return cairn_fail(CAIRN_USAGE, "pool2d: an output of %lldx%lld is empty", (long long)d->out_h,
                          (long long)d->out_w);
    if (d->relu_backward && d->kind != CAIRN_POOL_MAX)
        return cairn_fail(CAIRN_USAGE, "pool2d: only a max-pool can mask a ReLU's gradient");
    if (d->kind == CAIRN_POOL_ADAPTIVE_AVERAGE) return CAIRN_OK;
    if (d->stride_h < 1 || d->stride_w < 1 || d->pad_h < 0 || d->pad_w < 0 || d->pad_h >= d->kernel_h ||
        d->pad_w >= d->kernel_w)
        return cairn_fail(CAIRN_USAGE,
                          "pool2d: stride must be at least 1 and padding at least 0 and below the kernel's size");
    if ((d->out_h - 1) * d->stride_h >= d->src.dim[2] + d->pad_h ||
        (d->out_w - 1) * d->stride_w >= d->src.dim[3] + d->pad_w)
        return cairn_fail(CAIRN_USAGE, "pool2d: the last of %lldx%lld windows starts outside the %lldx%lld source",
                          (long long)d->out_h, (long long)d->out_w, (long long)d->src.dim[2], (long long)d->src.dim[3]);
    return CAIRN_OK;
}

cairn_status cairn_ref_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(check(desc));
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(pool2d_plan), &ops[desc->train], out));
    pool2d_plan *plan = (pool2d_plan *)*out;
    plan->desc = *desc;
    plan->base.spares_src = true;
    plan->base.spares_dst = !desc->relu_backward;
    plan->planes = desc->src.dim[0] * desc->src.dim[1];
    plan->in_plane = desc->src.dim[2] * desc->src.dim[3];
    plan->out_plane = desc->out_h * desc->out_w;
    plan->base.workspace = (size_t)plan->in_plane * sizeof(double);
    if (desc->train && desc->kind == CAIRN_POOL_MAX)
        plan->base.saved = (size_t)(plan->planes * plan->out_plane) * sizeof(int32_t);
    return CAIRN_OK;
}
