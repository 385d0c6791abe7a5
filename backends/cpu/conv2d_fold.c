#include "backends/cpu/conv2d_fold.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Folded channel (c * s + dy) * s + dx at (Y, X) is pixel (s Y + dy - pad_h, s X + dx - pad_w) of channel c, and 0 outside the source. */
typedef struct fold {
    cairn_conv2d_candidate base;
    cairn_cpu *cpu;
    cairn_conv2d_candidate *inner;
    bool forward;
    cairn_conv2d_desc desc, folded;
    int64_t block;
    cairn_primitive reorder;  /* of the weights between home and plain; none where home is plain */
    size_t src, weights, raw; /* offsets in the workspace; raw: plain weights. The inner one's workspace starts at 0 */
} fold;

bool cairn_conv2d_can_fold(const cairn_cpu *cpu, const cairn_conv2d_desc *desc)
{
    int64_t stride = desc->stride_h, channels = desc->src.dim[1];
    return desc->groups == 1 && stride == desc->stride_w && stride >= 2 && cpu->block % stride == 0 && channels <= 4 &&
           channels * stride * stride % cpu->block == 0 && desc->out_channels % cpu->block == 0;
}

cairn_conv2d_desc cairn_conv2d_folded(const cairn_conv2d_desc *desc)
{
    cairn_conv2d_desc folded = *desc;
    int64_t stride = desc->stride_h;
    folded.kernel_h = (desc->kernel_h + stride - 1) / stride;
    folded.kernel_w = (desc->kernel_w + stride - 1) / stride;
    folded.src = cairn_shape_make(4, desc->src.dim[0], desc->src.dim[1] * stride * stride,
                                  (desc->src.dim[2] + 2 * desc->pad_h - desc->kernel_h) / stride + folded.kernel_h,
                                  (desc->src.dim[3] + 2 * desc->pad_w - desc->kernel_w) / stride + folded.kernel_w);
    folded.stride_h = folded.stride_w = 1;
    folded.pad_h = folded.pad_w = 0;
    folded.need_diff_src = false;
    folded.src_layout = NULL;
    return folded;
}

/* One row of folded pixels, `stride` lanes of each, from a row of the source; NULL stands for a row of padding. */
static inline __attribute__((always_inline)) void fold_row(float *to, int64_t block, int64_t pixels, const float *row,
                                                           int64_t width, int64_t pad, int64_t stride)
{
    for (int64_t x = 0; x < pixels; x++) {
        int64_t first = x * stride - pad;
        if (row && first >= 0 && first + stride <= width)
            memcpy(to + x * block, row + first, (size_t)stride * sizeof *to);
        else
            for (int64_t k = 0; k < stride; k++)
                to[x * block + k] = row && first + k >= 0 && first + k < width ? row[first + k] : 0.0f;
    }
}

static void fold_source(const fold *f, const float *src, float *folded)
{
    int64_t stride = f->desc.stride_h, block = f->block, height = f->folded.src.dim[2], width = f->folded.src.dim[3];
    int64_t blocks = f->folded.src.dim[1] / block, channels = f->desc.src.dim[1];
    int64_t src_h = f->desc.src.dim[2], src_w = f->desc.src.dim[3];
#pragma omp parallel for collapse(3) schedule(static)
    for (int64_t n = 0; n < f->desc.src.dim[0]; n++)
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t y = 0; y < height; y++)
                for (int64_t lane = 0; lane < block; lane += stride) {
                    int64_t channel = (b * block + lane) / (stride * stride), dy = (b * block + lane) / stride % stride;
                    int64_t at = y * stride + dy - f->desc.pad_h;
                    const float *row =
                        at >= 0 && at < src_h ? src + ((n * channels + channel) * src_h + at) * src_w : NULL;
                    float *to = folded + ((n * blocks + b) * height + y) * width * block + lane;
                    if (stride == 4) /* a constant makes the copy of a pixel one instruction */
                        fold_row(to, block, width, row, src_w, f->desc.pad_w, 4);
                    else
                        fold_row(to, block, width, row, src_w, f->desc.pad_w, stride);
                }
}

/* Place of plain weight (o, c, u, v) in the folded, blocked weights. */
static int64_t folded_weight(const fold *f, int64_t o, int64_t c, int64_t u, int64_t v)
{
    int64_t stride = f->desc.stride_h, block = f->block;
    int64_t channel = (c * stride + u % stride) * stride + v % stride;
    int64_t at = (o / block) * (f->folded.src.dim[1] / block) + channel / block;
    at = (at * f->folded.kernel_h + u / stride) * f->folded.kernel_w + v / stride;
    return (at * block + channel % block) * block + o % block;
}

/* Copies every weight from plain to folded, or back. Taps past the kernel's end are 0 in the folded ones, and dropped on the way back. */
static void move_weights(const fold *f, float *plain, float *folded, bool back)
{
    const cairn_conv2d_desc *d = &f->desc;
    int64_t channels = d->src.dim[1];
    if (!back)
        memset(folded, 0,
               (size_t)(d->out_channels * f->folded.src.dim[1] * f->folded.kernel_h * f->folded.kernel_w) *
                   sizeof *folded);
    for (int64_t o = 0; o < d->out_channels; o++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t u = 0; u < d->kernel_h; u++)
                for (int64_t v = 0; v < d->kernel_w; v++) {
                    float *one = plain + ((o * channels + c) * d->kernel_h + u) * d->kernel_w + v;
                    float *other = folded + folded_weight(f, o, c, u, v);
                    if (back)
                        *one = *other;
                    else
                        *other = *one;
                }
}

