/* wide_plan.h - a plan in bf16 made of one in f32: operands are widened into the workspace, results rounded on their way back.
 *
 * For what is small beside the convolutions and products, and for all of it where those have no kernels in bf16.
 *
 *     CAIRN_TRY(cairn_cpu_plan_lrn(device, &in_f32, &inner));
 *     const cairn_wide_operands operands = {.src = desc->src, .dst = desc->src};
 *     CAIRN_TRY(cairn_wide_plan_create(inner, &operands, &plan));
 */
#ifndef CAIRN_BACKENDS_CPU_WIDE_PLAN_H
#define CAIRN_BACKENDS_CPU_WIDE_PLAN_H

#include "core/backend.h"

typedef struct cairn_wide_operands {
    cairn_shape src, dst;
    int64_t weights, bias; /* elements of those that come in bf16; 0: none, or f32 as batch norm's */
    bool masks;            /* backward masks diff_dst in place */
} cairn_wide_operands;

/* The layout of f32 that a plan in f32 is to be told in place of this one of bf16. */
cairn_status cairn_wide_plan_source(cairn_device *device, const cairn_layout *layout, const cairn_layout **out);

/* Takes ownership of `inner`, also on failure. The copy of the weights in bf16 lies as the f32 weights do. */
cairn_status cairn_wide_plan_create(cairn_plan *inner, const cairn_wide_operands *operands, cairn_plan **out);

#endif
