/* simd.h - how loops of our own are compiled for several processors at once.
 *
 * A function marked CAIRN_CPU_CLONES is compiled for AVX-512, for AVX2 with FMA and for the plain target, and the loader takes the one
 * this processor runs. Contraction is off in the whole build, so a clone rounds as the plain code does; only sums that a clone
 * spreads over wider registers may differ between processors, never between two runs on one.
 *
 *     CAIRN_CPU_CLONES static void scale(float *x, int64_t n, float by) { for (int64_t i = 0; i < n; i++) x[i] *= by; }
 */
#ifndef CAIRN_BACKENDS_CPU_SIMD_H
#define CAIRN_BACKENDS_CPU_SIMD_H

/* Not under sanitizers: the resolvers that pick a clone run before the sanitizers' own start-up. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAIRN_CPU_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CAIRN_CPU_CLONES
#endif

#endif
