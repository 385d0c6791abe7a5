/* Pictures of every kind, broken and hostile ones among them: tests/data/nasty and its manifest. */
#include "data/image.h"
#include "core/os.h"
#include "tests/test.h"

#define NASTY CAIRN_TEST_SOURCE "/tests/data/nasty"

/* What the reason for skipping a file must say, where the manifest's note is for people. */
static const struct {
    const char *file, *reason;
} reasons[] = {
    {"badcrc_or_idat.png", "corrupt: chunk IDAT has a bad CRC"},
    {"bomb16k.png", "16000 x 16000 pixels are more than the 100000000 allowed"},
    {"bomb_hdr.png", "16000000 x 16000000 pixels are more than"},
    {"html.jpg", "not an image (it starts with \"<html>"},
#ifdef CAIRN_HAVE_JPEG
    {"prec12.jpg", "12 bits"},
#endif
    {"trunc.png", "truncated"},
    {"trunc50.jpg", "truncated"},
    {"trunc_header.jpg", "truncated"},
    {"webp_named.jpg", "WebP"},
    {"zero.jpg", "empty file"},
};

static const char *reason_for(const char *file)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i].file, file) == 0) return reasons[i].reason;
    return "";
}

static void check_means(const char *file, const cairn_image *image, const double want[3])
{
    double sum[3] = {0}, pixels = (double)image->width * image->height;
    for (int64_t i = 0; i < (int64_t)image->width * image->height * 3; i++)
        sum[i % 3] += image->rgb[i];
    for (int c = 0; c < 3; c++)
        if (!(fabs(sum[c] / pixels - want[c]) <= 3))
            TEST_FAIL("%s: mean of channel %d is %.1f, want %.0f", file, c, sum[c] / pixels, want[c]);
}

/* Files that one libjpeg reads and the next, or stb_image in its place, may refuse for a reason of its own. */
static bool depends_on_libjpeg(const char *file)
{
    if (strcmp(file, "arith.jpg") == 0) {
#ifdef CAIRN_HAVE_JPEG
        CHECK(strstr(cairn_error_last()->message, "rithmetic"));
#endif
        return true;
    }
#ifdef CAIRN_HAVE_JPEG
    return false;
#else
    return strcmp(file, "trunc_noEOI.jpg") == 0;
#endif
}

/* One line: file, ok or skip, width, height, means, note; between tabs. */
static void check_line(char *line, cairn_image *image)
{
    char *field[8] = {0};
    for (int i = 0; i < 8 && line; i++) {
        field[i] = line;
        line = strchr(line, '\t');
        if (line) *line++ = '\0';
    }
    REQUIRE(field[6]);
    char path[600];
    snprintf(path, sizeof path, "%s/%s", NASTY, field[0]);
    cairn_status status = cairn_image_read(path, &(cairn_image_options){0}, image);
    if (status != CAIRN_OK && depends_on_libjpeg(field[0])) return;
    if (strcmp(field[0], "arith.jpg") == 0) return; /* libjpeg with arithmetic decoding */
    if (strcmp(field[1], "skip") == 0) {
        CHECK_FAILS(status, CAIRN_DATA, field[0]);
        CHECK_FAILS(status, CAIRN_DATA, reason_for(field[0]));
        return;
    }
    if (status != CAIRN_OK) {
        TEST_FAIL("%s", cairn_error_last()->message);
        return;
    }
    if (image->width != atoi(field[2]) || image->height != atoi(field[3]))
        TEST_FAIL("%s: %d x %d, want %s x %s", field[0], image->width, image->height, field[2], field[3]);
    check_means(field[0], image, (double[3]){atof(field[4]), atof(field[5]), atof(field[6])});
}

static void reads_what_can_be_read(void)
{
    void *text;
    size_t bytes;
    REQUIRE_OK(cairn_os_read_file(NASTY "/manifest.tsv", 1 << 20, &text, &bytes));
    cairn_image image = {0};
    int lines = 0;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = '\0';
        if (*line == '#') continue;
        check_line(line, &image);
        lines++;
    }
    CHECK_INT(lines, 41);
    cairn_image_release(&image);
    free(text);
}

int main(void)
{
    RUN(reads_what_can_be_read);
    return test_result();
}
