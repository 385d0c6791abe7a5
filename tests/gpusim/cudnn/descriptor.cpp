#include "descriptor.hpp"
#include "gpusim.hpp"
#include <cstring>

using gpusim::call;
using gpusim::kind;
using gpusim::of;
using gpusim::refuse;

namespace
{

/* The attributes that may be set, each with the type that the manual gives it. */
struct rule {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
};

constexpr rule rules[] = {
    {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
    {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN},
    {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
    {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
    {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT},
    {CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE},
    {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE},
    {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE},
    {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE},
    {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE},
    {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE},
    {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR},
    {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR},
};

std::size_t bytes_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN:
        return sizeof(bool);
    case CUDNN_TYPE_INT64:
        return sizeof(std::int64_t);
    case CUDNN_TYPE_FLOAT:
        return sizeof(float);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
        return sizeof(void *);
    default:
        return sizeof(cudnnDataType_t); /* an enumeration */
    }
}

const rule &rule_of(cudnnBackendAttributeName_t name)
{
    for (const rule &one : rules)
        if (one.name == name) return one;
    gpusim::misuse("cudnnBackendSetAttribute: the double knows no attribute %d", static_cast<int>(name));
}

} // namespace

extern "C" cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out)
{
    call call(__func__, kind::create);
    if (call.fails()) return refuse(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "no memory for a descriptor");
    auto made = std::make_shared<gpusim::descriptor>();
    made->type = type;
    *out = new gpusim::handle{made};
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d)
{
    call call(__func__, kind::free);
    delete static_cast<gpusim::handle *>(d);
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                                  cudnnBackendAttributeType_t type, std::int64_t count,
                                                  const void *elements)
{
    gpusim::descriptor &to = of(d);
    const rule &r = rule_of(name);
    if (to.finalized)
        return refuse(CUDNN_STATUS_BAD_PARAM, "attribute %d is set after the descriptor was finalised",
                      static_cast<int>(name));
    const bool scale = r.type == CUDNN_TYPE_FLOAT && type == CUDNN_TYPE_DOUBLE; /* alpha and beta may be either */
    if (type != r.type && !scale)
        return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d has type %d, not %d", static_cast<int>(name),
                      static_cast<int>(r.type), static_cast<int>(type));
    if (count < 1 || !elements)
        return refuse(CUDNN_STATUS_BAD_PARAM, "attribute %d is set to nothing", static_cast<int>(name));
    gpusim::attribute &a = to.set[name];
    a = {};
    a.count = count;
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        const auto *children = static_cast<const cudnnBackendDescriptor_t *>(elements);
        for (std::int64_t i = 0; i < count; i++) {
            if (!of(children[i]).finalized)
                return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "attribute %d is a descriptor that isn't finalised",
                              static_cast<int>(name));
            a.children.push_back(static_cast<gpusim::handle *>(children[i])->to);
        }
        return CUDNN_STATUS_SUCCESS;
    }
    const float narrowed = scale ? static_cast<float>(*static_cast<const double *>(elements)) : 0;
    const char *first = scale ? reinterpret_cast<const char *>(&narrowed) : static_cast<const char *>(elements);
    a.bytes.assign(first, first + static_cast<std::size_t>(count) * bytes_of(r.type));
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d)
{
    call call(__func__, kind::create);
    if (call.fails()) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "refused as GPUSIM_FAIL says");
    if (of(d).finalized) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor is finalised twice");
    GPUSIM_TRY(gpusim::check(of(d)));
    of(d).finalized = true;
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
                                                  cudnnBackendAttributeType_t, std::int64_t room, std::int64_t *count,
                                                  void *to)
{
    std::int64_t unused;
    if (!of(d).finalized)
        return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "attribute %d of a descriptor that isn't finalised",
                      static_cast<int>(name));
    return gpusim::work_out(of(d), name, room, count ? count : &unused, to);
}