static cairn_status run_forward(const fold *f, const cairn_operands *operands)
{
    char *workspace = operands->workspace;
    float *src = (float *)(void *)(workspace + f->src), *weights = (float *)(void *)(workspace + f->weights);
    float *raw = (float *)operands->weights;
    if (f->reorder.handle) {
        raw = (float *)(void *)(workspace + f->raw);
        CAIRN_TRY(cairn_primitive_run(f->cpu, &f->reorder, (void *[]){(void *)operands->weights, raw}, workspace));
    }
    move_weights(f, raw, weights, false);
    fold_source(f, operands->src, src);
    cairn_operands inner = *operands;
    inner.src = src;
    inner.weights = weights;
    return f->inner->run(f->inner, &inner);
}

static cairn_status run_backward_weights(const fold *f, const cairn_operands *operands)
{
    char *workspace = operands->workspace;
    float *src = (float *)(void *)(workspace + f->src), *weights = (float *)(void *)(workspace + f->weights);
    float *raw = f->reorder.handle ? (float *)(void *)(workspace + f->raw) : operands->diff_weights;
    fold_source(f, operands->src, src);
    cairn_operands inner = *operands;
    inner.src = src;
    inner.diff_weights = weights;
    CAIRN_TRY(f->inner->run(f->inner, &inner));
    move_weights(f, raw, weights, true);
    if (!f->reorder.handle) return CAIRN_OK;
    return cairn_primitive_run(f->cpu, &f->reorder, (void *[]){raw, operands->diff_weights}, workspace);
}

static cairn_status run(const cairn_conv2d_candidate *base, const cairn_operands *operands)
{
    const fold *f = (const fold *)base;
    cairn_cpu_enter(f->cpu);
    return f->forward ? run_forward(f, operands) : run_backward_weights(f, operands);
}

static void destroy(cairn_conv2d_candidate *base)
{
    fold *f = (fold *)base;
    cairn_primitive_release(&f->reorder);
    f->inner->destroy(f->inner);
    free(f);
}

static cairn_status add_reorder(fold *f, const cairn_layout *home)
{
    const cairn_layout *plain;
    dnnl_primitive_desc_t pd;
    if (!cairn_layout_public(home)) return CAIRN_OK;
    CAIRN_TRY(cairn_layout_plain_of(f->cpu, home, &plain));
    CAIRN_DNNL(cairn_dnnl_reorder(&pd, f->cpu->engine, cairn_layout_md(f->forward ? home : plain),
                                  cairn_layout_md(f->forward ? plain : home), f->cpu->attributes),
               "plan a reorder of weights");
    cairn_status status = cairn_primitive_create(f->cpu, pd, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO, 0}, &f->reorder);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static void place(fold *f)
{
    const cairn_conv2d_desc *d = &f->folded;
    size_t floats = (size_t)(d->out_channels * d->src.dim[1] * d->kernel_h * d->kernel_w);
    size_t scratch = f->inner->workspace > f->reorder.scratchpad ? f->inner->workspace : f->reorder.scratchpad;
    f->src = cairn_cpu_align(scratch);
    f->weights = f->src + cairn_cpu_align((size_t)cairn_shape_count(d->src) * sizeof(float));
    f->raw = f->weights + cairn_cpu_align(floats * sizeof(float));
    f->base.workspace = f->raw;
    if (f->reorder.handle) f->base.workspace += cairn_cpu_align(floats * sizeof(float)); /* plain ones are fewer */
}

cairn_status cairn_conv2d_fold_create(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_layout *weights,
                                      cairn_conv2d_pass pass, cairn_conv2d_candidate *inner,
                                      cairn_conv2d_candidate **out)
{
    *out = NULL;
    if (!inner) return CAIRN_OK;
    fold *f = pass == CAIRN_CONV2D_BACKWARD_DATA ? NULL : calloc(1, sizeof *f);
    if (!f) {
        inner->destroy(inner);
        return pass == CAIRN_CONV2D_BACKWARD_DATA ? CAIRN_OK : cairn_fail(CAIRN_MEMORY, "no memory for a convolution");
    }
    f->base.run = run;
    f->base.destroy = destroy;
    f->cpu = cpu;
    f->inner = inner;
    f->forward = pass == CAIRN_CONV2D_FORWARD;
    f->desc = *desc;
    f->folded = cairn_conv2d_folded(desc);
    f->block = cpu->block;
    snprintf(f->base.name, sizeof f->base.name, "folded %.50s", inner->name);
    cairn_status status = add_reorder(f, weights);
    if (status != CAIRN_OK) {
        destroy(&f->base);
        return status;
    }
    place(f);
    *out = &f->base;
    return CAIRN_OK;
}
