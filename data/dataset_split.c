/* The split as text: "train<TAB>class<TAB>path below the folder", or "val" in front; one file a line. In names, a tab, a line end and
 * a backslash are written \t, \n and \\.
 */
#include "core/atomic_file.h"
#include "core/os.h"
#include "data/dataset_build.h"
#include <stdlib.h>
#include <string.h>

static const size_t max_split_bytes = (size_t)4 << 30;

static cairn_status put(cairn_atomic_file *file, const char *text, size_t bytes)
{
    return bytes ? cairn_atomic_file_write(file, text, bytes) : CAIRN_OK;
}

static cairn_status put_escaped(cairn_atomic_file *file, const char *text)
{
    static const char special[] = "\t\n\\", written[] = "tn\\";
    for (;;) {
        size_t plain = strcspn(text, special);
        CAIRN_TRY(put(file, text, plain));
        text += plain;
        if (!*text) return CAIRN_OK;
        char pair[2] = {'\\', written[strchr(special, *text) - special]};
        CAIRN_TRY(put(file, pair, sizeof pair));
        text++;
    }
}

static cairn_status put_list(cairn_atomic_file *file, const cairn_dataset *dataset, const cairn_sample_list *list,
                             const char *word)
{
    size_t folder = strlen(dataset->folder) + 1;
    for (int64_t i = 0; i < list->count; i++) {
        CAIRN_TRY(put(file, word, strlen(word)));
        CAIRN_TRY(put_escaped(file, dataset->class_name[list->sample[i].label]));
        CAIRN_TRY(put(file, "\t", 1));
        CAIRN_TRY(put_escaped(file, list->sample[i].path + folder));
        CAIRN_TRY(put(file, "\n", 1));
    }
    return CAIRN_OK;
}

cairn_status cairn_dataset_save_split(const cairn_dataset *dataset, const char *path)
{
    cairn_atomic_file *file;
    CAIRN_TRY(cairn_atomic_file_create(path, &file));
    cairn_status status = put_list(file, dataset, &dataset->train, "train\t");
    if (status == CAIRN_OK) status = put_list(file, dataset, &dataset->validation, "val\t");
    if (status == CAIRN_OK) status = cairn_atomic_file_commit(file);
    cairn_atomic_file_destroy(file);
    return status;
}

/* One line taken apart, in place. */
typedef struct split_line {
    bool validation;
    const char *class_name, *path;
} split_line;

/* Ends the field at the tab or line end and undoes its escapes; returns where the next field starts, NULL for a wrong escape. */
static char *end_field(char *field, char end)
{
    char *to = field;
    for (; *field != end; field++) {
        if (*field == '\0' || *field == '\t' || *field == '\n') return NULL;
        if (*field == '\\') {
            field++;
            if (*field != 't' && *field != 'n' && *field != '\\') return NULL;
            *to++ = (char)(*field == 't' ? '\t' : *field == 'n' ? '\n' : '\\');
        } else {
            *to++ = *field;
        }
    }
    *to = '\0';
    return field + 1;
}

static bool parse_line(char **at, split_line *line)
{
    char *word = *at, *class_name = end_field(word, '\t');
    char *path = class_name ? end_field(class_name, '\t') : NULL;
    char *next = path ? end_field(path, '\n') : NULL;
    if (!next || !*class_name || !*path) return false;
    line->validation = strcmp(word, "val") == 0;
    line->class_name = class_name;
    line->path = path;
    *at = next;
    /* Only what lies below the folder. */
    return (line->validation || strcmp(word, "train") == 0) && path[0] != '/' && strcmp(path, "..") != 0 &&
           strncmp(path, "../", 3) != 0 && !strstr(path, "/../");
}

typedef struct split_lines {
    split_line *line;
    size_t count;
} split_lines;

