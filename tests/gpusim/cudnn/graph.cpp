#include "graph.hpp"
#include "gpusim.hpp"

namespace gpusim
{

namespace
{

/* Where the three kinds of convolution keep their parts. */
struct parts {
    cudnnBackendDescriptorType_t type;
    node_kind kind;
    cudnnBackendAttributeName_t conv, a, b, out, alpha, beta;
};

constexpr parts convolutions[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, node_kind::forward,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, node_kind::backward_data,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, node_kind::backward_filter,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

cudnnStatus_t need(const descriptor &d, std::initializer_list<cudnnBackendAttributeName_t> names)
{
    for (cudnnBackendAttributeName_t name : names)
        if (!d.has(name))
            return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor of type %d lacks attribute %d",
                          static_cast<int>(d.type), static_cast<int>(name));
    return CUDNN_STATUS_SUCCESS;
}

arithmetic::element element_of(cudnnDataType_t type)
{
    switch (type) {
    case CUDNN_DATA_FLOAT:
        return arithmetic::element::f32;
    case CUDNN_DATA_HALF:
        return arithmetic::element::f16;
    case CUDNN_DATA_BFLOAT16:
        return arithmetic::element::bf16;
    default:
        misuse("cuDNN: the double knows no data type %d", static_cast<int>(type));
    }
}

tensor read_tensor(const descriptor &d)
{
    tensor t = {};
    for (int i = 0; i < 4; i++) {
        t.dim[i] = d.get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i);
        t.stride[i] = d.get<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, i);
    }
    t.id = d.get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
    t.alignment = d.get<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    t.type = element_of(d.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE));
    t.is_virtual = d.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && d.get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
    return t;
}

const parts *parts_of(const descriptor &d)
{
    for (const parts &one : convolutions)
        if (one.type == d.type) return &one;
    return nullptr;
}

/* out = floor((in + pads - kernel) / stride) + 1, and channels that fit some number of groups. */
cudnnStatus_t check_shapes(const tensor &x, const tensor &w, const tensor &y, const descriptor &conv)
{
    bool fits = x.dim[0] == y.dim[0] && w.dim[0] == y.dim[1] && x.dim[1] % w.dim[1] == 0 &&
                w.dim[0] % (x.dim[1] / w.dim[1]) == 0;
    for (int i = 0; i < 2; i++) {
        const std::int64_t pads = conv.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i) +
                                  conv.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, i);
        const std::int64_t room = x.dim[2 + i] + pads - w.dim[2 + i];
        fits = fits && room >= 0 &&
               y.dim[2 + i] == room / conv.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i) + 1;
    }
    return fits ? CUDNN_STATUS_SUCCESS
                : refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a convolution's tensors don't fit each other");
}

node read_convolution(const descriptor &d, const parts &p)
{
    const descriptor &conv = d.child(p.conv);
    node n = {p.kind, read_tensor(d.child(p.a)), read_tensor(d.child(p.b)), read_tensor(d.child(p.out)), {}, 1, 0};
    for (int i = 0; i < 2; i++) {
        n.conv.pad[i] = conv.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i);
        n.conv.stride[i] = conv.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i);
    }
    if (d.has(p.alpha)) n.alpha = d.get<float>(p.alpha);
    if (d.has(p.beta)) n.beta = d.get<float>(p.beta);
    return n;
}

node read_pointwise(const descriptor &d)
{
    const auto mode =
        d.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR).get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    if (mode != CUDNN_POINTWISE_ADD && mode != CUDNN_POINTWISE_RELU_FWD)
        misuse("cuDNN: the double knows no pointwise mode %d", static_cast<int>(mode));
    node n = {mode == CUDNN_POINTWISE_ADD ? node_kind::add : node_kind::relu,
              read_tensor(d.child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)),
              {},
              read_tensor(d.child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)),
              {},
              1,
              0};
    if (n.kind == node_kind::add) n.b = read_tensor(d.child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    return n;
}

} // namespace

bool tensor::channels_last() const
{
    const std::int64_t packed[4] = {dim[1] * dim[2] * dim[3], 1, dim[1] * dim[3], dim[1]};
    for (int i = 0; i < 4; i++)
        if (dim[i] > 1 && stride[i] != packed[i]) return false;
    return true;
}

