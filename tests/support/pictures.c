#include "tests/support/pictures.h"
#include "core/os.h"
#include "core/rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int noise(cairn_rng rng, int pixel, int channel, int range)
{
    return (int)cairn_rng_below(rng, (uint64_t)(pixel * 3 + channel), (uint32_t)(2 * range + 1)) - range;
}

static cairn_status write_picture(const char *path, int label, int number)
{
    int width = 40 + number % 11, height = 44;
    cairn_rng rng = cairn_rng_make((uint64_t)number, CAIRN_RNG_SYNTHETIC, (uint32_t)label, 0);
    FILE *file = fopen(path, "wb");
    if (!file) return cairn_fail(CAIRN_FILE, "%s: cannot be made", path);
    fprintf(file, "P6 %d %d 255\n", width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int along = label % 3 == 0 ? x : label % 3 == 1 ? y : x + y;
            int bright = (along / 4 + number) % 2 ? 190 : 60;
            for (int c = 0; c < 3; c++) {
                int value = bright + (c == label / 3 % 3 ? 40 : 0) + noise(rng, y * width + x, c, 20);
                fputc(value < 0 ? 0 : value > 255 ? 255 : value, file);
            }
        }
    if (fclose(file) != 0) return cairn_fail(CAIRN_FILE, "%s: cannot be written", path);
    return CAIRN_OK;
}

cairn_status pictures_make(const char *root, const char *name, int classes, int count, char folder[SCRATCH_SIZE])
{
    scratch_path(root, name, folder);
    for (int label = 0; label < classes; label++) {
        char text[32], class_folder[SCRATCH_SIZE], path[SCRATCH_SIZE];
        snprintf(text, sizeof text, "class%d", label);
        CAIRN_TRY(cairn_os_make_folders(scratch_path(folder, text, class_folder)));
        for (int i = 0; i < count; i++) {
            snprintf(text, sizeof text, "%03d.ppm", i);
            CAIRN_TRY(write_picture(scratch_path(class_folder, text, path), label, i));
        }
    }
    return CAIRN_OK;
}

cairn_status pictures_write(const char *folder, const char *name, const char *text)
{
    char path[SCRATCH_SIZE];
    FILE *file = fopen(scratch_path(folder, name, path), "wb");
    if (!file) return cairn_fail(CAIRN_FILE, "%s: cannot be made", path);
    fputs(text, file);
    if (fclose(file) != 0) return cairn_fail(CAIRN_FILE, "%s: cannot be written", path);
    return CAIRN_OK;
}

cairn_train_options pictures_options(cairn_device *device, const char *folder, const char *run)
{
    cairn_train_options o = cairn_train_defaults();
    o.device = device;
    o.folder = folder;
    o.run_folder = run;
    o.model = "lenet";
    o.preset = "";
    o.epochs = 2;
    o.batch = 8;
    o.loader_threads = 1;
    o.no_flip = true;
    o.schedule.base = 1e-3f;
    return o;
}

bool pictures_few(void)
{
    const char *sanitizers = getenv("CAIRN_SANITIZE");
    return sanitizers && *sanitizers;
}

bool pictures_same_bytes(const char *a, const char *b)
{
    void *x = NULL, *y = NULL;
    size_t x_bytes = 0, y_bytes = 0;
    bool same = cairn_os_read_file(a, (size_t)1 << 30, &x, &x_bytes) == CAIRN_OK &&
                cairn_os_read_file(b, (size_t)1 << 30, &y, &y_bytes) == CAIRN_OK && x_bytes == y_bytes &&
                memcmp(x, y, x_bytes) == 0;
    free(x);
    free(y);
    return same;
}

static void keep(void *context, cairn_log_level level, const char *text)
{
    static const char *const word[] = {"debug", "info", "warning", "error"};
    pictures_log *log = context;
    int wrote = snprintf(log->text + log->used, sizeof log->text - log->used, "%s: %s\n", word[level], text);
    if (wrote > 0) log->used += (size_t)wrote;
    if (log->used >= sizeof log->text) log->used = sizeof log->text - 1;
}

void pictures_log_start(pictures_log *log)
{
    log->log = (cairn_log){.write = keep, .context = log, .level = CAIRN_LOG_INFO};
    log->used = 0;
    log->text[0] = '\0';
}
