/* The loader over a small folder of pictures made here: order, batches, resume, bad files, and no trace of the number of threads. */
#include "core/os.h"
#include "data/loader.h"
#include "tests/support/jpeg.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

#define ROOT CAIRN_TEST_BUILD "/tests/scratch/loader"

enum { SAMPLES = 23, BATCH = 5, SIZE = 8 };

static char paths[SAMPLES][300];
static cairn_sample samples[SAMPLES];
static const cairn_sample_list list = {samples, SAMPLES};

static bool is_broken(int64_t sample)
{
    return sample == 4 || sample == 12 || sample == 22;
}

/* Pictures 20 to 42 pixels wide, each another. Those of is_broken are no pictures when `broken`. */
static void make_pictures(bool broken)
{
    for (int i = 0; i < SAMPLES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s%02d.ppm", ROOT, broken ? "broken" : "good", i);
        samples[i] = (cairn_sample){paths[i], i % 3};
        FILE *file = fopen(paths[i], "wb");
        REQUIRE(file);
        int width = 20 + i, height = 30;
#ifdef CAIRN_HAVE_JPEG
        if (i % 4 == 1) { /* photos held in all ways */
            size_t bytes;
            uint8_t *photo = test_jpeg(
                &(test_jpeg_options){.width = width, .height = height, .quality = 90, .orientation = i / 4 + 1},
                &bytes);
            CHECK_INT(fwrite(photo, 1, bytes, file), bytes);
            free(photo);
            fclose(file);
            continue;
        }
#endif
        if (broken && is_broken(i))
            fprintf(file, "nothing");
        else
            fprintf(file, "P6 %d %d 255\n", width, height);
        for (int k = 0; k < width * height * 3; k++)
            fputc((k * 7 + i * 11 + k / 50) & 255, file);
        fclose(file);
    }
}

static cairn_loader_options options_of(int threads)
{
    return (cairn_loader_options){.samples = &list,
                                  .preprocess = {.size = SIZE, .resize = 10},
                                  .augment = CAIRN_AUGMENT_CROP,
                                  .shuffle = true,
                                  .seed = 7,
                                  .batch = BATCH,
                                  .threads = threads,
                                  .max_bad = 1};
}

/* An epoch as one run of bytes: per slot sample, label, valid and pixels. */
typedef struct epoch_record {
    int batches;
    int64_t sample[64];
    uint8_t valid[64];
    uint8_t rgb[64][SIZE * SIZE * 3];
} epoch_record;

static void record_epoch(cairn_loader *loader, uint32_t epoch, int64_t first, epoch_record *out)
{
    memset(out, 0, sizeof *out);
    REQUIRE_OK(cairn_loader_start(loader, epoch, first));
    for (;;) {
        const cairn_batch *batch;
        REQUIRE_OK(cairn_loader_next(loader, &batch));
        if (!batch) return;
        CHECK_INT(batch->first, first + out->batches * BATCH);
        for (int i = 0; i < BATCH; i++) {
            int at = out->batches * BATCH + i;
            out->sample[at] = batch->sample[i];
            out->valid[at] = batch->valid[i];
            memcpy(out->rgb[at], batch->rgb + (size_t)i * sizeof out->rgb[0], sizeof out->rgb[0]);
            CHECK_INT(batch->sample[i] >= 0, i < batch->count);
            if (i < batch->count) CHECK_INT(batch->label[i], batch->sample[i] % 3);
        }
        out->batches++;
        cairn_loader_release(loader, batch);
    }
}

static void record(const cairn_loader_options *options, uint32_t epoch, int64_t first, epoch_record *out)
{
    cairn_loader *loader;
    REQUIRE_OK(cairn_loader_create(options, &loader));
    record_epoch(loader, epoch, first, out);
    cairn_loader_destroy(loader);
}

static bool same(const epoch_record *a, const epoch_record *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void gives_each_sample_once(void)
{
    make_pictures(false);
    static epoch_record epoch;
    cairn_loader_options options = options_of(2);
    record(&options, 0, 0, &epoch);
    CHECK_INT(epoch.batches, 5);
    int seen[SAMPLES] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        REQUIRE(epoch.sample[i] >= 0 && epoch.sample[i] < SAMPLES);
        seen[epoch.sample[i]]++;
        CHECK_INT(epoch.valid[i], 1);
    }
    for (int i = 0; i < SAMPLES; i++)
        CHECK_INT(seen[i], 1);
    static const uint8_t zeros[SIZE * SIZE * 3];
    for (int i = SAMPLES; i < 25; i++) { /* past the end */
        CHECK_INT(epoch.sample[i], -1);
        CHECK_INT(epoch.valid[i], 0);
        CHECK(memcmp(epoch.rgb[i], zeros, sizeof zeros) == 0);
    }
}

static void keeps_order_without_shuffle(void)
{
    static epoch_record epoch;
    cairn_loader_options options = options_of(3);
    options.shuffle = false;
    record(&options, 4, 0, &epoch);
    for (int i = 0; i < SAMPLES; i++)
        CHECK_INT(epoch.sample[i], i);
}

