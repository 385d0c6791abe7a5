/* pass.h - one pass of a convolution ready to run: its graph, the engine chosen for it, and the addresses it runs on.
 */
#ifndef CAIRN_BACKENDS_CUDA_PASS_H
#define CAIRN_BACKENDS_CUDA_PASS_H

#include "backends/cuda/cuda.h"
#include "backends/cuda/engine.h"

/* Addresses a pass ran on, bound to cuDNN's "variant pack". Making one takes host memory, so it is kept until other addresses come: in a
 * net they are the same in every step. */
typedef struct cairn_pass_binding {
    const void *x, *w, *y, *bias;
    void *workspace;
    cudnnBackendDescriptor_t pack; /* NULL: none yet */
} cairn_pass_binding;

enum {
    CAIRN_PASS_BINDINGS = 2
}; /* a filter gradient goes to one of two places: over the old one, or aside to be added */

typedef struct cairn_pass {
    cairn_graph graph;
    cairn_engine engine; /* engine.plan NULL: the pass was not found */
    cairn_pass_binding binding[CAIRN_PASS_BINDINGS];
} cairn_pass;

/* Looks for an engine: the first of the library's that keeps `rules`. `found` tells whether there is one. Release it in any case. */
cairn_status cairn_pass_plan(cairn_pass *pass, cudnnBackendDescriptor_t target, cairn_graph_kind kind,
                             const cairn_convolution *convolution, const cairn_engine_rules *rules, bool *found);

/* Puts the pass on the compute stream, with the addresses of `wanted` (its pack is ignored); bias NULL where the graph has none. `slot`
 * chooses among the bindings. */
cairn_status cairn_pass_run(cairn_pass *pass, cairn_cuda *cuda, int slot, const cairn_pass_binding *wanted);

void cairn_pass_release(cairn_pass *pass);

#endif
