/* conv2d_dnnl.h - convolution by oneDNN: the layouts it likes, and its candidates for each pass.
 *
 *     cairn_conv2d_layouts homes;
 *     CAIRN_TRY(cairn_conv2d_dnnl_layouts(cpu, &desc, &homes));
 *     CAIRN_TRY(cairn_conv2d_dnnl_create(cpu, &desc, &homes, dnnl_convolution_direct, CAIRN_CONV2D_FORWARD, &candidate));
 */
#ifndef CAIRN_BACKENDS_CPU_CONV2D_DNNL_H
#define CAIRN_BACKENDS_CPU_CONV2D_DNNL_H

#include "backends/cpu/conv2d_candidate.h"
#include "backends/cpu/layout.h"

/* How the operands of one convolution lie outside its passes; gradients lie as what they are gradients of. */
typedef struct cairn_conv2d_layouts {
    const cairn_layout *src, *weights, *dst;
} cairn_conv2d_layouts;

/* Shape of dst. */
cairn_shape cairn_conv2d_dst(const cairn_conv2d_desc *desc);

/* Weights as oneDNN counts them: (O, I, h, w), or (g, O / g, I / g, h, w) with groups. Returns the rank. */
int cairn_conv2d_weight_dims(const cairn_conv2d_desc *desc, int64_t dims[5]);

/* The layouts the forward pass works best in. */
cairn_status cairn_conv2d_dnnl_layouts(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *out);

/* *out is NULL, and the status CAIRN_OK, where oneDNN has no such implementation. Where the pass wants an operand in another layout
 * than its home, the candidate reorders it inside its workspace. */
cairn_status cairn_conv2d_dnnl_create(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_conv2d_layouts *homes,
                                      dnnl_alg_kind_t algorithm, cairn_conv2d_pass pass, cairn_conv2d_candidate **out);

#endif
