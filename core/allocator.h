/* allocator.h - the growth allocator: takes memory from a device in chunks as it is asked, and hands out blocks of them.
 *
 * It knows no device: it stands on two raw calls, and on four more where the device has several queues ("streams"). It never reads or
 * writes the memory itself, starts with nothing, and never holds more than its limit.
 *
 *     const cairn_allocator_options options = cairn_allocator_defaults("cuda:0");
 *     CAIRN_TRY(cairn_allocator_create(&options, &calls, &allocator));
 *     CAIRN_TRY(cairn_allocator_alloc(allocator, bytes, "workspace", &memory));
 *     CAIRN_TRY(cairn_allocator_use(allocator, memory, copy_stream));   only where another queue than the main one touches it
 *     CAIRN_TRY(cairn_allocator_free(allocator, memory));               not handed out again before copy_stream is done with it
 *     cairn_allocator_destroy(allocator);
 *
 * A request takes the smallest free block that suffices, and what is over is split off. Freed blocks melt together with free neighbours.
 * Where no block suffices a chunk is taken: small requests share chunks, each as large as all shared ones so far (so what is held doubles,
 * from chunk_min up to chunk_max a chunk); a request of own_chunk bytes or more gets one of exactly its size.
 *
 * Streams. Blocks belong to the device's main stream, in whose order they are used, freed and used again without a wait. Another stream
 * that touches a block must first wait for the main one (an event does), and must be told of by ..._use; a freed block then waits for
 * that stream (the idea of PyTorch's record_stream). The host waits only when memory would otherwise run out.
 *
 * Under pressure - a raw call failed, or the limit would be passed - empty chunks are given back and the call tried again; then freed
 * blocks still in use by a stream are waited for, oldest first; only then CAIRN_MEMORY.
 *
 * Used by one thread at a time.
 */
#ifndef CAIRN_CORE_ALLOCATOR_H
#define CAIRN_CORE_ALLOCATOR_H

#include "core/memory_stats.h"
#include "core/status.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct cairn_allocator cairn_allocator;

/* What the device offers. The four of fences are all there, or all NULL where there is one queue only. */
typedef struct cairn_allocator_calls {
    void *context; /* handed to each */

    /* Memory no chunk of this allocator overlaps, or NULL when there is none. raw_free gets the same byte count, and must be safe while
     * the main stream has work queued that uses the memory (cudaFree waits for it). */
    void *(*raw_alloc)(void *context, size_t bytes);
    void (*raw_free)(void *context, void *memory, size_t bytes);

    /* A fence behind all that is queued on `stream` now. NULL when nothing is, or when none can be made and the call waited instead. */
    void *(*fence_record)(void *context, void *stream);
    bool (*fence_done)(void *context, void *fence); /* asks, never waits */
    void (*fence_wait)(void *context, void *fence);
    void (*fence_release)(void *context, void *fence); /* once each, when it is done */
} cairn_allocator_calls;

/* Sizes in bytes. */
typedef struct cairn_allocator_options {
    const char *name;   /* of the device, for messages; static */
    const char *advice; /* what a person may do when memory runs out, the end of that message; static; may be NULL */
    size_t alignment;   /* of a block within its chunk: a power of two. Raw memory aligned so makes every block so */
    size_t chunk_min, chunk_max; /* of a shared chunk */
    size_t own_chunk; /* from here on a request gets a chunk of its own, exactly as large; at most chunk_min */
    size_t retain;    /* empty chunks kept at most; more are given back as soon as they are empty */
    size_t limit;     /* taken from the device at most; 0 for no limit */
} cairn_allocator_options;

/* Blocks at multiples of 256, shared chunks from 2 to 64 MiB, own ones from 1 MiB, everything retained, no limit. */
cairn_allocator_options cairn_allocator_defaults(const char *name);

/* CAIRN_USAGE for options that contradict each other. Copies both structs. */
cairn_status cairn_allocator_create(const cairn_allocator_options *options, const cairn_allocator_calls *calls,
                                    cairn_allocator **out);

/* Waits for every fence and gives back every chunk in which no block is held. A block still held is left as it is, since its holder may be
 * using it: its chunk is then the caller's leak. NULL is allowed. */
void cairn_allocator_destroy(cairn_allocator *allocator);

/* 0 bytes give NULL. `holder` (static) says in statistics, snapshot and messages what the block is for. CAIRN_MEMORY names the request, who
 * holds how much, the largest free block and the limit; nothing has then changed but that empty chunks were given back. */
cairn_status cairn_allocator_alloc(cairn_allocator *allocator, size_t bytes, const char *holder, void **out);

/* CAIRN_USAGE for an address that is no held block's: freed twice, or another's. NULL is allowed. */
cairn_status cairn_allocator_free(cairn_allocator *allocator, void *memory);

/* From now on until it is freed, `stream` (not the main one) may be using the block. Without fences every stream is the main one. At most
 * CAIRN_ALLOCATOR_STREAMS different ones in an allocator's life: one more is CAIRN_USAGE. */
#define CAIRN_ALLOCATOR_STREAMS 32
cairn_status cairn_allocator_use(cairn_allocator *allocator, void *memory, void *stream);

/* Waits for every fence and gives back every empty chunk. Returns the bytes given back. */
size_t cairn_allocator_trim(cairn_allocator *allocator);

/* Changes options.retain, and gives back empty chunks beyond it. */
void cairn_allocator_retain(cairn_allocator *allocator, size_t bytes);

/* The largest request of at most `bytes` that would succeed now, found to bytes / 64: the largest free block, or what raw_alloc still gives
 * within the limit, which is asked for and freed at once. Trims first. For advice after a failure, not for every day. */
size_t cairn_allocator_available(cairn_allocator *allocator, size_t bytes);

cairn_memory_stats cairn_allocator_stats(const cairn_allocator *allocator);

/* Everything as one JSON object: "stats", "holders", and "chunks" with their "blocks". Text to be freed by the caller. */
cairn_status cairn_allocator_snapshot(const cairn_allocator *allocator, char **json);

#endif
