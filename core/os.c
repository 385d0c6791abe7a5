/* os.c - the part of os.h that standard C can do, on top of the part that it can't. */
#include "core/os.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

cairn_status cairn_os_read_file(const char *path, size_t limit, void **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return cairn_fail(CAIRN_FILE, "%s: can't be opened: %s", path, strerror(errno));
    int64_t told;
    char *memory = NULL;
    cairn_status status = CAIRN_OK;
    size_t used = 0, size = cairn_os_stat(path, &told) == CAIRN_OS_FILE && told > 0 ? (size_t)told : 4096;
    size_t capacity = (size < limit ? size : limit) + 2; /* only a first guess: files grow, and /proc reports 0 */
    for (;;) {
        char *grown = realloc(memory, capacity);
        if (!grown) {
            status = cairn_fail(CAIRN_MEMORY, "%s: no memory for %zu bytes", path, capacity);
            break;
        }
        memory = grown;
        used += fread(memory + used, 1, capacity - used, file);
        if (used > limit)
            status = cairn_fail(CAIRN_FILE, "%s: is larger than the limit of %zu bytes", path, limit);
        else if (ferror(file))
            status = cairn_fail(CAIRN_FILE, "%s: can't be read: %s", path, strerror(errno));
        if (status != CAIRN_OK || used < capacity) break;
        capacity *= 2;
    }
    fclose(file);
    if (status != CAIRN_OK) {
        free(memory);
        return status;
    }
    memory[used] = '\0';
    *data = memory;
    *bytes = used;
    return CAIRN_OK;
}

cairn_status cairn_os_join(char *out, size_t size, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *slash = length == 0 || folder[length - 1] == '/' ? "" : "/";
    int n = snprintf(out, size, "%s%s%s", folder, slash, name);
    if (n >= 0 && (size_t)n < size) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "%.80s%s%.80s: path is longer than %zu bytes", folder, slash, name, size - 1);
}

void cairn_os_cache_folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *temporary = getenv("TMPDIR");
    if (cache && *cache)
        snprintf(out, size, "%s/cairn", cache);
    else if (home && *home)
        snprintf(out, size, "%s/.cache/cairn", home);
    else
        snprintf(out, size, "%s/cairn-cache", temporary && *temporary ? temporary : "/tmp");
}
