/* conv2d.c - convolution as its definition: a sum over input channels and kernel taps of shifted planes.
 *
 * The source is first copied as doubles into planes with the padding around them, so that no loop asks where a border is. For one tap
 * (u, v) output row i meets padded row i * stride_h + u from column v on. */
#include "backends/ref/ref.h"
#include <string.h>

typedef struct conv2d_plan {
    cairn_plan base;
    cairn_conv2d_desc desc;
    int64_t batch, channels, group_channels, group_outputs; /* the latter two of one group */
    int64_t out_h, out_w, padded_h, padded_w;
    int64_t out_plane, padded_plane; /* elements of one */
} conv2d_plan;

/* The parts of the workspace. */
typedef struct conv2d_scratch {
    double *padded; /* (N, C, padded_h, padded_w): the source */
    double *dy;     /* (N, O, P, Q) */
    double *plane;  /* one plane of sums, in output or padded size */
} conv2d_scratch;

static conv2d_scratch scratch_of(const conv2d_plan *plan, void *workspace)
{
    conv2d_scratch s = {.padded = workspace};
    s.dy = s.padded + plan->batch * plan->channels * plan->padded_plane;
    s.plane = s.dy + plan->batch * plan->desc.out_channels * plan->out_plane;
    return s;
}

static void pad_source(const conv2d_plan *plan, const void *src, double *padded)
{
    int64_t h = plan->desc.src.dim[2], w = plan->desc.src.dim[3], planes = plan->batch * plan->channels;
    memset(padded, 0, (size_t)(planes * plan->padded_plane) * sizeof *padded);
    for (int64_t p = 0; p < planes; p++)
        for (int64_t i = 0; i < h; i++)
            cairn_ref_widen(src, plan->desc.dtype, (p * h + i) * w, w,
                            padded + p * plan->padded_plane + (i + plan->desc.pad_h) * plan->padded_w +
                                plan->desc.pad_w);
}

/* y[i][j] += w * x[i * stride_h][j * stride_w], x already moved to the tap. */
static void add_tap(const conv2d_plan *plan, double w, const double *restrict x, double *restrict y)
{
    int64_t stride = plan->desc.stride_w, columns = plan->out_w;
    for (int64_t i = 0; i < plan->out_h; i++, x += plan->desc.stride_h * plan->padded_w, y += columns)
        for (int64_t j = 0; j < columns; j++)
            y[j] += w * x[j * stride];
}

/* dx[i * stride_h][j * stride_w] += w * dy[i][j]: the same edges of the graph, walked the other way. */
static void add_tap_backward(const conv2d_plan *plan, double w, const double *restrict dy, double *restrict dx)
{
    int64_t stride = plan->desc.stride_w, columns = plan->out_w;
    for (int64_t i = 0; i < plan->out_h; i++, dx += plan->desc.stride_h * plan->padded_w, dy += columns)
        for (int64_t j = 0; j < columns; j++)
            dx[j * stride] += w * dy[j];
}

/* sum over n, i, j of dy[n][i][j] * x[n][i * stride_h][j * stride_w]. One partial sum a column, which vector units like. */
static double tap_gradient(const conv2d_plan *plan, const double *x, const double *dy, double *restrict column)
{
    int64_t stride = plan->desc.stride_w, columns = plan->out_w;
    memset(column, 0, (size_t)columns * sizeof *column);
    for (int64_t n = 0; n < plan->batch; n++) {
        const double *restrict xr = x + n * plan->channels * plan->padded_plane;
        const double *restrict yr = dy + n * plan->desc.out_channels * plan->out_plane;
        for (int64_t i = 0; i < plan->out_h; i++, xr += plan->desc.stride_h * plan->padded_w, yr += columns)
            for (int64_t j = 0; j < columns; j++)
                column[j] += yr[j] * xr[j * stride];
    }
    double sum = 0;
    for (int64_t j = 0; j < columns; j++)
        sum += column[j];
    return sum;
}

/* Index of w[o][c][u][v], c counted inside the group. */
static int64_t weight_at(const conv2d_plan *plan, int64_t o, int64_t c, int64_t u, int64_t v)
{
    return ((o * plan->group_channels + c) * plan->desc.kernel_h + u) * plan->desc.kernel_w + v;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const conv2d_plan *plan = (const conv2d_plan *)base;
    const cairn_conv2d_desc *d = &plan->desc;
    conv2d_scratch s = scratch_of(plan, operands->workspace);
    pad_source(plan, operands->src, s.padded);
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t o = 0; o < d->out_channels; o++) {
            int64_t first = o / plan->group_outputs * plan->group_channels; /* first input channel of o's group */
            double bias = d->has_bias ? cairn_ref_get(operands->bias, d->dtype, o) : 0;
            for (int64_t i = 0; i < plan->out_plane; i++)
                s.plane[i] = bias;
            for (int64_t c = 0; c < plan->group_channels; c++)
                for (int64_t u = 0; u < d->kernel_h; u++)
                    for (int64_t v = 0; v < d->kernel_w; v++)
                        add_tap(plan, cairn_ref_get(operands->weights, d->dtype, weight_at(plan, o, c, u, v)),
                                s.padded + (n * plan->channels + first + c) * plan->padded_plane + u * plan->padded_w +
                                    v,
                                s.plane);
            int64_t at = (n * d->out_channels + o) * plan->out_plane;
            for (int64_t i = 0; i < plan->out_plane; i++)
                cairn_ref_set(operands->dst, d->dtype, at + i, d->relu ? cairn_ref_relu(s.plane[i]) : s.plane[i]);
        }
    return CAIRN_OK;
}

