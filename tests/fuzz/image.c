/* libFuzzer target: no file, however made, crashes the decoder, reads out of bounds, or comes out with other sizes than it said.
 *
 *     CC=clang cmake -S . -B build-fuzz -G Ninja && ninja -C build-fuzz fuzz_image
 *     mkdir -p build-fuzz/pictures && build-fuzz/tests/bin/fuzz_image -max_total_time=300 -max_len=30000 build-fuzz/pictures tests/data/nasty
 */
#include "data/image.h"
#include "data/picture.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIZE = 24, MAX_PIXELS = 1 << 15, MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* Makes the sums of a PNG's chunks right, which no mutation would: so that it reaches the pixels. */
static void mend_png(uint8_t *data, size_t bytes)
{
    if (bytes < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0) return;
    for (size_t at = 8; bytes - at >= 12;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > bytes - at - 12) return;
        uint32_t sum = (uint32_t)crc32(0, data + at + 4, (uInt)(length + 4));
        for (size_t i = 0; i < 4; i++)
            data[at + 8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static void decode(const uint8_t *data, size_t bytes)
{
    cairn_image image = {0};
    cairn_image_options options = {.max_pixels = MAX_PIXELS, .min_short_side = (int)(bytes % 64)};
    cairn_status whole = cairn_image_decode("fuzz", data, bytes, &options, &image);
    if (whole == CAIRN_OK)
        must(image.width > 0 && image.height > 0 && (int64_t)image.width * image.height <= MAX_PIXELS,
             "a decoded picture has pixels");
    cairn_image_release(&image);

    const cairn_preprocess preprocess = {.size = SIZE, .resize = SIZE + 4};
    cairn_picture_reader *reader;
    if (cairn_picture_reader_create(&preprocess, MAX_PIXELS, &reader) != CAIRN_OK) return;
    cairn_picture_draw draw = {.augment = (cairn_augment_kind)(bytes % 3), .sample = bytes};
    uint8_t rgb[SIZE * SIZE * 3];
    cairn_status window = cairn_picture_decode(reader, "fuzz", data, bytes, &draw, rgb);
    must(window == whole, "a file is good or bad, whatever part of it is asked");
    cairn_picture_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes > MAX_BYTES) return 0;
    uint8_t *exact = malloc(bytes ? bytes : 1); /* ends where the file ends, so that reading on is seen */
    must(exact != NULL, "memory");
    if (bytes) memcpy(exact, data, bytes);
    mend_png(exact, bytes);
    decode(exact, bytes);
    free(exact);
    return 0;
}