const node *graph::main() const
{
    const node *found = nullptr;
    for (const node &n : nodes) {
        if (n.kind == node_kind::add || n.kind == node_kind::relu) continue;
        if (found) return nullptr;
        found = &n;
    }
    return found;
}

cudnnStatus_t check_tensor(const descriptor &d)
{
    GPUSIM_TRY(need(d, {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES,
                        CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT}));
    if (d.count(CUDNN_ATTR_TENSOR_DIMENSIONS) != 4 || d.count(CUDNN_ATTR_TENSOR_STRIDES) != 4)
        return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor has %lld dimensions and %lld strides, not 4",
                      static_cast<long long>(d.count(CUDNN_ATTR_TENSOR_DIMENSIONS)),
                      static_cast<long long>(d.count(CUDNN_ATTR_TENSOR_STRIDES)));
    const tensor t = read_tensor(d);
    for (int i = 0; i < 4; i++)
        if (t.dim[i] < 1 || t.stride[i] < 1)
            return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor's dimension or stride is below 1");
    if (t.alignment < arithmetic::size_of(t.type) || t.alignment & (t.alignment - 1))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor's alignment of %lld bytes",
                      static_cast<long long>(t.alignment));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_convolution(const descriptor &d)
{
    GPUSIM_TRY(
        need(d, {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_ATTR_CONVOLUTION_DILATIONS,
                 CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                 CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS}));
    if (d.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) != 2)
        return refuse(CUDNN_STATUS_BAD_PARAM, "a convolution in other than 2 dimensions");
    for (auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                      CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
        if (d.count(name) != 2)
            return refuse(CUDNN_STATUS_BAD_PARAM, "attribute %d has not 2 elements", static_cast<int>(name));
    if (d.get<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION)
        misuse("cuDNN: the double knows cross-correlation only");
    if (d.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) != CUDNN_DATA_FLOAT)
        misuse("cuDNN: a convolution that doesn't add up in f32");
    for (int i = 0; i < 2; i++) {
        if (d.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, i) != 1)
            misuse("cuDNN: the double knows no dilation");
        if (d.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i) < 1 ||
            d.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i) < 0 ||
            d.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, i) < 0)
            return refuse(CUDNN_STATUS_BAD_PARAM, "a convolution's stride or padding is out of range");
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_operation(const descriptor &d)
{
    const parts *p = parts_of(d);
    if (!p) {
        GPUSIM_TRY(need(d, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                            CUDNN_ATTR_OPERATION_POINTWISE_YDESC}));
        const node n = read_pointwise(d);
        for (int i = 0; i < 4; i++)
            if (n.a.dim[i] != n.out.dim[i] ||
                (n.kind == node_kind::add && n.b.dim[i] != 1 && n.b.dim[i] != n.out.dim[i]))
                return refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                              "a pointwise operation's tensors don't fit each other");
        return CUDNN_STATUS_SUCCESS;
    }
    GPUSIM_TRY(need(d, {p->conv, p->a, p->b, p->out}));
    const node n = read_convolution(d, *p);
    if (n.kind == node_kind::forward) return check_shapes(n.a, n.b, n.out, d.child(p->conv));
    if (n.kind == node_kind::backward_data) return check_shapes(n.out, n.b, n.a, d.child(p->conv));
    return check_shapes(n.a, n.out, n.b, d.child(p->conv));
}

cudnnStatus_t read_graph(const descriptor &d, graph *out)
{
    GPUSIM_TRY(need(d, {CUDNN_ATTR_OPERATIONGRAPH_OPS}));
    for (const shared &operation : d.set.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).children) {
        const parts *p = parts_of(*operation);
        if (!p && operation->type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
            misuse("cuDNN: the double knows no operation of type %d", static_cast<int>(operation->type));
        out->nodes.push_back(p ? read_convolution(*operation, *p) : read_pointwise(*operation));
    }
    return CUDNN_STATUS_SUCCESS;
}

} // namespace gpusim
