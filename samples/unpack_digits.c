/* unpack_digits.c - cuts the sheet of handwritten digits into one PNG a digit, in ten folders that `cairn train` can read.
 *
 *     build/samples/unpack_digits samples/data/digits.png digits          all 5,000
 *     build/samples/unpack_digits samples/data/digits.png few 20          20 of each digit
 *
 * The sheet has 50 rows of 100 cells of 20x20 grey pixels, five rows a digit from 0 to 9.
 */
#include "cairn.h"
#include <stdlib.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { CELL = 20, COLUMNS = 100, ROWS = 50, DIGITS = 10, EACH = COLUMNS * ROWS / DIGITS };

/* Number `n` of a digit, as out/3/0042.png. */
static cairn_status write_digit(const cairn_image *sheet, const char *out, int digit, int n)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%d/%04d.png", out, digit, n) >= (int)sizeof path)
        return cairn_fail(CAIRN_USAGE, "%s: too long a path", out);
    int top = (digit * (ROWS / DIGITS) + n / COLUMNS) * CELL, left = n % COLUMNS * CELL;
    uint8_t grey[CELL * CELL];
    for (int y = 0; y < CELL; y++)
        for (int x = 0; x < CELL; x++) /* red, green and blue are alike */
            grey[y * CELL + x] = sheet->rgb[((ptrdiff_t)(top + y) * sheet->width + left + x) * 3];
    if (!stbi_write_png(path, CELL, CELL, 1, grey, CELL))
        return cairn_fail(CAIRN_FILE, "%s: can't be written; is the disk full?", path);
    return CAIRN_OK;
}

static cairn_status unpack(const char *path, const char *out, int each)
{
    cairn_image sheet = {0};
    cairn_status status = CAIRN_OK;
    CAIRN_TRY_DONE(cairn_image_read(path, &(cairn_image_options){0}, &sheet));
    if (sheet.width != COLUMNS * CELL || sheet.height != ROWS * CELL) {
        status = cairn_fail(CAIRN_DATA, "%s: %dx%d pixels; the sheet of digits has %dx%d", path, sheet.width,
                            sheet.height, COLUMNS * CELL, ROWS * CELL);
        goto done;
    }
    for (int digit = 0; digit < DIGITS; digit++) {
        char folder[4096], name[16];
        snprintf(name, sizeof name, "%d", digit);
        CAIRN_TRY_DONE(cairn_os_join(folder, sizeof folder, out, name));
        CAIRN_TRY_DONE(cairn_os_make_folders(folder));
        for (int n = 0; n < each; n++)
            CAIRN_TRY_DONE(write_digit(&sheet, out, digit, n));
    }
done:
    cairn_image_release(&sheet);
    return status;
}

int main(int argc, char **argv)
{
    int each = argc > 3 ? atoi(argv[3]) : EACH;
    if (argc < 3 || argc > 4 || each < 1 || each > EACH) {
        fprintf(stderr, "unpack_digits SHEET FOLDER [NUMBER OF EACH, 1 to %d]\n", EACH);
        return 2;
    }
    if (unpack(argv[1], argv[2], each) != CAIRN_OK) {
        fprintf(stderr, "unpack_digits: %s\n", cairn_error_last()->message);
        return 1;
    }
    printf("%d digits in %s/0 to %s/9\n", DIGITS * each, argv[2], argv[2]);
    return 0;
}
