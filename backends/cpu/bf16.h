/* bf16.h - whole buffers between f32 and bf16, spread over the device's threads.
 *
 *     cairn_bf16_widen(cpu, wide, narrow, count);
 *     cairn_bf16_narrow(cpu, narrow, wide, count);
 *
 * Rounding is that of core/dtype.h: to nearest, ties to even; a NaN stays one.
 */
#ifndef CAIRN_BACKENDS_CPU_BF16_H
#define CAIRN_BACKENDS_CPU_BF16_H

#include "backends/cpu/cpu.h"

void cairn_bf16_widen(cairn_cpu *cpu, float *to, const uint16_t *from, int64_t count);
void cairn_bf16_narrow(cairn_cpu *cpu, uint16_t *to, const float *from, int64_t count);

/* In the calling thread. */
void cairn_bf16_narrow_here(uint16_t *to, const float *from, int64_t count);

#endif
