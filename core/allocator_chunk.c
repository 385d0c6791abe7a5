#include "core/allocator_state.h"
#include <stdlib.h>

/* ---- records ---- */

static allocator_block *take_record(cairn_allocator *a, allocator_block value)
{
    allocator_block *block = a->spare;
    a->spare = block->after;
    a->spares--;
    *block = value;
    return block;
}

void allocator_put_record(cairn_allocator *a, allocator_block *block)
{
    block->after = a->spare;
    a->spare = block;
    a->spares++;
}

/* ---- chunks ---- */

static bool is_empty(const allocator_chunk *chunk)
{
    return chunk->first->state == BLOCK_FREE && !chunk->first->after;
}

static void link_chunk(cairn_allocator *a, allocator_chunk *chunk)
{
    chunk->before = a->last;
    *(a->last ? &a->last->after : &a->first) = chunk;
    a->last = chunk;
    a->stats.chunks++;
    a->stats.raw_allocations++;
    a->stats.taken += chunk->bytes;
    if (a->stats.taken > a->stats.taken_peak) a->stats.taken_peak = a->stats.taken;
    if (chunk->shared) a->shared_bytes += chunk->bytes;
}

static void unlink_chunk(cairn_allocator *a, const allocator_chunk *chunk)
{
    *(chunk->before ? &chunk->before->after : &a->first) = chunk->after;
    *(chunk->after ? &chunk->after->before : &a->last) = chunk->before;
    a->stats.chunks--;
    a->stats.raw_frees++;
    a->stats.taken -= chunk->bytes;
    if (chunk->shared) a->shared_bytes -= chunk->bytes;
}

/* Adds the chunk that raw_alloc gave at `memory`, as one free block. */
static allocator_block *add_chunk(cairn_allocator *a, allocator_chunk *chunk, void *memory)
{
    chunk->first = take_record(
        a, (allocator_block){.chunk = chunk, .address = memory, .bytes = chunk->bytes, .state = BLOCK_FREE});
    link_chunk(a, chunk);
    a->empty_bytes += chunk->bytes;
    a->stats.blocks++;
    allocator_set_add(&a->free, chunk->first);
    return chunk->first;
}

/* What a chunk for `bytes` would best be: a small request's is as large as all shared ones, so that what is taken doubles. */
static size_t chunk_size(const cairn_allocator *a, size_t bytes)
{
    const cairn_allocator_options *o = &a->options;
    if (bytes >= o->own_chunk) return bytes;
    size_t size = a->shared_bytes < o->chunk_min ? o->chunk_min : a->shared_bytes;
    return size > o->chunk_max ? o->chunk_max : size;
}

allocator_block *allocator_grow(cairn_allocator *a, size_t bytes, bool *limited)
{
    size_t size = chunk_size(a, bytes);
    size_t left = a->options.limit ? a->options.limit - a->stats.taken : SIZE_MAX;
    *limited = bytes > left;
    if (*limited) return NULL;
    allocator_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->shared = bytes < a->options.own_chunk;
    chunk->bytes = size < left ? size : left;
    void *memory = a->calls.raw_alloc(a->calls.context, chunk->bytes);
    if (!memory && chunk->bytes > bytes) { /* then just enough */
        chunk->bytes = bytes;
        memory = a->calls.raw_alloc(a->calls.context, chunk->bytes);
    }
    if (memory) return add_chunk(a, chunk, memory);
    free(chunk);
    return NULL;
}

static void give_back_chunk(cairn_allocator *a, allocator_chunk *chunk)
{
    allocator_block *block = chunk->first;
    unlink_chunk(a, chunk);
    a->empty_bytes -= chunk->bytes;
    a->stats.blocks--;
    allocator_set_remove(&a->free, block);
    a->calls.raw_free(a->calls.context, block->address, chunk->bytes);
    allocator_put_record(a, block);
    free(chunk);
}

size_t allocator_give_back(cairn_allocator *a, size_t retain)
{
    size_t before = a->stats.taken;
    for (allocator_chunk *chunk = a->first, *next; chunk && a->empty_bytes > retain; chunk = next) {
        next = chunk->after;
        if (is_empty(chunk)) give_back_chunk(a, chunk);
    }
    return before - a->stats.taken;
}

/* ---- blocks ---- */

/* Cuts a block that is in no set after `bytes`, and puts the rest among the free ones. */
static void split(cairn_allocator *a, allocator_block *block, size_t bytes)
{
    allocator_block *rest = take_record(a, (allocator_block){.chunk = block->chunk,
                                                             .before = block,
                                                             .after = block->after,
                                                             .address = block->address + bytes,
                                                             .bytes = block->bytes - bytes,
                                                             .state = BLOCK_FREE});
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->bytes = bytes;
    a->stats.blocks++;
    a->stats.splits++;
    allocator_set_add(&a->free, rest);
}

void allocator_take(cairn_allocator *a, allocator_block *block, size_t bytes, const char *holder)
{
    size_t over = block->bytes - bytes,
           padding = (a->options.alignment - bytes % a->options.alignment) % a->options.alignment;
    allocator_set_remove(&a->free, block);
    if (is_empty(block->chunk)) a->empty_bytes -= block->chunk->bytes;
    if (over > padding) split(a, block, bytes + padding);
    block->state = BLOCK_HELD;
    block->asked = bytes;
    block->holder = holder;
    block->streams = 0;
    allocator_set_add(&a->held, block);
    allocator_account(a, holder, bytes, true);
}

/* Makes one block of two neighbours, neither of them in a set. */
static allocator_block *merge(cairn_allocator *a, allocator_block *block, allocator_block *after)
{
    block->bytes += after->bytes;
    block->after = after->after;
    if (block->after) block->after->before = block;
    a->stats.blocks--;
    a->stats.merges++;
    allocator_put_record(a, after);
    return block;
}

void allocator_release(cairn_allocator *a, allocator_block *block)
{
    allocator_block *before = block->before, *after = block->after;
    block->state = BLOCK_FREE;
    if (after && after->state == BLOCK_FREE) {
        allocator_set_remove(&a->free, after);
        merge(a, block, after);
    }
    if (before && before->state == BLOCK_FREE) {
        allocator_set_remove(&a->free, before);
        block = merge(a, before, block);
    }
    allocator_set_add(&a->free, block);
    if (!is_empty(block->chunk)) return;
    a->empty_bytes += block->chunk->bytes;
    if (a->empty_bytes > a->options.retain) give_back_chunk(a, block->chunk);
}
