#include "engine.hpp"
#include <cuda_runtime_api.h>

namespace gpusim
{

namespace
{

enum { DIRECT, TENSOR_CORES, WINOGRAD, ATOMIC_SUMS, LARGE, RUN_TIME_COMPILED, HALF_SUMS };

/* Heuristics' opinion of speed. */
constexpr std::int64_t by_speed[ENGINES] = {HALF_SUMS, TENSOR_CORES,      LARGE, ATOMIC_SUMS,
                                            WINOGRAD,  RUN_TIME_COMPILED, DIRECT};

const tensor &weights_of(const node &n)
{
    return n.kind == node_kind::backward_filter ? n.out : n.b;
}

const tensor &source_of(const node &n)
{
    return n.kind == node_kind::backward_data ? n.out : n.a;
}

bool is_grouped(const node &n)
{
    return source_of(n).dim[1] != weights_of(n).dim[1];
}

int capability()
{
    int device = 0;
    cudaDeviceProp properties;
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) return 0;
    return properties.major * 10 + properties.minor;
}

/* What tensor cores need of channels in 16 bits. */
bool has_even_channels(const node &n)
{
    const tensor &w = weights_of(n);
    return w.dim[1] % 8 == 0 && w.dim[0] % 8 == 0;
}

/* One convolution, or one with a bias and a ReLU behind it that hang together by virtual tensors. */
cudnnStatus_t check_pattern(const graph &g)
{
    const node *n = g.main();
    if (!n) return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "a graph without just one convolution");
    if (g.nodes.size() == 1)
        return n->out.is_virtual ? refuse(CUDNN_STATUS_BAD_PARAM, "a graph whose result is virtual")
                                 : CUDNN_STATUS_SUCCESS;
    const bool fused = g.nodes.size() == 3 && g.nodes[0].kind == node_kind::forward &&
                       g.nodes[1].kind == node_kind::add && g.nodes[2].kind == node_kind::relu;
    if (!fused)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
                      "a graph that is neither a convolution nor one with bias and ReLU");
    const node &add = g.nodes[1], &relu = g.nodes[2];
    const bool linked = n->out.is_virtual && add.a.id == n->out.id && add.out.is_virtual && relu.a.id == add.out.id;
    if (!linked || relu.out.is_virtual)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "convolution, bias and ReLU don't follow each other");
    if (n->out.type != arithmetic::element::f32 || add.out.type != arithmetic::element::f32)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "virtual tensors are f32");
    if (add.b.type != relu.out.type)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "the bias must have the result's type");
    return CUDNN_STATUS_SUCCESS;
}

/* What no engine does; cuDNN 9.19 refuses the same. */
cudnnStatus_t check_types(const graph &g)
{
    const node &n = *g.main();
    const tensor &result = g.nodes.back().out;
    for (const tensor *t : {&n.a, &n.b, &result})
        if (!t->channels_last()) return refuse(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "this double convolves NHWC only");
    if (n.a.type != n.b.type || n.a.type != result.type)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
                      "a convolution's tensors are of one type: no engine gives f32 from 16 bits");
    if (n.a.type == arithmetic::element::bf16 && capability() < 80)
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, "bf16 needs compute capability 8.0");
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

engine engine_of(const graph &g, std::int64_t number)
{
    const node &n = *g.main();
    const bool f32 = n.a.type == arithmetic::element::f32;
    switch (number) {
    case TENSOR_CORES:
        if (f32)
            return {
                131, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}, {}, false, false};
        return {131, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, false, false};
    case WINOGRAD:
        return {1 << 20, {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4}, {}, false, false};
    case ATOMIC_SUMS:
        return {0, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}, false, true};
    case LARGE:
        return {std::int64_t{1} << 30, {}, {}, false, false};
    case RUN_TIME_COMPILED:
        return {0, {}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}, false, false};
    case HALF_SUMS:
        return {
            131, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, {}, true, false};
    default:
        return {0, {}, {}, false, false};
    }
}

cudnnStatus_t check_engine(const graph &g, std::int64_t number)
{
    GPUSIM_TRY(check_pattern(g));
    GPUSIM_TRY(check_types(g));
    const node &n = *g.main();
    const tensor &w = weights_of(n);
    const bool f32 = n.a.type == arithmetic::element::f32, filter = n.kind == node_kind::backward_filter;
    bool can = true;
    if (number == TENSOR_CORES) can = f32 ? capability() >= 80 : capability() >= 70 && has_even_channels(n);
    if (number == WINOGRAD)
        can = f32 && w.dim[2] == 3 && w.dim[3] == 3 && n.conv.stride[0] == 1 && n.conv.stride[1] == 1;
    if (number == ATOMIC_SUMS) can = filter;
    if (number == HALF_SUMS)
        can = filter && n.a.type == arithmetic::element::f16 && capability() >= 70 && has_even_channels(n);
    if (number == RUN_TIME_COMPILED) can = !f32;
    return can ? CUDNN_STATUS_SUCCESS
               : refuse(CUDNN_STATUS_NOT_SUPPORTED, "engine %lld doesn't do this", static_cast<long long>(number));
}

/* For grouped convolutions in 16 bits mode A knows nothing and mode B must be asked. */
std::vector<std::int64_t> heuristics(const graph &g, cudnnBackendHeurMode_t mode)
{
    std::vector<std::int64_t> found;
    if (check_pattern(g) != CUDNN_STATUS_SUCCESS) return found;
    const node &n = *g.main();
    const bool silent = mode != CUDNN_HEUR_MODE_B && is_grouped(n) && n.a.type != arithmetic::element::f32;
    if (mode == CUDNN_HEUR_MODE_FALLBACK) {
        if (check_engine(g, DIRECT) == CUDNN_STATUS_SUCCESS) found.push_back(DIRECT);
        return found;
    }
    for (std::int64_t number : by_speed)
        if (!silent && check_engine(g, number) == CUDNN_STATUS_SUCCESS) found.push_back(number);
    return found;
}

bool uses_tf32(const graph &g, std::int64_t number)
{
    return number == TENSOR_CORES && g.main()->a.type == arithmetic::element::f32;
}

} // namespace gpusim
