/* graph.hpp - a finalised operation graph, in the terms of its operations. */
#pragma once

#include "../arithmetic/element.hpp"
#include "descriptor.hpp"
#include <vector>

namespace gpusim
{

/* Activations (N, C, H, W), weights (K, C / groups, R, S), each with its strides in elements. */
struct tensor {
    std::int64_t id, dim[4], stride[4], alignment;
    arithmetic::element type;
    bool is_virtual;

    std::int64_t count() const
    {
        return dim[0] * dim[1] * dim[2] * dim[3];
    }
    bool channels_last() const;
};

struct convolution {
    std::int64_t pad[2], stride[2];
};

enum class node_kind { forward, backward_data, backward_filter, add, relu };

/* forward: out = alpha a * b + beta out with a = x and b = w; backward_data: a = dy, b = w; backward_filter: a = x, b = dy. */
struct node {
    node_kind kind;
    tensor a, b, out;
    convolution conv;
    float alpha, beta;
};

struct graph {
    std::vector<node> nodes;

    /* The convolution; engines are offered for graphs that have one. NULL: none or several. */
    const node *main() const;
};

/* Reads a graph's operations and looks whether their shapes fit. */
cudnnStatus_t read_graph(const descriptor &d, graph *out);

cudnnStatus_t check_tensor(const descriptor &d);
cudnnStatus_t check_convolution(const descriptor &d);
cudnnStatus_t check_operation(const descriptor &d);

} // namespace gpusim
