#include "layers/layer_class.h"
#include <stdlib.h>

cairn_layer *cairn_layer_create(const cairn_layer_class *class, size_t bytes)
{
    cairn_layer *layer = calloc(1, bytes);
    if (layer) layer->class = class;
    return layer;
}

void cairn_layer_destroy(cairn_layer *layer)
{
    free(layer);
}

cairn_init cairn_init_resolve(cairn_init asked, cairn_init otherwise)
{
    return asked.kind == CAIRN_INIT_DEFAULT ? otherwise : asked;
}

cairn_status cairn_layer_expect_image(cairn_shape src)
{
    char text[64];
    if (src.rank == 4) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "takes images (N, C, H, W), but its input is %s",
                      cairn_shape_format(src, text, sizeof text));
}

cairn_status cairn_layer_expect_features(cairn_shape src)
{
    char text[64];
    if (src.rank == 2) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "takes features (N, I), but its input is %s: put a flatten layer before it",
                      cairn_shape_format(src, text, sizeof text));
}
