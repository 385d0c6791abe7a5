#include "layers/layer_class.h"

static cairn_status infer(const cairn_layer *layer, cairn_shape src, cairn_shape *dst)
{
    (void)layer;
    *dst = cairn_shape_make(2, src.dim[0], src.dim[1] * src.dim[2] * src.dim[3]);
    return CAIRN_OK;
}

static cairn_layer_view view(const cairn_layer *layer, cairn_shape src, bool train)
{
    (void)layer;
    (void)train;
    return src.rank == 2 ? CAIRN_VIEW_ANY : CAIRN_VIEW_PLAIN;
}

/* Always a view, so there is nothing to plan. */
static const cairn_layer_class flatten_class = {.kind = "flatten", .infer = infer, .view = view};

cairn_layer *cairn_flatten(void)
{
    return cairn_layer_create(&flatten_class, sizeof(cairn_layer));
}
