#include "core/allocator_state.h"
#include <stdlib.h>

cairn_allocator_options cairn_allocator_defaults(const char *name)
{
    const size_t mib = (size_t)1 << 20;
    return (cairn_allocator_options){
        .name = name,
        .alignment = 256,
        .chunk_min = 2 * mib,
        .chunk_max = 64 * mib,
        .own_chunk = mib,
        .retain = SIZE_MAX,
    };
}

static cairn_status check(const cairn_allocator_options *o, const cairn_allocator_calls *calls)
{
    int fences = !!calls->fence_record + !!calls->fence_done + !!calls->fence_wait + !!calls->fence_release;
    if (o->alignment == 0 || (o->alignment & (o->alignment - 1)) != 0)
        return cairn_fail(CAIRN_USAGE, "%s: an alignment of %zu: a power of two is wanted", o->name, o->alignment);
    if (o->own_chunk > o->chunk_min || o->chunk_min > o->chunk_max)
        return cairn_fail(
            CAIRN_USAGE,
            "%s: chunks from %zu to %zu bytes, own ones from %zu: own_chunk <= chunk_min <= chunk_max is wanted",
            o->name, o->chunk_min, o->chunk_max, o->own_chunk);
    if (!calls->raw_alloc || !calls->raw_free || (fences != 0 && fences != 4))
        return cairn_fail(CAIRN_USAGE, "%s: an allocator needs both raw calls, and all four of fences or none",
                          o->name);
    return CAIRN_OK;
}

cairn_status cairn_allocator_create(const cairn_allocator_options *options, const cairn_allocator_calls *calls,
                                    cairn_allocator **out)
{
    *out = NULL;
    CAIRN_TRY(check(options, calls));
    cairn_allocator *a = calloc(1, sizeof *a);
    if (!a) return cairn_fail(CAIRN_MEMORY, "%s: no host memory for the allocator's record", options->name);
    a->options = *options;
    a->calls = *calls;
    a->free.by_size = true;
    *out = a;
    return CAIRN_OK;
}

void cairn_allocator_destroy(cairn_allocator *a)
{
    if (!a) return;
    cairn_allocator_trim(a);
    for (allocator_chunk *chunk = a->first, *next; chunk; chunk = next) {
        next = chunk->after;
        for (allocator_block *block = chunk->first, *after; block; block = after) {
            after = block->after;
            free(block);
        }
        free(chunk);
    }
    for (allocator_block *block = a->spare, *after; block; block = after) {
        after = block->after;
        free(block);
    }
    free(a->held.block);
    free(a->free.block);
    free(a->fence);
    free(a);
}

static bool grow_set(allocator_set *set, size_t capacity)
{
    allocator_block **grown = realloc(set->block, capacity * sizeof(allocator_block *));
    if (grown) set->block = grown;
    return grown;
}

/* Makes sure of two spare records, for a chunk's first block and the rest of a split, before anything changes. */
static cairn_status reserve_records(cairn_allocator *a)
{
    while (a->spares < 2) {
        if (a->records == a->capacity) {
            size_t capacity = a->capacity ? 2 * a->capacity : 64;
            if (!grow_set(&a->held, capacity) || !grow_set(&a->free, capacity)) break;
            a->capacity = capacity;
        }
        allocator_block *block = calloc(1, sizeof *block);
        if (!block) break;
        a->records++;
        allocator_put_record(a, block);
    }
    if (a->spares >= 2) return CAIRN_OK;
    return cairn_fail(CAIRN_MEMORY, "%s: no host memory for the record of %zu blocks", a->options.name, a->records);
}

/* A free block of at least `bytes`, by ever stronger means; NULL when there is none. */
static allocator_block *find_block(cairn_allocator *a, size_t bytes, bool *limited)
{
    *limited = a->options.limit && bytes > a->options.limit;
    if (*limited || bytes > PTRDIFF_MAX) return NULL; /* no pressure will help */
    allocator_poll(a);
    allocator_block *block = allocator_set_fit(&a->free, bytes);
    if (!block) block = allocator_grow(a, bytes, limited);
    if (!block && allocator_give_back(a, 0) > 0) block = allocator_grow(a, bytes, limited);
    size_t taken = a->stats.taken;
    while (!block && allocator_wait_oldest(a)) {
        block = allocator_set_fit(&a->free, bytes);
        if (block) break;
        allocator_give_back(a, 0);
        if (a->stats.taken < taken) block = allocator_grow(a, bytes, limited);
        taken = a->stats.taken;
    }
    return block;
}

cairn_status cairn_allocator_alloc(cairn_allocator *a, size_t bytes, const char *holder, void **out)
{
    bool limited = false;
    *out = NULL;
    if (bytes == 0) return CAIRN_OK;
    CAIRN_TRY(reserve_records(a));
    allocator_block *block = find_block(a, bytes, &limited);
    if (!block) return allocator_out_of_memory(a, bytes, holder, limited);
    allocator_take(a, block, bytes, holder);
    a->stats.allocations++;
    *out = block->address;
    return CAIRN_OK;
}

cairn_status cairn_allocator_free(cairn_allocator *a, void *memory)
{
    if (!memory) return CAIRN_OK;
    allocator_block *block = allocator_set_find(&a->held, memory);
    if (!block)
        return cairn_fail(CAIRN_USAGE, "%s: %p is no block that is held: it was freed before, or comes from elsewhere",
                          a->options.name, memory);
    allocator_set_remove(&a->held, block);
    allocator_account(a, block->holder, block->asked, false);
    a->stats.frees++;
    if (!allocator_wait_for_streams(a, block)) allocator_release(a, block);
    return CAIRN_OK;
}

size_t cairn_allocator_trim(cairn_allocator *a)
{
    while (allocator_wait_oldest(a)) {
    }
    return allocator_give_back(a, 0);
}

void cairn_allocator_retain(cairn_allocator *a, size_t bytes)
{
    a->options.retain = bytes;
    allocator_give_back(a, bytes);
}

static bool would_succeed(cairn_allocator *a, size_t bytes)
{
    void *memory = a->calls.raw_alloc(a->calls.context, bytes);
    if (memory) a->calls.raw_free(a->calls.context, memory, bytes);
    return memory;
}

size_t cairn_allocator_available(cairn_allocator *a, size_t bytes)
{
    size_t step = bytes / 64 + 1, low, high = bytes;
    cairn_allocator_trim(a);
    low = cairn_allocator_stats(a).largest_free;
    if (a->options.limit && high > a->options.limit - a->stats.taken) high = a->options.limit - a->stats.taken;
    if (high > low && would_succeed(a, high)) low = high;
    while (high > low && high - low > step) {
        size_t middle = low + (high - low) / 2;
        *(would_succeed(a, middle) ? &low : &high) = middle;
    }
    return low < bytes ? low : bytes;
}
