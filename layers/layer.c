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

/* `asked`, or `otherwise` where the layer's own start is asked for. */
static cairn_init resolve(cairn_init asked, cairn_init otherwise)
{
    return asked.kind == CAIRN_INIT_DEFAULT ? otherwise : asked;
}

int cairn_layer_weight_and_bias(cairn_shape weight, int64_t fan_in, int64_t fan_out, cairn_init weight_init,
                                bool no_bias, cairn_init bias_init, cairn_layer_parameter out[CAIRN_LAYER_PARAMETERS])
{
    out[0] = (cairn_layer_parameter){
        .suffix = "weight",
        .shape = weight,
        .init = resolve(weight_init, (cairn_init){CAIRN_INIT_HE_UNIFORM, 1.0f}),
        .fan_in = fan_in,
        .fan_out = fan_out,
        .decay = true,
    };
    if (no_bias) return 1;
    out[1] = (cairn_layer_parameter){
        .suffix = "bias",
        .shape = cairn_shape_make(1, weight.dim[0]),
        .init = resolve(bias_init, (cairn_init){CAIRN_INIT_CONSTANT, 0.0f}),
        .fan_in = fan_in,
        .fan_out = fan_out,
    };
    return 2;
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
