/* graph.h - a convolution described to cuDNN: one of four graphs of operations, in its graph API.
 *
 *     cairn_graph graph;
 *     CAIRN_TRY(cairn_graph_create(CAIRN_GRAPH_BACKWARD_DATA, &convolution, &graph));
 *     ... look for an engine that runs graph.descriptor: engine.h ...
 *     cairn_graph_release(&graph);                                  after the engine that runs it
 *
 * Tensors are channels last: activations NHWC, weights (O, KH, KW, C / groups). Sums are f32, and so is what lies between two operations of a
 * graph. https://docs.nvidia.com/deeplearning/cudnn, "Graph API"; each graph is one that the library has precompiled engines for.
 */
#ifndef CAIRN_BACKENDS_CUDA_GRAPH_H
#define CAIRN_BACKENDS_CUDA_GRAPH_H

#include "core/status.h"
#include <cudnn_graph.h>
#include <stdint.h>

/* Elements of x (batch, channels, height, width) and y (batch, outputs, out_h, out_w); channels and weights include what a layout pads. */
typedef struct cairn_convolution {
    int64_t batch, channels, height, width, outputs, out_h, out_w;
    int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, groups;
    cudnnDataType_t type; /* of x, w, y, bias and their gradients */
} cairn_convolution;

typedef enum cairn_graph_kind {
    CAIRN_GRAPH_FORWARD,           /* y = x * w */
    CAIRN_GRAPH_FORWARD_BIAS_RELU, /* y = max(x * w + bias, 0) */
    CAIRN_GRAPH_BACKWARD_DATA,     /* dx from dy and w */
    CAIRN_GRAPH_BACKWARD_FILTER,   /* dw from x and dy */
} cairn_graph_kind;

/* How a running graph tells its tensors apart. x stands for dx too, w for dw and y for dy. */
enum { CAIRN_GRAPH_X = 1, CAIRN_GRAPH_W, CAIRN_GRAPH_Y, CAIRN_GRAPH_BIAS, CAIRN_GRAPH_SUM, CAIRN_GRAPH_BIASED };

enum { CAIRN_GRAPH_PARTS = 14 };

typedef struct cairn_graph {
    cudnnBackendDescriptor_t descriptor; /* the operation graph */
    cudnnBackendDescriptor_t part[CAIRN_GRAPH_PARTS];
    int parts;
} cairn_graph;

/* CAIRN_LIBRARY with cuDNN's reason. The graph is to be released also after a failure. */
cairn_status cairn_graph_create(cairn_graph_kind kind, const cairn_convolution *convolution, cairn_graph *out);
void cairn_graph_release(cairn_graph *graph);

#endif
