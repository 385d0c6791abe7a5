/* The Winograd kernel for AVX-512: 12 x 32 accumulators in 24 of 32 registers. */
#define WINOGRAD_LANES  16
#define WINOGRAD_ROWS   12
#define WINOGRAD_KERNEL cairn_winograd_avx512
#define WINOGRAD_NAME   "avx512"
#include "backends/cpu/winograd_simd.h"
