#include "core/memory_plan.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    size_t bytes; /* rounded up to the alignment */
    size_t offset;
    int first, last;
    int number;
} buffer;

struct cairn_memory_plan {
    buffer *buffer;
    int count, capacity;
    size_t bytes;
    bool broken; /* an add found no memory, or a size that can't be rounded up */
};

cairn_status cairn_memory_plan_create(cairn_memory_plan **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? CAIRN_OK : cairn_fail(CAIRN_MEMORY, "no memory for a memory plan");
}

void cairn_memory_plan_destroy(cairn_memory_plan *plan)
{
    if (!plan) return;
    free(plan->buffer);
    free(plan);
}

int cairn_memory_plan_add(cairn_memory_plan *plan, size_t bytes, int first, int last)
{
    const size_t unit = CAIRN_MEMORY_PLAN_ALIGNMENT;
    if (plan->count == plan->capacity) {
        int capacity = plan->capacity ? 2 * plan->capacity : 32;
        buffer *grown = realloc(plan->buffer, (size_t)capacity * sizeof *grown);
        if (!grown) {
            plan->broken = true;
            return -1;
        }
        plan->buffer = grown;
        plan->capacity = capacity;
    }
    if (bytes > SIZE_MAX - unit) {
        plan->broken = true;
        return -1;
    }
    size_t rounded = (bytes + unit - 1) / unit * unit;
    plan->buffer[plan->count] = (buffer){.bytes = rounded, .first = first, .last = last, .number = plan->count};
    return plan->count++;
}

/* Largest first; among equals the one that starts to live first, then the one added first. */
static int by_size(const void *left, const void *right)
{
    const buffer *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a->number - b->number;
}

static bool meet(const buffer *a, const buffer *b)
{
    return a->bytes && b->bytes && a->first <= b->last && b->first <= a->last;
}

/* Places `b` at the lowest gap between those of placed[0..n), kept in order of offset, that live with it. */
static bool place(buffer *placed, int n, buffer b)
{
    size_t at = 0;
    int i;
    for (i = 0; i < n; i++) {
        if (!meet(&placed[i], &b)) continue;
        if (placed[i].offset >= at && placed[i].offset - at >= b.bytes) break;
        size_t end = placed[i].offset + placed[i].bytes;
        if (end > at) at = end;
    }
    if (at > SIZE_MAX - b.bytes) return false;
    b.offset = at;
    for (i = n; i > 0 && placed[i - 1].offset > at; i--)
        placed[i] = placed[i - 1];
    placed[i] = b;
    return true;
}

cairn_status cairn_memory_plan_solve(cairn_memory_plan *plan)
{
    size_t n = (size_t)plan->count;
    if (plan->broken) return cairn_fail(CAIRN_MEMORY, "no memory to plan %d buffers", plan->count + 1);
    plan->bytes = 0;
    if (n == 0) return CAIRN_OK;
    buffer *order = calloc(2 * n, sizeof *order);
    if (!order) return cairn_fail(CAIRN_MEMORY, "no memory to plan %d buffers", plan->count);
    buffer *placed = order + n;
    memcpy(order, plan->buffer, n * sizeof *order);
    qsort(order, n, sizeof *order, by_size);
    bool fits = true;
    for (int i = 0; i < plan->count && fits; i++)
        fits = place(placed, i, order[i]);
    for (size_t i = 0; i < n && fits; i++) {
        plan->buffer[placed[i].number].offset = placed[i].offset;
        if (placed[i].offset + placed[i].bytes > plan->bytes) plan->bytes = placed[i].offset + placed[i].bytes;
    }
    free(order);
    return fits ? CAIRN_OK : cairn_fail(CAIRN_MEMORY, "the planned buffers are larger than the address space");
}

size_t cairn_memory_plan_offset(const cairn_memory_plan *plan, int number)
{
    return plan->buffer[number].offset;
}

size_t cairn_memory_plan_bytes(const cairn_memory_plan *plan)
{
    return plan->bytes;
}
