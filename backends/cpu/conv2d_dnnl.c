#include "backends/cpu/conv2d_dnnl.h"
#include "backends/cpu/conv2d_fold.h"
#include "backends/cpu/primitive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cairn_shape cairn_conv2d_dst(const cairn_conv2d_desc *desc)
{
    return cairn_shape_make(4, desc->src.dim[0], desc->out_channels,
                            (desc->src.dim[2] + 2 * desc->pad_h - desc->kernel_h) / desc->stride_h + 1,
                            (desc->src.dim[3] + 2 * desc->pad_w - desc->kernel_w) / desc->stride_w + 1);
}

int cairn_conv2d_weight_dims(const cairn_conv2d_desc *desc, int64_t dims[5])
{
    int rank = 0;
    if (desc->groups > 1) dims[rank++] = desc->groups;
    dims[rank++] = desc->out_channels / desc->groups;
    dims[rank++] = desc->src.dim[1] / desc->groups;
    dims[rank++] = desc->kernel_h;
    dims[rank++] = desc->kernel_w;
    return rank;
}

/* ---- primitive descriptors ---- */

/* What a primitive descriptor is made from: layouts, some of them "any". */
static cairn_dnnl_convolution describe(const cairn_conv2d_desc *desc, dnnl_alg_kind_t algorithm,
                                       const cairn_conv2d_layouts *layouts, const cairn_layout *bias)
{
    return (cairn_dnnl_convolution){
        .algorithm = algorithm,
        .src = cairn_layout_md(layouts->src),
        .weights = cairn_layout_md(layouts->weights),
        .dst = cairn_layout_md(layouts->dst),
        .bias = bias ? cairn_layout_md(bias) : NULL,
        .stride = {desc->stride_h, desc->stride_w},
        .pad_low = {desc->pad_h, desc->pad_w},
        .pad_high = {desc->pad_h, desc->pad_w},
    };
}

static cairn_status bias_layout(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_layout **out)
{
    *out = NULL;
    return desc->has_bias ? cairn_layout_plain(cpu, 1, &desc->out_channels, out) : CAIRN_OK;
}

/* *out is NULL when oneDNN has no implementation. */
static cairn_status describe_forward(cairn_cpu *cpu, const cairn_conv2d_desc *desc, dnnl_alg_kind_t algorithm,
                                     const cairn_conv2d_layouts *layouts, dnnl_primitive_desc_t *out)
{
    const cairn_layout *bias;
    CAIRN_TRY(bias_layout(cpu, desc, &bias));
    cairn_dnnl_convolution c = describe(desc, algorithm, layouts, bias);
    *out = NULL;
    dnnl_status_t status =
        cairn_dnnl_convolution_forward(out, cpu->engine, &c, desc->relu ? cpu->relu_attributes : cpu->attributes);
    if (status == dnnl_unimplemented) return CAIRN_OK;
    CAIRN_DNNL(status, "plan a convolution");
    return CAIRN_OK;
}

static cairn_status describe_pass(cairn_cpu *cpu, const cairn_conv2d_desc *desc, dnnl_alg_kind_t algorithm,
                                  const cairn_conv2d_layouts *layouts, cairn_conv2d_pass pass,
                                  dnnl_primitive_desc_t *out)
{
    dnnl_primitive_desc_t forward;
    *out = NULL;
    CAIRN_TRY(describe_forward(cpu, desc, algorithm, layouts, &forward));
    if (pass == CAIRN_CONV2D_FORWARD || !forward) {
        *out = forward;
        return CAIRN_OK;
    }
    const cairn_layout *bias;
    cairn_status status = bias_layout(cpu, desc, &bias);
    if (status == CAIRN_OK) {
        cairn_dnnl_convolution c = describe(desc, algorithm, layouts, bias);
        c.hint = forward;
        dnnl_status_t made = pass == CAIRN_CONV2D_BACKWARD_DATA
                                 ? cairn_dnnl_convolution_backward_data(out, cpu->engine, &c, cpu->attributes)
                                 : cairn_dnnl_convolution_backward_weights(out, cpu->engine, &c, cpu->attributes);
        if (made != dnnl_success && made != dnnl_unimplemented)
            status = cairn_fail(CAIRN_LIBRARY, "oneDNN could not plan the backward pass of a convolution: %s",
                                cairn_dnnl_status_text(made));
    }
    dnnl_primitive_desc_destroy(forward);
    return status;
}

