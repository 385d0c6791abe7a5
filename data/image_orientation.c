/* How a photo was held: EXIF's orientation (Exif 2.32, 4.6.4, tag 0x0112), read by libexif and undone here. */
#include "data/image_decoder.h"
#include <libexif/exif-data.h>
#include <string.h>

/* Finds the segment that holds EXIF: APP1 (ff e1) that starts with "Exif\0\0", before the first scan. NULL if there is none. */
static const uint8_t *find_exif(const uint8_t *data, size_t bytes, size_t *length)
{
    size_t at = 2; /* after the start marker */
    while (at + 4 <= bytes && data[at] == 0xff) {
        uint8_t marker = data[at + 1];
        if (marker == 0xff) {
            at++;
            continue;
        }
        size_t size = (size_t)data[at + 2] << 8 | data[at + 3]; /* counts its own two bytes */
        if (marker == 0xda || size < 2 || size > bytes - at - 2) return NULL;
        if (marker == 0xe1 && size >= 8 && memcmp(data + at + 4, "Exif\0\0", 6) == 0) {
            *length = size - 2;
            return data + at + 4;
        }
        at += 2 + size;
    }
    return NULL;
}

int cairn_image_exif_orientation(const uint8_t *data, size_t bytes)
{
    size_t length = 0;
    const uint8_t *segment = find_exif(data, bytes, &length);
    if (!segment) return 1;
    ExifData *exif = exif_data_new_from_data(segment, (unsigned)length);
    if (!exif) return 1;
    int orientation = 1;
    const ExifEntry *entry = exif_content_get_entry(exif->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
    if (entry && entry->format == EXIF_FORMAT_SHORT && entry->size >= 2)
        orientation = exif_get_short(entry->data, exif_data_get_byte_order(exif));
    exif_data_unref(exif);
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

bool cairn_image_turned(int orientation)
{
    return orientation >= 5;
}

/* Whether the upright picture's first column is stored on the right, or its first row at the bottom (after width and height changed places
 * where they do). */
static bool from_right(int orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

static bool from_bottom(int orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

void cairn_image_mirrored(int orientation, bool *x, bool *y)
{
    bool turned = cairn_image_turned(orientation);
    *x = turned ? from_bottom(orientation) : from_right(orientation);
    *y = turned ? from_right(orientation) : from_bottom(orientation);
}

/* Mirrors a part of the stored picture; its own inverse. */
static cairn_image_part mirror(int orientation, const cairn_image_part *whole, cairn_image_part part)
{
    cairn_image_part mirrored = part;
    if (from_right(orientation)) {
        mirrored.left = whole->right - part.right;
        mirrored.right = whole->right - part.left;
    }
    if (from_bottom(orientation)) {
        mirrored.top = whole->bottom - part.bottom;
        mirrored.bottom = whole->bottom - part.top;
    }
    return mirrored;
}

/* Rows become columns; its own inverse. */
static cairn_image_part transpose(int orientation, cairn_image_part part)
{
    if (!cairn_image_turned(orientation)) return part;
    return (cairn_image_part){part.denominator, part.top, part.left, part.bottom, part.right};
}

cairn_image_part cairn_image_part_lay(int orientation, const cairn_image_part *whole, const cairn_image_part *upright)
{
    return mirror(orientation, whole, transpose(orientation, *upright));
}

cairn_image_part cairn_image_part_raise(int orientation, const cairn_image_part *whole, const cairn_image_part *stored)
{
    return transpose(orientation, mirror(orientation, whole, *stored));
}

cairn_status cairn_image_orient(const char *name, int orientation, cairn_image *image, cairn_image *spare)
{
    if (orientation <= 1) return CAIRN_OK;
    bool turned = cairn_image_turned(orientation);
    int width = turned ? image->height : image->width, height = turned ? image->width : image->height;
    CAIRN_TRY(cairn_image_reserve(name, width, height, spare));
    /* Upright pixel (0, 0) lies at `start` in the stored picture; a step right or down there moves by these. */
    ptrdiff_t row = (ptrdiff_t)image->width * 3, column = 3;
    ptrdiff_t start = (from_bottom(orientation) ? (image->height - 1) * row : 0) +
                      (from_right(orientation) ? (image->width - 1) * column : 0);
    if (from_right(orientation)) column = -column;
    if (from_bottom(orientation)) row = -row;
    ptrdiff_t right = turned ? row : column, down = turned ? column : row;
    for (int y = 0; y < height; y++) {
        const uint8_t *from = image->rgb + start + y * down;
        uint8_t *to = spare->rgb + (size_t)y * (size_t)width * 3;
        for (int x = 0; x < width; x++, from += right, to += 3)
            memcpy(to, from, 3);
    }
    cairn_image upright = *spare;
    *spare = *image;
    *image = upright;
    return CAIRN_OK;
}
