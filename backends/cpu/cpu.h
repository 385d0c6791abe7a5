/* cpu.h - a CPU device: oneDNN's engine and stream, and a team of OpenMP threads.
 *
 * Files of this backend include it to get at the device; nobody else does.
 *
 *     cairn_cpu *cpu = cairn_cpu_of(plan->device);
 *     cairn_cpu_enter(cpu);                                  from here the team has cpu->base.threads threads
 *     #pragma omp parallel for schedule(static) ...
 */
#ifndef CAIRN_BACKENDS_CPU_CPU_H
#define CAIRN_BACKENDS_CPU_CPU_H

#include "core/backend.h"
#include <oneapi/dnnl/dnnl.h>

#define CAIRN_CPU_ALIGNMENT 64 /* of every buffer: a cache line, and the widest vector register */
#define CAIRN_CPU_PARTIALS  8  /* sums a thread may keep in cairn_cpu.partial: a cache line of doubles */

struct cairn_layout_table;
struct cairn_plan_cache;

typedef struct cairn_cpu {
    cairn_device base;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attributes;      /* scratch memory comes from us */
    dnnl_primitive_attr_t relu_attributes; /* and max(y, 0) follows the operation */
    struct cairn_layout_table *layouts;
    struct cairn_plan_cache *cache; /* NULL when no folder was given */
    double *partial;                /* [threads][CAIRN_CPU_PARTIALS], to be added up in the order of the threads */
    int block; /* channels in a block of the layouts this processor likes: 16 with AVX-512, else 8 */
} cairn_cpu;

static inline cairn_cpu *cairn_cpu_of(cairn_device *device)
{
    return (cairn_cpu *)device;
}

/* Sets the size of the OpenMP team for oneDNN and for our loops; called at the start of everything that computes. The number belongs
 * to the calling thread, and so holds when a device is handed to another one. */
void cairn_cpu_enter(cairn_cpu *cpu);

/* Bytes rounded up so that what follows is aligned. */
static inline size_t cairn_cpu_align(size_t bytes)
{
    return (bytes + CAIRN_CPU_ALIGNMENT - 1) / CAIRN_CPU_ALIGNMENT * CAIRN_CPU_ALIGNMENT;
}

/* CAIRN_DEVICE, with the reason, for an element type this backend doesn't compute in. */
cairn_status cairn_cpu_check_dtype(cairn_dtype dtype);

#endif
