#include "backends/cpu/average_pool.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/simd.h"
#include <stdlib.h>
#include <string.h>

/* Along one axis, for each output: the elements first..last - 1 of the input, and how many the window counts. */
typedef struct window {
    int64_t first, last, count;
} window;

typedef struct average_plan {
    cairn_plan base;
    cairn_layout_grid src;
    int64_t out_h, out_w;
    bool identity; /* every window is one element: a copy */
    window *rows, *columns;
} average_plan;

/* [first, first + kernel) cut at the padded input for the count, and at the input for the sum (PyTorch's count_include_pad). */
static window sliding(int64_t i, int64_t in, int64_t kernel, int64_t stride, int64_t pad)
{
    int64_t first = i * stride - pad, last = first + kernel;
    if (last > in + pad) last = in + pad;
    return (window){first < 0 ? 0 : first, last > in ? in : last, last - first};
}

static window adaptive(int64_t i, int64_t in, int64_t out)
{
    int64_t first = i * in / out, last = ((i + 1) * in + out - 1) / out;
    return (window){first, last, last - first};
}

/* dst[inner] of one output. */
CAIRN_CPU_CLONES static void gather(float *dst, const float *src, const cairn_layout_grid *grid, window row,
                                    window column)
{
    int64_t inner = grid->inner;
    float divisor = (float)(row.count * column.count);
    for (int64_t k = 0; k < inner; k++)
        dst[k] = 0;
    for (int64_t i = row.first; i < row.last; i++)
        for (int64_t j = column.first; j < column.last; j++)
            for (int64_t k = 0; k < inner; k++)
                dst[k] += src[(i * grid->width + j) * inner + k];
    for (int64_t k = 0; k < inner; k++)
        dst[k] /= divisor;
}

CAIRN_CPU_CLONES static void scatter(float *diff_src, const float *diff_dst, const cairn_layout_grid *grid, window row,
                                     window column)
{
    int64_t inner = grid->inner;
    float divisor = (float)(row.count * column.count);
    for (int64_t i = row.first; i < row.last; i++)
        for (int64_t j = column.first; j < column.last; j++)
            for (int64_t k = 0; k < inner; k++)
                diff_src[(i * grid->width + j) * inner + k] += diff_dst[k] / divisor;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    const average_plan *plan = (const average_plan *)base;
    const cairn_layout_grid *grid = &plan->src;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    int64_t in = grid->height * grid->width * grid->inner, out = plan->out_h * plan->out_w * grid->inner;
    const float *src = operands->src;
    float *dst = operands->dst;
    if (plan->identity) {
        cairn_elementwise_copy(cpu, dst, src, grid->outer * in);
        return CAIRN_OK;
    }
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < grid->outer; o++)
        for (int64_t i = 0; i < plan->out_h; i++)
            for (int64_t j = 0; j < plan->out_w; j++)
                gather(dst + o * out + (i * plan->out_w + j) * grid->inner, src + o * in, grid, plan->rows[i],
                       plan->columns[j]);
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    const average_plan *plan = (const average_plan *)base;
    const cairn_layout_grid *grid = &plan->src;
    cairn_cpu *cpu = cairn_cpu_of(base->device);
    int64_t in = grid->height * grid->width * grid->inner, out = plan->out_h * plan->out_w * grid->inner;
    const float *diff_dst = operands->diff_dst;
    float *diff_src = operands->diff_src;
    if (plan->identity) {
        cairn_elementwise_copy(cpu, diff_src, diff_dst, grid->outer * in);
        return CAIRN_OK;
    }
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < grid->outer; o++) {
        memset(diff_src + o * in, 0, (size_t)in * sizeof *diff_src);
        for (int64_t i = 0; i < plan->out_h; i++)
            for (int64_t j = 0; j < plan->out_w; j++)
                scatter(diff_src + o * in, diff_dst + o * out + (i * plan->out_w + j) * grid->inner, grid,
                        plan->rows[i], plan->columns[j]);
    }
    return CAIRN_OK;
}

static void destroy(cairn_plan *base)
{
    average_plan *plan = (average_plan *)base;
    free(plan->rows);
    free(plan->columns);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* dst lies as src does. */
static cairn_status choose_layouts(average_plan *plan, const cairn_pool2d_desc *d)
{
    cairn_cpu *cpu = cairn_cpu_of(plan->base.device);
    const cairn_layout *src, *dst;
    CAIRN_TRY(cairn_layout_of(cpu, d->src, d->src_layout, &src));
    if (!cairn_layout_as_grid(src, &plan->src)) {
        CAIRN_TRY(cairn_layout_of(cpu, d->src, NULL, &src));
        cairn_layout_as_grid(src, &plan->src);
    }
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_shape_make(4, d->src.dim[0], d->src.dim[1], d->out_h, d->out_w),
                               plan->src.tag, &dst));
    plan->base.layout.src = plan->base.layout.diff_src = cairn_layout_public(src);
    plan->base.layout.dst = plan->base.layout.diff_dst = cairn_layout_public(dst);
    return CAIRN_OK;
}

static cairn_status fill(average_plan *plan, const cairn_pool2d_desc *d)
{
    CAIRN_TRY(choose_layouts(plan, d));
    plan->out_h = d->out_h;
    plan->out_w = d->out_w;
    plan->rows = calloc((size_t)d->out_h, sizeof *plan->rows);
    plan->columns = calloc((size_t)d->out_w, sizeof *plan->columns);
    if (!plan->rows || !plan->columns) return cairn_fail(CAIRN_MEMORY, "no memory for an average pool");
    bool whole = d->kind == CAIRN_POOL_ADAPTIVE_AVERAGE;
    for (int64_t i = 0; i < d->out_h; i++)
        plan->rows[i] = whole ? adaptive(i, d->src.dim[2], d->out_h)
                              : sliding(i, d->src.dim[2], d->kernel_h, d->stride_h, d->pad_h);
    for (int64_t j = 0; j < d->out_w; j++)
        plan->columns[j] = whole ? adaptive(j, d->src.dim[3], d->out_w)
                                 : sliding(j, d->src.dim[3], d->kernel_w, d->stride_w, d->pad_w);
    plan->identity = whole && d->src.dim[2] == d->out_h && d->src.dim[3] == d->out_w;
    return CAIRN_OK;
}

cairn_status cairn_average_pool_plan(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    if (desc->relu_backward) return cairn_fail(CAIRN_USAGE, "pool2d: only a max-pool can mask a ReLU's gradient");
    average_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return cairn_fail(CAIRN_MEMORY, "no memory for an average pool");
    plan->base = (cairn_plan){.ops = desc->train ? &training_ops : &inference_ops,
                              .device = device,
                              .spares_src = true,
                              .spares_dst = true,
                              .algorithm = "loop"};
    cairn_status status = fill(plan, desc);
    if (status != CAIRN_OK)
        destroy(&plan->base);
    else
        *out = &plan->base;
    return status;
}
