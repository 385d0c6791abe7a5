#include "backends/cpu/bf16.h"
#include "backends/cpu/simd.h"
#include <string.h>

#define CHUNK 16384 /* elements a thread takes at a time */

CAIRN_CPU_CLONES static void widen(float *restrict to, const uint16_t *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

/* Written without branches, so that it is done sixteen at a time. */
CAIRN_CPU_CLONES static void narrow(uint16_t *restrict to, const float *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40u;
        to[i] = (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
    }
}

static int64_t chunk_at(int64_t at, int64_t count)
{
    return count - at < CHUNK ? count - at : CHUNK;
}

void cairn_bf16_widen(cairn_cpu *cpu, float *to, const uint16_t *from, int64_t count)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += CHUNK)
        widen(to + i, from + i, chunk_at(i, count));
}

void cairn_bf16_narrow(cairn_cpu *cpu, uint16_t *to, const float *from, int64_t count)
{
    cairn_cpu_enter(cpu);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += CHUNK)
        narrow(to + i, from + i, chunk_at(i, count));
}

void cairn_bf16_narrow_here(uint16_t *to, const float *from, int64_t count)
{
    narrow(to, from, count);
}
