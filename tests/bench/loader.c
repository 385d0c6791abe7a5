/* How many pictures a second the loader makes ready, against decoding alone in the same run.
 *
 *     bench_loader [threads [pictures]]
 *
 * The pictures are JPEGs of 500 x 375 and about 50 KB, as ImageNet's are, written to the build folder; windows are 224 out of 256.
 */
#include "data/loader.h"
#include "core/os.h"
#include "data/picture.h"
#include "tests/support/jpeg.h"
#include <stdio.h>
#include <stdlib.h>

#ifndef CAIRN_HAVE_JPEG
int main(void)
{
    printf("built without libjpeg: nothing to measure\n");
    return 0;
}
#else
#define ROOT CAIRN_TEST_BUILD "/tests/scratch/bench_loader"

enum { SIZE = 224, BATCH = 32, ROUNDS = 3 };

typedef struct pictures {
    cairn_sample_list list;
    uint8_t **file;
    size_t *bytes;
} pictures;

static void must(cairn_status status)
{
    if (status == CAIRN_OK) return;
    fprintf(stderr, "%s\n", cairn_error_last()->message);
    exit(1);
}

static pictures make_pictures(int count)
{
    pictures p = {.list = {calloc((size_t)count, sizeof(cairn_sample)), count},
                  .file = calloc((size_t)count, sizeof(uint8_t *)),
                  .bytes = calloc((size_t)count, sizeof(size_t))};
    must(cairn_os_make_folders(ROOT));
    size_t total = 0;
    for (int i = 0; i < count; i++) {
        char *path = malloc(400);
        snprintf(path, 400, "%s/%04d.jpg", ROOT, i);
        p.file[i] = test_jpeg(&(test_jpeg_options){.width = 500, .height = 375, .quality = 88, .seed = (uint32_t)i},
                              &p.bytes[i]);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(p.file[i], 1, p.bytes[i], file) != p.bytes[i] || fclose(file) != 0) exit(1);
        p.list.sample[i] = (cairn_sample){path, 0};
        total += p.bytes[i];
    }
    printf("%d JPEGs of 500 x 375, %.1f KB on average\n", count, (double)total / count / 1000);
    return p;
}

/* Pictures a second of one thread that only decodes. */
static double decode_rate(const pictures *p)
{
    cairn_image image = {0};
    double begin = cairn_os_seconds();
    for (int64_t i = 0; i < p->list.count; i++)
        must(cairn_image_decode("bench", p->file[i], p->bytes[i], &(cairn_image_options){0}, &image));
    double seconds = cairn_os_seconds() - begin;
    cairn_image_release(&image);
    return (double)p->list.count / seconds;
}

/* Of one thread that makes windows from memory. */
static double window_rate(const pictures *p, cairn_augment_kind augment, uint32_t epoch)
{
    cairn_preprocess preprocess = cairn_preprocess_default(SIZE);
    cairn_picture_reader *reader;
    must(cairn_picture_reader_create(&preprocess, 0, &reader));
    static uint8_t rgb[SIZE * SIZE * 3];
    double begin = cairn_os_seconds();
    for (int64_t i = 0; i < p->list.count; i++) {
        cairn_picture_draw draw = {.augment = augment, .seed = 1, .epoch = epoch, .sample = (uint64_t)i};
        must(cairn_picture_decode(reader, "bench", p->file[i], p->bytes[i], &draw, rgb));
    }
    double seconds = cairn_os_seconds() - begin;
    cairn_picture_reader_destroy(reader);
    return (double)p->list.count / seconds;
}

/* Of the whole loader, from files. */
static double loader_rate(const pictures *p, cairn_augment_kind augment, int threads, uint32_t epoch)
{
    cairn_loader_options options = {.samples = &p->list,
                                    .preprocess = cairn_preprocess_default(SIZE),
                                    .augment = augment,
                                    .shuffle = true,
                                    .batch = BATCH,
                                    .threads = threads};
    cairn_loader *loader;
    must(cairn_loader_create(&options, &loader));
    double begin = cairn_os_seconds();
    must(cairn_loader_start(loader, epoch, 0));
    for (;;) {
        const cairn_batch *batch;
        must(cairn_loader_next(loader, &batch));
        if (!batch) break;
        cairn_loader_release(loader, batch);
    }
    double seconds = cairn_os_seconds() - begin;
    cairn_loader_destroy(loader);
    return (double)p->list.count / seconds;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : cairn_os_processor_count();
    pictures p = make_pictures(argc > 2 ? atoi(argv[2]) : 400);
    static const cairn_augment_kind kinds[] = {CAIRN_AUGMENT_CROP, CAIRN_AUGMENT_RRC, CAIRN_AUGMENT_NONE};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double decode = decode_rate(&p);
        printf("decode only, 1 thread: %.0f images/s\n", decode);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            double window = window_rate(&p, kinds[i], round), loader = loader_rate(&p, kinds[i], threads, round);
            printf("  %-4s: window, 1 thread: %.0f images/s (%.2f of decode only); loader, %d threads: %.0f images/s "
                   "(%.2f of "
                   "%d decoders)\n",
                   cairn_augment_name(kinds[i]), window, window / decode, threads, loader, loader / decode / threads,
                   threads);
        }
    }
    for (int64_t i = 0; i < p.list.count; i++) {
        free(p.file[i]);
        free((char *)(uintptr_t)p.list.sample[i].path);
    }
    free(p.file);
    free(p.bytes);
    free(p.list.sample);
    return 0;
}
#endif
