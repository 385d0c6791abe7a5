/* Sizes from the headers of PNG, GIF, BMP and PNM, and whether the file is whole: stb_image, which decodes them, asks neither for
 * check sums nor for the end of the data.
 *
 * PNG: RFC 2083, 3. GIF: GIF89a specification, 17 to 22. BMP: Microsoft's BITMAPFILEHEADER and BITMAPINFOHEADER. PNM: netpbm's ppm(5).
 */
#include "data/image_decoder.h"
#include <limits.h>
#include <string.h>
#include <zlib.h>

static cairn_status truncated(const char *name)
{
    return cairn_fail(CAIRN_DATA, "%s: truncated: the file ends within the picture", name);
}

static uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little16(const uint8_t *p)
{
    return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t little32(const uint8_t *p)
{
    return little16(p + 2) << 16 | little16(p);
}

/* Sizes beyond int are kept at INT_MAX, which the pixel limit refuses. */
static int clamp_size(uint64_t n)
{
    return n > INT_MAX ? INT_MAX : (int)n;
}

/* ---- PNG: chunks of length, type, data, CRC; the last is IEND ---- */

static cairn_status inspect_png(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    bool pixels = false;
    for (size_t at = 8;;) {
        if (bytes - at < 12) return truncated(name);
        size_t length = big32(data + at), left = bytes - at - 12;
        const uint8_t *type = data + at + 4;
        if (at == 8 && (length != 13 || memcmp(type, "IHDR", 4) != 0))
            return cairn_fail(CAIRN_DATA, "%s: corrupt: a PNG that doesn't start with its header", name);
        if (at == 8 && bytes >= 24) {
            info->width = clamp_size(big32(data + 16));
            info->height = clamp_size(big32(data + 20));
        }
        if (length > left) return truncated(name);
        /* Chunks with a small first letter don't matter for the pixels, but for the transparent colour. */
        bool matters = (type[0] & 0x20) == 0 || memcmp(type, "tRNS", 4) == 0;
        if (matters && crc32(0, type, (uInt)(length + 4)) != big32(type + 4 + length))
            return cairn_fail(CAIRN_DATA, "%s: corrupt: chunk %.4s has a bad CRC", name, (const char *)type);
        pixels = pixels || memcmp(type, "IDAT", 4) == 0;
        if (memcmp(type, "IEND", 4) == 0) break;
        at += length + 12;
    }
    return pixels ? CAIRN_OK : cairn_fail(CAIRN_DATA, "%s: corrupt: a PNG without pixels", name);
}

/* ---- GIF: blocks; an image is a descriptor, perhaps colours, and sub-blocks up to an empty one ---- */

/* Moves past sub-blocks (a length byte and as many bytes), the empty one included. False where the file ends before. */
static bool pass_sub_blocks(const uint8_t *data, size_t bytes, size_t *at)
{
    while (*at < bytes) {
        uint8_t length = data[*at];
        *at += 1 + (size_t)length;
        if (length == 0) return true;
    }
    return false;
}

static size_t colour_table_bytes(uint8_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

static cairn_status inspect_gif(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    if (bytes < 13) return truncated(name);
    info->width = (int)little16(data + 6);
    info->height = (int)little16(data + 8);
    size_t at = 13 + colour_table_bytes(data[10]);
    while (at < bytes) {
        if (data[at] == 0x21) { /* extension: label, sub-blocks */
            at += 2;
            if (!pass_sub_blocks(data, bytes, &at)) break;
        } else if (data[at] == 0x2c &&
                   bytes - at > 10) { /* image: place and size, flags, colours, code size, sub-blocks */
            at += 10 + colour_table_bytes(data[at + 9]) + 1;
            return pass_sub_blocks(data, bytes, &at) ? CAIRN_OK : truncated(name);
        } else {
            break;
        }
    }
    if (at < bytes && data[at] == 0x3b) return cairn_fail(CAIRN_DATA, "%s: corrupt: a GIF without a picture", name);
    return truncated(name);
}

/* ---- BMP: rows of whole 4 bytes ---- */

static cairn_status inspect_bmp(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    if (bytes < 26) return truncated(name);
    uint32_t header = little32(data + 14), packing = 0;
    uint64_t width, height, bits;
    if (header == 12) { /* OS/2's */
        width = little16(data + 18);
        height = little16(data + 20);
        bits = little16(data + 24);
    } else {
        if (bytes < 34) return truncated(name);
        width = little32(data + 18);
        height = little32(data + 22);
        if (height >= 0x80000000u) height = 0x100000000u - height; /* negative: top row first */
        bits = little16(data + 28);
        packing = little32(data + 30);
    }
    info->width = clamp_size(width);
    info->height = clamp_size(height);
    if (packing == 1 || packing == 2)
        return cairn_fail(CAIRN_DATA, "%s: a run-length coded BMP, which isn't read here: convert it to PNG", name);
    if (width > INT_MAX || height > INT_MAX) return CAIRN_OK; /* too large in any case */
    uint64_t row = (width * bits + 31) / 32 * 4;
    /* INT_MAX rows of INT_MAX * 65,535 bits still fit. */
    return little32(data + 10) + (row > bytes ? (uint64_t)bytes + 1 : row * height) > bytes ? truncated(name)
                                                                                            : CAIRN_OK;
}

/* ---- PNM: P5 or P6, width, height, maximum as text, one blank, samples ---- */

/* The next number of the header; blanks and comments before it are passed over. False where there is none below 1e9. */
static bool pnm_number(const uint8_t *data, size_t bytes, size_t *at, int *out)
{
    while (*at < bytes && (strchr(" \t\r\n\v\f", data[*at]) || data[*at] == '#')) {
        if (data[*at] == '\0') return false;
        if (data[*at] == '#')
            while (*at < bytes && data[*at] != '\n' && data[*at] != '\r')
                (*at)++;
        else
            (*at)++;
    }
    int64_t n = 0;
    size_t first = *at;
    for (; *at < bytes && data[*at] >= '0' && data[*at] <= '9' && n < 1000000000; (*at)++)
        n = n * 10 + (data[*at] - '0');
    *out = clamp_size((uint64_t)n);
    return *at > first && n < 1000000000;
}

static cairn_status inspect_pnm(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    size_t at = 2;
    int maximum = 0;
    if (!pnm_number(data, bytes, &at, &info->width) || !pnm_number(data, bytes, &at, &info->height) ||
        !pnm_number(data, bytes, &at, &maximum))
        return cairn_fail(CAIRN_DATA, "%s: corrupt: no PNM header with width, height and maximum", name);
    if (maximum != 255)
        return cairn_fail(CAIRN_DATA, "%s: a PNM with values up to %d, only 255 is read here: convert it", name,
                          maximum);
    uint64_t pixels = (uint64_t)info->width * (uint64_t)info->height; /* both below 1e9 */
    uint64_t need = at + 1 + pixels * (data[1] == '6' ? 3 : 1);
    return need > bytes ? truncated(name) : CAIRN_OK;
}

const cairn_image_format cairn_image_png = {"PNG", false, inspect_png, cairn_image_decode_stb};
const cairn_image_format cairn_image_gif = {"GIF", false, inspect_gif, cairn_image_decode_stb};
const cairn_image_format cairn_image_bmp = {"BMP", false, inspect_bmp, cairn_image_decode_stb};
const cairn_image_format cairn_image_pnm = {"PNM", false, inspect_pnm, cairn_image_decode_stb};
