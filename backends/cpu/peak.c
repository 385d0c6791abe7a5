#include "backends/cpu/peak.h"
#include "backends/cpu/cpu.h"
#include "core/os.h"

/* Chains of dependent multiply-adds side by side: two units with a latency of four or five need ten at least, and sixteen
 * registers hold twelve besides the constants. */
#define CHAINS 12
#define ROUNDS 400000

#define EACH_CHAIN(do_this)                                                                                            \
    do_this(0) do_this(1) do_this(2) do_this(3) do_this(4) do_this(5) do_this(6) do_this(7) do_this(8) do_this(9)      \
        do_this(10) do_this(11)

/* Written out chain by chain: as an inner loop, compilers were seen to keep the sums in memory, at a tenth of the speed. */
#define START(i) sum[i] = shift * (float)(i);
#define STEP(i)  sum[i] = sum[i] * scale + shift;
#define TOTAL(i) total += sum[i];

/* A loop of FMAs over CHAINS registers of `width` floats; returns a number that depends on all of them. */
#define DEFINE_LOOP(name, attribute, width)                                                                            \
    typedef float name##_vector __attribute__((vector_size(4 * (width))));                                             \
    attribute static float name(void)                                                                                  \
    {                                                                                                                  \
        name##_vector sum[CHAINS], scale, shift, total;                                                                \
        for (int k = 0; k < (width); k++) {                                                                            \
            scale[k] = 0.999f;                                                                                         \
            shift[k] = 1e-6f;                                                                                          \
        }                                                                                                              \
        EACH_CHAIN(START)                                                                                              \
        for (long round = 0; round < ROUNDS; round++) {                                                                \
            EACH_CHAIN(STEP)                                                                                           \
        }                                                                                                              \
        total = shift;                                                                                                 \
        EACH_CHAIN(TOTAL)                                                                                              \
        return total[0];                                                                                               \
    }

#if defined(__x86_64__)
DEFINE_LOOP(loop_avx512, __attribute__((target("avx512f,fma"))), 16)
DEFINE_LOOP(loop_avx2, __attribute__((target("avx2,fma"))), 8)
#endif
DEFINE_LOOP(loop_plain, , 4)

typedef struct kernel {
    float (*run)(void);
    int width;
} kernel;

static kernel choose(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return (kernel){loop_avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return (kernel){loop_avx2, 8};
#endif
    return (kernel){loop_plain, 4};
}

double cairn_cpu_peak_gflops(cairn_device *device, cairn_dtype dtype)
{
    if (dtype != CAIRN_F32) return 0;
    kernel k = choose();
    int threads = device->threads;
    double best = 0;
    cairn_cpu_enter(cairn_cpu_of(device));
    for (int attempt = 0; attempt < 4; attempt++) {
        float sink = 0;
        double start = cairn_os_seconds();
#pragma omp parallel reduction(+ : sink)
        sink += k.run();
        double seconds = cairn_os_seconds() - start;
        double gflops = 2.0 * k.width * CHAINS * (double)ROUNDS * threads / seconds * 1e-9;
        if (gflops > best && sink > 0) best = gflops; /* the sum is used, so the loop can't be dropped */
    }
    return best;
}
