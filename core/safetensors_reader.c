#include "core/os.h"
#include "core/safetensors.h"
#include "core/safetensors_format.h"
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct cairn_safetensors {
    void *owned; /* the file's bytes when opened by path */
    json_t *header;
    const json_t *metadata; /* borrowed from header; NULL for none */
    cairn_safetensors_entry *entry;
    int count;
};

/* The bytes under inspection, and how messages call them. */
typedef struct source {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    size_t data_at; /* where the header ends */
} source;

/* A text of the file's, made fit for one line on a terminal: cut, and without control characters. */
static const char *printable(const char *text, char out[81])
{
    snprintf(out, 81, "%.80s", text);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    return out;
}

static cairn_status refuse_tensor(const source *s, const char *tensor, const char *reason)
{
    char name[81];
    return cairn_fail(CAIRN_FILE, "%s: tensor '%s' %s", s->name, printable(tensor, name), reason);
}

/* Checks the length and parses the JSON. */
static cairn_status read_header(source *s, json_t **header)
{
    uint64_t length = 0;
    char reason[81];
    json_error_t error;
    if (s->size < CAIRN_SAFETENSORS_LENGTH_BYTES)
        return cairn_fail(CAIRN_FILE, "%s: %zu bytes are too few for a safetensors file", s->name, s->size);
    for (int i = CAIRN_SAFETENSORS_LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | s->bytes[i];
    if (length > CAIRN_SAFETENSORS_HEADER_MOST)
        return cairn_fail(CAIRN_FILE, "%s: not a safetensors file, or damaged: a header of %" PRIu64 " bytes", s->name,
                          length);
    if (length > s->size - CAIRN_SAFETENSORS_LENGTH_BYTES)
        return cairn_fail(CAIRN_FILE,
                          "%s: truncated: its header takes %" PRIu64
                          " bytes and the file has %zu: copy it again from where it is whole, or take another file",
                          s->name, length, s->size);
    const char *text = (const char *)s->bytes + CAIRN_SAFETENSORS_LENGTH_BYTES;
    *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!*header)
        return cairn_fail(CAIRN_FILE, "%s: the header is no valid JSON: %s at byte %d", s->name,
                          printable(error.text, reason), error.position);
    if (!json_is_object(*header)) return cairn_fail(CAIRN_FILE, "%s: the header is no JSON object", s->name);
    s->data_at = CAIRN_SAFETENSORS_LENGTH_BYTES + (size_t)length;
    return CAIRN_OK;
}

/* Where the last tensor ends by the header; the header is not verified yet, and may tell anything. */
static uint64_t told_size(const source *s, const json_t *header)
{
    const char *name;
    json_t *value;
    uint64_t end = s->data_at;
    json_object_foreach((json_t *)header, name, value)
    {
        json_int_t last = json_integer_value(json_array_get(json_object_get(value, "data_offsets"), 1));
        if (last > 0 && (uint64_t)last + s->data_at > end) end = (uint64_t)last + s->data_at;
    }
    return end;
}

/* A copy that broke off is the usual reason for a wrong checksum, and is told by its size. */
static cairn_status check_size(const source *s, const json_t *header)
{
    uint64_t told = told_size(s, header);
    if (s->size >= told) return CAIRN_OK;
    return cairn_fail(CAIRN_FILE,
                      "%s: truncated: it has %zu of the %" PRIu64 " bytes that its header tells of: copy it again from "
                      "where it is whole, or take another file",
                      s->name, s->size, told);
}

