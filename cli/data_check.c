/* data_check.c - `cairn data check FOLDER`. */
#include "cairn.h"
#include "cli/command.h"
#include "cli/inspection.h"
#include "cli/json.h"
#include "cli/table.h"
#include "train/alarms.h"
#include "train/checkpoint.h"
#include <stdlib.h>
#include <string.h>

enum { FORMATS = 16, BAR = 32, NAMED = 20 };

typedef struct summary {
    int64_t *good; /* [classes] readable pictures */
    int64_t bytes;
    cli_picture smallest, median, largest; /* by number of pixels */
    struct {
        const char *name;
        int64_t count;
    } format[FORMATS];
    int formats;
} summary;

static int by_pixels(const void *a, const void *b)
{
    const cli_picture *x = a, *y = b;
    int64_t p = (int64_t)x->width * x->height, q = (int64_t)y->width * y->height;
    return p < q ? -1 : p > q;
}

static void count_format(summary *s, const char *name)
{
    int i = 0;
    while (i < s->formats && strcmp(s->format[i].name, name) != 0)
        i++;
    if (i == FORMATS) i--;
    if (i == s->formats) s->format[s->formats++].name = name;
    s->format[i].count++;
}

static cairn_status summarise(const cli_inspection *inspection, int classes, summary *s)
{
    *s = (summary){.good = calloc((size_t)classes, sizeof *s->good)};
    cli_picture *sorted = calloc((size_t)inspection->count + 1, sizeof *sorted);
    int64_t good = 0;
    if (!s->good || !sorted) {
        free(sorted);
        return cairn_fail(CAIRN_MEMORY, "no memory to sum up %lld pictures", (long long)inspection->count);
    }
    for (int64_t i = 0; i < inspection->count; i++) {
        const cli_picture *picture = &inspection->picture[i];
        s->bytes += picture->bytes;
        if (picture->reason) continue;
        s->good[picture->label]++;
        count_format(s, picture->format);
        sorted[good++] = *picture;
    }
    qsort(sorted, (size_t)good, sizeof *sorted, by_pixels);
    if (good > 0) {
        s->smallest = sorted[0];
        s->median = sorted[good / 2];
        s->largest = sorted[good - 1];
    }
    free(sorted);
    return CAIRN_OK;
}

/* Class, pictures (of train/ and val/ where there are such), and a bar of those that can be read. */
static cairn_status print_classes(const cairn_dataset *dataset, const summary *s, const cli_terminal *terminal)
{
    static const char *const whole[] = {"class", ">pictures", ""}, *const parted[] = {"class", ">train", ">val", ""};
    cli_table *table;
    CAIRN_TRY(cli_table_create(dataset->own_split ? 4 : 3, dataset->own_split ? parted : whole, &table));
    int64_t most = 1;
    for (int c = 0; c < dataset->classes; c++)
        if (s->good[c] > most) most = s->good[c];
    cairn_status status = CAIRN_OK;
    for (int c = 0; c < dataset->classes && status == CAIRN_OK; c++) {
        char train[24], validation[24], bar[BAR + 1] = "";
        memset(bar, '#', (size_t)((s->good[c] * BAR + most - 1) / most));
        snprintf(train, sizeof train, "%lld", (long long)dataset->train_count[c]);
        snprintf(validation, sizeof validation, "%lld", (long long)dataset->validation_count[c]);
        const char *cell[] = {dataset->class_name[c], train, dataset->own_split ? validation : bar, bar};
        status = cli_table_row(table, cell);
    }
    if (status == CAIRN_OK) cli_table_print(table, terminal, stdout);
    cli_table_destroy(table);
    return status;
}

static cairn_status print_text(const cairn_dataset *dataset, const cli_inspection *inspection, const summary *s,
                               const cli_terminal *terminal)
{
    char bytes[32];
    CAIRN_TRY(print_classes(dataset, s, terminal));
    printf("\npictures  %lld in %d classes, %s%s\n", (long long)inspection->count, dataset->classes,
           cairn_format_bytes((double)s->bytes, bytes, sizeof bytes),
           dataset->own_split ? "; train/ and val/ are the split" : "");
    if (s->formats) {
        printf("formats   ");
        for (int f = 0; f < s->formats; f++)
            printf("%s%s %lld", f ? ", " : "", s->format[f].name, (long long)s->format[f].count);
        printf("\nsizes     %dx%d to %dx%d, median %dx%d\n", s->smallest.width, s->smallest.height, s->largest.width,
               s->largest.height, s->median.width, s->median.height);
    }
    if (dataset->ignored) printf("ignored   %lld hidden or system files\n", (long long)dataset->ignored);
    printf("decoding  %.0f images/s, whole pictures, %d threads\n", (double)inspection->count / inspection->seconds,
           inspection->threads);
    printf("bad       %lld\n", (long long)inspection->bad);
    int64_t named = 0;
    for (int64_t i = 0; i < inspection->count && named < NAMED; i++)
        if (inspection->picture[i].reason) {
            printf("  %s\n", cli_harmless(inspection->picture[i].reason));
            named++;
        }
    if (named < inspection->bad) printf("  and %lld more; --json names all\n", (long long)(inspection->bad - named));
    return CAIRN_OK;
}