static void shuffles_anew_each_epoch(void)
{
    static epoch_record first, second, again;
    cairn_loader_options options = options_of(2);
    cairn_loader *loader;
    REQUIRE_OK(cairn_loader_create(&options, &loader));
    record_epoch(loader, 0, 0, &first);
    record_epoch(loader, 1, 0, &second);
    record_epoch(loader, 0, 0, &again);
    CHECK(memcmp(first.sample, second.sample, sizeof first.sample) != 0);
    CHECK(same(&first, &again));
    cairn_loader_destroy(loader);
    options.seed = 8;
    record(&options, 0, 0, &again);
    CHECK(memcmp(first.sample, again.sample, sizeof first.sample) != 0);
}

static void shows_no_trace_of_threads(void)
{
    static epoch_record one, four;
    for (int augment = CAIRN_AUGMENT_NONE; augment <= CAIRN_AUGMENT_RRC; augment++) {
        cairn_loader_options single = options_of(1), several = options_of(4);
        single.augment = several.augment = (cairn_augment_kind)augment;
        several.depth = 1;
        record(&single, 3, 0, &one);
        record(&several, 3, 0, &four);
        CHECK(same(&one, &four));
    }
}

static void resumes_anywhere(void)
{
    static epoch_record whole, rest;
    cairn_loader_options options = options_of(2);
    record(&options, 2, 0, &whole);
    for (int64_t first = 0; first <= SAMPLES; first += 1) {
        record(&options, 2, first, &rest);
        CHECK_INT(rest.batches, (SAMPLES - first + BATCH - 1) / BATCH);
        for (int64_t i = first; i < SAMPLES; i++) {
            CHECK_INT(rest.sample[i - first], whole.sample[i]);
            CHECK(memcmp(rest.rgb[i - first], whole.rgb[i], sizeof whole.rgb[i]) == 0);
        }
    }
}

static void mirrors_unless_told_not_to(void)
{
    static epoch_record with, without;
    cairn_loader_options options = options_of(2);
    record(&options, 0, 0, &with);
    options.no_flip = true;
    record(&options, 0, 0, &without);
    int differ = 0;
    for (int i = 0; i < SAMPLES; i++) {
        if (memcmp(with.rgb[i], without.rgb[i], sizeof with.rgb[i]) == 0) continue;
        differ++;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                CHECK(memcmp(&with.rgb[i][(y * SIZE + x) * 3], &without.rgb[i][(y * SIZE + SIZE - 1 - x) * 3], 3) == 0);
    }
    CHECK(differ > 3 && differ < SAMPLES - 3);
}

/* Counts lines, and that each is the reason for a broken file. Called from several threads at once. */
typedef struct said {
    cairn_mutex *mutex;
    int lines;
} said;

static void count_line(void *context, cairn_log_level level, const char *text)
{
    said *s = context;
    cairn_mutex_lock(s->mutex);
    s->lines++;
    CHECK_INT(level, CAIRN_LOG_WARNING);
    CHECK(strstr(text, "broken") && strstr(text, "not an image"));
    cairn_mutex_unlock(s->mutex);
}

static void skips_bad_files_and_names_them_once(void)
{
    make_pictures(true);
    said talk = {0};
    REQUIRE_OK(cairn_mutex_create(&talk.mutex));
    cairn_log log = {.write = count_line, .context = &talk};
    cairn_loader_options options = options_of(3);
    options.log = &log;
    cairn_loader *loader;
    REQUIRE_OK(cairn_loader_create(&options, &loader));
    static epoch_record epoch;
    static const uint8_t zeros[SIZE * SIZE * 3];
    for (uint32_t e = 0; e < 3; e++) {
        record_epoch(loader, e, 0, &epoch);
        for (int i = 0; i < SAMPLES; i++) {
            CHECK_INT(epoch.valid[i], !is_broken(epoch.sample[i]));
            if (!epoch.valid[i]) CHECK(memcmp(epoch.rgb[i], zeros, sizeof zeros) == 0);
        }
    }
    CHECK_INT(talk.lines, 3);
    CHECK_INT(cairn_loader_statistics(loader).bad, 3);
    CHECK_INT(cairn_loader_statistics(loader).decoded, 3 * (SAMPLES - 3));
    CHECK(cairn_loader_statistics(loader).waited >= 0);
    cairn_loader_destroy(loader);
    cairn_mutex_destroy(talk.mutex);
}

/* The batch at which a loader gives up; -1 if it doesn't. */
static int gives_up_at(double max_bad, int threads)
{
    cairn_loader_options options = options_of(threads);
    options.max_bad = max_bad;
    options.shuffle = false;
    cairn_loader *loader;
    if (cairn_loader_create(&options, &loader) != CAIRN_OK || cairn_loader_start(loader, 0, 0) != CAIRN_OK) return -2;
    int batches = 0;
    const cairn_batch *batch;
    cairn_status status;
    while ((status = cairn_loader_next(loader, &batch)) == CAIRN_OK && batch) {
        cairn_loader_release(loader, batch);
        batches++;
    }
    if (status == CAIRN_OK) batches = -1;
    if (status != CAIRN_OK) { /* and it stays so */
        CHECK_INT(status, CAIRN_DATA);
        CHECK(strstr(cairn_error_last()->message, "of 23 pictures can't be read"));
        CHECK(strstr(cairn_error_last()->message, "--max-bad"));
        CHECK_FAILS(cairn_loader_next(loader, &batch), CAIRN_DATA, "can't be read");
    }
    cairn_loader_destroy(loader);
    return batches;
}

