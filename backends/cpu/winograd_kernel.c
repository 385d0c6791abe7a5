#include "backends/cpu/winograd_kernel.h"

/* Without x86 there is no kernel; other processors take oneDNN's. */
const cairn_winograd_kernel *cairn_winograd_kernel_for(int lanes)
{
#if defined(__x86_64__)
    if (lanes == 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &cairn_winograd_avx2;
    if (lanes == 16 && __builtin_cpu_supports("avx512f")) return &cairn_winograd_avx512;
#endif
    (void)lanes;
    return NULL;
}
