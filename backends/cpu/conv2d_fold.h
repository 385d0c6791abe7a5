/* conv2d_fold.h - a strided convolution over few channels, such as AlexNet's first, run as one of stride 1 over many.
 *
 * With stride s, the s x s pixels of a channel that an output steps over become s * s channels of one pixel: an 11x11 filter of stride 4
 * over 3 channels is a 3x3 filter of stride 1 over 48, whose taps past the eleventh are 0. The sums are the same; what is gained is a
 * shape for which vectors are full and Winograd has a form.
 *
 *     if (cairn_conv2d_can_fold(cpu, &desc)) {
 *         cairn_conv2d_desc folded = cairn_conv2d_folded(&desc);
 *         ... a candidate `inner` for it, with all operands blocked ...
 *         CAIRN_TRY(cairn_conv2d_fold_create(cpu, &desc, weights_home, pass, inner, &candidate));
 *     }
 */
#ifndef CAIRN_BACKENDS_CPU_CONV2D_FOLD_H
#define CAIRN_BACKENDS_CPU_CONV2D_FOLD_H

#include "backends/cpu/conv2d_candidate.h"
#include "backends/cpu/layout.h"

/* Square stride of 2 or more that divides a block, ungrouped, up to 4 channels that fill whole blocks once folded. */
bool cairn_conv2d_can_fold(const cairn_cpu *cpu, const cairn_conv2d_desc *desc);

/* The convolution that takes its place; without a data gradient. */
cairn_conv2d_desc cairn_conv2d_folded(const cairn_conv2d_desc *desc);

/* Wraps a candidate of the folded convolution, whose operands are nChw<b>c and OIhw<b>i<b>o, into one of the given convolution with src
 * plain, weights in `weights`, dst nChw<b>c. Takes `inner`, also on failure; NULL, or a backward to the data, gives *out NULL. */
cairn_status cairn_conv2d_fold_create(cairn_cpu *cpu, const cairn_conv2d_desc *desc, const cairn_layout *weights,
                                      cairn_conv2d_pass pass, cairn_conv2d_candidate *inner,
                                      cairn_conv2d_candidate **out);

#endif
