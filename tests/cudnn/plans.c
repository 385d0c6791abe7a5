/* plans.c - does the genuine cuDNN plan the convolutions of AlexNet as the CUDA backend asks for them?
 *
 * Without a GPU: the library plans for a device that is described in JSON. Engines that are compiled when planned want a driver, so only
 * precompiled ones are asked for. What the plans compute only a GPU tells. */
#include "backends/cuda/engine.h"
#include "core/os.h"
#include "tests/test.h"
#include <stdlib.h>
#include <string.h>

#define WORKSPACE_LIMIT ((int64_t)256 << 20)

/* AlexNet's, at a batch of 64; conv1 also as it is padded in f16. */
static const struct {
    const char *name;
    int64_t channels, size, outputs, kernel, stride, pad, groups;
} layers[] = {
    {"owt conv1", 3, 224, 64, 11, 4, 2, 1},    {"owt conv1 padded", 8, 224, 64, 11, 4, 2, 1},
    {"owt conv2", 64, 27, 192, 5, 1, 2, 1},    {"owt conv3", 192, 13, 384, 3, 1, 1, 1},
    {"owt conv4", 384, 13, 256, 3, 1, 1, 1},   {"owt conv5", 256, 13, 256, 3, 1, 1, 1},
    {"paper conv2", 96, 27, 256, 5, 1, 2, 2},  {"paper conv4", 384, 13, 384, 3, 1, 1, 2},
    {"paper conv5", 384, 13, 256, 3, 1, 1, 2},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static cairn_convolution convolution_of(int layer, cudnnDataType_t type)
{
    int64_t out = (layers[layer].size + 2 * layers[layer].pad - layers[layer].kernel) / layers[layer].stride + 1;
    return (cairn_convolution){.batch = 64,
                               .channels = layers[layer].channels,
                               .height = layers[layer].size,
                               .width = layers[layer].size,
                               .outputs = layers[layer].outputs,
                               .out_h = out,
                               .out_w = out,
                               .kernel_h = layers[layer].kernel,
                               .kernel_w = layers[layer].kernel,
                               .stride_h = layers[layer].stride,
                               .stride_w = layers[layer].stride,
                               .pad_h = layers[layer].pad,
                               .pad_w = layers[layer].pad,
                               .groups = layers[layer].groups,
                               .type = type};
}

/* The device of tests/cudnn/data/<name>.json. */
static cudnnBackendDescriptor_t device_of(const char *name)
{
    cudnnBackendDescriptor_t device = NULL;
    char path[1024];
    void *json;
    size_t bytes;
    snprintf(path, sizeof path, CAIRN_TEST_SOURCE "/tests/cudnn/data/%s.json", name);
    CHECK_OK(cairn_os_read_file(path, 1 << 16, &json, &bytes));
    CHECK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &device) == CUDNN_STATUS_SUCCESS);
    CHECK(cudnnBackendSetAttribute(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                   (int64_t)bytes + 1, json) == CUDNN_STATUS_SUCCESS);
    CHECK(cudnnBackendFinalize(device) == CUDNN_STATUS_SUCCESS);
    free(json);
    return device;
}

/* The engine that the backend would take for the graph: by the first wish that has one. The last wish, which compiles, is left out. */
static bool find(cudnnBackendDescriptor_t device, cairn_graph_kind kind, const cairn_convolution *convolution,
                 unsigned forbidden, cairn_engine *engine)
{
    cairn_graph graph;
    int count = 0;
    CHECK_OK(cairn_graph_create(kind, convolution, &graph));
    for (int wish = 0; wish < CAIRN_ENGINE_WISHES - 1 && count == 0; wish++) {
        const cairn_engine_rules rules = cairn_engine_wish(wish, forbidden, WORKSPACE_LIMIT);
        CHECK_OK(cairn_engine_list(&graph, device, &rules, engine, 1, &count));
    }
    cairn_graph_release(&graph);
    return count > 0;
}

static const char *const kinds[] = {"forward", "forward+bias+relu", "data gradient", "filter gradient"};

/* Every pass of every layer has an engine that breaks none of the rules. */
static void plans_all(const char *name, cudnnDataType_t type, unsigned forbidden)
{
    cudnnBackendDescriptor_t device = device_of(name);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int kind = CAIRN_GRAPH_FORWARD; kind <= CAIRN_GRAPH_BACKWARD_FILTER; kind++) {
            const cairn_convolution convolution = convolution_of(layer, type);
            cairn_engine engine = {0};
            if (kind == CAIRN_GRAPH_BACKWARD_DATA && layers[layer].stride > 1) continue; /* a first layer has none */
            bool found = find(device, (cairn_graph_kind)kind, &convolution, forbidden, &engine);
            printf("sm %.2s type %d %-17s %-18s engine %3lld workspace %9lld notes %03x\n", name, (int)type,
                   layers[layer].name, kinds[kind], (long long)engine.index, (long long)engine.workspace, engine.notes);
            CHECK(found);
            CHECK((engine.notes & forbidden) == 0);
            CHECK(engine.workspace <= WORKSPACE_LIMIT);
            cairn_engine_release(&engine);
        }
    cudnnBackendDestroyDescriptor(device);
}

static void true_f32(void)
{
    plans_all("900", CUDNN_DATA_FLOAT, CAIRN_NOT_TRUE_F32);
}

static void true_f32_deterministic(void)
{
    plans_all("750", CUDNN_DATA_FLOAT, CAIRN_NOT_TRUE_F32 | CAIRN_NOT_DIRECT | CAIRN_NOTE(NONDETERMINISTIC));
}

static void f16(void)
{
    plans_all("900", CUDNN_DATA_HALF, CAIRN_NOTE(REDUCED_PRECISION_REDUCTION));
}

static void bf16(void)
{
    plans_all("800", CUDNN_DATA_BFLOAT16, CAIRN_NOTE(REDUCED_PRECISION_REDUCTION) | CAIRN_NOTE(NONDETERMINISTIC));
}

int main(void)
{
    RUN(true_f32);
    RUN(true_f32_deterministic);
    RUN(f16);
    RUN(bf16);
    return test_result();
}
