#include "backends/cpu/plan_cache.h"
#include "core/atomic_file.h"
#include "core/os.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FILE_NAME  "plans"
#define FILE_LIMIT (4 << 20) /* a larger file is none of ours */

/* One line: a choice, on this machine or another. */
typedef struct entry {
    char machine[CAIRN_PLAN_CACHE_MACHINE], key[CAIRN_PLAN_CACHE_KEY], choice[CAIRN_PLAN_CACHE_CHOICE];
} entry;

struct cairn_plan_cache {
    char folder[1024], machine[CAIRN_PLAN_CACHE_MACHINE];
    entry *entries;
    size_t count, capacity;
};

static entry *find(const cairn_plan_cache *cache, const char *machine, const char *key)
{
    for (size_t i = 0; i < cache->count; i++)
        if (strcmp(cache->entries[i].key, key) == 0 && strcmp(cache->entries[i].machine, machine) == 0)
            return &cache->entries[i];
    return NULL;
}

/* Adds or replaces. Without memory the choice is not remembered, which costs time only. */
static void set(cairn_plan_cache *cache, const entry *new_entry)
{
    entry *known = find(cache, new_entry->machine, new_entry->key);
    if (known) {
        *known = *new_entry;
        return;
    }
    if (cache->count == cache->capacity) {
        size_t capacity = cache->capacity ? 2 * cache->capacity : 32;
        entry *grown = realloc(cache->entries, capacity * sizeof *grown);
        if (!grown) return;
        cache->entries = grown;
        cache->capacity = capacity;
    }
    cache->entries[cache->count++] = *new_entry;
}

/* Copies the text up to the next tab or the end; false when it doesn't fit or is missing. */
static bool take_field(const char **at, char *out, size_t size)
{
    size_t length = strcspn(*at, "\t");
    if (length == 0 || length >= size) return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    if (**at == '\t') ++*at;
    return true;
}

static void read_line(cairn_plan_cache *cache, const char *line)
{
    char sum[17], expected[17];
    entry read = {0};
    const char *at = line;
    if (!take_field(&at, sum, sizeof sum)) return;
    snprintf(expected, sizeof expected, "%016" PRIx64, (uint64_t)XXH64(at, strlen(at), 0));
    if (strcmp(sum, expected) != 0) return;
    if (!take_field(&at, read.machine, sizeof read.machine) || !take_field(&at, read.key, sizeof read.key) ||
        !take_field(&at, read.choice, sizeof read.choice))
        return;
    set(cache, &read);
}

static void load(cairn_plan_cache *cache)
{
    char path[1100];
    void *data;
    size_t bytes;
    if (cairn_os_join(path, sizeof path, cache->folder, FILE_NAME) != CAIRN_OK) return;
    if (cairn_os_stat(path, NULL) != CAIRN_OS_FILE) return;
    if (cairn_os_read_file(path, FILE_LIMIT, &data, &bytes) != CAIRN_OK) return;
    char *text = data;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\0') text[i] = ' '; /* so that lines behind a stray zero are read too */
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        read_line(cache, line);
    }
    free(data);
}

static void save(const cairn_plan_cache *cache)
{
    enum { LINE = CAIRN_PLAN_CACHE_MACHINE + CAIRN_PLAN_CACHE_KEY + CAIRN_PLAN_CACHE_CHOICE + 20 };
    char path[1100], *text = malloc(cache->count * LINE + 1);
    size_t used = 0;
    if (!text) return;
    for (size_t i = 0; i < cache->count; i++) {
        const entry *e = &cache->entries[i];
        char body[LINE];
        int length = snprintf(body, sizeof body, "%s\t%s\t%s", e->machine, e->key, e->choice);
        used +=
            (size_t)snprintf(text + used, LINE, "%016" PRIx64 "\t%s\n", (uint64_t)XXH64(body, (size_t)length, 0), body);
    }
    if (cairn_os_make_folders(cache->folder) == CAIRN_OK &&
        cairn_os_join(path, sizeof path, cache->folder, FILE_NAME) == CAIRN_OK)
        cairn_atomic_file_put(path, text, used);
    free(text);
}

cairn_status cairn_plan_cache_open(const char *folder, const char *machine, cairn_plan_cache **out)
{
    cairn_plan_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return cairn_fail(CAIRN_MEMORY, "no memory for remembered plans");
    if (strlen(folder) >= sizeof cache->folder) {
        free(cache);
        return cairn_fail(CAIRN_USAGE, "%s: the folder for remembered plans has too long a name", folder);
    }
    snprintf(cache->folder, sizeof cache->folder, "%s", folder);
    snprintf(cache->machine, sizeof cache->machine, "%s", machine);
    load(cache);
    *out = cache;
    return CAIRN_OK;
}

void cairn_plan_cache_close(cairn_plan_cache *cache)
{
    if (!cache) return;
    free(cache->entries);
    free(cache);
}

bool cairn_plan_cache_get(const cairn_plan_cache *cache, const char *key, char *choice, size_t size)
{
    const entry *known = cache ? find(cache, cache->machine, key) : NULL;
    if (!known) return false;
    snprintf(choice, size, "%s", known->choice);
    return true;
}

void cairn_plan_cache_put(cairn_plan_cache *cache, const char *key, const char *choice)
{
    if (!cache) return;
    entry added = {0};
    snprintf(added.machine, sizeof added.machine, "%s", cache->machine);
    snprintf(added.key, sizeof added.key, "%s", key);
    snprintf(added.choice, sizeof added.choice, "%s", choice);
    load(cache);
    set(cache, &added);
    save(cache);
}
