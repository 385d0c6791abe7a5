#include "train/checkpoint_info.h"
#include "core/version.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SIZE = 1100, MOST_CLASSES = 1000000, LARGEST_PICTURE = 8192 };

typedef enum field_kind { TEXT, INT, INT64, UINT64, FLOAT, DOUBLE, BOOL } field_kind;

/* Every plain field: its key in the file, where it lies, the least value that makes sense of a number, and what a file means that doesn't have
 * it (NULL: it must). */
static const struct field {
    const char *key;
    field_kind kind;
    size_t offset, size;
    double least;
    const char *absent;
} fields[] = {
#define LATER(key, kind, member, least, absent)                                                                        \
    {                                                                                                                  \
        key, kind, offsetof(cairn_checkpoint_info, member), sizeof(((cairn_checkpoint_info *)NULL)->member), least,    \
            absent                                                                                                     \
    }
#define FIELD(key, kind, member, least) LATER(key, kind, member, least, NULL)
    FIELD("model", TEXT, model, 0),
    FIELD("preset", TEXT, preset, 0),
    FIELD("dropout", FLOAT, model_options.dropout, -INFINITY),
    FIELD("paper_init", BOOL, model_options.paper_init, 0),
    FIELD("image_size", INT64, model_options.image_size, 0),
    FIELD("width_divisor", INT64, model_options.width_divisor, 0),
    FIELD("seed", UINT64, seed, 0),
    FIELD("batch", INT, batch, 1),
    FIELD("update", INT64, update, 0),
    FIELD("epoch", INT64, epoch, 0),
    FIELD("position", INT64, position, 0),
    FIELD("best_top1", DOUBLE, best_top1, 0),
    FIELD("best_loss", DOUBLE, best_loss, -INFINITY),
    FIELD("best_epoch", INT64, best_epoch, 0),
    FIELD("split", TEXT, split, 0),
    FIELD("recipe", TEXT, recipe, 0),
    LATER("precision", TEXT, precision, 0, "fp32"),
    LATER("loss_scale", FLOAT, loss_scale, 0, "0"),
    LATER("good_updates", INT, good, 0, "0"),
    LATER("skipped_updates", INT, skipped, 0, "0"),
    LATER("skipped_in_a_row", INT, skipped_in_a_row, 0, "0"),
    FIELD("optimizer", TEXT, optimizer, 0),
    FIELD("cairn_version", TEXT, cairn_version, 0),
    FIELD("library", TEXT, library, 0),
#undef FIELD
#undef LATER
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* ---- writing ---- */

static void format_field(const struct field *field, const cairn_checkpoint_info *info, char *text, size_t size)
{
    const void *at = (const char *)info + field->offset;
    switch (field->kind) {
    case TEXT:
        snprintf(text, size, "%s", (const char *)at);
        break;
    case INT:
        snprintf(text, size, "%d", *(const int *)at);
        break;
    case INT64:
        snprintf(text, size, "%" PRId64, *(const int64_t *)at);
        break;
    case UINT64:
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)at);
        break;
    case FLOAT:
        snprintf(text, size, "%.9g", (double)*(const float *)at);
        break; /* 9 and 17 digits give the same */
    case DOUBLE:
        snprintf(text, size, "%.17g", *(const double *)at);
        break; /* binary number back */
    case BOOL:
        snprintf(text, size, "%s", *(const bool *)at ? "true" : "false");
        break;
    }
}

static json_t *preprocess_json(const cairn_preprocess *p)
{
    return json_pack("{s:i, s:i, s:[f,f,f], s:[f,f,f]}", "size", p->size, "resize", p->resize, "mean",
                     (double)p->mean[0], (double)p->mean[1], (double)p->mean[2], "std", (double)p->std[0],
                     (double)p->std[1], (double)p->std[2]);
}

