/* atomic_file.h - a file that appears whole or not at all: written beside its place under a temporary name, flushed to the disk,
 * renamed over the old one, and the folder flushed too.
 *
 *     cairn_atomic_file *f;
 *     CAIRN_TRY(cairn_atomic_file_create("run/best.safetensors", &f));
 *     CAIRN_TRY(cairn_atomic_file_write(f, data, bytes));
 *     CAIRN_TRY(cairn_atomic_file_commit(f));            until here the old file stands
 *     cairn_atomic_file_destroy(f);                      without a commit: the temporary file is removed
 */
#ifndef CAIRN_CORE_ATOMIC_FILE_H
#define CAIRN_CORE_ATOMIC_FILE_H

#include "core/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_atomic_file cairn_atomic_file;

/* Failures are CAIRN_FILE with the path and the system's reason ("No space left on device"); the old file stays untouched. */
cairn_status cairn_atomic_file_create(const char *path, cairn_atomic_file **out);
cairn_status cairn_atomic_file_write(cairn_atomic_file *f, const void *data, size_t bytes);
cairn_status cairn_atomic_file_write_at(cairn_atomic_file *f, int64_t offset, const void *data,
                                        size_t bytes); /* over bytes already written */
cairn_status cairn_atomic_file_commit(cairn_atomic_file *f);
void cairn_atomic_file_destroy(cairn_atomic_file *f); /* NULL is allowed */

/* All in one: `text` becomes the file's whole content. */
cairn_status cairn_atomic_file_put(const char *path, const void *data, size_t bytes);

#endif
