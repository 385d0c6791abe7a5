/* linear_dnnl.h - the three matrix products of a fully connected layer as oneDNN's inner products, and the one layout of the weights that
 * serves them best.
 *
 * Activations are plain (N, I) and (N, O): oneDNN then takes its matrix kernels, which with a four-dimensional source it doesn't.
 *
 *     CAIRN_TRY(cairn_linear_dnnl_layout(cpu, &desc, &weights));
 *     CAIRN_TRY(cairn_linear_dnnl_describe(cpu, &desc, CAIRN_LINEAR_FORWARD, desc.out_features, weights, &pd));
 */
#ifndef CAIRN_BACKENDS_CPU_LINEAR_DNNL_H
#define CAIRN_BACKENDS_CPU_LINEAR_DNNL_H

#include "backends/cpu/layout.h"

typedef enum cairn_linear_pass {
    CAIRN_LINEAR_FORWARD,
    CAIRN_LINEAR_BACKWARD_DATA,
    CAIRN_LINEAR_BACKWARD_WEIGHTS,
    CAIRN_LINEAR_PASSES
} cairn_linear_pass;

/* The first layout the weight gradient can be written in directly that most of the passes take with their fastest kernels. */
cairn_status cairn_linear_dnnl_layout(cairn_cpu *cpu, const cairn_linear_desc *desc, const cairn_layout **out);

/* The descriptor of one pass over `out_features` outputs (of desc's, or fewer) with weights in `layout`; a `layout` of NULL lets oneDNN
 * choose. *out is NULL, and the status CAIRN_OK, where oneDNN has none. */
cairn_status cairn_linear_dnnl_describe(cairn_cpu *cpu, const cairn_linear_desc *desc, cairn_linear_pass pass,
                                        int64_t out_features, const cairn_layout *layout, dnnl_primitive_desc_t *out);

/* oneDNN's argument that stands for the weights in a pass. */
int cairn_linear_dnnl_weights(cairn_linear_pass pass);

#endif
