#include "layers/layer_class.h"

typedef struct pool2d {
    cairn_layer base;
    cairn_pool_kind kind;
    cairn_pool2d_options options; /* stride filled in; unused by adaptive */
    int64_t out_h, out_w;         /* adaptive */
} pool2d;

/* Windows along one side of `size` elements (PyTorch's rule, see cairn_pool2d_desc). */
static int64_t windows(const cairn_pool2d_options *o, int64_t size)
{
    int64_t room = size + 2 * o->pad - o->kernel;
    int64_t count = (o->ceil_mode ? room + o->stride - 1 : room) / o->stride + 1;
    if (o->ceil_mode && (count - 1) * o->stride >= size + o->pad) count--;
    return count;
}

static cairn_status infer_windowed(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const cairn_pool2d_options *o = &((const pool2d *)layer)->options;
    CAIRN_TRY(cairn_layer_expect_image(src));
    if (o->kernel < 1) return cairn_fail(CAIRN_USAGE, "kernel is %lld; it must be at least 1", (long long)o->kernel);
    if (o->stride < 1) return cairn_fail(CAIRN_USAGE, "stride is %lld; it must be at least 1", (long long)o->stride);
    if (o->pad < 0 || o->pad > o->kernel / 2)
        return cairn_fail(CAIRN_USAGE, "pad is %lld; it must be from 0 to half of the kernel of %lld",
                          (long long)o->pad, (long long)o->kernel);
    if (src.dim[2] + 2 * o->pad < o->kernel || src.dim[3] + 2 * o->pad < o->kernel)
        return cairn_fail(CAIRN_USAGE, "a window of %lld does not fit into %lldx%lld with a padding of %lld",
                          (long long)o->kernel, (long long)src.dim[2], (long long)src.dim[3], (long long)o->pad);
    *dst = cairn_shape_make(4, src.dim[0], src.dim[1], windows(o, src.dim[2]), windows(o, src.dim[3]));
    return CAIRN_OK;
}

static cairn_status infer_adaptive(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const pool2d *pool = (const pool2d *)layer;
    CAIRN_TRY(cairn_layer_expect_image(src));
    if (pool->out_h < 1 || pool->out_w < 1)
        return cairn_fail(CAIRN_USAGE, "the output is %lldx%lld; both must be at least 1", (long long)pool->out_h,
                          (long long)pool->out_w);
    *dst = cairn_shape_make(4, src.dim[0], src.dim[1], pool->out_h, pool->out_w);
    return CAIRN_OK;
}

/* Every window of an adaptive pool is one element where input and output are of one size: AlexNet's at 224. */
static cairn_layer_view view_adaptive(const cairn_layer *layer, cairn_shape src, bool train)
{
    const pool2d *pool = (const pool2d *)layer;
    (void)train;
    return src.dim[2] == pool->out_h && src.dim[3] == pool->out_w ? CAIRN_VIEW_ANY : CAIRN_VIEW_NONE;
}

static cairn_status describe(const cairn_layer *layer, const cairn_layer_request *request, cairn_pool2d_desc *out)
{
    const pool2d *pool = (const pool2d *)layer;
    cairn_shape dst;
    CAIRN_TRY(layer->class->infer(layer, request->src, &dst));
    *out = (cairn_pool2d_desc){
        .kind = pool->kind,
        .src = request->src,
        .kernel_h = pool->options.kernel,
        .kernel_w = pool->options.kernel,
        .stride_h = pool->options.stride,
        .stride_w = pool->options.stride,
        .pad_h = pool->options.pad,
        .pad_w = pool->options.pad,
        .out_h = dst.dim[2],
        .out_w = dst.dim[3],
        .relu_backward = request->relu_backward,
        .train = request->train,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return CAIRN_OK;
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_backend *backend = request->device->backend;
    cairn_pool2d_desc pool;
    CAIRN_TRY(describe(layer, request, &pool));
    if (!request->lrn) return backend->plan_pool2d(request->device, &pool, out);
    const cairn_lrn_pool_desc both = {
        .lrn = cairn_layer_lrn_desc(request->lrn, request),
        .pool = pool,
        .relu = request->relu,
    };
    return backend->plan_lrn_pool(request->device, &both, out);
}

static const cairn_layer_class maxpool_class = {
    .kind = "maxpool2d",
    .masks_relu = true,
    .takes_lrn = true,
    .backward_reads_src = true,
    .backward_reads_dst = true,
    .infer = infer_windowed,
    .plan = plan,
};

static const cairn_layer_class avgpool_class = {
    .kind = "avgpool2d",
    .backward_reads_src = true,
    .backward_reads_dst = true,
    .infer = infer_windowed,
    .plan = plan,
};

static const cairn_layer_class adaptive_class = {
    .kind = "adaptive_avgpool2d",
    .backward_reads_src = true,
    .backward_reads_dst = true,
    .infer = infer_adaptive,
    .view = view_adaptive,
    .plan = plan,
};

static cairn_layer *create(const cairn_layer_class *class, pool2d fields)
{
    cairn_layer *layer = cairn_layer_create(class, sizeof(pool2d));
    if (!layer) return NULL;
    fields.base = *layer;
    if (fields.options.stride == 0) fields.options.stride = fields.options.kernel;
    *(pool2d *)layer = fields;
    return layer;
}

cairn_layer *cairn_maxpool2d(const cairn_pool2d_options *options)
{
    return create(&maxpool_class, (pool2d){.kind = CAIRN_POOL_MAX, .options = *options});
}

cairn_layer *cairn_avgpool2d(const cairn_pool2d_options *options)
{
    return create(&avgpool_class, (pool2d){.kind = CAIRN_POOL_AVERAGE, .options = *options});
}

cairn_layer *cairn_adaptive_avgpool2d(int64_t out_h, int64_t out_w)
{
    return create(&adaptive_class, (pool2d){.kind = CAIRN_POOL_ADAPTIVE_AVERAGE, .out_h = out_h, .out_w = out_w});
}
