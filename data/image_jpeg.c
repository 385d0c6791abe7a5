/* JPEG by libjpeg-turbo: whole or in part, at full size or shrunk while decoding.
 *
 * libjpeg says everything through its error manager: a fatal error jumps back to where decoding was begun, a warning is kept. Which
 * warnings mean missing or damaged pixels is decided in check_warnings.
 */
#include "data/image_decoder.h"
#ifdef CAIRN_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* Progressive files may repeat scans without end (a few bytes each, a pass over the whole picture each): no camera writes more than 20. */
enum { MAX_SCANS = 100 };

/* Upsampling of colour looks one sample aside, so the borders of a part are right only with some more pixels decoded. */
enum { PART_MARGIN = 4 };

/* The parts libjpeg can leave out are libjpeg-turbo's own addition. */
#if defined LIBJPEG_TURBO_VERSION_NUMBER && LIBJPEG_TURBO_VERSION_NUMBER >= 2001000
#define HAVE_PARTS 1
#endif

typedef struct jpeg_reader {
    struct jpeg_decompress_struct codec; /* first: libjpeg hands back a pointer to it */
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    const char *name; /* of the file, for messages */
    const uint8_t *data;
    size_t bytes;
    cairn_image_part *part; /* what to decode, and where to; NULL to read the header only */
    cairn_image *image;
    bool ended;                 /* the file ended before the end marker */
    bool pixels_lost;           /* the coded data of a scan ended early */
    bool damaged;               /* codes that can't be */
    bool refined;               /* every scan of a progressive file arrived */
    bool endless;               /* more than MAX_SCANS */
    char text[JMSG_LENGTH_MAX]; /* of the first of these, or of the fatal error */
} jpeg_reader;

static void on_error(j_common_ptr codec)
{
    jpeg_reader *reader = (jpeg_reader *)codec;
    reader->errors.format_message(codec, reader->text);
    longjmp(reader->failed, 1);
}

static void on_message(j_common_ptr codec, int level)
{
    if (level >= 0) return; /* traces */
    jpeg_reader *reader = (jpeg_reader *)codec;
    bool first = !reader->pixels_lost && !reader->damaged;
    switch (reader->errors.msg_code) {
    case JWRN_JPEG_EOF:
        reader->ended = true;
        return;
    case JWRN_HIT_MARKER:
        reader->pixels_lost = true;
        break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
        reader->damaged = true;
        break;
    default: /* stray bytes between segments, odd versions: harmless */
        return;
    }
    if (first) reader->errors.format_message(codec, reader->text);
}

static void on_progress(j_common_ptr codec)
{
    jpeg_reader *reader = (jpeg_reader *)codec;
    if (codec->is_decompressor && reader->codec.input_scan_number > MAX_SCANS) {
        reader->endless = true;
        longjmp(reader->failed, 1);
    }
}

/* Progressive files: true when every coefficient arrived with all its bits. Otherwise the scans that refine the picture are missing. */
static bool refined(const struct jpeg_decompress_struct *codec)
{
    if (!codec->progressive_mode || !codec->coef_bits) return true;
    for (int c = 0; c < codec->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (codec->coef_bits[c][k] != 0) return false;
    return true;
}

static cairn_status check_warnings(const jpeg_reader *reader)
{
    if (reader->ended && (reader->pixels_lost || !reader->refined))
        return cairn_fail(CAIRN_DATA, "%s: truncated: the file ends within the picture", reader->name);
    if (reader->pixels_lost || reader->damaged)
        return cairn_fail(CAIRN_DATA, "%s: corrupt: %s", reader->name, reader->text);
    return CAIRN_OK;
}

static cairn_status fatal(const jpeg_reader *reader)
{
    if (reader->endless) return cairn_fail(CAIRN_DATA, "%s: corrupt: more than %d scans", reader->name, (int)MAX_SCANS);
    if (reader->errors.msg_code == JERR_OUT_OF_MEMORY)
        return cairn_fail(CAIRN_MEMORY, "%s: no memory to decode %u x %u pixels", reader->name,
                          reader->codec.image_width, reader->codec.image_height);
    if (reader->ended) return cairn_fail(CAIRN_DATA, "%s: truncated: the file ends within its header", reader->name);
    if (reader->errors.msg_code == JERR_BAD_PRECISION)
        return cairn_fail(CAIRN_DATA, "%s: a JPEG of %d bits a sample, only 8 are read here: convert it", reader->name,
                          reader->codec.data_precision);
    return cairn_fail(CAIRN_DATA, "%s: libjpeg: %s", reader->name, reader->text);
}

/* Ink to light. Adobe's programs store how little ink there is, and say that they wrote the file. */
static void cmyk_to_rgb(const uint8_t *cmyk, int width, bool inverted, uint8_t *rgb)
{
    unsigned flip = inverted ? 0 : 255;
    for (int x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        unsigned light = cmyk[3] ^ flip;
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(((cmyk[c] ^ flip) * light + 127) / 255);
    }
}

/* Sets what comes out of the decoder, and leaves out the columns beside the part. */
static void start(jpeg_reader *reader)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    cairn_image_part *part = reader->part;
    bool inks = codec->jpeg_color_space == JCS_CMYK || codec->jpeg_color_space == JCS_YCCK;
    codec->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    codec->dct_method = JDCT_ISLOW;
    codec->scale_num = 1;
    codec->scale_denom = (unsigned)part->denominator;
    jpeg_start_decompress(codec);
    int width = (int)codec->output_width, height = (int)codec->output_height;
#ifdef HAVE_PARTS
    int left = part->left > PART_MARGIN ? part->left - PART_MARGIN : 0;
    int right = part->right < width - PART_MARGIN ? part->right + PART_MARGIN : width;
    JDIMENSION x = (JDIMENSION)left, columns = (JDIMENSION)(right - left);
    if (columns < codec->output_width) {
        jpeg_crop_scanline(codec, &x, &columns);
        part->left = (int)x;
        part->right = (int)(x + columns);
        if (part->bottom > height) part->bottom = height;
        return;
    }
    *part = (cairn_image_part){part->denominator, 0, part->top, width, part->bottom < height ? part->bottom : height};
#else
    *part = (cairn_image_part){part->denominator, 0, 0, width, height};
#endif
}