/* The file's own digits follow CAIRN_SAFETENSORS_START; files of other programs have none there and pass. */
static cairn_status verify_checksum(const source *s, const json_t *header)
{
    static const char start[] = CAIRN_SAFETENSORS_START, zeros[] = "0000000000000000";
    const size_t at = CAIRN_SAFETENSORS_DIGITS_AT, after = at + CAIRN_SAFETENSORS_DIGITS;
    if (s->data_at < after || memcmp(s->bytes + CAIRN_SAFETENSORS_LENGTH_BYTES, start, sizeof start - 1) != 0)
        return CAIRN_OK;
    XXH3_state_t *state = XXH3_createState();
    if (!state) return cairn_fail(CAIRN_MEMORY, "%s: no memory to verify the file", s->name);
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, s->bytes, at);
    XXH3_64bits_update(state, zeros, CAIRN_SAFETENSORS_DIGITS);
    XXH3_64bits_update(state, s->bytes + after, s->size - after);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    char digits[CAIRN_SAFETENSORS_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    if (memcmp(digits, s->bytes + at, CAIRN_SAFETENSORS_DIGITS) == 0) return CAIRN_OK;
    CAIRN_TRY(check_size(s, header));
    return cairn_fail(
        CAIRN_FILE,
        "%s: damaged: its checksum is %.16s and its content's %s: copy it again from where it is whole, or "
        "take another file",
        s->name, (const char *)s->bytes + at, digits);
}

static cairn_status check_metadata(const source *s, const json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!metadata) return CAIRN_OK;
    if (!json_is_object(metadata)) return cairn_fail(CAIRN_FILE, "%s: its __metadata__ is no object", s->name);
    json_object_foreach((json_t *)metadata, key, value)
    {
        char name[81];
        if (!json_is_string(value))
            return cairn_fail(CAIRN_FILE, "%s: its metadata '%s' is no string", s->name, printable(key, name));
    }
    return CAIRN_OK;
}

static cairn_status read_dtype(const source *s, const char *name, const json_t *value, cairn_dtype *out)
{
    char word[81];
    const char *text = json_string_value(value);
    if (!text) return refuse_tensor(s, name, "has no dtype");
    for (int d = 0; d < CAIRN_DTYPE_COUNT; d++) {
        if (strcmp(text, cairn_safetensors_dtypes[d]) != 0) continue;
        *out = (cairn_dtype)d;
        return CAIRN_OK;
    }
    printable(text, word);
    refuse_tensor(s, name, "has a dtype that isn't read here");
    return cairn_fail(CAIRN_FILE, "%s ('%s'; F32, F16, BF16, U8 and I32 are)", cairn_error_last()->message, word);
}

static cairn_status read_shape(const source *s, const char *name, const json_t *value, cairn_shape *out)
{
    int64_t dims[CAIRN_MAX_RANK];
    if (!json_is_array(value)) return refuse_tensor(s, name, "has no shape");
    if (json_array_size(value) > CAIRN_MAX_RANK) return refuse_tensor(s, name, "has more than 4 dimensions");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *dim = json_array_get(value, i);
        dims[i] = json_is_integer(dim) ? json_integer_value(dim) : -1;
    }
    *out = cairn_shape_of((int)json_array_size(value), dims);
    if (cairn_shape_count(*out) >= 0) return CAIRN_OK;
    return refuse_tensor(s, name, "has a dimension that is no whole number from 0 up, or too many elements");
}

/* One entry of the header, checked alone: types, range, size, alignment. */
static cairn_status read_entry(const source *s, const char *name, const json_t *value, cairn_safetensors_entry *out)
{
    const json_t *offsets = json_object_get(value, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    size_t room = s->size - s->data_at;
    out->name = name;
    if (!json_is_object(value) || json_object_size(value) != 3)
        return refuse_tensor(s, name, "has other keys than dtype, shape and data_offsets");
    CAIRN_TRY(read_dtype(s, name, json_object_get(value, "dtype"), &out->dtype));
    CAIRN_TRY(read_shape(s, name, json_object_get(value, "shape"), &out->shape));
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return refuse_tensor(s, name, "has no pair of data_offsets");
    json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin) return refuse_tensor(s, name, "has data_offsets that are negative or reversed");
    if ((uint64_t)end > room) return refuse_tensor(s, name, "lies past the end of the file: truncated or damaged");
    out->data = s->bytes + s->data_at + begin;
    out->bytes = (size_t)(end - begin);
    uint64_t size = cairn_dtype_size(out->dtype), count = (uint64_t)cairn_shape_count(out->shape);
    if (count > UINT64_MAX / size || count * size != out->bytes)
        return refuse_tensor(s, name, "has a size that its dtype and shape don't make");
    if ((uintptr_t)out->data % size) return refuse_tensor(s, name, "is not aligned for its dtype");
    return CAIRN_OK;
}

