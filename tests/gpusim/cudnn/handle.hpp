/* handle.hpp - what cuDNN's handle points at. */
#pragma once

#include <cudnn_graph.h>

/* The header's name. */
struct cudnnContext {
    cudaStream_t stream;
};