static json_t *size_json(const cli_picture *picture)
{
    json_t *size = json_array();
    json_array_append_new(size, json_integer(picture->width));
    json_array_append_new(size, json_integer(picture->height));
    return size;
}

static cairn_status print_json(const cairn_dataset *dataset, const cli_inspection *inspection, const summary *s)
{
    json_t *root = json_object(), *classes = json_array(), *formats = json_object(), *bad = json_array();
    for (int c = 0; c < dataset->classes; c++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(dataset->class_name[c]));
        json_object_set_new(one, "train", json_integer(dataset->train_count[c]));
        json_object_set_new(one, "validation", json_integer(dataset->validation_count[c]));
        json_object_set_new(one, "readable", json_integer(s->good[c]));
        json_array_append_new(classes, one);
    }
    for (int f = 0; f < s->formats; f++)
        json_object_set_new(formats, s->format[f].name, json_integer(s->format[f].count));
    for (int64_t i = 0; i < inspection->count; i++)
        if (inspection->picture[i].reason) {
            json_t *one = json_object();
            json_object_set_new(one, "file", cli_json_text(inspection->picture[i].path));
            json_object_set_new(one, "reason", cli_json_text(inspection->picture[i].reason));
            json_array_append_new(bad, one);
        }
    json_object_set_new(root, "folder", cli_json_text(dataset->folder));
    json_object_set_new(root, "pictures", json_integer(inspection->count));
    json_object_set_new(root, "bytes", json_integer(s->bytes));
    json_object_set_new(root, "own_split", json_boolean(dataset->own_split));
    json_object_set_new(root, "ignored", json_integer(dataset->ignored));
    json_object_set_new(root, "classes", classes);
    json_object_set_new(root, "formats", formats);
    if (s->formats) {
        json_object_set_new(root, "smallest", size_json(&s->smallest));
        json_object_set_new(root, "median", size_json(&s->median));
        json_object_set_new(root, "largest", size_json(&s->largest));
    }
    json_object_set_new(root, "bad", bad);
    json_object_set_new(root, "images_per_second", cli_json_real((double)inspection->count / inspection->seconds, 1));
    json_object_set_new(root, "threads", json_integer(inspection->threads));
    return cli_json_print(root);
}

/* Would training stop at these pictures? Also says what may make it go badly. */
static cairn_status judge(const cairn_dataset *dataset, const cli_inspection *inspection, const summary *s,
                          double max_bad, cli_terminal *terminal)
{
    char text[CAIRN_ALARM_SIZE];
    const char *const *name = (const char *const *)dataset->class_name;
    CAIRN_TRY(cairn_checkpoint_check(&(cairn_checkpoint_info){.classes = dataset->classes, .class_name = name}));
    for (int c = 0; c < dataset->classes; c++)
        if (s->good[c] == 0)
            return cairn_fail(CAIRN_DATA,
                              "%s: no picture of class %s can be read; replace them, or take the folder away",
                              dataset->folder, dataset->class_name[c]);
    if ((double)inspection->bad > max_bad * (double)inspection->count)
        return cairn_fail(
            CAIRN_DATA,
            "%s: %lld of %lld pictures can't be read, more than --max-bad %g allows; replace or remove them",
            dataset->folder, (long long)inspection->bad, (long long)inspection->count, max_bad);
    if (cairn_alarm_unbalanced(dataset->train_count, dataset->classes, name, false, text, sizeof text))
        cli_warn(terminal, "%s", text);
    return CAIRN_OK;
}

static cairn_status run(const cli_options *options, cli_terminal *terminal)
{
    cairn_dataset *dataset = NULL;
    cli_inspection *inspection = NULL;
    summary s = {0};
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_dataset_open(options->argument[0], &(cairn_dataset_options){.log = cli_terminal_log(terminal)},
                                      &dataset));
    CAIRN_TRY_DONE(cli_inspect(dataset, (int)cli_int(options, OPTION_LOADER_THREADS),
                               cli_int(options, OPTION_MAX_PIXELS), terminal, &inspection));
    CAIRN_TRY_DONE(summarise(inspection, dataset->classes, &s));
    if (cli_flag(options, OPTION_JSON))
        CAIRN_TRY_DONE(print_json(dataset, inspection, &s));
    else
        CAIRN_TRY_DONE(print_text(dataset, inspection, &s, terminal));
    status = judge(dataset, inspection, &s, cli_real(options, OPTION_MAX_BAD), terminal);
done:
    free(s.good);
    cli_inspection_destroy(inspection);
    cairn_dataset_close(dataset);
    return status;
}

const cli_command cli_command_data_check = {
    .name = "data check",
    .mask = DATA_CHECK,
    .arguments = "FOLDER",
    .arguments_min = 1,
    .arguments_max = 1,
    .about = "Reads every picture of FOLDER and tells its classes, sizes, formats and bad files.",
    .example = "cairn data check photos\n"
               "cairn data check photos --json",
    .notes = "The exit code is 4 where training would stop: too many bad files, or a class without a readable picture.",
    .run = run,
};