/* ---- layouts ---- */

static cairn_status any_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out)
{
    int64_t dims[5];
    int rank = cairn_conv2d_weight_dims(desc, dims);
    CAIRN_TRY(cairn_layout_tag(cpu, desc->src, dnnl_format_tag_any, &out->src));
    CAIRN_TRY(cairn_layout_tag(cpu, cairn_conv2d_dst(desc), dnnl_format_tag_any, &out->dst));
    return cairn_layout_tag_dims(cpu, rank, dims, dnnl_format_tag_any, &out->weights);
}

/* Slow, or a matrix product over an unrolled image: both lose to the direct kernels where those are to be had. */
static bool is_fallback(const_dnnl_primitive_desc_t pd)
{
    return cairn_primitive_is_slow(pd) || strstr(cairn_primitive_implementation(pd), "gemm") != NULL;
}

static cairn_status layouts_of(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, cairn_conv2d_layouts *out)
{
    CAIRN_TRY(cairn_primitive_layout(cpu, pd, DNNL_ARG_SRC, &out->src));
    CAIRN_TRY(cairn_primitive_layout(cpu, pd, DNNL_ARG_WEIGHTS, &out->weights));
    return cairn_primitive_layout(cpu, pd, DNNL_ARG_DST, &out->dst);
}

/* The images as they come, and the output in blocks of channels as the next layers want it. */
static cairn_status foldable_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out)
{
    int64_t dims[5];
    int rank = cairn_conv2d_weight_dims(desc, dims);
    CAIRN_TRY(cairn_layout_plain(cpu, 4, desc->src.dim, &out->src));
    CAIRN_TRY(cairn_layout_plain(cpu, rank, dims, &out->weights));
    return cairn_layout_tag(cpu, cairn_conv2d_dst(desc), cairn_layout_blocked(cpu), &out->dst);
}

/* oneDNN's free choice; where that is no direct kernel, a direct kernel is asked for by the blocked dst that those write. */
cairn_status cairn_conv2d_dnnl_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out)
{
    cairn_conv2d_layouts any, blocked;
    dnnl_primitive_desc_t chosen, direct = NULL;
    if (cairn_conv2d_can_fold(cpu, desc)) return foldable_layouts(cpu, desc, out);
    CAIRN_TRY(any_layouts(cpu, desc, &any));
    CAIRN_TRY(describe_forward(cpu, desc, dnnl_convolution_direct, &any, &chosen));
    if (!chosen) return cairn_fail(CAIRN_DEVICE, "oneDNN has no convolution for this shape");
    cairn_status status = CAIRN_OK;
    if (is_fallback(chosen)) {
        blocked = any;
        CAIRN_TRY_DONE(cairn_layout_tag(cpu, cairn_conv2d_dst(desc), cairn_layout_blocked(cpu), &blocked.dst));
        CAIRN_TRY_DONE(describe_forward(cpu, desc, dnnl_convolution_direct, &blocked, &direct));
    }
    status = layouts_of(cpu, direct && !is_fallback(direct) ? direct : chosen, out);
done:
    if (direct) dnnl_primitive_desc_destroy(direct);
    dnnl_primitive_desc_destroy(chosen);
    return status;
}

/* The descriptor of a pass with src and dst at home and the weights as the pass likes them; with everything as it likes where that
 * is the only way to a fast kernel. */
