/* What the decoder says of files that it can't read, of files cut short, and of sizes. */
#include "data/image.h"
#include "tests/support/jpeg.h"
#include "tests/test.h"

static cairn_status decode(const void *data, size_t bytes, cairn_image *image)
{
    return cairn_image_decode("file", data, bytes, &(cairn_image_options){0}, image);
}

static void names_formats_that_are_not_read(void)
{
    static const struct {
        const char *start, *word;
    } kinds[] = {
        {"RIFF\x10\0\0\0WEBPVP8 ", "is WebP, which isn't read here: convert it to JPEG or PNG"},
        {"\0\0\0\x1c"
         "ftypavif\0\0\0\0",
         "is AVIF"},
        {"\0\0\0\x18"
         "ftypheic\0\0\0\0",
         "is HEIC"},
        {"\0\0\0\x18"
         "ftypmif1\0\0\0\0",
         "is HEIC"},
        {"\0\0\0\x18"
         "ftypisom\0\0\0\0",
         "is a video (MP4)"},
        {"II*\0\x08\0\0\0\0\0\0\0\0\0\0\0", "is TIFF"},
        {"MM\0*\0\0\0\x08\0\0\0\0\0\0\0\0", "is TIFF"},
        {"\0\0\0\x0cJXL \r\n\x87\n\0\0\0\0", "is JPEG XL"},
        {"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\0", "is JPEG 2000"},
        {"8BPS\0\1\0\0\0\0\0\0\0\0\0\0", "is a Photoshop document"},
        {"P3 1 1 255\n0 0 0\n", "is plain PPM"},
        {"hello, I am text", "not an image (it starts with \"hello, I am text\")"},
        {"\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08", "file: not an image"},
    };
    cairn_image image = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CHECK_FAILS(decode(kinds[i].start, 16, &image), CAIRN_DATA, kinds[i].word);
    CHECK_FAILS(decode("", 0, &image), CAIRN_DATA, "empty file");
    CHECK_FAILS(decode("\xff", 1, &image), CAIRN_DATA, "not an image");
    CHECK(image.rgb == NULL);
    cairn_image_release(&image);
}

/* Reads a file of tests/data/nasty, whose name is given, into `data`. */
static size_t load(const char *name, uint8_t *data, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tests/data/nasty/%s", CAIRN_TEST_SOURCE, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        TEST_FAIL("%s is missing", path);
        return 0;
    }
    size_t bytes = fread(data, 1, size, file);
    fclose(file);
    return bytes;
}

static void files_cut_anywhere_are_refused(void)
{
    static const struct {
        const char *name;
        size_t spare; /* bytes at the end that no pixel needs */
    } files[] = {{"ok.bmp", 0}, {"ok.ppm", 0}, {"gray.pgm", 0}, {"anim.gif", 23000}, {"gray.png", 0}, {"pal.png", 0}};
    static uint8_t data[60000];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t bytes = load(files[i].name, data, sizeof data);
        cairn_image image = {0};
        REQUIRE_OK(decode(data, bytes, &image));
        for (size_t part = 0; part < 100; part++) {
            size_t cut = (bytes - files[i].spare) * part / 100;
            if (cut < 9) continue; /* no more than its signature, or less */
            if (decode(data, cut, &image) != CAIRN_DATA)
                TEST_FAIL("%s cut to %zu of %zu bytes is read", files[i].name, cut, bytes);
        }
        CHECK_FAILS(decode(data, bytes - files[i].spare - 1, &image), CAIRN_DATA, "truncated");
        cairn_image_release(&image);
    }
}