static cairn_status parse(const char *split_path, char *text, size_t bytes, split_lines *out)
{
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    out->line = calloc(lines + 1, sizeof *out->line);
    if (!out->line) return cairn_fail(CAIRN_MEMORY, "%s: no memory for its %zu lines", split_path, lines);
    char *end = text + bytes;
    while (text < end) {
        if (out->count == lines || !parse_line(&text, &out->line[out->count]))
            return cairn_fail(CAIRN_DATA, "%s: line %zu is not \"train\" or \"val\", class and path, with tabs between",
                              split_path, out->count + 1);
        out->count++;
    }
    return out->count ? CAIRN_OK : cairn_fail(CAIRN_DATA, "%s: an empty split", split_path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The classes the split names, each once, in byte order. */
static cairn_status name_classes(cairn_dataset *dataset, const split_lines *lines)
{
    const char **names = calloc(lines->count, sizeof *names);
    if (!names) return cairn_dataset_no_memory(dataset);
    for (size_t i = 0; i < lines->count; i++)
        names[i] = lines->line[i].class_name;
    qsort(names, lines->count, sizeof *names, compare_names);
    int count = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (i == 0 || strcmp(names[i], names[count - 1]) != 0) names[count++] = names[i];
    cairn_status status = cairn_dataset_set_classes(dataset, names, count);
    free(names);
    return status;
}

/* Lines of a class stand together, so the last label is nearly always the next. */
static int find_label(const cairn_dataset *dataset, const char *name, int last)
{
    if (last >= 0 && strcmp(dataset->class_name[last], name) == 0) return last;
    for (int c = 0; c < dataset->classes; c++)
        if (strcmp(dataset->class_name[c], name) == 0) return c;
    return -1;
}

static cairn_status add_lines(cairn_dataset *dataset, const char *split_path, const split_lines *lines)
{
    int label = -1;
    for (size_t i = 0; i < lines->count; i++) {
        const split_line *line = &lines->line[i];
        label = find_label(dataset, line->class_name, label);
        if (label < 0)
            return cairn_fail(CAIRN_DATA, "%s: class \"%s\" is not among the %d classes of the model", split_path,
                              line->class_name, dataset->classes);
        const char *path = cairn_dataset_join(dataset, dataset->folder, line->path);
        if (!path) return cairn_dataset_no_memory(dataset);
        if (cairn_os_stat(path, NULL) != CAIRN_OS_FILE)
            return cairn_fail(CAIRN_DATA,
                              "%s: gone, though %s counts on it: bring it back, start a new run, or score every "
                              "picture with eval --part all",
                              path, split_path);
        CAIRN_TRY(cairn_dataset_add(dataset, line->validation, path, label));
    }
    return CAIRN_OK;
}

static cairn_status fill(cairn_dataset *dataset, const char *split_path, char *text, size_t bytes,
                         const cairn_dataset_options *options)
{
    split_lines lines = {0};
    cairn_status status;
    CAIRN_TRY_DONE(parse(split_path, text, bytes, &lines));
    CAIRN_TRY_DONE(options->classes ? cairn_dataset_set_classes(dataset, options->classes, options->class_count)
                                    : name_classes(dataset, &lines));
    CAIRN_TRY_DONE(add_lines(dataset, split_path, &lines));
done:
    free(lines.line);
    return status;
}

cairn_status cairn_dataset_open_split(const char *folder, const char *split_path, const cairn_dataset_options *options,
                                      cairn_dataset **out)
{
    *out = NULL;
    void *text;
    size_t bytes;
    CAIRN_TRY(cairn_os_read_file(split_path, max_split_bytes, &text, &bytes));
    cairn_dataset *dataset = NULL;
    cairn_status status = cairn_dataset_begin(folder, &dataset);
    if (status == CAIRN_OK) status = fill(dataset, split_path, text, bytes, options);
    free(text);
    if (status != CAIRN_OK) {
        cairn_dataset_close(dataset);
        return status;
    }
    *out = dataset;
    return CAIRN_OK;
}
