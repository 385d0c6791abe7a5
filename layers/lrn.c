#include "layers/layer_class.h"
#include <math.h>

typedef struct lrn {
    cairn_layer base;
    cairn_lrn_options options;
} lrn;

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    const cairn_lrn_options *o = &((const lrn *)layer)->options;
    CAIRN_TRY(cairn_layer_expect_image(src));
    if (o->size < 1 || o->size % 2 == 0)
        return cairn_fail(CAIRN_USAGE, "size is %lld; it must be an odd number of channels", (long long)o->size);
    if (!(o->k > 0) || !(o->alpha >= 0) || !isfinite(o->k) || !isfinite(o->alpha) || !isfinite(o->beta))
        return cairn_fail(CAIRN_USAGE, "k %g, alpha %g, beta %g: k must be above 0 and alpha not below it",
                          (double)o->k, (double)o->alpha, (double)o->beta);
    *dst = src;
    return CAIRN_OK;
}

cairn_lrn_desc cairn_layer_lrn_desc(const cairn_layer *layer, const cairn_layer_request *request)
{
    const cairn_lrn_options *o = &((const lrn *)layer)->options;
    return (cairn_lrn_desc){
        .src = request->src,
        .size = o->size,
        .alpha = o->alpha,
        .beta = o->beta,
        .k = o->k,
        .train = request->train,
        .dtype = request->dtype,
        .src_layout = request->src_layout,
    };
}

static cairn_status plan(const cairn_layer *layer, const cairn_layer_request *request, cairn_plan **out)
{
    const cairn_lrn_desc desc = cairn_layer_lrn_desc(layer, request);
    return request->device->backend->plan_lrn(request->device, &desc, out);
}

static const cairn_layer_class lrn_class = {
    .kind = "lrn",
    .is_lrn = true,
    .backward_reads_src = true,
    .backward_reads_dst = true,
    .infer = infer,
    .plan = plan,
};

cairn_layer *cairn_lrn(const cairn_lrn_options *options)
{
    cairn_layer *layer = cairn_layer_create(&lrn_class, sizeof(lrn));
    if (layer) ((lrn *)layer)->options = *options;
    return layer;
}
