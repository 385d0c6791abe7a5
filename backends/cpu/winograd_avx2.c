/* The Winograd kernel for AVX2 with FMA: 6 x 16 accumulators in 12 of 16 registers. */
#define WINOGRAD_LANES  8
#define WINOGRAD_ROWS   6
#define WINOGRAD_KERNEL cairn_winograd_avx2
#define WINOGRAD_NAME   "avx2"
#include "backends/cpu/winograd_simd.h"
