#include "core/atomic_file.h"
#include "core/os.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_atomic_file {
    FILE *file;
    bool failed, committed;
    char path[4096], partial[4128];
};

cairn_status cairn_atomic_file_create(const char *path, cairn_atomic_file **out)
{
    cairn_atomic_file *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return cairn_fail(CAIRN_MEMORY, "%s: no memory to write the file", path);
    cairn_status status = CAIRN_OK;
    if (strlen(path) >= sizeof f->path)
        status = cairn_fail(CAIRN_FILE, "%.80s...: path is too long", path);
    else
        status = cairn_os_open_partial(path, f->partial, sizeof f->partial, &f->file);
    if (status != CAIRN_OK) {
        free(f);
        return status;
    }
    snprintf(f->path, sizeof f->path, "%s", path);
    *out = f;
    return CAIRN_OK;
}

static cairn_status write_failed(cairn_atomic_file *f)
{
    f->failed = true;
    return cairn_fail(CAIRN_FILE, "%s: can't be written: %s", f->path, strerror(errno));
}

cairn_status cairn_atomic_file_write(cairn_atomic_file *f, const void *data, size_t bytes)
{
    return bytes == 0 || fwrite(data, 1, bytes, f->file) == bytes ? CAIRN_OK : write_failed(f);
}

cairn_status cairn_atomic_file_write_at(cairn_atomic_file *f, int64_t offset, const void *data, size_t bytes)
{
    if (offset < 0 || offset > LONG_MAX) return cairn_fail(CAIRN_USAGE, "%s: no such offset", f->path);
    if (fseek(f->file, (long)offset, SEEK_SET) != 0) return write_failed(f);
    CAIRN_TRY(cairn_atomic_file_write(f, data, bytes));
    return fseek(f->file, 0, SEEK_END) == 0 ? CAIRN_OK : write_failed(f);
}

static cairn_status sync_folder_of(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    return cairn_os_sync_folder(length ? folder : ".");
}

cairn_status cairn_atomic_file_commit(cairn_atomic_file *f)
{
    if (f->failed) return cairn_fail(CAIRN_FILE, "%s: not replaced, because an earlier write failed", f->path);
    f->failed = true; /* unless all of this succeeds */
    cairn_status status = cairn_os_sync_file(f->file, f->path);
    if (status == CAIRN_OK) status = cairn_os_rename(f->partial, f->path);
    if (status != CAIRN_OK) return status;
    f->failed = false;
    f->committed = true;
    return sync_folder_of(f->path);
}

void cairn_atomic_file_destroy(cairn_atomic_file *f)
{
    if (!f) return;
    /* Removed while still locked, and closed without a look at the result: what was committed has been flushed. */
    if (!f->committed) cairn_os_remove(f->partial);
    fclose(f->file);
    free(f);
}

cairn_status cairn_atomic_file_put(const char *path, const void *data, size_t bytes)
{
    cairn_atomic_file *f;
    CAIRN_TRY(cairn_atomic_file_create(path, &f));
    cairn_status status = cairn_atomic_file_write(f, data, bytes);
    if (status == CAIRN_OK) status = cairn_atomic_file_commit(f);
    cairn_atomic_file_destroy(f);
    return status;
}
