/* fake_memory.h - a device that is nothing but addresses, queues and refusals: what the growth allocator is tested on.
 *
 *     fake_memory m = {.capacity = 1 << 20};
 *     cairn_allocator *a = fake_memory_open(&m, &options);
 *     char *block = must_take(a, 1000, "weights");
 *     fake_memory_work(&m, 2);                   something is queued on stream 2
 *     fake_memory_finish(&m, 2, 1);              and done
 *     must_give(a, block);
 *     CHECK_TEXT(fake_memory_close(&m, a), "");
 *
 * Addresses are never used twice and nothing is behind them, so an allocator that reads its device's memory is stopped by the processor.
 */
#ifndef CAIRN_TESTS_SUPPORT_FAKE_MEMORY_H
#define CAIRN_TESTS_SUPPORT_FAKE_MEMORY_H

#include "core/allocator.h"

enum { FAKE_STREAMS = CAIRN_ALLOCATOR_STREAMS + 1, FAKE_CHUNKS = 4096, FAKE_ALIGNMENT = 4096 };

typedef struct fake_chunk {
    uintptr_t address;
    size_t bytes;
} fake_chunk;

/* The caller sets the first group; the rest starts as 0 and tells what happened. */
typedef struct fake_memory {
    size_t capacity;     /* more is refused */
    int64_t refuse_from; /* refuse raw_alloc number refuse_from (from 1) and the refuse_count - 1 after it; 0: none */
    int64_t refuse_count;
    void (*before_free)(void *context, uintptr_t address, size_t bytes); /* may be NULL */
    void *context;

    fake_chunk chunk[FAKE_CHUNKS]; /* in no order */
    size_t chunk_count, taken;
    int64_t raw_allocs; /* calls, refused ones included */
    int64_t refusals, raw_frees, waits;
    int64_t fences; /* alive */
    int64_t queued[FAKE_STREAMS], done[FAKE_STREAMS];
    uintptr_t used;  /* end of the addresses given so far */
    char fault[160]; /* the first thing that must not happen */
} fake_memory;

cairn_allocator_calls fake_memory_calls(fake_memory *m);
cairn_allocator_calls fake_memory_calls_without_streams(fake_memory *m);

/* An allocator with streams on this device; close destroys it and returns the fault, which may be something that is left. */
cairn_allocator *fake_memory_open(fake_memory *m, const cairn_allocator_options *options);
const char *fake_memory_close(fake_memory *m, cairn_allocator *allocator);

/* Alloc and free where they can't fail: else the program ends. */
char *must_take(cairn_allocator *allocator, size_t bytes, const char *holder);
void must_give(cairn_allocator *allocator, void *memory);

/* A stream by number, as cairn_allocator_use wants it. */
void *fake_memory_stream(fake_memory *m, int stream);

void fake_memory_work(fake_memory *m, int stream);
void fake_memory_finish(fake_memory *m, int stream,
                        int64_t count); /* so much of what is queued; no more than there is */

/* Notes what must not happen; the first is kept. */
void fake_memory_fault(fake_memory *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does a chunk hold all of this? */
bool fake_memory_holds(const fake_memory *m, uintptr_t address, size_t bytes);

#endif
