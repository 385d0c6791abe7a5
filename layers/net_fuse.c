#include "layers/net_state.h"

static net_layer *layer_at(cairn_net *net, int i)
{
    return i >= 0 && i < net->layer_count ? &net->layers[i] : NULL;
}

/* Can the device plan this layer as it is fused now? That a plan is refused is how "supports" is asked. */
static bool can_plan(const cairn_net *net, int i)
{
    const cairn_layer_request request = net_request(net, i, NULL);
    const cairn_layer *layer = net->layers[i].layer;
    cairn_plan *plan = NULL;
    if (layer->class->plan(layer, &request, &plan) != CAIRN_OK) return false;
    cairn_plan_destroy(plan);
    return true;
}

/* The max-pool behind LRN i computes both, and the ReLU before the LRN too where there is one. It also masks for that ReLU, whoever computes
 * it: what was clamped at 0 gets no gradient through it. */
static void fold_lrn(cairn_net *net, int i)
{
    net_layer *relu = layer_at(net, i - 1), *lrn = &net->layers[i], *pool = &net->layers[i + 1];
    pool->lrn = lrn->layer;
    pool->relu = relu && relu->layer->class->is_relu;
    if (!can_plan(net, i + 1)) {
        pool->lrn = NULL;
        pool->relu = false;
        return;
    }
    lrn->fused = true;
    if (pool->relu) relu->fused = true;
}

/* Layer i computes the ReLU behind it. A max-pool right behind that takes over the backward mask: a window's winner is above 0 exactly
 * where the pooled value is, and the pooled tensor is several times smaller. */
static void fold_relu(cairn_net *net, int i)
{
    net_layer *layer = &net->layers[i], *next = layer_at(net, i + 2);
    layer->relu = true;
    net->layers[i + 1].fused = true;
    if (next && next->fused) return; /* an LRN, whose pool masks */
    if (next && next->layer->class->masks_relu)
        next->relu_backward = true;
    else
        layer->relu_backward = true;
}

void net_fuse(cairn_net *net)
{
    if (net->options.no_fusion) return;
    for (int i = 0; net->device->backend->plan_lrn_pool && i + 1 < net->layer_count; i++)
        if (net->layers[i].layer->class->is_lrn && net->layers[i + 1].layer->class->takes_lrn) fold_lrn(net, i);
    for (int i = 0; i + 1 < net->layer_count; i++)
        if (net->layers[i].layer->class->folds_relu && net->layers[i + 1].layer->class->is_relu) fold_relu(net, i);
}
