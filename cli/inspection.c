#include "cli/inspection.h"
#include "core/os.h"
#include "data/image.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 256 };

/* What the threads share. */
typedef struct work {
    cli_inspection *inspection;
    int64_t max_pixels;
    cli_terminal *terminal;
    cairn_mutex *mutex; /* next, shown_at and failure */
    int64_t next;
    double shown_at;
    cairn_error failure; /* the first that is no fault of a picture */
} work;

/* The next picture to look at, or -1. */
static int64_t take(work *w)
{
    cairn_mutex_lock(w->mutex);
    int64_t i = w->failure.status == CAIRN_OK && w->next < w->inspection->count ? w->next++ : -1;
    double now = cairn_os_seconds();
    bool show = i >= 0 && now - w->shown_at > 0.2;
    if (show) w->shown_at = now;
    cairn_mutex_unlock(w->mutex);
    if (show) cli_progress(w->terminal, "checked %lld of %lld pictures", (long long)i, (long long)w->inspection->count);
    return i;
}

static cairn_status look(cli_picture *picture, int64_t max_pixels, cairn_image *image)
{
    const cairn_image_options options = {.max_pixels = max_pixels};
    void *data = NULL;
    size_t bytes = 0;
    int width, height;
    CAIRN_TRY(cairn_os_read_file(picture->path, (size_t)1 << 30, &data, &bytes));
    picture->bytes = (int64_t)bytes;
    cairn_status status = cairn_image_decode(picture->path, data, bytes, &options, image);
    if (status == CAIRN_OK) status = cairn_image_probe(picture->path, data, bytes, &width, &height, &picture->format);
    free(data);
    if (status != CAIRN_OK) return status;
    picture->width = image->width;
    picture->height = image->height;
    return CAIRN_OK;
}

static void inspect(void *context)
{
    work *w = context;
    cairn_image image = {0};
    int64_t i;
    while ((i = take(w)) >= 0) {
        cli_picture *picture = &w->inspection->picture[i];
        cairn_status status = look(picture, w->max_pixels, &image);
        if (status == CAIRN_DATA || status == CAIRN_FILE) {
            picture->format = NULL;
            picture->reason = strdup(cairn_error_last()->message);
            if (picture->reason) continue;
            status = cairn_fail(CAIRN_MEMORY, "no memory while checking pictures");
        }
        if (status == CAIRN_OK) continue;
        cairn_mutex_lock(w->mutex);
        if (w->failure.status == CAIRN_OK) w->failure = *cairn_error_last();
        cairn_mutex_unlock(w->mutex);
    }
    cairn_image_release(&image);
}

static cairn_status run_threads(work *w, int threads)
{
    cairn_thread *thread[MOST_THREADS] = {NULL};
    cairn_status status = CAIRN_OK;
    double start = cairn_os_seconds();
    for (int i = 0; i < threads && status == CAIRN_OK; i++)
        status = cairn_thread_start(&thread[i], "inspect", inspect, w);
    for (int i = 0; i < threads; i++)
        cairn_thread_join(thread[i]);
    w->inspection->seconds = cairn_os_seconds() - start;
    if (status == CAIRN_OK && w->failure.status != CAIRN_OK) status = cairn_error_raise(&w->failure);
    return status;
}

static int64_t list(cli_picture *picture, const cairn_sample_list *samples)
{
    for (int64_t i = 0; i < samples->count; i++)
        picture[i] = (cli_picture){.path = samples->sample[i].path, .label = samples->sample[i].label};
    return samples->count;
}

cairn_status cli_inspect(const cairn_dataset *dataset, int threads, int64_t max_pixels, cli_terminal *terminal,
                         cli_inspection **out)
{
    *out = NULL;
    int64_t count = dataset->train.count + dataset->validation.count;
    cairn_status status = CAIRN_OK;
    work *w = calloc(1, sizeof *w);
    cli_inspection *inspection = calloc(1, sizeof *inspection);
    if (inspection) inspection->picture = calloc((size_t)count + 1, sizeof *inspection->picture);
    if (!w || !inspection || !inspection->picture) {
        status = cairn_fail(CAIRN_MEMORY, "no memory to check %lld pictures", (long long)count);
        goto done;
    }
    inspection->count = count;
    inspection->threads = threads > 0 ? threads : cairn_os_processor_count();
    if (inspection->threads > MOST_THREADS) inspection->threads = MOST_THREADS;
    int64_t train = list(inspection->picture, &dataset->train);
    list(inspection->picture + train, &dataset->validation);
    *w = (work){.inspection = inspection, .max_pixels = max_pixels, .terminal = terminal};
    CAIRN_TRY_DONE(cairn_mutex_create(&w->mutex));
    CAIRN_TRY_DONE(run_threads(w, inspection->threads));
    for (int64_t i = 0; i < count; i++)
        inspection->bad += inspection->picture[i].reason != NULL;
    *out = inspection;
    inspection = NULL;
done:
    cli_progress_clear(terminal);
    if (w) cairn_mutex_destroy(w->mutex);
    free(w);
    cli_inspection_destroy(inspection);
    return status;
}

void cli_inspection_destroy(cli_inspection *inspection)
{
    if (!inspection) return;
    for (int64_t i = 0; i < inspection->count; i++)
        free(inspection->picture[i].reason);
    free(inspection->picture);
    free(inspection);
}
