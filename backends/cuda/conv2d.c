/* conv2d.c - convolution by cuDNN, with bias, ReLU and their backward fused where the library can, else by kernels of ours.
 *
 * Forward is one call of the library, or one and a kernel. Backward: a kernel that masks dy by the ReLU and sums the bias gradient, the
 * filter gradient, in f16 and bf16 a kernel that puts it into the f32 slab, and the data gradient. */
#include "backends/cuda/bias.h"
#include "backends/cuda/pass.h"
#include <stdio.h>
#include <stdlib.h>

#define PADDED_CHANNELS 8                    /* f16 tensor cores take 16 bytes of channels at a time */
#define WORKSPACE_LIMIT ((int64_t)256 << 20) /* a plan's first choice may ask for a GB at batch 512 */

typedef struct conv2d_plan {
    cairn_plan base;
    cairn_conv2d_desc desc;
    cairn_convolution convolution;
    cairn_pass forward, data, filter;
    bool fused; /* forward does bias and ReLU too */
    bool
        separate_weights; /* the filter gradient is made in the workspace, in desc.dtype, before it goes into the f32 slab */
    int64_t weight_count;    /* elements, padding included */
    int64_t rows;            /* pixels of y: N P Q */
    size_t new_weights;      /* offset in the workspace of a filter gradient yet to be added */
    cairn_bias_forward rest; /* what forward's library call leaves to do */
    cairn_bias_backward bias;
} conv2d_plan;

/* ---- running ---- */

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    conv2d_plan *plan = (conv2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CAIRN_TRY(cairn_pass_run(&plan->forward, cuda, 0,
                             &(cairn_pass_binding){.x = operands->src,
                                                   .w = operands->weights,
                                                   .y = operands->dst,
                                                   .bias = plan->fused ? operands->bias : NULL,
                                                   .workspace = operands->workspace}));
    return cairn_bias_forward_run(&plan->rest, cuda, operands);
}

