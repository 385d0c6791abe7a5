#include "layers/net_state.h"

cairn_status cairn_net_loss(cairn_net *net, const cairn_loss *loss)
{
    CAIRN_TRY(net_check_planned(net, loss->train));
    const net_value *logits = &net->values[net->output];
    char text[64];
    if (logits->shape.rank != 2)
        return cairn_fail(CAIRN_USAGE, "%s: a loss needs an output (N, classes), but it is %s: end the net with linear",
                          net->name, cairn_shape_format(logits->shape, text, sizeof text));
    if (!(loss->smoothing >= 0.0f && loss->smoothing < 1.0f))
        return cairn_fail(CAIRN_USAGE, "label smoothing is %g; it must be at least 0 and below 1",
                          (double)loss->smoothing);
    const cairn_softmax_loss arguments = {
        .batch = logits->shape.dim[0],
        .classes = logits->shape.dim[1],
        .logits = logits->data,
        .labels = loss->labels,
        .scale = loss->scale,
        .class_weights = loss->class_weights,
        .loss_scale = loss->loss_scale,
        .smoothing = loss->smoothing,
        .dlogits = loss->train ? net->values[net->diff_output].data : NULL,
        .totals = loss->totals,
    };
    if (net->device->backend->softmax_loss(net->device, &arguments) != CAIRN_OK)
        return cairn_error_add_context("softmax loss");
    return CAIRN_OK;
}
