#include "core/atomic_file.h"
#include "core/safetensors.h"
#include "core/safetensors_format.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char zeros[CAIRN_SAFETENSORS_DIGITS + 1] = "0000000000000000";

struct cairn_safetensors_writer {
    json_t *header; /* object: "__metadata__" first, then the tensors as declared; jansson keeps that order */
    uint64_t declared, written;
    cairn_atomic_file *file; /* from begin on */
    XXH3_state_t *hash;
};

static cairn_status no_memory(void)
{
    return cairn_fail(CAIRN_MEMORY, "no memory to write a safetensors file");
}

cairn_status cairn_safetensors_writer_create(cairn_safetensors_writer **out)
{
    cairn_safetensors_writer *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w) return no_memory();
    w->header = json_pack("{s:{s:s}}", "__metadata__", "checksum", zeros);
    w->hash = XXH3_createState();
    if (!w->header || !w->hash) {
        cairn_safetensors_writer_destroy(w);
        return no_memory();
    }
    *out = w;
    return CAIRN_OK;
}

void cairn_safetensors_writer_destroy(cairn_safetensors_writer *w)
{
    if (!w) return;
    json_decref(w->header);
    XXH3_freeState(w->hash);
    cairn_atomic_file_destroy(w->file);
    free(w);
}

cairn_status cairn_safetensors_writer_metadata(cairn_safetensors_writer *w, const char *key, const char *value)
{
    if (w->file) return cairn_fail(CAIRN_USAGE, "metadata '%s' comes after the header was written", key);
    if (strcmp(key, "checksum") == 0) return cairn_fail(CAIRN_USAGE, "metadata 'checksum' is written by Cairn itself");
    if (json_object_set_new(json_object_get(w->header, "__metadata__"), key, json_string(value)) == 0) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "metadata '%s' can't be stored: key and value must be UTF-8", key);
}

cairn_status cairn_safetensors_writer_declare(cairn_safetensors_writer *w, const char *name, cairn_dtype dtype,
                                              cairn_shape shape)
{
    int64_t count = cairn_shape_count(shape);
    uint64_t size = cairn_dtype_size(dtype);
    if (w->file) return cairn_fail(CAIRN_USAGE, "tensor '%s' comes after the header was written", name);
    if (json_object_get(w->header, name)) return cairn_fail(CAIRN_USAGE, "tensor '%s' is declared twice", name);
    if (size == 0 || count < 0 || (uint64_t)count > (INT64_MAX - w->declared) / size)
        return cairn_fail(CAIRN_USAGE, "tensor '%s' has no valid dtype or shape", name);
    if (w->declared % size)
        return cairn_fail(CAIRN_USAGE, "tensor '%s' of %s would not be aligned: declare larger elements first", name,
                          cairn_dtype_name(dtype));
    uint64_t end = w->declared + (uint64_t)count * size;
    json_t *dims = json_array();
    for (int i = 0; i < shape.rank; i++)
        json_array_append_new(dims, json_integer(shape.dim[i]));
    json_t *entry = json_pack("{s:s, s:o, s:[I,I]}", "dtype", cairn_safetensors_dtypes[dtype], "shape", dims,
                              "data_offsets", (json_int_t)w->declared, (json_int_t)end);
    if (!entry || json_array_size(dims) != (size_t)shape.rank) {
        json_decref(entry);
        return no_memory();
    }
    if (json_object_set_new(w->header, name, entry) != 0)
        return cairn_fail(CAIRN_USAGE, "tensor '%s' can't be stored: its name must be UTF-8", name);
    w->declared = end;
    return CAIRN_OK;
}

static cairn_status put(cairn_safetensors_writer *w, const void *data, size_t bytes)
{
    XXH3_64bits_update(w->hash, data, bytes);
    return cairn_atomic_file_write(w->file, data, bytes);
}

/* Length, JSON, and spaces up to a multiple of eight, so that the data is aligned. */
static cairn_status put_header(cairn_safetensors_writer *w, const char *json)
{
    size_t bytes = strlen(json), padding = (8 - bytes % 8) % 8;
    uint8_t length[CAIRN_SAFETENSORS_LENGTH_BYTES];
    if (bytes + padding > CAIRN_SAFETENSORS_HEADER_MOST)
        return cairn_fail(CAIRN_USAGE, "names and metadata take %zu bytes, more than the format's 100 MB", bytes);
    for (int i = 0; i < CAIRN_SAFETENSORS_LENGTH_BYTES; i++)
        length[i] = (uint8_t)((uint64_t)(bytes + padding) >> 8 * i);
    CAIRN_TRY(put(w, length, sizeof length));
    CAIRN_TRY(put(w, json, bytes));
    return put(w, "       ", padding);
}

cairn_status cairn_safetensors_writer_begin(cairn_safetensors_writer *w, const char *path)
{
    if (w->file) return cairn_fail(CAIRN_USAGE, "%s: the header was written already", path);
    char *json = json_dumps(w->header, JSON_COMPACT);
    if (!json) return no_memory();
    XXH3_64bits_reset(w->hash);
    cairn_status status = cairn_atomic_file_create(path, &w->file);
    if (status == CAIRN_OK) status = put_header(w, json);
    free(json);
    return status;
}

cairn_status cairn_safetensors_writer_data(cairn_safetensors_writer *w, const void *data, size_t bytes)
{
    if (!w->file) return cairn_fail(CAIRN_USAGE, "tensor data comes before the header");
    if (bytes > w->declared - w->written)
        return cairn_fail(CAIRN_USAGE, "%zu bytes of tensor data where %" PRIu64 " of %" PRIu64 " are left", bytes,
                          w->declared - w->written, w->declared);
    CAIRN_TRY(put(w, data, bytes));
    w->written += bytes;
    return CAIRN_OK;
}

cairn_status cairn_safetensors_writer_finish(cairn_safetensors_writer *w)
{
    char digits[CAIRN_SAFETENSORS_DIGITS + 1];
    if (!w->file || w->written != w->declared)
        return cairn_fail(CAIRN_USAGE, "%" PRIu64 " bytes of tensor data were declared and %" PRIu64 " written",
                          w->declared, w->written);
    snprintf(digits, sizeof digits, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(w->hash));
    CAIRN_TRY(cairn_atomic_file_write_at(w->file, CAIRN_SAFETENSORS_DIGITS_AT, digits, CAIRN_SAFETENSORS_DIGITS));
    return cairn_atomic_file_commit(w->file);
}
