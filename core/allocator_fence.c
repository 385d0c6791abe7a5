#include "core/allocator_state.h"
#include <stdlib.h>
#include <string.h>

/* ---- uses ---- */

/* Room for one more fence, taken while it may still fail: a free can't. */
static cairn_status reserve_fence(cairn_allocator *a)
{
    if (a->uses < a->fence_capacity) return CAIRN_OK;
    size_t capacity = a->fence_capacity ? 2 * a->fence_capacity : 16;
    allocator_fence *grown = realloc(a->fence, capacity * sizeof *grown);
    if (!grown)
        return cairn_fail(CAIRN_MEMORY, "%s: no host memory for the record of %zu fences", a->options.name, capacity);
    a->fence = grown;
    a->fence_capacity = capacity;
    return CAIRN_OK;
}

static cairn_status number_of(cairn_allocator *a, void *stream, int *number)
{
    int s = 0;
    while (s < a->stream_count && a->stream[s] != stream)
        s++;
    if (s == CAIRN_ALLOCATOR_STREAMS)
        return cairn_fail(CAIRN_USAGE, "%s: memory is used by more than %d streams: use fewer, or the same ones again",
                          a->options.name, CAIRN_ALLOCATOR_STREAMS);
    a->stream[s] = stream;
    if (s == a->stream_count) a->stream_count++;
    *number = s;
    return CAIRN_OK;
}

cairn_status cairn_allocator_use(cairn_allocator *a, void *memory, void *stream)
{
    allocator_block *block = allocator_set_find(&a->held, memory);
    int number;
    if (!block)
        return cairn_fail(CAIRN_USAGE, "%s: %p is no block that is held: a stream can't use it", a->options.name,
                          memory);
    if (!a->calls.fence_record) return CAIRN_OK;
    CAIRN_TRY(number_of(a, stream, &number));
    uint32_t bit = (uint32_t)1 << number;
    if (block->streams & bit) return CAIRN_OK;
    CAIRN_TRY(reserve_fence(a));
    block->streams |= bit;
    a->uses++;
    return CAIRN_OK;
}

/* ---- waiting blocks ---- */

bool allocator_wait_for_streams(cairn_allocator *a, allocator_block *block)
{
    block->fences = 0;
    for (int s = 0; s < a->stream_count; s++) {
        if (!(block->streams >> s & 1)) continue;
        void *fence = a->calls.fence_record(a->calls.context, a->stream[s]);
        if (!fence) {
            a->uses--;
            continue;
        }
        a->fence[a->fence_count++] = (allocator_fence){.fence = fence, .block = block, .stream = s};
        block->fences++;
    }
    if (block->fences == 0) return false;
    block->state = BLOCK_WAITING;
    a->stats.waiting += block->bytes;
    return true;
}

/* A fence is done: its block may be, too. The entry is then the caller's to drop. */
static void settle(cairn_allocator *a, const allocator_fence *entry)
{
    a->calls.fence_release(a->calls.context, entry->fence);
    a->uses--;
    if (--entry->block->fences > 0) return;
    a->stats.waiting -= entry->block->bytes;
    allocator_release(a, entry->block);
}

void allocator_poll(cairn_allocator *a)
{
    uint32_t busy = 0; /* streams with a fence that isn't done: what was recorded later isn't either */
    size_t kept = 0;
    for (size_t i = 0; i < a->fence_count; i++) {
        const allocator_fence entry = a->fence[i];
        uint32_t bit = (uint32_t)1 << entry.stream;
        if (!(busy & bit) && a->calls.fence_done(a->calls.context, entry.fence)) {
            settle(a, &entry);
            continue;
        }
        busy |= bit;
        a->fence[kept++] = entry;
    }
    a->fence_count = kept;
}

bool allocator_wait_oldest(cairn_allocator *a)
{
    if (a->fence_count == 0) return false;
    const allocator_fence entry = a->fence[0];
    a->calls.fence_wait(a->calls.context, entry.fence);
    a->stats.waits++;
    a->fence_count--;
    memmove(a->fence, a->fence + 1, a->fence_count * sizeof *a->fence);
    settle(a, &entry);
    return true;
}
