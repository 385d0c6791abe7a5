/* allocator_state.h - the inside of the growth allocator, shared by its files and included by no other.
 *
 *     allocator.c         create, alloc, free, and what is done under pressure
 *     allocator_chunk.c   chunks: taken, cut into blocks, melted together, given back
 *     allocator_fence.c   freed blocks that wait for a stream
 *     allocator_set.c     ordered sets of blocks
 *     allocator_report.c  statistics, the out-of-memory message, the snapshot
 */
#ifndef CAIRN_CORE_ALLOCATOR_STATE_H
#define CAIRN_CORE_ALLOCATOR_STATE_H

#include "core/allocator.h"

typedef struct allocator_block allocator_block;
typedef struct allocator_chunk allocator_chunk;

typedef enum allocator_block_state { BLOCK_FREE, BLOCK_HELD, BLOCK_WAITING } allocator_block_state;

/* A stretch of a chunk. The blocks of a chunk cover it without a gap, and no two neighbours are both free. */
struct allocator_block {
    allocator_chunk *chunk;
    allocator_block *before, *after; /* neighbours in the chunk; of a spare record, `after` is the next spare one */
    char *address;                   /* the device's: never read through */
    size_t bytes;                    /* of the block; the last of a chunk may end off the alignment */
    size_t asked;                    /* BLOCK_HELD: what was asked for, at most `bytes` */
    const char *holder;              /* BLOCK_HELD, BLOCK_WAITING */
    uint32_t streams;                /* BLOCK_HELD: bit s for stream[s] that may be using it */
    int fences;                      /* BLOCK_WAITING: so many aren't done */
    allocator_block_state state;
};

struct allocator_chunk {
    allocator_chunk *before, *after; /* all chunks, the oldest first */
    allocator_block *first;
    size_t bytes; /* as raw_alloc was asked */
    bool shared;  /* among small requests */
};

/* Blocks in order. An array, since there are some hundreds at most: cheaper to shift than a tree is to walk. Adding never fails: there is
 * always room for every block there is. */
typedef struct allocator_set {
    allocator_block **block;
    size_t count;
    bool by_size; /* by size and then address; false: by address */
} allocator_set;

/* A fence that a freed block waits for. */
typedef struct allocator_fence {
    void *fence;
    allocator_block *block;
    int stream;
} allocator_fence;

enum { ALLOCATOR_HOLDERS = 32 };

/* Who holds how much. A device has few uses of memory; those past the table are one, "others". */
typedef struct allocator_holder {
    const char *name;
    size_t held, peak;
} allocator_holder;

struct cairn_allocator {
    cairn_allocator_options options;
    cairn_allocator_calls calls;
    allocator_chunk *first, *last;
    allocator_set held;     /* by address, to find what is freed */
    allocator_set free;     /* by size, to find what fits */
    allocator_block *spare; /* records without a block */
    size_t spares, records; /* records in that list, and all there are */
    size_t capacity;        /* of each set, in blocks: never less than `records`, so that a free can't fail */
    size_t shared_bytes;    /* in shared chunks */
    size_t empty_bytes;     /* in chunks of one free block */
    void *stream[CAIRN_ALLOCATOR_STREAMS];
    int stream_count;
    allocator_fence *fence; /* the oldest first */
    size_t fence_count, fence_capacity;
    size_t
        uses; /* bits set in held blocks' streams, and fences: there is room for so many fences, so that free can't fail */
    allocator_holder holder[ALLOCATOR_HOLDERS];
    int holder_count;
    cairn_memory_stats stats; /* free, largest_free and fragmentation are worked out when asked for */
};

/* ---- allocator_set.c ---- */

void allocator_set_add(allocator_set *set, allocator_block *block);
void allocator_set_remove(allocator_set *set, const allocator_block *block);
allocator_block *allocator_set_find(const allocator_set *by_address, const void *address); /* NULL: there is none */
allocator_block *allocator_set_fit(const allocator_set *by_size,
                                   size_t bytes); /* the smallest that suffices, or NULL */

/* ---- allocator_chunk.c ---- */

void allocator_put_record(cairn_allocator *a, allocator_block *block); /* among the spare ones */

/* Takes a chunk in which `bytes` fit. NULL when there is none: *limited then says whether it was the limit. Needs a spare
 * record. */
allocator_block *allocator_grow(cairn_allocator *a, size_t bytes, bool *limited);

/* Makes a free block a held one of `bytes`, and what is over a free one. Needs a spare record. */
void allocator_take(cairn_allocator *a, allocator_block *block, size_t bytes, const char *holder);

/* Makes a block free (one that is in no set), melts it together with free neighbours, and gives its chunk back if that is empty and over
 * what is retained. */
void allocator_release(cairn_allocator *a, allocator_block *block);

/* Gives back empty chunks, the oldest first, until those left are at most `retain` bytes. Returns the bytes given back. */
size_t allocator_give_back(cairn_allocator *a, size_t retain);

/* ---- allocator_fence.c ---- */

/* Lets a block that left the held ones wait for its streams. False when there is nothing to wait for. */
bool allocator_wait_for_streams(cairn_allocator *a, allocator_block *block);

/* Releases the blocks whose fences are done, without waiting. */
void allocator_poll(cairn_allocator *a);

/* Waits for the oldest fence and releases what became free. False when there was none. */
bool allocator_wait_oldest(cairn_allocator *a);

/* ---- allocator_report.c ---- */

/* Adds to (or, with `held` false, subtracts from) what the holder of that name holds. */
void allocator_account(cairn_allocator *a, const char *name, size_t bytes, bool held);

cairn_status allocator_out_of_memory(const cairn_allocator *a, size_t bytes, const char *holder, bool limited);

#endif