static void odd_headers_are_refused(void)
{
    static const struct {
        const char *text, *message;
    } files[] = {
        {"P6 2 2 65535\n________________________", "a PNM with values up to 65535, only 255 is read here"},
        {"P6 2 2 15\n____________", "a PNM with values up to 15"},
        {"P6 2 x 255\n____________", "no PNM header"},
        {"P6 2 99999999999 255\n____________", "no PNM header"},
        {"P5 0 5 255\n____________", "a picture of 0 x 5 pixels"},
        {"P5 # a comment\n3 # another\n 2\t255\n12345", "truncated"},
        {"P6 999999 999999 255\n____________", "truncated"},
    };
    cairn_image image = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK_FAILS(decode(files[i].text, strlen(files[i].text), &image), CAIRN_DATA, files[i].message);
    static const char comments[] = "P5 # a comment\n3 # another\n 2\t255\n123456";
    REQUIRE_OK(decode(comments, strlen(comments), &image));
    CHECK_INT(image.width, 3);
    CHECK_INT(image.height, 2);
    CHECK_INT(image.rgb[5 * 3], '6');
    static uint8_t data[60000];
    size_t bytes = load("gray.png", data, sizeof data);
    memcpy(data + 12, "JUNK", 4);
    CHECK_FAILS(decode(data, bytes, &image), CAIRN_DATA, "a PNG that doesn't start with its header");
    bytes = load("ok.bmp", data, sizeof data);
    data[30] = 1;
    CHECK_FAILS(decode(data, bytes, &image), CAIRN_DATA, "a run-length coded BMP");
    data[30] = 0;
    data[21] = 0x7f; /* a width of two thousand million */
    CHECK_FAILS(decode(data, bytes, &image), CAIRN_DATA, "file: ");
    cairn_image_release(&image);
}

static void tells_size_and_format_from_the_header(void)
{
    static uint8_t data[60000];
    int width = 0, height = 0;
    const char *format = "";
    static const char *const files[][2] = {
        {"exif6.jpg", "JPEG"}, {"png_named.jpg", "PNG"}, {"anim.gif", "GIF"}, {"ok.bmp", "BMP"}, {"ok.ppm", "PNM"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t bytes = load(files[i][0], data, sizeof data);
        REQUIRE_OK(cairn_image_probe(files[i][0], data, bytes, &width, &height, &format));
        CHECK_INT(width, 128); /* as stored: exif6.jpg too */
        CHECK_INT(height, 96);
        CHECK_TEXT(format, files[i][1]);
    }
    CHECK_FAILS(cairn_image_probe("text", "just some text", 14, &width, &height, &format), CAIRN_DATA, "not an image");
}

#ifdef CAIRN_HAVE_JPEG
static void shrinks_as_far_as_the_short_side_allows(void)
{
    size_t bytes;
    uint8_t *file = test_jpeg(&(test_jpeg_options){.width = 403, .height = 302, .quality = 80}, &bytes);
    static const int least[][3] = {{0, 403, 302}, {302, 403, 302}, {152, 403, 302}, {151, 202, 151},
                                   {75, 101, 76}, {30, 51, 38},    {1, 51, 38}};
    cairn_image image = {0};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        REQUIRE_OK(
            cairn_image_decode("made", file, bytes, &(cairn_image_options){.min_short_side = least[i][0]}, &image));
        CHECK_INT(image.width, least[i][1]);
        CHECK_INT(image.height, least[i][2]);
    }
    CHECK(image.capacity >= (size_t)403 * 302 * 3); /* of the first and largest, used again */
    cairn_image_release(&image);
    free(file);
}

/* A progressive file that ends between two scans shows the whole picture, coarsely. */
static void progressive_files_without_their_last_scans_are_refused(void)
{
    size_t bytes;
    uint8_t *file =
        test_jpeg(&(test_jpeg_options){.width = 120, .height = 90, .quality = 80, .progressive = true}, &bytes);
    cairn_image image = {0};
    int scans = 0;
    for (size_t at = 2; at + 1 < bytes; at++) {
        if (file[at] != 0xff || file[at + 1] != 0xda) continue;
        CHECK_FAILS(decode(file, at, &image), CAIRN_DATA, "truncated");
        scans++;
    }
    CHECK_INT(scans, 10);
    REQUIRE_OK(decode(file, bytes, &image));
    REQUIRE_OK(decode(file, bytes - 2, &image)); /* without the end marker */
    cairn_image_release(&image);
    free(file);
}
#endif

int main(void)
{
    RUN(names_formats_that_are_not_read);
    RUN(files_cut_anywhere_are_refused);
    RUN(odd_headers_are_refused);
    RUN(tells_size_and_format_from_the_header);
#ifdef CAIRN_HAVE_JPEG
    RUN(shrinks_as_far_as_the_short_side_allows);
    RUN(progressive_files_without_their_last_scans_are_refused);
#endif
    return test_result();
}