static int by_place(const void *left, const void *right)
{
    const cairn_safetensors_entry *a = left, *b = right;
    if (a->data != b->data) return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* The tensors, sorted, must fill the data without hole or overlap. */
static cairn_status check_places(const source *s, const cairn_safetensors *file)
{
    const uint8_t *at = s->bytes + s->data_at;
    for (int i = 0; i < file->count; i++) {
        const cairn_safetensors_entry *entry = &file->entry[i];
        if ((const uint8_t *)entry->data < at) return refuse_tensor(s, entry->name, "overlaps another");
        if ((const uint8_t *)entry->data > at) return refuse_tensor(s, entry->name, "comes after a hole");
        at += entry->bytes;
    }
    if (at == s->bytes + s->size) return CAIRN_OK;
    return cairn_fail(CAIRN_FILE, "%s: %td bytes after the last tensor belong to none", s->name,
                      s->bytes + s->size - at);
}

static cairn_status read_entries(const source *s, cairn_safetensors *file)
{
    size_t keys = json_object_size(file->header);
    const char *name;
    json_t *value;
    if (keys > INT_MAX) return cairn_fail(CAIRN_FILE, "%s: %zu tensors are too many", s->name, keys);
    file->entry = calloc(keys + 1, sizeof *file->entry);
    if (!file->entry) return cairn_fail(CAIRN_MEMORY, "%s: no memory for %zu tensors", s->name, keys);
    json_object_foreach(file->header, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) continue;
        CAIRN_TRY(read_entry(s, name, value, &file->entry[file->count]));
        file->count++;
    }
    qsort(file->entry, (size_t)file->count, sizeof *file->entry, by_place);
    return check_places(s, file);
}

cairn_status cairn_safetensors_parse(const char *name, const void *data, size_t bytes, cairn_safetensors **out)
{
    source s = {.name = name, .bytes = data, .size = bytes};
    cairn_status status = CAIRN_OK;
    cairn_safetensors *file = calloc(1, sizeof *file);
    *out = NULL;
    if (!file) return cairn_fail(CAIRN_MEMORY, "%s: no memory to read the file", name);
    CAIRN_TRY_DONE(read_header(&s, &file->header));
    CAIRN_TRY_DONE(verify_checksum(&s, file->header));
    file->metadata = json_object_get(file->header, "__metadata__");
    CAIRN_TRY_DONE(check_metadata(&s, file->metadata));
    CAIRN_TRY_DONE(read_entries(&s, file));
    *out = file;
    return CAIRN_OK;
done:
    cairn_safetensors_close(file);
    return status;
}

cairn_status cairn_safetensors_open(const char *path, cairn_safetensors **out)
{
    void *data;
    size_t bytes;
    *out = NULL;
    CAIRN_TRY(cairn_os_read_file(path, PTRDIFF_MAX, &data, &bytes));
    cairn_status status = cairn_safetensors_parse(path, data, bytes, out);
    if (status == CAIRN_OK)
        (*out)->owned = data;
    else
        free(data);
    return status;
}

void cairn_safetensors_close(cairn_safetensors *file)
{
    if (!file) return;
    json_decref(file->header);
    free(file->entry);
    free(file->owned);
    free(file);
}

int cairn_safetensors_count(const cairn_safetensors *file)
{
    return file->count;
}

const cairn_safetensors_entry *cairn_safetensors_at(const cairn_safetensors *file, int index)
{
    return &file->entry[index];
}

const cairn_safetensors_entry *cairn_safetensors_find(const cairn_safetensors *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->entry[i].name, name) == 0) return &file->entry[i];
    return NULL;
}

const char *cairn_safetensors_metadata(const cairn_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}