/* In f32 straight to where it belongs, unless it is to be added; the library itself adds at the price of another workspace of dw's size. */
static cairn_status backward_filter(conv2d_plan *plan, const cairn_operands *operands)
{
    cairn_cuda *cuda = cairn_cuda_of(plan->base.device);
    bool aside = plan->separate_weights || operands->accumulate;
    void *dw = aside ? (char *)operands->workspace + plan->new_weights : operands->diff_weights;
    CAIRN_TRY(cairn_pass_run(
        &plan->filter, cuda, aside,
        &(cairn_pass_binding){.x = operands->src, .w = dw, .y = operands->diff_dst, .workspace = operands->workspace}));
    if (!aside) return CAIRN_OK;
    const cairn_convert_args add = {
        .src = dw, .dst = operands->diff_weights, .count = plan->weight_count, .accumulate = operands->accumulate};
    CUDA_TRY(cairn_launch_add_gradient(&add, plan->desc.dtype, cuda->compute));
    return CAIRN_OK;
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    conv2d_plan *plan = (conv2d_plan *)base;
    cairn_cuda *cuda = cairn_cuda_of(base->device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CAIRN_TRY(cairn_bias_backward_run(&plan->bias, cuda, operands));
    CAIRN_TRY(backward_filter(plan, operands));
    if (!operands->diff_src || !plan->data.engine.plan) return CAIRN_OK;
    return cairn_pass_run(&plan->data, cuda, 0,
                          &(cairn_pass_binding){.x = operands->diff_src,
                                                .w = operands->weights,
                                                .y = operands->diff_dst,
                                                .workspace = operands->workspace});
}

static void destroy(cairn_plan *base)
{
    conv2d_plan *plan = (conv2d_plan *)base;
    cairn_pass_release(&plan->forward);
    cairn_pass_release(&plan->data);
    cairn_pass_release(&plan->filter);
    free(plan);
}

static const cairn_plan_ops inference_ops = {.forward = forward, .destroy = destroy};
static const cairn_plan_ops training_ops = {.forward = forward, .backward = backward, .destroy = destroy};

/* ---- planning ---- */

/* A net's source of 3 channels in f16 is padded, once, by whoever writes it; what another layer wrote is taken as it lies. */
static cairn_status choose_layouts(conv2d_plan *plan)
{
    const cairn_conv2d_desc *d = &plan->desc;
    cairn_layout_table *table = &cairn_cuda_of(plan->base.device)->layouts;
    const cairn_layout *src, *dst, *weights, *given = d->src_layout;
    cairn_shape weight_shape =
        cairn_shape_make(4, d->out_channels, d->src.dim[1] / d->groups, d->kernel_h, d->kernel_w);
    bool padded_comes = given && !given->flat && given->channels == PADDED_CHANNELS;
    bool pads = d->dtype != CAIRN_F32 && !d->need_diff_src && d->groups == 1 && d->src.dim[1] < PADDED_CHANNELS &&
                (!given || padded_comes);
    int64_t channels = pads ? PADDED_CHANNELS : 0;
    if (pads)
        CAIRN_TRY(cairn_layout_nhwc(table, d->src, channels, &src));
    else
        CAIRN_TRY(cairn_layout_take(plan->base.device, d->src, given, &src));
    CAIRN_TRY(cairn_layout_nhwc(table, weight_shape, channels, &weights));
    plan->convolution.channels = pads ? channels : d->src.dim[1];
    CAIRN_TRY(cairn_layout_nhwc(
        table, cairn_shape_make(4, d->src.dim[0], d->out_channels, plan->convolution.out_h, plan->convolution.out_w), 0,
        &dst));
    plan->base.layout.src = plan->base.layout.diff_src = src;
    plan->base.layout.dst = plan->base.layout.diff_dst = dst;
    plan->base.layout.weights = plan->base.layout.weights_low = weights;
    return CAIRN_OK;
}

static void describe(conv2d_plan *plan)
{
    const cairn_conv2d_desc *d = &plan->desc;
    plan->convolution = (cairn_convolution){
        .batch = d->src.dim[0],
        .height = d->src.dim[2],
        .width = d->src.dim[3],
        .outputs = d->out_channels,
        .out_h = (d->src.dim[2] + 2 * d->pad_h - d->kernel_h) / d->stride_h + 1,
        .out_w = (d->src.dim[3] + 2 * d->pad_w - d->kernel_w) / d->stride_w + 1,
        .kernel_h = d->kernel_h,
        .kernel_w = d->kernel_w,
        .stride_h = d->stride_h,
        .stride_w = d->stride_w,
        .pad_h = d->pad_h,
        .pad_w = d->pad_w,
        .groups = d->groups,
        .type = d->dtype == CAIRN_F16    ? CUDNN_DATA_HALF
                : d->dtype == CAIRN_BF16 ? CUDNN_DATA_BFLOAT16
                                         : CUDNN_DATA_FLOAT,
    };
    plan->rows = plan->convolution.batch * plan->convolution.out_h * plan->convolution.out_w;
}

/* What an engine may do to the numbers, by what was asked of the device. */
static unsigned forbidden_notes(const conv2d_plan *plan)
{
    const cairn_device_options *options = &plan->base.device->options;
    unsigned forbidden = CAIRN_NOTE(REDUCED_PRECISION_REDUCTION);
    if (plan->desc.dtype == CAIRN_F32 && !options->tf32) forbidden |= CAIRN_NOT_TRUE_F32;
    if (options->deterministic) forbidden |= CAIRN_NOTE(NONDETERMINISTIC);
    if (options->direct) forbidden |= CAIRN_NOT_DIRECT;
    return forbidden;
}

static cairn_status refused(const conv2d_plan *plan, const char *pass)
{
    const cairn_convolution *c = &plan->convolution;
    return cairn_fail(
        CAIRN_DEVICE,
        "conv2d on cuda: cuDNN has no engine for the %s of %lldx%lldx%lldx%lld by %lld filters of %lldx%lld in %s "
        "with at most %lld MiB of workspace%s",
        pass, (long long)c->batch, (long long)plan->desc.src.dim[1], (long long)c->height, (long long)c->width,
        (long long)c->outputs, (long long)c->kernel_h, (long long)c->kernel_w, cairn_dtype_name(plan->desc.dtype),
        (long long)(WORKSPACE_LIMIT >> 20),
        plan->base.device->options.deterministic ? ": without --deterministic there may be one" : "");
}

/* One pass by the first engine that the earliest wish allows. */
static cairn_status plan_pass(conv2d_plan *plan, cudnnBackendDescriptor_t target, cairn_graph_kind kind,
                              const char *name, cairn_pass *pass)
{
    bool found = false;
    for (int w = 0; w < CAIRN_ENGINE_WISHES && !found; w++) {
        const cairn_engine_rules rules = cairn_engine_wish(w, forbidden_notes(plan), WORKSPACE_LIMIT);
        cairn_pass_release(pass);
        CAIRN_TRY(cairn_pass_plan(pass, target, kind, &plan->convolution, &rules, &found));
    }
    return found ? CAIRN_OK : refused(plan, name);
}

/* Fused with bias and ReLU where an engine as good as the plain one does that: for some grouped layers in f16 only one off the tensor cores
 * would, and then the plain one and a kernel are faster. */
static cairn_status plan_forward(conv2d_plan *plan, cudnnBackendDescriptor_t target)
{
    for (int w = 0; w < CAIRN_ENGINE_WISHES; w++) {
        const cairn_engine_rules rules = cairn_engine_wish(w, forbidden_notes(plan), WORKSPACE_LIMIT);
        for (int fused = plan->desc.has_bias && plan->desc.relu; fused >= 0; fused--) {
            bool found;
            cairn_pass_release(&plan->forward);
            CAIRN_TRY(cairn_pass_plan(&plan->forward, target,
                                      fused ? CAIRN_GRAPH_FORWARD_BIAS_RELU : CAIRN_GRAPH_FORWARD, &plan->convolution,
                                      &rules, &found));
            plan->fused = fused;
            if (found) return CAIRN_OK;
        }
    }
    return refused(plan, "forward pass");
}

static cairn_status plan_passes(conv2d_plan *plan)
{
    cudnnBackendDescriptor_t target = NULL;
    cairn_status status = cairn_engine_target(cairn_cuda_of(plan->base.device)->dnn, &target);
    if (status == CAIRN_OK) status = plan_forward(plan, target);
    if (status == CAIRN_OK && plan->desc.train)
        status = plan_pass(plan, target, CAIRN_GRAPH_BACKWARD_FILTER, "filter gradient", &plan->filter);
    if (status == CAIRN_OK && plan->desc.train && plan->desc.need_diff_src)
        status = plan_pass(plan, target, CAIRN_GRAPH_BACKWARD_DATA, "data gradient", &plan->data);
    if (target) cudnnBackendDestroyDescriptor(target);
    return status;
}

static void size_workspace(conv2d_plan *plan)
{
    cairn_plan *base = &plan->base;
    const cairn_convolution *c = &plan->convolution;
    const cairn_conv2d_desc *d = &plan->desc;
    plan->weight_count = c->outputs * (c->channels / c->groups) * c->kernel_h * c->kernel_w;
    plan->separate_weights = d->dtype != CAIRN_F32;
    cairn_cuda_need(base, (size_t)plan->forward.engine.workspace);
    if (!d->train) return;
    cairn_cuda_need(base, (size_t)plan->data.engine.workspace);
    plan->new_weights = cairn_cuda_align((size_t)plan->filter.engine.workspace);
    cairn_cuda_need(base, plan->new_weights + (size_t)plan->weight_count * cairn_dtype_size(d->dtype));
    plan->bias = (cairn_bias_backward){.columns = cairn_columns_of(plan->rows, c->outputs, d->dtype),
                                       .dtype = d->dtype,
                                       .has_bias = d->has_bias,
                                       .masks = d->relu_backward};
    cairn_cuda_need(base, cairn_bias_backward_bytes(&plan->bias));
}

/* "cuDNN 41+bias, 67, 65": the engines of forward, data and filter gradient. */
static void name_algorithm(conv2d_plan *plan)
{
    char *text = plan->base.algorithm;
    size_t size = sizeof plan->base.algorithm;
    int used =
        snprintf(text, size, "cuDNN %lld%s", (long long)plan->forward.engine.index, plan->fused ? "+bias+relu" : "");
    const cairn_pass *passes[] = {&plan->data, &plan->filter};
    for (int i = 0; i < 2; i++)
        if (passes[i]->engine.plan)
            used += snprintf(text + used, size - (size_t)used, ", %lld", (long long)passes[i]->engine.index);
}

cairn_status cairn_cuda_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    CAIRN_TRY(cairn_cuda_check_dtype(device, "conv2d", desc->dtype));
    CAIRN_TRY(cairn_conv2d_desc_check(desc));
    CAIRN_TRY(cairn_cuda_enter(cairn_cuda_of(device)));
    CAIRN_TRY(
        cairn_cuda_plan_create(device, sizeof(conv2d_plan), desc->train ? &training_ops : &inference_ops, "", out));
    conv2d_plan *plan = (conv2d_plan *)*out;
    plan->desc = *desc;
    plan->base.spares_dst = !desc->relu_backward;
    describe(plan);
    cairn_status status = choose_layouts(plan);
    if (status == CAIRN_OK) status = plan_passes(plan);
    if (status == CAIRN_OK) {
        plan->rest = (cairn_bias_forward){.rows = plan->rows,
                                          .channels = desc->out_channels,
                                          .dtype = desc->dtype,
                                          .has_bias = desc->has_bias && !plan->fused,
                                          .relu = desc->relu && !plan->fused};
        size_workspace(plan);
        name_algorithm(plan);
        return CAIRN_OK;
    }
    destroy(&plan->base);
    *out = NULL;
    return status;
}