static json_t *class_names_json(const cairn_checkpoint_info *info)
{
    json_t *names = json_array();
    for (int c = 0; names && c < info->classes; c++)
        if (json_array_append_new(names, json_string(info->class_name[c])) != 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static cairn_status write_json(cairn_safetensors_writer *writer, const char *key, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (!text) return cairn_fail(CAIRN_MEMORY, "no memory for the checkpoint's %s", key);
    cairn_status status = cairn_safetensors_writer_metadata(writer, key, text);
    free(text);
    return status;
}

cairn_status cairn_checkpoint_check(const cairn_checkpoint_info *info)
{
    for (int c = 0; c < info->classes; c++) {
        json_t *name = json_string(info->class_name[c]); /* NULL for what is not UTF-8 */
        if (!name)
            return cairn_fail(CAIRN_DATA,
                              "class folder %d, \"%s\": the name is not UTF-8 and can't be stored: rename it", c + 1,
                              info->class_name[c]);
        json_decref(name);
    }
    return CAIRN_OK;
}

cairn_status cairn_checkpoint_info_write(const cairn_checkpoint_info *info, cairn_safetensors_writer *writer)
{
    char text[VALUE_SIZE];
    snprintf(text, sizeof text, "%d", CAIRN_CHECKPOINT_FORMAT);
    CAIRN_TRY(cairn_safetensors_writer_metadata(writer, "cairn_format", text));
    for (int i = 0; i < FIELD_COUNT; i++) {
        format_field(&fields[i], info, text, sizeof text);
        CAIRN_TRY(cairn_safetensors_writer_metadata(writer, fields[i].key, text));
    }
    CAIRN_TRY(cairn_checkpoint_check(info));
    CAIRN_TRY(write_json(writer, "preprocess", preprocess_json(&info->preprocess)));
    return write_json(writer, "class_names", class_names_json(info));
}

/* ---- reading ---- */

static cairn_status bad_value(const char *path, const char *key, const char *value)
{
    return cairn_fail(CAIRN_FILE, "%s: the checkpoint is damaged: its %s is \"%.60s\"", path, key, value);
}

/* A whole number that fills the text; false if it doesn't or is out of range. */
static bool parse_whole(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

static bool parse_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*out);
}

/* Sets the field from its text; false when it makes no sense. */
static bool parse_field(const struct field *field, const char *text, cairn_checkpoint_info *info)
{
    void *at = (char *)info + field->offset;
    int64_t whole = 0;
    double real = 0;
    char *end;
    switch (field->kind) {
    case TEXT:
        if (strlen(text) >= field->size) return false;
        memcpy(at, text, strlen(text) + 1);
        return true;
    case INT:
        if (!parse_whole(text, &whole) || whole > INT32_MAX || whole < INT32_MIN) return false;
        *(int *)at = (int)whole;
        return (double)whole >= field->least;
    case INT64:
        if (!parse_whole(text, &whole)) return false;
        *(int64_t *)at = whole;
        return (double)whole >= field->least;
    case UINT64:
        errno = 0;
        *(uint64_t *)at = strtoull(text, &end, 10);
        return end != text && *end == '\0' && errno == 0 && text[0] != '-';
    case FLOAT:
        if (!parse_real(text, &real)) return false;
        *(float *)at = (float)real;
        return real >= field->least;
    case DOUBLE:
        if (!parse_real(text, &real)) return false;
        *(double *)at = real;
        return real >= field->least;
    case BOOL:
        *(bool *)at = strcmp(text, "true") == 0;
        return *(bool *)at || strcmp(text, "false") == 0;
    }
    return false;
}

static cairn_status read_preprocess(const char *path, const char *text, cairn_preprocess *p)
{
    double mean[3], std[3];
    json_t *json = json_loads(text, 0, NULL);
    bool good = json && json_unpack(json, "{s:i, s:i, s:[F,F,F], s:[F,F,F]}", "size", &p->size, "resize", &p->resize,
                                    "mean", &mean[0], &mean[1], &mean[2], "std", &std[0], &std[1], &std[2]) == 0;
    json_decref(json);
    good = good && p->size >= 1 && p->size <= LARGEST_PICTURE && p->resize >= p->size && p->resize <= LARGEST_PICTURE;
    for (int i = 0; good && i < 3; i++) {
        p->mean[i] = (float)mean[i];
        p->std[i] = (float)std[i];
        good = isfinite(p->mean[i]) && isfinite(p->std[i]) && p->std[i] > 0;
    }
    return good ? CAIRN_OK : bad_value(path, "preprocess", text);
}

static cairn_status read_class_names(const char *path, const char *text, cairn_checkpoint_info *info)
{
    cairn_status status = CAIRN_OK;
    char **names = NULL;
    json_t *json = json_loads(text, 0, NULL);
    size_t count = json_is_array(json) ? json_array_size(json) : 0;
    if (count < 1 || count > MOST_CLASSES) CAIRN_TRY_DONE(bad_value(path, "class_names", text));
    names = calloc(count, sizeof *names);
    if (!names) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "%s: no memory for %zu class names", path, count));
    info->class_name = (const char *const *)names;
    info->classes = (int)count;
    for (size_t c = 0; c < count; c++) {
        const char *name = json_string_value(json_array_get(json, c));
        if (!name) CAIRN_TRY_DONE(bad_value(path, "class_names", text));
        names[c] = malloc(strlen(name) + 1);
        if (!names[c]) CAIRN_TRY_DONE(cairn_fail(CAIRN_MEMORY, "%s: no memory for %zu class names", path, count));
        memcpy(names[c], name, strlen(name) + 1);
    }
done:
    json_decref(json);
    return status;
}

static cairn_status need(const cairn_safetensors *file, const char *path, const char *key, const char **value)
{
    *value = cairn_safetensors_metadata(file, key);
    if (*value) return CAIRN_OK;
    return cairn_fail(CAIRN_FILE, "%s: the checkpoint is damaged: it lacks its %s", path, key);
}

cairn_status cairn_checkpoint_info_read(const cairn_safetensors *file, const char *path, cairn_checkpoint_info *out)
{
    *out = (cairn_checkpoint_info){0};
    const char *value = cairn_safetensors_metadata(file, "cairn_format");
    int64_t format;
    if (!value)
        return cairn_fail(CAIRN_FILE, "%s: a safetensors file, but no checkpoint of Cairn: it has no cairn_format",
                          path);
    if (!parse_whole(value, &format) || format < 1) return bad_value(path, "cairn_format", value);
    if (format > CAIRN_CHECKPOINT_FORMAT)
        return cairn_fail(
            CAIRN_FILE, "%s: a checkpoint of format %" PRId64 ", and this Cairn (%s) reads up to %d: use a later Cairn",
            path, format, cairn_version(), CAIRN_CHECKPOINT_FORMAT);
    for (int i = 0; i < FIELD_COUNT; i++) {
        value = cairn_safetensors_metadata(file, fields[i].key);
        if (!value) value = fields[i].absent;
        if (!value) CAIRN_TRY(need(file, path, fields[i].key, &value));
        if (!parse_field(&fields[i], value, out)) return bad_value(path, fields[i].key, value);
    }
    CAIRN_TRY(need(file, path, "preprocess", &value));
    CAIRN_TRY(read_preprocess(path, value, &out->preprocess));
    CAIRN_TRY(need(file, path, "class_names", &value));
    return read_class_names(path, value, out);
}

void cairn_checkpoint_info_release(cairn_checkpoint_info *info)
{
    for (int c = 0; info->class_name && c < info->classes; c++)
        free((void *)(uintptr_t)info->class_name[c]);
    free((void *)(uintptr_t)info->class_name);
    info->class_name = NULL;
    info->classes = 0;
}
