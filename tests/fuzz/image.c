/* libFuzzer target: no file, however made, crashes the decoder, reads out of bounds, or comes out with other sizes than it said.
 *
 *     CC=clang cmake -S . -B build-fuzz -G Ninja && ninja -C build-fuzz fuzz_image
 *     mkdir -p build-fuzz/pictures && build-fuzz/tests/bin/fuzz_image -max_total_time=300 -max_len=40000 build-fuzz/pictures tests/data/nasty
 */
#include "data/image.h"
#include "data/picture.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 24, MAX_PIXELS = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    cairn_image image = {0};
    cairn_image_options options = {.max_pixels = MAX_PIXELS, .min_short_side = (int)(bytes % 64)};
    if (cairn_image_decode("fuzz", data, bytes, &options, &image) == CAIRN_OK)
        must(image.width > 0 && image.height > 0 && (int64_t)image.width * image.height <= MAX_PIXELS,
             "a decoded picture has pixels");
    cairn_image_release(&image);

    const cairn_preprocess preprocess = {.size = SIZE, .resize = SIZE + 4};
    cairn_picture_reader *reader;
    if (cairn_picture_reader_create(&preprocess, MAX_PIXELS, &reader) != CAIRN_OK) return 0;
    cairn_picture_draw draw = {.augment = (cairn_augment_kind)(bytes % 3), .sample = bytes};
    uint8_t rgb[SIZE * SIZE * 3];
    cairn_status window = cairn_picture_decode(reader, "fuzz", data, bytes, &draw, rgb);
    cairn_status again = cairn_picture_decode(reader, "fuzz", data, bytes, &draw, rgb);
    must(window == again, "a file that is read twice is good twice or bad twice");
    cairn_picture_reader_destroy(reader);
    return 0;
}
