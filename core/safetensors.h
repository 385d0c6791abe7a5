/* safetensors.h - named tensors in one file, in the safetensors format: 8 bytes of header length (little endian), a JSON header,
 * then the data. Nothing in it can execute. (https://github.com/huggingface/safetensors, "Format")
 *
 * Writing goes through core/atomic_file.h, so a file is whole or not there:
 *
 *     cairn_safetensors_writer *w;
 *     CAIRN_TRY(cairn_safetensors_writer_create(&w));
 *     CAIRN_TRY(cairn_safetensors_writer_metadata(w, "epoch", "3"));
 *     CAIRN_TRY(cairn_safetensors_writer_declare(w, "conv1.weight", CAIRN_F32, shape));        all tensors first
 *     CAIRN_TRY(cairn_safetensors_writer_begin(w, path));                                      header is written
 *     CAIRN_TRY(cairn_safetensors_writer_data(w, bytes, size));                                then their data, in the order declared
 *     CAIRN_TRY(cairn_safetensors_writer_finish(w));                                           fsync, rename, fsync of the folder
 *     cairn_safetensors_writer_destroy(w);                                                     without finish: nothing is left behind
 *
 * Reading refuses a hostile file with a reason: a header longer than the file or 100 MB, JSON that is broken, deep or has duplicate names,
 * offsets out of range, overlapping, misaligned or with holes, sizes that don't match dtype and shape, dtypes that cairn_dtype lacks and
 * more than CAIRN_MAX_RANK dimensions.
 */
#ifndef CAIRN_CORE_SAFETENSORS_H
#define CAIRN_CORE_SAFETENSORS_H

#include "core/dtype.h"
#include "core/shape.h"
#include "core/status.h"

typedef struct cairn_safetensors_writer cairn_safetensors_writer;

cairn_status cairn_safetensors_writer_create(cairn_safetensors_writer **out);
cairn_status cairn_safetensors_writer_metadata(cairn_safetensors_writer *w, const char *key,
                                               const char *value); /* UTF-8 */
/* CAIRN_USAGE for a name given twice, or where the data would not be aligned for its dtype: larger elements first. */
cairn_status cairn_safetensors_writer_declare(cairn_safetensors_writer *w, const char *name, cairn_dtype dtype,
                                              cairn_shape shape);
cairn_status cairn_safetensors_writer_begin(cairn_safetensors_writer *w, const char *path);
/* The tensors' bytes one after the other, in pieces of any size. */
cairn_status cairn_safetensors_writer_data(cairn_safetensors_writer *w, const void *data, size_t bytes);

/* The file also gets metadata "checksum": XXH3-64, in 16 hex digits, of the whole file with these digits taken as zeros; it is
 * written into room left in the header. CAIRN_USAGE when data is missing. */
cairn_status cairn_safetensors_writer_finish(cairn_safetensors_writer *w);
void cairn_safetensors_writer_destroy(cairn_safetensors_writer *w);

typedef struct cairn_safetensors cairn_safetensors;

typedef struct cairn_safetensors_entry {
    const char *name;
    cairn_dtype dtype;
    cairn_shape shape;
    const void *data; /* in the file's memory, aligned for its dtype; valid until close */
    size_t bytes;
} cairn_safetensors_entry;

/* Opens and checks a file whole, its checksum too where it has one. Messages begin with the path. */
cairn_status cairn_safetensors_open(const char *path, cairn_safetensors **out);
/* The same over memory, which must outlive it; `name` stands in messages. */
cairn_status cairn_safetensors_parse(const char *name, const void *data, size_t bytes, cairn_safetensors **out);
void cairn_safetensors_close(cairn_safetensors *file); /* NULL is allowed */

int cairn_safetensors_count(const cairn_safetensors *file);
/* In the order of their data. */
const cairn_safetensors_entry *cairn_safetensors_at(const cairn_safetensors *file, int index);
const cairn_safetensors_entry *cairn_safetensors_find(const cairn_safetensors *file,
                                                      const char *name);                /* NULL: missing */
const char *cairn_safetensors_metadata(const cairn_safetensors *file, const char *key); /* NULL: missing */

#endif
