/* image.h - a picture file made into 8-bit RGB, whatever its extension says.
 *
 *     cairn_image image;
 *     CAIRN_TRY(cairn_image_read("cat.jpg", &(cairn_image_options){0}, &image));
 *     ... image.rgb[(y * image.width + x) * 3 + channel] ...
 *     cairn_image_release(&image);
 *
 * JPEG by libjpeg-turbo (CMYK and YCCK converted, EXIF orientation applied), PNG, BMP, GIF (first frame), PPM, PGM by stb_image; alpha goes over
 * white, 16-bit samples of a PNG are cut to 8. The content decides the format. Failures are CAIRN_DATA naming path and reason: empty, truncated, not an
 * image, a format that isn't read here (WebP, HEIC, AVIF, TIFF, by name), 12-bit or lossless JPEG, too many pixels (told before any is decoded).
 */
#ifndef CAIRN_DATA_IMAGE_H
#define CAIRN_DATA_IMAGE_H

#include "core/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_image {
    int width, height;
    uint8_t *rgb;    /* [height][width][3], row by row */
    size_t capacity; /* bytes behind rgb: an image can be read into again and again without allocating */
} cairn_image;

typedef struct cairn_image_options {
    int64_t max_pixels; /* 0 means 100 million */
    int min_short_side; /* > 0: a JPEG may be decoded at 1/2, 1/4 or 1/8 as long as its short side stays at least this */
} cairn_image_options;

/* `image` is zeroed or holds an earlier picture, whose memory is used again. On failure it stays releasable. */
cairn_status cairn_image_read(const char *path, const cairn_image_options *options, cairn_image *image);
cairn_status cairn_image_decode(const char *name, const void *data, size_t bytes, const cairn_image_options *options,
                                cairn_image *image);
void cairn_image_release(cairn_image *image);

/* Size as stored (before orientation) and format word ("JPEG", "PNG"), from the header only. */
cairn_status cairn_image_probe(const char *name, const void *data, size_t bytes, int *width, int *height,
                               const char **format);

#endif
