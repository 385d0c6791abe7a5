/* picture.h - a file made into the window a net sees: what the loader's threads do for each sample, and a prediction for each file.
 *
 *     cairn_picture_reader *reader;
 *     CAIRN_TRY(cairn_picture_reader_create(&preprocess, 0, &reader));
 *     CAIRN_TRY(cairn_picture_read(reader, "cat.jpg", NULL, rgb));          [size][size][3]
 *     cairn_picture_reader_destroy(reader);
 *
 * Only the part of a JPEG that the window needs becomes pixels, shrunk by 2, 4 or 8 while decoding where it stays at least twice as large
 * as the window. EXIF orientation comes first: the window is one of the upright picture.
 */
#ifndef CAIRN_DATA_PICTURE_H
#define CAIRN_DATA_PICTURE_H

#include "core/status.h"
#include "data/transform.h"

/* Memory of one thread for any number of pictures; grows to the largest. */
typedef struct cairn_picture_reader cairn_picture_reader;

/* `preprocess` is copied. `max_pixels` as in cairn_image_options. */
cairn_status cairn_picture_reader_create(const cairn_preprocess *preprocess, int64_t max_pixels,
                                         cairn_picture_reader **out);
void cairn_picture_reader_destroy(cairn_picture_reader *reader); /* NULL is allowed */

/* What picks a training sample's window, see cairn_window_train. */
typedef struct cairn_picture_draw {
    cairn_augment_kind augment;
    bool no_flip; /* never mirrored */
    uint64_t seed;
    uint32_t epoch;
    uint64_t sample;
} cairn_picture_draw;

/* Writes size x size pixels to `rgb`. `draw` NULL takes the window of evaluation. Fails as cairn_image_read does. */
cairn_status cairn_picture_read(cairn_picture_reader *reader, const char *path, const cairn_picture_draw *draw,
                                uint8_t *rgb);

/* The same from memory; `name` is for messages. */
cairn_status cairn_picture_decode(cairn_picture_reader *reader, const char *name, const void *data, size_t bytes,
                                  const cairn_picture_draw *draw, uint8_t *rgb);

#endif
