/* elementwise.h - loops over whole buffers, spread over the device's threads. Where both sides lie alike, the layout doesn't matter.
 *
 *     cairn_elementwise_relu_mask(cpu, diff_dst, dst, bytes / sizeof(float));
 */
#ifndef CAIRN_BACKENDS_CPU_ELEMENTWISE_H
#define CAIRN_BACKENDS_CPU_ELEMENTWISE_H

#include "backends/cpu/cpu.h"

/* y = max(x, 0); y may be x. NaN stays NaN. */
void cairn_elementwise_relu(cairn_cpu *cpu, float *y, const float *x, int64_t count);

/* dx = dy where y > 0, else 0; dx may be dy. */
void cairn_elementwise_relu_mask(cairn_cpu *cpu, float *dx, const float *dy, const float *y, int64_t count);

/* to += from */
void cairn_elementwise_add(cairn_cpu *cpu, float *to, const float *from, int64_t count);

void cairn_elementwise_copy(cairn_cpu *cpu, float *to, const float *from, int64_t count);
void cairn_elementwise_copy_bytes(cairn_cpu *cpu, void *to, const void *from, int64_t bytes);

#endif
