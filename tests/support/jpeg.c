#include "tests/support/jpeg.h"
#ifdef CAIRN_HAVE_JPEG
#include "tests/support/golden.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* One row of noise: each octave is a grid of random values with straight lines between, half as coarse and weaker than the last. */
static void noise_row(uint32_t seed, int y, int width, uint8_t *rgb)
{
    for (int x = 0; x < width; x++) {
        for (int c = 0; c < 3; c++) {
            double value = 128, weight = 72;
            for (int step = 64; step >= 2; step /= 2, weight *= 0.62) {
                uint32_t key = seed * 31u + (uint32_t)step * 7u + (step < 16 ? 0u : (uint32_t)c); /* detail is grey */
                double fx = (double)(x % step) / step, fy = (double)(y % step) / step, corner[4];
                for (int k = 0; k < 4; k++) {
                    uint32_t gx = (uint32_t)(x / step + (k & 1)), gy = (uint32_t)(y / step + (k >> 1));
                    corner[k] =
                        (double)(golden_hash(gx * 7919u ^ golden_hash(gy ^ golden_hash(key))) & 0xffff) / 32768 - 1;
                }
                value += weight * ((corner[0] * (1 - fx) + corner[1] * fx) * (1 - fy) +
                                   (corner[2] * (1 - fx) + corner[3] * fx) * fy);
            }
            rgb[x * 3 + c] = (uint8_t)fmin(fmax(value, 0), 255);
        }
    }
}

/* A minimal EXIF segment: a TIFF header and one entry, the orientation. */
static void write_orientation(j_compress_ptr codec, int orientation)
{
    uint8_t exif[] = {'E',  'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                      0x01, 0x12, 0,   3,   0, 0, 0,   1,   0, 0,  0, 0, 0, 0, 0, 0};
    exif[25] = (uint8_t)orientation;
    jpeg_write_marker(codec, JPEG_APP0 + 1, exif, sizeof exif);
}

uint8_t *test_jpeg(const test_jpeg_options *options, size_t *bytes)
{
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    unsigned char *file = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&codec, &file, &size);
    codec.image_width = (JDIMENSION)options->width;
    codec.image_height = (JDIMENSION)options->height;
    codec.input_components = 3;
    codec.in_color_space = JCS_RGB;
    jpeg_set_defaults(&codec);
    if (options->gray) jpeg_set_colorspace(&codec, JCS_GRAYSCALE);
    jpeg_set_quality(&codec, options->quality, TRUE);
    codec.comp_info[0].h_samp_factor = options->across ? options->across : 2;
    codec.comp_info[0].v_samp_factor = options->down ? options->down : 2;
    codec.restart_in_rows = options->restart_rows;
    if (options->progressive) jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    if (options->orientation > 1) write_orientation(&codec, options->orientation);
    uint8_t *row = golden_alloc(options->width * 3, 1);
    for (int y = 0; y < options->height; y++) {
        noise_row(options->seed, y, options->width, row);
        JSAMPROW rows[1] = {row};
        jpeg_write_scanlines(&codec, rows, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    free(row);
    *bytes = size;
    return file;
}
#endif