static cairn_status describe_at_home(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                                     dnnl_alg_kind_t algorithm, cairn_conv2d_pass pass, dnnl_primitive_desc_t *out)
{
    cairn_conv2d_layouts any, layouts = *homes;
    dnnl_primitive_desc_t free_choice;
    CAIRN_TRY(any_layouts(cpu, desc, &any));
    if (pass != CAIRN_CONV2D_FORWARD || algorithm != dnnl_convolution_direct) layouts.weights = any.weights;
    CAIRN_TRY(describe_pass(cpu, desc, algorithm, &layouts, pass, out));
    if (*out && !cairn_primitive_is_slow(*out)) return CAIRN_OK;
    cairn_status status = describe_pass(cpu, desc, algorithm, &any, pass, &free_choice);
    if (status == CAIRN_OK && free_choice && (!*out || !cairn_primitive_is_slow(free_choice))) {
        dnnl_primitive_desc_t other = *out;
        *out = free_choice;
        free_choice = other;
    }
    if (free_choice) dnnl_primitive_desc_destroy(free_choice);
    return status;
}

/* ---- the candidate ---- */

typedef struct operand {
    int argument; /* oneDNN's name for it; 0 ends a list */
    bool output;
    const cairn_layout *home;
    cairn_primitive reorder; /* made only where the primitive wants another layout */
    size_t offset;           /* of the reordered copy in the workspace */
} operand;

typedef struct dnnl_candidate {
    cairn_conv2d_candidate base;
    cairn_cpu *cpu;
    cairn_conv2d_pass pass;
    cairn_primitive primitive;
    operand operands[4];
} dnnl_candidate;

static void addresses_of(cairn_conv2d_pass pass, const cairn_operands *o, void *out[4])
{
    switch (pass) {
    case CAIRN_CONV2D_FORWARD:
        memcpy(out, (void *[4]){(void *)o->src, (void *)o->weights, (void *)o->bias, o->dst}, 4 * sizeof *out);
        break;
    case CAIRN_CONV2D_BACKWARD_DATA:
        memcpy(out, (void *[4]){o->diff_dst, (void *)o->weights, o->diff_src}, 4 * sizeof *out);
        break;
    default:
        memcpy(out, (void *[4]){(void *)o->src, o->diff_dst, o->diff_weights, o->diff_bias}, 4 * sizeof *out);
    }
}

static cairn_status run(const cairn_conv2d_candidate *base, const cairn_operands *operands)
{
    const dnnl_candidate *c = (const dnnl_candidate *)base;
    char *workspace = operands->workspace;
    void *home[4], *used[4];
    addresses_of(c->pass, operands, home);
    cairn_cpu_enter(c->cpu);
    for (int i = 0; i < 4; i++) {
        const operand *o = &c->operands[i];
        used[i] = o->reorder.handle ? workspace + o->offset : home[i];
        if (o->reorder.handle && !o->output)
            CAIRN_TRY(cairn_primitive_run(c->cpu, &o->reorder, (void *[]){home[i], used[i]}, workspace));
    }
    CAIRN_TRY(cairn_primitive_run(c->cpu, &c->primitive, used, workspace));
    for (int i = 0; i < 4; i++) {
        const operand *o = &c->operands[i];
        if (o->reorder.handle && o->output)
            CAIRN_TRY(cairn_primitive_run(c->cpu, &o->reorder, (void *[]){used[i], home[i]}, workspace));
    }
    return CAIRN_OK;
}

static void destroy(cairn_conv2d_candidate *base)
{
    dnnl_candidate *c = (dnnl_candidate *)base;
    for (int i = 0; i < 4; i++)
        cairn_primitive_release(&c->operands[i].reorder);
    cairn_primitive_release(&c->primitive);
    free(c);
}

/* The reorder between home and what the primitive wants of this operand, if they differ. */
static cairn_status add_reorder(cairn_cpu *cpu, const_dnnl_primitive_desc_t pd, operand *o)
{
    const cairn_layout *wanted;
    if (!o->home) return CAIRN_OK;
    CAIRN_TRY(cairn_primitive_layout(cpu, pd, o->argument, &wanted));
    if (wanted == o->home) return CAIRN_OK;
    dnnl_primitive_desc_t reorder;
    cairn_md from = cairn_layout_md(o->output ? wanted : o->home), to = cairn_layout_md(o->output ? o->home : wanted);
    CAIRN_DNNL(cairn_dnnl_reorder(&reorder, cpu->engine, from, to, cpu->attributes), "plan a reorder");
    cairn_status status = cairn_primitive_create(cpu, reorder, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO, 0}, &o->reorder);
    dnnl_primitive_desc_destroy(reorder);
    return status;
}

