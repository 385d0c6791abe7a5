#include "layers/net_state.h"

/* Layer i computes the ReLU behind it. A max-pool right behind that takes over the backward mask: a window's winner is above 0 exactly
 * where the pooled value is, and the pooled tensor is several times smaller. */
static void fold_relu(cairn_net *net, int i)
{
    net_layer *layer = &net->layers[i], *relu = &net->layers[i + 1];
    layer->relu = true;
    relu->fused = true;
    net_layer *pool = i + 2 < net->layer_count ? &net->layers[i + 2] : NULL;
    if (pool && pool->layer->class->masks_relu)
        pool->relu_backward = true;
    else
        layer->relu_backward = true;
}

void net_fuse(cairn_net *net)
{
    if (net->options.no_fusion) return;
    for (int i = 0; i + 1 < net->layer_count; i++)
        if (net->layers[i].layer->class->folds_relu && net->layers[i + 1].layer->class->is_relu) fold_relu(net, i);
}
