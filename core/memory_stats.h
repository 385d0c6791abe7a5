/* memory_stats.h - a device's memory in numbers.
 *
 *     cairn_memory_stats memory = cairn_device_memory(device);
 *     printf("%zu of %zu bytes taken are held\n", memory.held, memory.taken);
 *
 * taken = held + padding of held blocks + waiting + free.
 */
#ifndef CAIRN_CORE_MEMORY_STATS_H
#define CAIRN_CORE_MEMORY_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes and counts; "peak" and the 64-bit counts are since the device was opened. */
typedef struct cairn_memory_stats {
    size_t held; /* asked for and not freed: what the program uses */
    size_t peak;
    size_t taken; /* from the device, in chunks: what other programs can't have */
    size_t taken_peak;
    size_t waiting;       /* in blocks freed while a stream still used them */
    size_t free;          /* in blocks to be had at once */
    size_t largest_free;  /* the largest of them */
    double fragmentation; /* 1 - largest_free / free: 0 is one block, near 1 is dust; 0 where nothing is free */
    size_t chunks;
    size_t blocks;       /* of any state */
    int64_t allocations; /* calls that gave memory */
    int64_t frees;
    int64_t splits, merges;
    int64_t raw_allocations, raw_frees; /* chunks taken and given back */
    int64_t waits;                      /* times the host waited for a stream, under pressure */
} cairn_memory_stats;

#endif
