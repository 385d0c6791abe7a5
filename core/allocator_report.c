#include "core/allocator_state.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS_TOLD = 8, BYTES_SIZE = 32 };

/* ---- who holds what ---- */

static allocator_holder *find_holder(cairn_allocator *a, const char *name)
{
    int i = 0;
    while (i < a->holder_count && strcmp(a->holder[i].name, name) != 0)
        i++;
    if (i == ALLOCATOR_HOLDERS) return &a->holder[ALLOCATOR_HOLDERS - 1];
    if (i == a->holder_count) {
        a->holder_count++;
        a->holder[i] = (allocator_holder){.name = i == ALLOCATOR_HOLDERS - 1 ? "others" : name};
    }
    return &a->holder[i];
}

void allocator_account(cairn_allocator *a, const char *name, size_t bytes, bool held)
{
    allocator_holder *holder = find_holder(a, name);
    holder->held = held ? holder->held + bytes : holder->held - bytes;
    a->stats.held = held ? a->stats.held + bytes : a->stats.held - bytes;
    if (holder->held > holder->peak) holder->peak = holder->held;
    if (a->stats.held > a->stats.peak) a->stats.peak = a->stats.held;
}

cairn_memory_stats cairn_allocator_stats(const cairn_allocator *a)
{
    cairn_memory_stats stats = a->stats;
    for (size_t i = 0; i < a->free.count; i++)
        stats.free += a->free.block[i]->bytes;
    if (a->free.count > 0) {
        stats.largest_free = a->free.block[a->free.count - 1]->bytes;
        stats.fragmentation = 1 - (double)stats.largest_free / (double)stats.free;
    }
    return stats;
}

/* ---- the message ---- */

/* "1.50 GiB", "512 B". */
static const char *format_bytes(size_t bytes, char text[BYTES_SIZE])
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    int u = 0;
    while (value >= 1024 && u < 3) {
        value /= 1024;
        u++;
    }
    if (bytes < 1024)
        snprintf(text, BYTES_SIZE, "%zu B", bytes);
    else
        snprintf(text, BYTES_SIZE, "%.2f %s", value, unit[u]);
    return text;
}

static int compare_held(const void *left, const void *right)
{
    size_t a = ((const allocator_holder *)left)->held, b = ((const allocator_holder *)right)->held;
    return (a < b) - (a > b);
}

static void add_holder(char *text, size_t size, const char *name, size_t held)
{
    char bytes[BYTES_SIZE];
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.40s %s", used ? ", " : ": ", name, format_bytes(held, bytes));
}

/* ": weights 233.08 MiB, gradients 233.08 MiB", the largest first; nothing where nothing is held. */
static void list_holders(const cairn_allocator *a, char *text, size_t size)
{
    allocator_holder holder[ALLOCATOR_HOLDERS];
    size_t others = 0;
    int told = 0;
    text[0] = '\0';
    memcpy(holder, a->holder, sizeof holder);
    qsort(holder, (size_t)a->holder_count, sizeof *holder, compare_held);
    for (int i = 0; i < a->holder_count && holder[i].held > 0; i++) {
        if (told < HOLDERS_TOLD && strcmp(holder[i].name, "others") != 0) {
            add_holder(text, size, holder[i].name, holder[i].held);
            told++;
        } else
            others += holder[i].held;
    }
    if (others > 0) add_holder(text, size, "others", others);
}

cairn_status allocator_out_of_memory(const cairn_allocator *a, size_t bytes, const char *holder, bool limited)
{
    const cairn_memory_stats stats = cairn_allocator_stats(a);
    char holders[640], asked[BYTES_SIZE], held[BYTES_SIZE], taken[BYTES_SIZE], largest[BYTES_SIZE],
        limit[BYTES_SIZE] = "none";
    list_holders(a, holders, sizeof holders);
    if (a->options.limit) format_bytes(a->options.limit, limit);
    return cairn_fail(CAIRN_MEMORY,
                      "%s: out of memory: %s for %s %s; held %s%s; limit %s; taken from the device %s in %zu chunk%s, "
                      "largest free block %s%s%s",
                      a->options.name, format_bytes(bytes, asked), holder,
                      limited ? "would pass the limit" : "is more than the device has free",
                      format_bytes(stats.held, held), holders, limit, format_bytes(stats.taken, taken), stats.chunks,
                      stats.chunks == 1 ? "" : "s", format_bytes(stats.largest_free, largest),
                      a->options.advice ? "; " : "", a->options.advice ? a->options.advice : "");
}