static void list_operands(cairn_conv2d_pass pass, const cairn_conv2d_layouts *homes, operand out[4])
{
    switch (pass) {
    case CAIRN_CONV2D_FORWARD:
        out[0] = (operand){.argument = DNNL_ARG_SRC, .home = homes->src};
        out[1] = (operand){.argument = DNNL_ARG_WEIGHTS, .home = homes->weights};
        out[2] = (operand){.argument = DNNL_ARG_BIAS};
        out[3] = (operand){.argument = DNNL_ARG_DST, .home = homes->dst, .output = true};
        break;
    case CAIRN_CONV2D_BACKWARD_DATA:
        out[0] = (operand){.argument = DNNL_ARG_DIFF_DST, .home = homes->dst};
        out[1] = (operand){.argument = DNNL_ARG_WEIGHTS, .home = homes->weights};
        out[2] = (operand){.argument = DNNL_ARG_DIFF_SRC, .home = homes->src, .output = true};
        break;
    default:
        out[0] = (operand){.argument = DNNL_ARG_SRC, .home = homes->src};
        out[1] = (operand){.argument = DNNL_ARG_DIFF_DST, .home = homes->dst};
        out[2] = (operand){.argument = DNNL_ARG_DIFF_WEIGHTS, .home = homes->weights, .output = true};
        out[3] = (operand){.argument = DNNL_ARG_DIFF_BIAS};
    }
}

static cairn_status fill(dnnl_candidate *c, const cairn_conv2d_layouts *homes, const_dnnl_primitive_desc_t pd)
{
    int arguments[5] = {0};
    list_operands(c->pass, homes, c->operands);
    for (int i = 0; i < 4; i++) {
        arguments[i] = c->operands[i].argument;
        CAIRN_TRY(add_reorder(c->cpu, pd, &c->operands[i]));
    }
    CAIRN_TRY(cairn_primitive_create(c->cpu, pd, arguments, &c->primitive));

    /* Scratch memory first, of whoever runs; behind it the reordered copies. */
    size_t end = c->primitive.scratchpad;
    for (int i = 0; i < 4; i++)
        if (c->operands[i].reorder.scratchpad > end) end = c->operands[i].reorder.scratchpad;
    for (int i = 0; i < 4; i++) {
        operand *o = &c->operands[i];
        if (!o->reorder.handle) continue;
        o->offset = cairn_cpu_align(end);
        end = o->offset + cairn_primitive_bytes(pd, o->argument);
    }
    c->base.workspace = end;
    return CAIRN_OK;
}

cairn_status cairn_conv2d_dnnl_create(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                                      dnnl_alg_kind_t algorithm, cairn_conv2d_pass pass, cairn_conv2d_candidate **out)
{
    dnnl_primitive_desc_t pd;
    *out = NULL;
    cairn_status status = describe_at_home(cpu, desc, homes, algorithm, pass, &pd);
    if (status != CAIRN_OK || !pd) return status;
    dnnl_candidate *c = calloc(1, sizeof *c);
    if (c) {
        c->base.run = run;
        c->base.destroy = destroy;
        c->cpu = cpu;
        c->pass = pass;
        snprintf(c->base.name, sizeof c->base.name, "%s%s", algorithm == dnnl_convolution_winograd ? "winograd " : "",
                 cairn_primitive_implementation(pd));
        status = fill(c, homes, pd);
    } else {
        status = cairn_fail(CAIRN_MEMORY, "no memory for a convolution");
    }
    dnnl_primitive_desc_destroy(pd);
    if (status != CAIRN_OK && c) destroy(&c->base);
    if (status == CAIRN_OK) *out = &c->base;
    return status;
}