static void bias_gradient(const conv2d_plan *plan, const conv2d_scratch *s, const cairn_operands *operands)
{
    for (int64_t o = 0; o < plan->desc.out_channels; o++) {
        double sum = 0;
        for (int64_t n = 0; n < plan->batch; n++)
            for (int64_t i = 0; i < plan->out_plane; i++)
                sum += s->dy[(n * plan->desc.out_channels + o) * plan->out_plane + i];
        cairn_ref_put_gradient(operands->diff_bias, o, sum, operands->accumulate);
    }
}

static void weight_gradient(const conv2d_plan *plan, const conv2d_scratch *s, const cairn_operands *operands)
{
    const cairn_conv2d_desc *d = &plan->desc;
    for (int64_t o = 0; o < d->out_channels; o++) {
        int64_t first = o / plan->group_outputs * plan->group_channels;
        for (int64_t c = 0; c < plan->group_channels; c++)
            for (int64_t u = 0; u < d->kernel_h; u++)
                for (int64_t v = 0; v < d->kernel_w; v++) {
                    double sum =
                        tap_gradient(plan, s->padded + (first + c) * plan->padded_plane + u * plan->padded_w + v,
                                     s->dy + o * plan->out_plane, s->plane);
                    cairn_ref_put_gradient(operands->diff_weights, weight_at(plan, o, c, u, v), sum,
                                           operands->accumulate);
                }
    }
}

/* Writes the inside of a padded plane of sums, the padding's share dropped. */
static void put_inside(const conv2d_plan *plan, const double *plane, void *dx, int64_t at)
{
    int64_t h = plan->desc.src.dim[2], w = plan->desc.src.dim[3];
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++)
            cairn_ref_set(dx, plan->desc.dtype, at + i * w + j,
                          plane[(i + plan->desc.pad_h) * plan->padded_w + j + plan->desc.pad_w]);
}

static void source_gradient(const conv2d_plan *plan, const conv2d_scratch *s, const cairn_operands *operands)
{
    const cairn_conv2d_desc *d = &plan->desc;
    for (int64_t n = 0; n < plan->batch; n++)
        for (int64_t channel = 0; channel < plan->channels; channel++) {
            int64_t c = channel % plan->group_channels;
            int64_t first = channel / plan->group_channels * plan->group_outputs; /* first output of c's group */
            memset(s->plane, 0, (size_t)plan->padded_plane * sizeof *s->plane);
            for (int64_t o = first; o < first + plan->group_outputs; o++)
                for (int64_t u = 0; u < d->kernel_h; u++)
                    for (int64_t v = 0; v < d->kernel_w; v++)
                        add_tap_backward(plan, cairn_ref_get(operands->weights, d->dtype, weight_at(plan, o, c, u, v)),
                                         s->dy + (n * d->out_channels + o) * plan->out_plane,
                                         s->plane + u * plan->padded_w + v);
            put_inside(plan, s->plane, operands->diff_src,
                       (n * plan->channels + channel) * d->src.dim[2] * d->src.dim[3]);
        }
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const conv2d_plan *plan = (const conv2d_plan *)base;
    const cairn_conv2d_desc *d = &plan->desc;
    conv2d_scratch s = scratch_of(plan, operands->workspace);
    int64_t outputs = plan->batch * d->out_channels * plan->out_plane;
    if (d->relu_backward) cairn_ref_relu_mask(operands->diff_dst, operands->dst, d->dtype, outputs);
    cairn_ref_widen(operands->diff_dst, d->dtype, 0, outputs, s.dy);
    if (d->has_bias) bias_gradient(plan, &s, operands);
    pad_source(plan, operands->src, s.padded);
    weight_gradient(plan, &s, operands);
    if (operands->diff_src) source_gradient(plan, &s, operands);
    return CAIRN_OK;
}

static const cairn_plan_ops ops[2] = {
    {.forward = forward, .destroy = cairn_ref_plan_destroy},
    {.forward = forward, .backward = backward, .destroy = cairn_ref_plan_destroy},
};

cairn_status cairn_ref_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_ref_check("conv2d", desc->dtype, desc->src_layout));
    CAIRN_TRY(cairn_conv2d_desc_check(desc));
    CAIRN_TRY(cairn_ref_plan_create(device, sizeof(conv2d_plan), &ops[desc->train], out));
    conv2d_plan *plan = (conv2d_plan *)*out;
    plan->desc = *desc;
    plan->base.spares_dst = !desc->relu_backward;
    plan->batch = desc->src.dim[0];
    plan->channels = desc->src.dim[1];
    plan->group_channels = plan->channels / desc->groups;
    plan->group_outputs = desc->out_channels / desc->groups;
    plan->padded_h = desc->src.dim[2] + 2 * desc->pad_h;
    plan->padded_w = desc->src.dim[3] + 2 * desc->pad_w;
    plan->out_h = (plan->padded_h - desc->kernel_h) / desc->stride_h + 1;
    plan->out_w = (plan->padded_w - desc->kernel_w) / desc->stride_w + 1;
    plan->out_plane = plan->out_h * plan->out_w;
    plan->padded_plane = plan->padded_h * plan->padded_w;
    int64_t widest = plan->out_plane > plan->padded_plane ? plan->out_plane : plan->padded_plane;
    plan->base.workspace =
        (size_t)(plan->batch * (plan->channels * plan->padded_plane + desc->out_channels * plan->out_plane) + widest) *
        sizeof(double);
    return CAIRN_OK;
}
