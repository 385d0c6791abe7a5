#include "backends/cpu/elementwise.h"
#include "backends/cpu/simd.h"
#include <string.h>

/* A piece of work for one thread at a time: 64 KB of floats, small beside a core's second-level cache and large beside the cost of
 * handing it out. */
#define CHUNK 16384

CAIRN_CPU_CLONES static void relu(float *y, const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

CAIRN_CPU_CLONES static void relu_mask(float *dx, const float *dy, const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        dx[i] = y[i] > 0.0f ? dy[i] : 0.0f;
}

CAIRN_CPU_CLONES static void add(float *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

static int64_t chunk_at(int64_t at, int64_t count)
{
    return count - at < CHUNK ? count - at : CHUNK;
}

void cairn_elementwise_relu(cairn_cpu *cpu, float *y, const float *x, int64_t count)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += CHUNK)
        relu(y + i, x + i, chunk_at(i, count));
}

void cairn_elementwise_relu_mask(cairn_cpu *cpu, float *dx, const float *dy, const float *y, int64_t count)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += CHUNK)
        relu_mask(dx + i, dy + i, y + i, chunk_at(i, count));
}

void cairn_elementwise_add(cairn_cpu *cpu, float *to, const float *from, int64_t count)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += CHUNK)
        add(to + i, from + i, chunk_at(i, count));
}

void cairn_elementwise_copy_bytes(cairn_cpu *cpu, void *to, const void *from, int64_t bytes)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < bytes; i += 4 * CHUNK)
        memcpy((char *)to + i, (const char *)from + i, (size_t)(bytes - i < 4 * CHUNK ? bytes - i : 4 * CHUNK));
}

void cairn_elementwise_copy(cairn_cpu *cpu, float *to, const float *from, int64_t count)
{
    cairn_elementwise_copy_bytes(cpu, to, from, count * (int64_t)sizeof *to);
}
