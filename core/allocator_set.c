#include "core/allocator_state.h"
#include <string.h>

static bool is_less(const allocator_set *set, const allocator_block *a, const allocator_block *b)
{
    if (set->by_size && a->bytes != b->bytes) return a->bytes < b->bytes;
    return (uintptr_t)a->address < (uintptr_t)b->address;
}

/* Where `block` stands, or would stand: the number of blocks that come before it. */
static size_t position(const allocator_set *set, const allocator_block *block)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_less(set, set->block[middle], block))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void allocator_set_add(allocator_set *set, allocator_block *block)
{
    size_t at = position(set, block);
    memmove(set->block + at + 1, set->block + at, (set->count - at) * sizeof(allocator_block *));
    set->block[at] = block;
    set->count++;
}

void allocator_set_remove(allocator_set *set, const allocator_block *block)
{
    size_t at = position(set, block);
    set->count--;
    memmove(set->block + at, set->block + at + 1, (set->count - at) * sizeof(allocator_block *));
}

allocator_block *allocator_set_find(const allocator_set *by_address, const void *address)
{
    const allocator_block wanted = {.address = (char *)(uintptr_t)address};
    size_t at = position(by_address, &wanted);
    if (at == by_address->count || by_address->block[at]->address != wanted.address) return NULL;
    return by_address->block[at];
}

allocator_block *allocator_set_fit(const allocator_set *by_size, size_t bytes)
{
    const allocator_block wanted = {.bytes = bytes}; /* address 0: before every block of that size */
    size_t at = position(by_size, &wanted);
    return at < by_size->count ? by_size->block[at] : NULL;
}
