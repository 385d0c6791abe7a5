/* init.h - the first values of a parameter; used inside layers/ only.
 *
 *     cairn_rng rng = cairn_rng_make(seed, CAIRN_RNG_INIT, parameter_index, 0);
 *     cairn_init_fill(&init, fan_in, fan_out, rng, values, 0, count);
 */
#ifndef CAIRN_LAYERS_INIT_H
#define CAIRN_LAYERS_INIT_H

#include "layers/layer.h"

/* Writes values[begin..end): element i depends on i and rng only, so ranges can be filled in any order, by several threads. */
void cairn_init_fill(const cairn_init *init, int64_t fan_in, int64_t fan_out, cairn_rng rng, float *values,
                     int64_t begin, int64_t end);

#endif
