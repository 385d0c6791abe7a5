/* jpeg.h - JPEG files made in memory, for tests and benchmarks of the decoder.
 *
 *     uint8_t *file = test_jpeg(&(test_jpeg_options){.width = 500, .height = 375, .quality = 90, .seed = 1}, &bytes);
 *     free(file);
 *
 * The picture is smooth noise: waves of several lengths, as uneven as a photo. Ends the program when there is no memory.
 */
#ifndef CAIRN_TESTS_SUPPORT_JPEG_H
#define CAIRN_TESTS_SUPPORT_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_jpeg_options {
    int width, height;
    int quality;
    uint32_t seed;
    int across, down; /* luma samples for each colour sample, 1, 2 or 4; 0 means 2 */
    bool progressive, gray;
    int restart_rows; /* rows of blocks between restart markers; 0 for none */
    int orientation;  /* EXIF's, written when above 1 */
} test_jpeg_options;

uint8_t *test_jpeg(const test_jpeg_options *options, size_t *bytes);

#endif
