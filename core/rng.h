/* rng.h - Philox 4x32-10, a counter-based random generator: number i of a stream is a pure function of (seed, purpose,
 * step, i), so init, shuffles, crops and dropout masks are the same on every backend, with any number of threads, and
 * after a resume.
 *
 *     cairn_rng rng = cairn_rng_make(seed, CAIRN_RNG_SHUFFLE, 0, epoch);
 *     float u = cairn_rng_uniform(rng, sample);                             in [0, 1)
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef CAIRN_CORE_RNG_H
#define CAIRN_CORE_RNG_H

#include <stdint.h>

/* What numbers are drawn for. Values are part of every checkpoint's meaning: never renumber. */
typedef enum cairn_rng_purpose {
    CAIRN_RNG_INIT = 1,    /* instance: index of the parameter */
    CAIRN_RNG_SHUFFLE = 2, /* step: epoch */
    CAIRN_RNG_AUGMENT = 3, /* step: epoch; index: sample * CAIRN_RNG_AUGMENT_DRAWS + draw */
    CAIRN_RNG_DROPOUT = 4, /* instance: index of the layer; step: update; index: element */
    CAIRN_RNG_SPLIT = 5,   /* instance: class */
    CAIRN_RNG_SYNTHETIC = 6,
} cairn_rng_purpose;

/* Numbers of the augmentation stream set aside for each sample. */
#define CAIRN_RNG_AUGMENT_DRAWS 32

/* A stream: key = (low word of the seed, purpose << 16 | instance), and the upper half of the counter = (step, high word
 * of the seed). The lower half of the counter is index / 4; index % 4 picks one of the four words Philox gives. */
typedef struct cairn_rng {
    uint32_t key[2];
    uint32_t high[2];
} cairn_rng;

/* `instance` is below 65,536. */
cairn_rng cairn_rng_make(uint64_t seed, cairn_rng_purpose purpose, uint32_t instance, uint32_t step);

/* The raw function: ten rounds over a 128-bit counter and a 64-bit key. */
void cairn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Number `index` of the stream: 32 random bits; uniform in [0, 1) with 24 bits; standard normal (Box-Muller of numbers
 * 2*index and 2*index + 1, in double, rounded to float). */
uint32_t cairn_rng_bits(cairn_rng rng, uint64_t index);
float cairn_rng_uniform(cairn_rng rng, uint64_t index);
float cairn_rng_normal(cairn_rng rng, uint64_t index);

/* Uniform numbers first, first + 1, ... of the stream into values[0..count), four a block: five times as fast as one by one. */
void cairn_rng_uniform_fill(cairn_rng rng, uint64_t first, float *values, int64_t count);

/* A whole number in [0, bound) by multiply-shift; bias below bound / 2^32. bound is at least 1. */
uint32_t cairn_rng_below(cairn_rng rng, uint64_t index, uint32_t bound);

/* Fills order[0..count) with a permutation of 0..count-1 (Fisher-Yates, numbers 0..count-2 of the stream). count < 2^32. */
void cairn_rng_permutation(cairn_rng rng, int64_t *order, int64_t count);

#endif
