/* Everything but JPEG by the system's stb_image; JPEG too where libjpeg is missing.
 *
 * stb_image takes what it gets: it checks no sums and fills what is missing with zeros. Files come here only after inspect in
 * image_check.c found them whole.
 */
#include "data/image_decoder.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_PNM
#ifndef CAIRN_HAVE_JPEG
#define STBI_ONLY_JPEG
#endif
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#pragma GCC diagnostic ignored "-Wunused-function" /* not ours; told only at the end of this file */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <stb/stb_image.h>

/* Four channels to three, alpha over white. */
static void blend_over_white(const uint8_t *rgba, size_t pixels, uint8_t *rgb)
{
    for (size_t i = 0; i < pixels; i++, rgba += 4, rgb += 3)
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((rgba[c] * rgba[3] + 255 * (255 - rgba[3]) + 127) / 255);
}

cairn_status cairn_image_decode_stb(const char *name, const uint8_t *data, size_t bytes, const cairn_image_info *info,
                                    cairn_image_part *part, cairn_image *image)
{
    (void)part;
    if (bytes > INT_MAX) return cairn_fail(CAIRN_DATA, "%s: %zu bytes are more than a picture has", name, bytes);
    int width = 0, height = 0, channels = 0;
    uint8_t *pixels = stbi_load_from_memory(data, (int)bytes, &width, &height, &channels, 4);
    if (!pixels)
        return cairn_fail(CAIRN_DATA, "%s: truncated, corrupt, or a kind of %s that isn't read here: %s", name,
                          info->format->word, stbi_failure_reason());
    cairn_status status = CAIRN_OK;
    if (width != info->width || height != info->height)
        status = cairn_fail(CAIRN_DATA, "%s: corrupt: its header says two sizes", name);
    if (status == CAIRN_OK) status = cairn_image_reserve(name, width, height, image);
    if (status == CAIRN_OK) blend_over_white(pixels, (size_t)width * (size_t)height, image->rgb);
    stbi_image_free(pixels);
    return status;
}

#ifndef CAIRN_HAVE_JPEG
static cairn_status inspect_jpeg(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    int channels = 0;
    if (bytes > INT_MAX || !stbi_info_from_memory(data, (int)bytes, &info->width, &info->height, &channels))
        return cairn_fail(CAIRN_DATA, "%s: truncated, or a kind of JPEG that isn't read here: %s", name,
                          bytes > INT_MAX ? "too large" : stbi_failure_reason());
    info->orientation = cairn_image_exif_orientation(data, bytes);
    return CAIRN_OK;
}

const cairn_image_format cairn_image_jpeg = {"JPEG", false, inspect_jpeg, cairn_image_decode_stb};
#endif
