/* Parts of a JPEG are the same pixels as in the whole, shrunk or not, and whatever part is asked, a file is whole or it isn't. */
#include "data/image_decoder.h"
#include "tests/support/jpeg.h"
#include "tests/test.h"

#ifndef CAIRN_HAVE_JPEG
int main(void)
{
    TEST_SKIP("built without libjpeg: JPEG is decoded whole");
}
#else
#include "core/rng.h"

typedef struct kind {
    const char *name;
    test_jpeg_options options;
} kind;

static const kind kinds[] = {
    {"4:2:0", {.quality = 90}},
    {"4:2:0 with restarts", {.quality = 75, .restart_rows = 1}},
    {"4:2:0 progressive", {.quality = 80, .progressive = true}},
    {"4:4:4", {.quality = 90, .across = 1, .down = 1}},
    {"4:4:4 progressive", {.quality = 90, .across = 1, .down = 1, .progressive = true}},
    {"4:2:2", {.quality = 85, .across = 2, .down = 1}},
    {"4:4:0", {.quality = 85, .across = 1, .down = 2}},
    {"4:1:1", {.quality = 85, .across = 4, .down = 1}},
    {"grey", {.quality = 85, .gray = true, .across = 1, .down = 1}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool lies_within(const cairn_image_part *inner, const cairn_image_part *outer)
{
    return inner->left >= outer->left && inner->top >= outer->top && inner->right <= outer->right &&
           inner->bottom <= outer->bottom;
}

/* Compares the asked pixels of a part with the whole; gives the largest difference. */
static int difference(const cairn_image *whole, const cairn_image *part, const cairn_image_part *asked,
                      const cairn_image_part *given)
{
    int worst = 0;
    for (int y = asked->top; y < asked->bottom; y++)
        for (int i = asked->left * 3; i < asked->right * 3; i++) {
            int a = whole->rgb[(size_t)y * (size_t)whole->width * 3 + (size_t)i];
            int b = part->rgb[(size_t)(y - given->top) * (size_t)part->width * 3 + (size_t)(i - given->left * 3)];
            worst = abs(a - b) > worst ? abs(a - b) : worst;
        }
    return worst;
}

static void check_parts(const kind *k, int denominator, const uint8_t *file, size_t bytes)
{
    cairn_image_info info;
    cairn_image whole = {0}, part = {0};
    REQUIRE_OK(cairn_image_inspect(k->name, file, bytes, 0, &info));
    cairn_image_part all = cairn_image_whole(&info, denominator);
    REQUIRE_OK(cairn_image_decode_part(k->name, file, bytes, &info, &all, &whole));
    CHECK_INT(whole.width, (info.width + denominator - 1) / denominator);
    CHECK_INT(whole.height, (info.height + denominator - 1) / denominator);
    cairn_rng rng = cairn_rng_make(5, CAIRN_RNG_SYNTHETIC, 0, 0);
    int worst = 0;
    for (uint64_t i = 0; i < 60; i++) {
        cairn_image_part asked = {.denominator = denominator};
        asked.left = (int)cairn_rng_below(rng, 4 * i, (uint32_t)whole.width);
        asked.top = (int)cairn_rng_below(rng, 4 * i + 1, (uint32_t)whole.height);
        asked.right = asked.left + 1 + (int)cairn_rng_below(rng, 4 * i + 2, (uint32_t)(whole.width - asked.left));
        asked.bottom = asked.top + 1 + (int)cairn_rng_below(rng, 4 * i + 3, (uint32_t)(whole.height - asked.top));
        cairn_image_part given = asked;
        REQUIRE_OK(cairn_image_decode_part(k->name, file, bytes, &info, &given, &part));
        REQUIRE(lies_within(&asked, &given) && lies_within(&given, &all));
        CHECK_INT(part.width, given.right - given.left);
        CHECK_INT(part.height, given.bottom - given.top);
        int d = difference(&whole, &part, &asked, &given);
        worst = d > worst ? d : worst;
    }
    if (worst) TEST_FAIL("%s at 1/%d: pixels of a part differ by up to %d", k->name, denominator, worst);
    cairn_image_release(&whole);
    cairn_image_release(&part);
}

static void parts_are_pixels_of_the_whole(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        test_jpeg_options options = kinds[i].options;
        options.width = 203;
        options.height = 157;
        size_t bytes;
        uint8_t *file = test_jpeg(&options, &bytes);
        for (int denominator = 1; denominator <= 8; denominator *= 2)
            check_parts(&kinds[i], denominator, file, bytes);
        free(file);
    }
}

/* Any part of a file that ends too early is refused, also one whose pixels are all there. */
static void truncated_files_are_refused_whatever_part_is_asked(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        test_jpeg_options options = kinds[i].options;
        options.width = 203;
        options.height = 157;
        size_t bytes;
        uint8_t *file = test_jpeg(&options, &bytes);
        for (int tenth = 5; tenth < 10; tenth++) {
            cairn_image_info info;
            cairn_image image = {0};
            size_t cut = bytes * (size_t)tenth / 10;
            cairn_image_part top = {.denominator = 1, .right = 203, .bottom = 8}, corner = {1, 190, 140, 203, 157};
            REQUIRE_OK(cairn_image_inspect(kinds[i].name, file, cut, 0, &info));
            CHECK_FAILS(cairn_image_decode_part(kinds[i].name, file, cut, &info, &top, &image), CAIRN_DATA,
                        "truncated");
            CHECK_FAILS(cairn_image_decode_part(kinds[i].name, file, cut, &info, &corner, &image), CAIRN_DATA,
                        "truncated");
            cairn_image_release(&image);
        }
        free(file);
    }
}

int main(void)
{
    RUN(parts_are_pixels_of_the_whole);
    RUN(truncated_files_are_refused_whatever_part_is_asked);
    return test_result();
}
#endif
