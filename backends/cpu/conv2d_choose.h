/* conv2d_choose.h - which candidate runs each pass of a convolution, and the layouts all of them share.
 *
 *     cairn_conv2d_candidate *candidates[CAIRN_CONV2D_PASSES];
 *     CAIRN_TRY(cairn_conv2d_choose(cpu, &desc, &homes, candidates));
 */
#ifndef CAIRN_BACKENDS_CPU_CONV2D_CHOOSE_H
#define CAIRN_BACKENDS_CPU_CONV2D_CHOOSE_H

#include "backends/cpu/conv2d_dnnl.h"

/* Where several candidates fit a pass: the one that earlier runs found the fastest (the device's plan cache), else the fastest by
 * timing now; with options.deterministic a rule by shape. Candidates of passes that aren't needed are NULL. The caller
 * destroys the candidates, also those of a failed call. */
cairn_status cairn_conv2d_choose(cairn_cpu *cpu, const cairn_conv2d_desc *desc, cairn_conv2d_layouts *homes,
                                 cairn_conv2d_candidate *out[CAIRN_CONV2D_PASSES]);

#endif