static void gives_up_when_too_many_are_bad(void)
{
    /* Samples 4, 12 and 22 are bad: in batches 0, 2 and 4. */
    for (int threads = 1; threads <= 4; threads += 3) {
        CHECK_INT(gives_up_at(0, threads), 0);
        CHECK_INT(gives_up_at(0.01, threads), 0);
        CHECK_INT(gives_up_at(1.0 / SAMPLES, threads), 2);
        CHECK_INT(gives_up_at(2.0 / SAMPLES, threads), 4);
        CHECK_INT(gives_up_at(3.0 / SAMPLES, threads), -1);
    }
    CHECK_INT(gives_up_at(0, 1), 0);
}

static void drops_an_epoch_under_way(void)
{
    make_pictures(false);
    static epoch_record epoch, again;
    cairn_loader_options options = options_of(4);
    cairn_loader *loader;
    REQUIRE_OK(cairn_loader_create(&options, &loader));
    record_epoch(loader, 1, 0, &epoch);
    for (int i = 0; i < 20; i++) {
        REQUIRE_OK(cairn_loader_start(loader, 0, i));
        const cairn_batch *batch;
        if (i % 2) REQUIRE_OK(cairn_loader_next(loader, &batch)); /* held when the next epoch starts */
    }
    record_epoch(loader, 1, 0, &again);
    CHECK(same(&epoch, &again));
    cairn_loader_destroy(loader);
}

static void is_destroyed_while_busy(void)
{
    for (int i = 0; i < 20; i++) {
        cairn_loader_options options = options_of(4);
        cairn_loader *loader;
        REQUIRE_OK(cairn_loader_create(&options, &loader));
        if (i % 4) REQUIRE_OK(cairn_loader_start(loader, 0, 0));
        const cairn_batch *batch;
        if (i % 4 > 1) REQUIRE_OK(cairn_loader_next(loader, &batch));
        cairn_loader_destroy(loader);
    }
    cairn_loader_destroy(NULL);
}

static void hands_out_no_more_than_it_has(void)
{
    cairn_loader_options options = options_of(2);
    options.depth = 2;
    cairn_loader *loader;
    REQUIRE_OK(cairn_loader_create(&options, &loader));
    REQUIRE_OK(cairn_loader_start(loader, 0, 0));
    const cairn_batch *first, *second, *third;
    REQUIRE_OK(cairn_loader_next(loader, &first));
    REQUIRE_OK(cairn_loader_next(loader, &second));
    CHECK(first != second);
    CHECK_FAILS(cairn_loader_next(loader, &third), CAIRN_USAGE, "all 2 batches of the loader are held");
    cairn_loader_release(loader, second); /* in any order */
    cairn_loader_release(loader, first);
    REQUIRE_OK(cairn_loader_next(loader, &third));
    CHECK_INT(third->first, 2 * BATCH);
    cairn_loader_destroy(loader);
}

static void refuses_wrong_options(void)
{
    cairn_loader *loader;
    cairn_loader_options options = options_of(1);
    options.batch = 0;
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_USAGE, "batch is 0");
    options = options_of(-1);
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_USAGE, "threads are -1");
    options = options_of(1);
    options.max_bad = 1.5;
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_USAGE, "max_bad is 1.5");
    options = options_of(1);
    options.depth = -1;
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_USAGE, "depth is -1");
    options = options_of(1);
    options.preprocess.resize = 4;
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_USAGE,
                "a window of 8 pixels out of a picture resized to 4");
    options = options_of(1);
    cairn_sample_list none = {0};
    options.samples = &none;
    CHECK_FAILS(cairn_loader_create(&options, &loader), CAIRN_DATA, "no samples");
    options = options_of(0);
    REQUIRE_OK(cairn_loader_create(&options, &loader));
    CHECK_FAILS(cairn_loader_start(loader, 0, SAMPLES + 1), CAIRN_USAGE, "can't start at 24");
    cairn_loader_destroy(loader);
}

int main(void)
{
    static char folder[SCRATCH_SIZE]; /* ROOT */
    scratch_make(CAIRN_TEST_BUILD, "loader", folder);
    RUN(gives_each_sample_once);
    RUN(keeps_order_without_shuffle);
    RUN(shuffles_anew_each_epoch);
    RUN(shows_no_trace_of_threads);
    RUN(resumes_anywhere);
    RUN(mirrors_unless_told_not_to);
    RUN(skips_bad_files_and_names_them_once);
    RUN(gives_up_when_too_many_are_bad);
    RUN(drops_an_epoch_under_way);
    RUN(is_destroyed_while_busy);
    RUN(hands_out_no_more_than_it_has);
    RUN(refuses_wrong_options);
    return test_result();
}