static void skip_rows(struct jpeg_decompress_struct *codec, int count)
{
#ifdef HAVE_PARTS
    if (count > 0) jpeg_skip_scanlines(codec, (JDIMENSION)count);
#else
    (void)codec;
    (void)count;
#endif
}

static void read_rows(jpeg_reader *reader)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    const cairn_image_part *part = reader->part;
    const cairn_image *image = reader->image;
    size_t stride = (size_t)image->width * 3;
    JSAMPARRAY inks = NULL;
    if (codec->out_color_space == JCS_CMYK)
        inks = codec->mem->alloc_sarray((j_common_ptr)codec, JPOOL_IMAGE, (JDIMENSION)image->width * 4, 1);
    skip_rows(codec, part->top);
    while ((int)codec->output_scanline < part->bottom) {
        JSAMPROW row = image->rgb + (size_t)((int)codec->output_scanline - part->top) * stride;
        if (!inks) {
            jpeg_read_scanlines(codec, &row, 1);
        } else {
            jpeg_read_scanlines(codec, inks, 1);
            cmyk_to_rgb(inks[0], image->width, codec->saw_Adobe_marker != 0, row);
        }
    }
    /* The rest is parsed but for its last row not turned into pixels: whether a file counts as whole must not depend on the part that was
     * asked. (Skipping the last row too would end the parsing at once.) */
    skip_rows(codec, (int)codec->output_height - (int)codec->output_scanline - 1);
    if (codec->output_scanline < codec->output_height) {
        JSAMPARRAY last = codec->mem->alloc_sarray((j_common_ptr)codec, JPOOL_IMAGE, codec->output_width * 4, 1);
        jpeg_read_scanlines(codec, last, 1);
    }
    reader->refined = refined(codec); /* finishing releases what this looks at */
    jpeg_finish_decompress(codec);
}

/* Every call of libjpeg happens in here, and each may jump back to run. */
static cairn_status read_file(jpeg_reader *reader)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    jpeg_create_decompress(codec);
    reader->progress.progress_monitor = on_progress;
    codec->progress = &reader->progress;
    jpeg_mem_src(codec, reader->data, (unsigned long)reader->bytes);
    jpeg_read_header(codec, TRUE);
    if (codec->data_precision != 8) ERREXIT1(codec, JERR_BAD_PRECISION, codec->data_precision);
    if (!reader->part) return CAIRN_OK;
    start(reader);
    const cairn_image_part *part = reader->part;
    CAIRN_TRY(cairn_image_reserve(reader->name, part->right - part->left, part->bottom - part->top, reader->image));
    read_rows(reader);
    return check_warnings(reader);
}

/* Reads the file as far as `reader` says; libjpeg's memory is to be released by the caller in any case. */
static cairn_status run(jpeg_reader *reader)
{
    reader->codec.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = on_error;
    reader->errors.emit_message = on_message;
    if (setjmp(reader->failed) != 0) return fatal(reader);
    return read_file(reader);
}

static cairn_status inspect(const char *name, const uint8_t *data, size_t bytes, cairn_image_info *info)
{
    jpeg_reader reader = {.name = name, .data = data, .bytes = bytes};
    cairn_status status = run(&reader);
    info->width = (int)reader.codec.image_width;
    info->height = (int)reader.codec.image_height;
    jpeg_destroy_decompress(&reader.codec);
    if (status == CAIRN_OK) info->orientation = cairn_image_exif_orientation(data, bytes);
    return status;
}

static cairn_status decode(const char *name, const uint8_t *data, size_t bytes, const cairn_image_info *info,
                           cairn_image_part *part, cairn_image *image)
{
    (void)info;
    jpeg_reader reader = {.name = name, .data = data, .bytes = bytes, .part = part, .image = image};
    cairn_status status = run(&reader);
    jpeg_destroy_decompress(&reader.codec);
    return status;
}

const cairn_image_format cairn_image_jpeg = {"JPEG", true, inspect, decode};
#endif
