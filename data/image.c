#include "data/image.h"
#include "core/os.h"
#include "data/image_decoder.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_PIXELS = 100 * 1000 * 1000 };

/* A file larger than this is no picture that max_pixels would let pass. */
static const int64_t max_file_bytes = (int64_t)1 << 30;

/* How a kind of file starts, and how it is read: `format` NULL where it isn't. */
typedef struct signature {
    int offset, length;
    const char *bytes;
    const cairn_image_format *format;
    const char *word;
} signature;

static const signature signatures[] = {
    {0, 3, "\xff\xd8\xff", &cairn_image_jpeg, "JPEG"},
    {0, 8, "\x89PNG\r\n\x1a\n", &cairn_image_png, "PNG"},
    {0, 6, "GIF87a", &cairn_image_gif, "GIF"},
    {0, 6, "GIF89a", &cairn_image_gif, "GIF"},
    {0, 2, "BM", &cairn_image_bmp, "BMP"},
    {0, 2, "P5", &cairn_image_pnm, "PGM"},
    {0, 2, "P6", &cairn_image_pnm, "PPM"},
    {8, 4, "WEBP", NULL, "WebP"},
    {4, 8, "ftypavif", NULL, "AVIF"},
    {4, 8, "ftypavis", NULL, "AVIF"},
    {4, 7, "ftyphei", NULL, "HEIC"},
    {4, 7, "ftyphev", NULL, "HEIC"},
    {4, 8, "ftypmif1", NULL, "HEIC"},
    {4, 8, "ftypmsf1", NULL, "HEIC"},
    {4, 4, "ftyp", NULL, "a video (MP4)"},
    {0, 4, "II*\0", NULL, "TIFF"},
    {0, 4, "MM\0*", NULL, "TIFF"},
    {0, 4, "II+\0", NULL, "TIFF"},
    {0, 2, "\xff\x0a", NULL, "JPEG XL"},
    {0, 12, "\0\0\0\x0cJXL \r\n\x87\n", NULL, "JPEG XL"},
    {0, 8, "\0\0\0\x0cjP  ", NULL, "JPEG 2000"},
    {0, 4, "8BPS", NULL, "a Photoshop document"},
    {0, 4, "\0\0\1\0", NULL, "an icon"},
    {0, 2, "P1", NULL, "plain PBM"},
    {0, 2, "P2", NULL, "plain PGM"},
    {0, 2, "P3", NULL, "plain PPM"},
    {0, 2, "P4", NULL, "PBM"},
    {0, 2, "P7", NULL, "PAM"},
};

/* The first bytes as text for a message: what a person sees who opens the file. */
static void describe_start(const uint8_t *data, size_t bytes, char *text, size_t size)
{
    size_t n = 0;
    while (n < bytes && n + 1 < size && isprint(data[n])) {
        text[n] = (char)data[n];
        n++;
    }
    text[n] = '\0';
}

static cairn_status find_format(const char *name, const uint8_t *data, size_t bytes, const cairn_image_format **out)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (bytes < (size_t)s->offset + (size_t)s->length || memcmp(data + s->offset, s->bytes, (size_t)s->length) != 0)
            continue;
        if (!s->format)
            return cairn_fail(CAIRN_DATA, "%s: is %s, which isn't read here: convert it to JPEG or PNG", name, s->word);
        *out = s->format;
        return CAIRN_OK;
    }
    char start[17];
    describe_start(data, bytes, start, sizeof start);
    return cairn_fail(CAIRN_DATA, "%s: not an image%s%s%s", name, *start ? " (it starts with \"" : "", start,
                      *start ? "\")" : "");
}

cairn_status cairn_image_inspect(const char *name, const void *data, size_t bytes, int64_t max_pixels,
                                 cairn_image_info *info)
{
    *info = (cairn_image_info){.orientation = 1};
    if (bytes == 0) return cairn_fail(CAIRN_DATA, "%s: empty file", name);
    CAIRN_TRY(find_format(name, data, bytes, &info->format));
    CAIRN_TRY(info->format->inspect(name, data, bytes, info));
    int64_t limit = max_pixels > 0 ? max_pixels : DEFAULT_MAX_PIXELS;
    if (info->width < 1 || info->height < 1)
        return cairn_fail(CAIRN_DATA, "%s: corrupt: a picture of %d x %d pixels", name, info->width, info->height);
    /* stb_image and the resize count in int; nothing useful is wider. */
    if (info->width > INT_MAX / 64 || info->height > INT_MAX / 64 || (int64_t)info->width * info->height > limit)
        return cairn_fail(CAIRN_DATA, "%s: %d x %d pixels are more than the %lld allowed: shrink it", name, info->width,
                          info->height, (long long)limit);
    return CAIRN_OK;
}

