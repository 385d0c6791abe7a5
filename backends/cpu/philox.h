/* philox.h - many numbers of one stream of core/rng.h at once, in vector registers: the same numbers as cairn_rng_uniform gives.
 *
 *     float drawn[256];
 *     cairn_philox_uniform(rng, 1024, drawn, 256);             drawn[i] == cairn_rng_uniform(rng, 1024 + i)
 */
#ifndef CAIRN_BACKENDS_CPU_PHILOX_H
#define CAIRN_BACKENDS_CPU_PHILOX_H

#include "core/rng.h"

void cairn_philox_uniform(cairn_rng rng, uint64_t first, float *out, int64_t count);

#endif
