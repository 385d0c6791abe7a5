/* image_decoder.h - the steps inside cairn_image_decode, for the few files that take them apart: what a picture is, then the part of
 * it that is needed. Private to data/; programs use image.h.
 *
 *     cairn_image_info info;
 *     CAIRN_TRY(cairn_image_inspect(name, data, bytes, max_pixels, &info));
 *     cairn_image_part part = cairn_image_whole(&info, 1);
 *     CAIRN_TRY(cairn_image_decode_part(name, data, bytes, &info, &part, &image));
 *     CAIRN_TRY(cairn_image_orient(&image, info.orientation, &spare));
 */
#ifndef CAIRN_DATA_IMAGE_DECODER_H
#define CAIRN_DATA_IMAGE_DECODER_H

#include "data/image.h"
#include <stdbool.h>

typedef struct cairn_image_format cairn_image_format;

typedef struct cairn_image_info {
    const cairn_image_format *format;
    int width, height; /* as stored, before orientation */
    int orientation;   /* EXIF's 1..8; 1 is upright, from 5 on width and height change places */
} cairn_image_info;

/* What to decode, in pixels of the stored picture shrunk by `denominator` (1, 2, 4 or 8; its size is rounded up). A decoder may give more than
 * was asked and writes back what it gave: `image` is then [bottom - top][right - left]. */
typedef struct cairn_image_part {
    int denominator;
    int left, top, right, bottom;
} cairn_image_part;

/* One way to read pictures. `inspect` fills width, height and orientation; `decode` is called with the info it gave. */
struct cairn_image_format {
    const char *word; /* "JPEG" */
    bool partial;     /* decode heeds the part; otherwise it always gives the whole at denominator 1 */
    cairn_status (*inspect)(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info);
    cairn_status (*decode)(const char *name, const uint8_t *data, size_t bytes, const cairn_image_info *info,
                           cairn_image_part *part, cairn_image *image);
};

extern const cairn_image_format cairn_image_jpeg, cairn_image_png, cairn_image_gif, cairn_image_bmp, cairn_image_pnm;

/* Finds the format and reads the header; no pixel is decoded. Refuses what isn't a picture, what is larger than max_pixels (0: the
 * default of image.h), and what is visibly not whole. */
cairn_status cairn_image_inspect(const char *name, const void *data, size_t bytes, int64_t max_pixels,
                                 cairn_image_info *info);

/* The whole picture shrunk by `denominator`. */
cairn_image_part cairn_image_whole(const cairn_image_info *info, int denominator);

cairn_status cairn_image_decode_part(const char *name, const void *data, size_t bytes, const cairn_image_info *info,
                                     cairn_image_part *part, cairn_image *image);

/* Makes `image` width x height with room for its pixels, whose old content is lost. */
cairn_status cairn_image_reserve(const char *name, int width, int height, cairn_image *image);

/* Turns a stored picture upright. `spare` is memory to turn it into; the two change places. */
cairn_status cairn_image_orient(const char *name, int orientation, cairn_image *image, cairn_image *spare);

bool cairn_image_turned(int orientation); /* width and height change places */

/* Whether the upright picture's first column or row is made of the last pixels of the stored one. */
void cairn_image_mirrored(int orientation, bool *x, bool *y);

/* Where a part of the upright picture lies in the stored one, and back. `whole` is the whole stored picture, shrunk alike. */
cairn_image_part cairn_image_part_lay(int orientation, const cairn_image_part *whole, const cairn_image_part *upright);
cairn_image_part cairn_image_part_raise(int orientation, const cairn_image_part *whole, const cairn_image_part *stored);

/* The EXIF orientation of a JPEG file, 1 if it has none. */
int cairn_image_exif_orientation(const uint8_t *data, size_t bytes);

/* Decoding by stb_image, of a file that inspect has found whole. */
cairn_status cairn_image_decode_stb(const char *name, const uint8_t *data, size_t bytes, const cairn_image_info *info,
                                    cairn_image_part *part, cairn_image *image);

/* A file's content in memory that is used again for the next file. */
typedef struct cairn_file_bytes {
    uint8_t *data;
    size_t bytes, capacity;
} cairn_file_bytes;

/* CAIRN_DATA with the system's reason; an empty file too. */
cairn_status cairn_file_bytes_read(const char *path, cairn_file_bytes *file);
void cairn_file_bytes_release(cairn_file_bytes *file);

#endif
