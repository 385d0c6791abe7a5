#include "layers/layer_class.h"

typedef struct batchnorm {
    cairn_layer base;
    cairn_batchnorm_options options; /* defaults filled in */
} batchnorm;

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const cairn_batchnorm_options *o = &((const batchnorm *)layer)->options;
    CAIRN_TRY(cairn_layer_expect_image(src));
    if (!(o->eps > 0.0f)) return cairn_fail(CAIRN_USAGE, "eps is %g; it must be above 0", (double)o->eps);
    if (!(o->momentum > 0.0f && o->momentum <= 1.0f))
        return cairn_fail(CAIRN_USAGE, "momentum is %g; it must be above 0 and at most 1", (double)o->momentum);
    *dst = src;
    return CAIRN_OK;
}

static int parameters(const cairn_layer *layer, cairn_shape src, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS])
{
    (void)layer;
    cairn_shape shape = cairn_shape_make(1, src.dim[1]);
    out[0] = (cairn_layer_parameter){
        .suffix = "weight", .shape = shape, .init = {CAIRN_INIT_CONSTANT, 1.0f}, .fan_in = 1, .fan_out = 1};
    out[1] = (cairn_layer_parameter){
        .suffix = "bias", .shape = shape, .init = {CAIRN_INIT_CONSTANT, 0.0f}, .fan_in = 1, .fan_out = 1};
    return 2;
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_batchnorm_options *o = &((const batchnorm *)layer)->options;
    const cairn_batchnorm_desc desc = {
        .src = request->src,
        .eps = o->eps,
        .momentum = o->momentum,
        .train = request->train,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
    return request->device->backend->plan_batchnorm(request->device, &desc, out);
}

static const cairn_layer_class batchnorm_class = {
    .kind = "batchnorm2d",
    .full_precision = true,
    .backward_reads_src = true,
    .buffers = {"running_mean", "running_var"},
    .infer = infer,
    .parameters = parameters,
    .plan = plan,
};

cairn_layer *cairn_batchnorm2d(const cairn_batchnorm_options *options)
{
    cairn_layer *layer = cairn_layer_create(&batchnorm_class, sizeof(batchnorm));
    if (!layer) return NULL;
    cairn_batchnorm_options *o = &((batchnorm *)layer)->options;
    if (options) *o = *options;
    if (o->eps == 0.0f) o->eps = 1e-5f;
    if (o->momentum == 0.0f) o->momentum = 0.1f;
    return layer;
}