cairn_image_part cairn_image_whole(const cairn_image_info *info, int denominator)
{
    return (cairn_image_part){.denominator = denominator,
                              .right = (info->width + denominator - 1) / denominator,
                              .bottom = (info->height + denominator - 1) / denominator};
}

cairn_status cairn_image_decode_part(const char *name, const void *data, size_t bytes, const cairn_image_info *info,
                                     cairn_image_part *part, cairn_image *image)
{
    if (!info->format->partial) *part = cairn_image_whole(info, 1);
    return info->format->decode(name, data, bytes, info, part, image);
}

cairn_status cairn_image_reserve(const char *name, int width, int height, cairn_image *image)
{
    size_t need = (size_t)width * (size_t)height * 3;
    if (need > image->capacity) {
        free(image->rgb);
        *image = (cairn_image){0};
        image->rgb = malloc(need);
        if (!image->rgb)
            return cairn_fail(CAIRN_MEMORY, "%s: no memory for %d x %d pixels (%zu bytes)", name, width, height, need);
        image->capacity = need;
    }
    image->width = width;
    image->height = height;
    return CAIRN_OK;
}

/* The largest shrinking by libjpeg that leaves the short side at least `least`. */
static int pick_denominator(const cairn_image_info *info, int least)
{
    if (!info->format->partial || least <= 0) return 1;
    int side = info->width < info->height ? info->width : info->height, denominator = 8;
    while (denominator > 1 && side / denominator < least)
        denominator /= 2;
    return denominator;
}

cairn_status cairn_image_decode(const char *name, const void *data, size_t bytes, const cairn_image_options *options,
                                cairn_image *image)
{
    cairn_image_info info;
    CAIRN_TRY(cairn_image_inspect(name, data, bytes, options->max_pixels, &info));
    cairn_image_part part = cairn_image_whole(&info, pick_denominator(&info, options->min_short_side));
    CAIRN_TRY(cairn_image_decode_part(name, data, bytes, &info, &part, image));
    cairn_image spare = {0};
    cairn_status status = cairn_image_orient(name, info.orientation, image, &spare);
    cairn_image_release(&spare);
    return status;
}

cairn_status cairn_image_read(const char *path, const cairn_image_options *options, cairn_image *image)
{
    cairn_file_bytes file = {0};
    cairn_status status = cairn_file_bytes_read(path, &file);
    if (status == CAIRN_OK) status = cairn_image_decode(path, file.data, file.bytes, options, image);
    cairn_file_bytes_release(&file);
    return status;
}

cairn_status cairn_image_probe(const char *name, const void *data, size_t bytes, int *width, int *height,
                               const char **format)
{
    cairn_image_info info;
    CAIRN_TRY(cairn_image_inspect(name, data, bytes, INT64_MAX, &info));
    *width = info.width;
    *height = info.height;
    *format = info.format->word;
    return CAIRN_OK;
}

void cairn_image_release(cairn_image *image)
{
    free(image->rgb);
    *image = (cairn_image){0};
}

cairn_status cairn_file_bytes_read(const char *path, cairn_file_bytes *file)
{
    int64_t size = 0;
    cairn_os_kind kind = cairn_os_stat(path, &size);
    if (kind == CAIRN_OS_MISSING) return cairn_fail(CAIRN_DATA, "%s: no such file", path);
    if (kind != CAIRN_OS_FILE) return cairn_fail(CAIRN_DATA, "%s: not a file", path);
    if (size == 0) return cairn_fail(CAIRN_DATA, "%s: empty file", path);
    if (size > max_file_bytes)
        return cairn_fail(CAIRN_DATA, "%s: %lld bytes are more than a picture has", path, (long long)size);
    if ((size_t)size > file->capacity) {
        cairn_file_bytes_release(file);
        file->data = malloc((size_t)size);
        if (!file->data) return cairn_fail(CAIRN_MEMORY, "%s: no memory for %lld bytes", path, (long long)size);
        file->capacity = (size_t)size;
    }
    FILE *stream = fopen(path, "rb");
    if (!stream) return cairn_fail(CAIRN_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    setvbuf(stream, NULL, _IONBF, 0); /* one read of the whole: a buffer would only copy */
    file->bytes = fread(file->data, 1, (size_t)size, stream);
    bool failed = ferror(stream) != 0;
    const char *reason = failed ? strerror(errno) : "";
    fclose(stream);
    if (failed) return cairn_fail(CAIRN_DATA, "%s: cannot be read: %s", path, reason);
    return CAIRN_OK;
}

void cairn_file_bytes_release(cairn_file_bytes *file)
{
    free(file->data);
    *file = (cairn_file_bytes){0};
}