/* ---- the snapshot: jansson takes NULL for what it had no memory for, and fails in its turn ---- */

static json_t *number(size_t value)
{
    return json_integer((json_int_t)value);
}

/* Appends, and takes, `item`. False, with the list released, where memory ended. */
static bool append(json_t *list, json_t *item)
{
    if (json_array_append_new(list, item) == 0) return true;
    json_decref(list);
    return false;
}

static json_t *holders_json(const cairn_allocator *a)
{
    json_t *list = json_array();
    for (int i = 0; i < a->holder_count; i++) {
        const allocator_holder *holder = &a->holder[i];
        if (!append(list, json_pack("{s:s, s:o, s:o}", "name", holder->name, "held", number(holder->held), "peak",
                                    number(holder->peak))))
            return NULL;
    }
    return list;
}

static json_t *block_json(const allocator_block *block)
{
    static const char *const states[] = {[BLOCK_FREE] = "free", [BLOCK_HELD] = "held", [BLOCK_WAITING] = "waiting"};
    size_t offset = (size_t)(block->address - block->chunk->first->address);
    json_t *object = json_pack("{s:o, s:o, s:s}", "offset", number(offset), "bytes", number(block->bytes), "state",
                               states[block->state]);
    bool named = block->state == BLOCK_FREE || json_object_set_new(object, "holder", json_string(block->holder)) == 0;
    bool sized = block->state != BLOCK_HELD || json_object_set_new(object, "asked", number(block->asked)) == 0;
    if (named && sized) return object;
    json_decref(object);
    return NULL;
}

static json_t *chunk_json(const allocator_chunk *chunk)
{
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)chunk->first->address);
    json_t *blocks = json_array();
    for (const allocator_block *block = chunk->first; block; block = block->after)
        if (!append(blocks, block_json(block))) return NULL;
    return json_pack("{s:s, s:o, s:b, s:o}", "address", address, "bytes", number(chunk->bytes), "shared", chunk->shared,
                     "blocks", blocks);
}

static json_t *chunks_json(const cairn_allocator *a)
{
    json_t *list = json_array();
    for (const allocator_chunk *chunk = a->first; chunk; chunk = chunk->after)
        if (!append(list, chunk_json(chunk))) return NULL;
    return list;
}

static json_t *stats_json(const cairn_allocator *a)
{
    const cairn_memory_stats s = cairn_allocator_stats(a);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "held",
                     number(s.held), "peak", number(s.peak), "taken", number(s.taken), "taken_peak",
                     number(s.taken_peak), "waiting", number(s.waiting), "free", number(s.free), "largest_free",
                     number(s.largest_free), "fragmentation", s.fragmentation, "allocations", (json_int_t)s.allocations,
                     "frees", (json_int_t)s.frees, "splits", (json_int_t)s.splits, "merges", (json_int_t)s.merges,
                     "raw_allocations", (json_int_t)s.raw_allocations, "raw_frees", (json_int_t)s.raw_frees, "waits",
                     (json_int_t)s.waits);
}

cairn_status cairn_allocator_snapshot(const cairn_allocator *a, char **json)
{
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", a->options.name, "limit",
                             number(a->options.limit), "alignment", number(a->options.alignment), "stats",
                             stats_json(a), "holders", holders_json(a), "chunks", chunks_json(a));
    *json = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    return *json ? CAIRN_OK : cairn_fail(CAIRN_MEMORY, "%s: no host memory for a memory snapshot", a->options.name);
}
