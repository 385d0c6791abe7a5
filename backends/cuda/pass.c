#include "backends/cuda/pass.h"
#include "backends/cuda/descriptor.h"
#include <string.h>

cairn_status cairn_pass_plan(cairn_pass *pass, cudnnBackendDescriptor_t target, cairn_graph_kind kind,
                             const cairn_convolution *convolution, const cairn_engine_rules *rules, bool *found)
{
    int count = 0;
    *found = false;
    memset(pass, 0, sizeof *pass);
    CAIRN_TRY(cairn_graph_create(kind, convolution, &pass->graph));
    CAIRN_TRY(cairn_engine_list(&pass->graph, target, rules, &pass->engine, 1, &count));
    *found = count > 0;
    return CAIRN_OK;
}

static cairn_status bind(cairn_pass_binding *binding)
{
    const int64_t ids[4] = {CAIRN_GRAPH_X, CAIRN_GRAPH_W, CAIRN_GRAPH_Y, CAIRN_GRAPH_BIAS};
    const void *addresses[4] = {binding->x, binding->w, binding->y, binding->bias};
    const int64_t count = binding->bias ? 4 : 3;
    CUDNN_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &binding->pack));
    CAIRN_TRY(cairn_descriptor_set(binding->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids));
    CAIRN_TRY(cairn_descriptor_set(binding->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
                                   addresses));
    CAIRN_TRY(cairn_descriptor_set(binding->pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                   &binding->workspace));
    CUDNN_TRY(cudnnBackendFinalize(binding->pack));
    return CAIRN_OK;
}

static void unbind(cairn_pass_binding *binding)
{
    cairn_descriptor_destroy(binding->pack);
    memset(binding, 0, sizeof *binding);
}

static bool is_bound(const cairn_pass_binding *binding, const cairn_pass_binding *wanted)
{
    return binding->pack && binding->x == wanted->x && binding->w == wanted->w && binding->y == wanted->y &&
           binding->bias == wanted->bias && binding->workspace == wanted->workspace;
}

cairn_status cairn_pass_run(cairn_pass *pass, cairn_cuda *cuda, int slot, const cairn_pass_binding *wanted)
{
    cairn_pass_binding *binding = &pass->binding[slot];
    if (!is_bound(binding, wanted)) {
        unbind(binding);
        *binding = *wanted;
        binding->pack = NULL;
        cairn_status status = bind(binding);
        if (status != CAIRN_OK) {
            unbind(binding);
            return status;
        }
    }
    CUDNN_TRY(cudnnBackendExecute(cuda->dnn, pass->engine.plan, binding->pack));
    return CAIRN_OK;
}

void cairn_pass_release(cairn_pass *pass)
{
    for (int i = 0; i < CAIRN_PASS_BINDINGS; i++)
        unbind(&pass->binding[i]);
    cairn_engine_release(&pass->engine);
    cairn_graph_release(&pass->graph);
}
