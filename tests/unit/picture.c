/* A picture reader against the long way round: decode all, turn upright, resize the window. */
#include "data/picture.h"
#include "tests/support/jpeg.h"
#include "tests/test.h"

#ifndef CAIRN_HAVE_JPEG
int main(void)
{
    TEST_SKIP("built without libjpeg: there are no parts of pictures");
}
#else

enum { SIZE = 48 };
static const cairn_preprocess small = {.size = SIZE, .resize = 56}, tiny = {.size = 12, .resize = 14};

typedef struct comparison {
    int worst;   /* largest difference of any byte */
    double mean; /* of all */
} comparison;

/* Reads the window both ways. */
static comparison compare(const test_jpeg_options *options, const cairn_preprocess *p, const cairn_picture_draw *draw)
{
    comparison result = {.worst = 999};
    size_t bytes;
    uint8_t *file = test_jpeg(options, &bytes);
    static uint8_t got[SIZE * SIZE * 3], want[SIZE * SIZE * 3];
    cairn_picture_reader *reader = NULL;
    cairn_image image = {0};
    cairn_resize_scratch scratch = {0};
    cairn_status status;
    CAIRN_TRY_DONE(cairn_picture_reader_create(p, 0, &reader));
    CAIRN_TRY_DONE(cairn_picture_decode(reader, "made", file, bytes, draw, got));
    CAIRN_TRY_DONE(cairn_image_decode("made", file, bytes, &(cairn_image_options){0}, &image));
    cairn_window window =
        draw ? cairn_window_train(draw->augment, p, image.width, image.height, draw->seed, draw->epoch, draw->sample)
             : cairn_window_eval(p, image.width, image.height);
    CAIRN_TRY_DONE(cairn_resize(&image, &window, p->size, p->size, want, &scratch));
    result.worst = 0;
    int count = p->size * p->size * 3;
    for (int i = 0; i < count; i++) {
        int d = abs(got[i] - want[i]);
        result.worst = d > result.worst ? d : result.worst;
        result.mean += (double)d / count;
    }
done:
    CHECK_OK(status);
    cairn_picture_reader_destroy(reader);
    cairn_image_release(&image);
    cairn_resize_scratch_release(&scratch);
    free(file);
    return result;
}

static void windows_of_turned_photos_are_those_of_the_upright_picture(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        test_jpeg_options options = {.width = 75, .height = 61, .quality = 90, .orientation = orientation};
        comparison c = compare(&options, &small, NULL);
        if (c.worst > 1) TEST_FAIL("orientation %d, evaluation: differs by %d", orientation, c.worst);
        for (uint64_t sample = 0; sample < 10; sample++) {
            cairn_picture_draw draw = {.augment = sample % 2 ? CAIRN_AUGMENT_CROP : CAIRN_AUGMENT_RRC,
                                       .sample = sample};
            c = compare(&options, &small, &draw);
            /* The same sums but for the last bit of a place, which can tip a rounding. */
            if (c.worst > 1) TEST_FAIL("orientation %d, sample %d: differs by %d", orientation, (int)sample, c.worst);
        }
    }
}

/* Shrinking while decoding averages squares of pixels where the resize weighs by a triangle: alike, not the same. */
static void large_photos_are_shrunk_while_decoding(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        for (int scale = 4; scale <= 16; scale *= 2) {
            test_jpeg_options options = {
                .width = 20 * scale + 3, .height = 15 * scale + 5, .quality = 92, .orientation = orientation};
            comparison c = compare(&options, &tiny, NULL);
            if (!(c.mean > 0 && c.mean < 0.6 && c.worst <= 4))
                TEST_FAIL("orientation %d, %d times: differs by %d, %.2f on average", orientation, scale, c.worst,
                          c.mean);
        }
    }
}

static void tiny_and_thin_pictures_work(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 200}, {200, 1}, {2, 3}, {7, 500}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_jpeg_options options = {.width = sizes[i][0], .height = sizes[i][1], .quality = 90, .orientation = 6};
        CHECK(compare(&options, &small, NULL).worst <= 1);
        for (uint64_t sample = 0; sample < 6; sample++) {
            cairn_picture_draw draw = {.augment = sample % 2 ? CAIRN_AUGMENT_CROP : CAIRN_AUGMENT_RRC,
                                       .sample = sample};
            CHECK(compare(&options, &small, &draw).worst <= 1);
        }
    }
}

static void says_what_fails(void)
{
    cairn_picture_reader *reader;
    CHECK_FAILS(cairn_picture_reader_create(&(cairn_preprocess){.size = 0, .resize = 5}, 0, &reader), CAIRN_USAGE,
                "a window of 0");
    REQUIRE_OK(cairn_picture_reader_create(&small, 30, &reader));
    static uint8_t rgb[SIZE * SIZE * 3];
    CHECK_FAILS(cairn_picture_read(reader, "nowhere/cat.jpg", NULL, rgb), CAIRN_DATA, "nowhere/cat.jpg: no such file");
    CHECK_FAILS(cairn_picture_read(reader, CAIRN_TEST_SOURCE, NULL, rgb), CAIRN_DATA, "not a file");
    CHECK_FAILS(cairn_picture_read(reader, CAIRN_TEST_SOURCE "/tests/data/nasty/ok.jpg", NULL, rgb), CAIRN_DATA,
                "128 x 96 pixels are more than the 30 allowed");
    cairn_picture_reader_destroy(reader);
    cairn_picture_reader_destroy(NULL);
}

int main(void)
{
    RUN(windows_of_turned_photos_are_those_of_the_upright_picture);
    RUN(large_photos_are_shrunk_while_decoding);
    RUN(tiny_and_thin_pictures_work);
    RUN(says_what_fails);
    return test_result();
}
#endif
