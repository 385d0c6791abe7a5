#include "train/net_optimizer.h"

static cairn_status add_parameters(cairn_optimizer *optimizer, const cairn_net *net)
{
    const cairn_slab low = cairn_net_weights_low(net);
    cairn_optimizer_set_low(optimizer, &low, cairn_net_dtype(net));
    for (int p = 0; p < cairn_net_parameter_count(net); p++) {
        const cairn_parameter *parameter = cairn_net_parameter(net, p);
        CAIRN_TRY((parameter->updates_low ? cairn_optimizer_add_low : cairn_optimizer_add)(
            optimizer, parameter->offset, parameter->count, parameter->decay));
    }
    return CAIRN_OK;
}

cairn_status cairn_net_optimizer_create(const cairn_net *net, const cairn_optimizer_options *options,
                                        cairn_optimizer **out)
{
    cairn_optimizer_options complete = *options;
    complete.dynamic_scale = cairn_net_dtype(net) == CAIRN_F16;
    CAIRN_TRY(cairn_optimizer_create(cairn_net_device(net), &complete, cairn_net_slab_count(net), out));
    cairn_status status = add_parameters(*out, net);
    if (status == CAIRN_OK) return CAIRN_OK;
    cairn_optimizer_destroy(*out);
    *out = NULL;
    return status;
}
