#include "backends/cuda/graph.h"
#include "backends/cuda/descriptor.h"
#include <string.h>

/* A new descriptor that the graph owns. */
static cairn_status add_part(cairn_graph *graph, cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out)
{
    *out = NULL;
    CUDNN_TRY(cudnnBackendCreateDescriptor(type, out));
    graph->part[graph->parts++] = *out;
    return CAIRN_OK;
}

/* ---- tensors ---- */

/* (n, c, h, w) channels last; `is_virtual`: lives between two operations of the graph only. */
static cairn_status add_tensor(cairn_graph *graph, cudnnDataType_t type, const int64_t dim[4], int64_t id,
                               bool is_virtual, cudnnBackendDescriptor_t *out)
{
    const int64_t stride[4] = {dim[1] * dim[2] * dim[3], 1, dim[3] * dim[1], dim[1]};
    const int64_t alignment = 16; /* bytes: every operand's in a net is at least that */
    CAIRN_TRY(add_part(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR, out));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual));
    CUDNN_TRY(cudnnBackendFinalize(*out));
    return CAIRN_OK;
}

typedef struct tensors {
    cudnnBackendDescriptor_t x, w, y;
} tensors;

/* Where y is virtual it is the f32 sum that bias and ReLU go on with. */
static cairn_status add_tensors(cairn_graph *graph, const cairn_convolution *c, bool y_is_virtual, tensors *out)
{
    const int64_t x[4] = {c->batch, c->channels, c->height, c->width};
    const int64_t w[4] = {c->outputs, c->channels / c->groups, c->kernel_h, c->kernel_w};
    const int64_t y[4] = {c->batch, c->outputs, c->out_h, c->out_w};
    CAIRN_TRY(add_tensor(graph, c->type, x, CAIRN_GRAPH_X, false, &out->x));
    CAIRN_TRY(add_tensor(graph, c->type, w, CAIRN_GRAPH_W, false, &out->w));
    return add_tensor(graph, y_is_virtual ? CUDNN_DATA_FLOAT : c->type, y,
                      y_is_virtual ? CAIRN_GRAPH_SUM : CAIRN_GRAPH_Y, y_is_virtual, &out->y);
}

/* ---- operations ---- */

static cairn_status describe(cairn_graph *graph, const cairn_convolution *c, cudnnBackendDescriptor_t *out)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t rank = 2, pad[2] = {c->pad_h, c->pad_w}, stride[2] = {c->stride_h, c->stride_w}, dilation[2] = {1, 1};
    CAIRN_TRY(add_part(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, out));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &rank));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride));
    CAIRN_TRY(cairn_descriptor_set(*out, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation));
    CUDNN_TRY(cudnnBackendFinalize(*out));
    return CAIRN_OK;
}

/* The three passes are three operations, whose attributes have names of their own. */
typedef struct convolution_names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
} convolution_names;

static const convolution_names forward_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
static const convolution_names data_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
static const convolution_names filter_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

static cairn_status add_convolution(cairn_graph *graph, const convolution_names *names, const cairn_convolution *c,
                                    const tensors *t, cudnnBackendDescriptor_t *out)
{
    const float alpha = 1, beta = 0;
    cudnnBackendDescriptor_t convolution;
    CAIRN_TRY(describe(graph, c, &convolution));
    CAIRN_TRY(add_part(graph, names->operation, out));
    CAIRN_TRY(cairn_descriptor_link(*out, names->x, t->x));
    CAIRN_TRY(cairn_descriptor_link(*out, names->w, t->w));
    CAIRN_TRY(cairn_descriptor_link(*out, names->y, t->y));
    CAIRN_TRY(cairn_descriptor_link(*out, names->convolution, convolution));
    CAIRN_TRY(cairn_descriptor_set(*out, names->alpha, CUDNN_TYPE_FLOAT, 1, &alpha));
    CAIRN_TRY(cairn_descriptor_set(*out, names->beta, CUDNN_TYPE_FLOAT, 1, &beta));
    CUDNN_TRY(cudnnBackendFinalize(*out));
    return CAIRN_OK;
}

/* y = mode(x, b), element by element; b NULL where the mode takes one operand. */
static cairn_status add_pointwise(cairn_graph *graph, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                  cudnnBackendDescriptor_t b, cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t *out)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t pointwise;
    CAIRN_TRY(add_part(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, &pointwise));
    CAIRN_TRY(cairn_descriptor_set(pointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode));
    CAIRN_TRY(cairn_descriptor_set(pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute));
    CUDNN_TRY(cudnnBackendFinalize(pointwise));
    CAIRN_TRY(add_part(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, out));
    CAIRN_TRY(cairn_descriptor_link(*out, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise));
    CAIRN_TRY(cairn_descriptor_link(*out, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x));
    if (b) CAIRN_TRY(cairn_descriptor_link(*out, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b));
    CAIRN_TRY(cairn_descriptor_link(*out, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y));
    CUDNN_TRY(cudnnBackendFinalize(*out));
    return CAIRN_OK;
}

/* The bias must be of y's type: with f16 and an f32 bias the library has no precompiled engine. */
static cairn_status add_bias_relu(cairn_graph *graph, const cairn_convolution *c, cudnnBackendDescriptor_t sum,
                                  cudnnBackendDescriptor_t operations[2])
{
    const int64_t bias_dim[4] = {1, c->outputs, 1, 1}, y_dim[4] = {c->batch, c->outputs, c->out_h, c->out_w};
    cudnnBackendDescriptor_t bias, biased, y;
    CAIRN_TRY(add_tensor(graph, c->type, bias_dim, CAIRN_GRAPH_BIAS, false, &bias));
    CAIRN_TRY(add_tensor(graph, CUDNN_DATA_FLOAT, y_dim, CAIRN_GRAPH_BIASED, true, &biased));
    CAIRN_TRY(add_tensor(graph, c->type, y_dim, CAIRN_GRAPH_Y, false, &y));
    CAIRN_TRY(add_pointwise(graph, CUDNN_POINTWISE_ADD, sum, bias, biased, &operations[0]));
    return add_pointwise(graph, CUDNN_POINTWISE_RELU_FWD, biased, NULL, y, &operations[1]);
}

/* ---- the graph ---- */

cairn_status cairn_graph_create(cairn_graph_kind kind, const cairn_convolution *convolution, cairn_graph *out)
{
    static const convolution_names *const names[] = {&forward_names, &forward_names, &data_names, &filter_names};
    cudnnBackendDescriptor_t operations[3];
    bool fused = kind == CAIRN_GRAPH_FORWARD_BIAS_RELU;
    tensors t;
    memset(out, 0, sizeof *out);
    CAIRN_TRY(add_tensors(out, convolution, fused, &t));
    CAIRN_TRY(add_convolution(out, names[kind], convolution, &t, &operations[0]));
    if (fused) CAIRN_TRY(add_bias_relu(out, convolution, t.y, operations + 1));
    CAIRN_TRY(add_part(out, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &out->descriptor));
    CAIRN_TRY(cairn_descriptor_set(out->descriptor, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   fused ? 3 : 1, operations));
    CUDNN_TRY(cudnnBackendFinalize(out->descriptor));
    return CAIRN_OK;
}

void cairn_graph_release(cairn_graph *graph)
{
    while (graph->parts > 0)
        cairn_descriptor_destroy(graph->part[--graph->parts]);
}
