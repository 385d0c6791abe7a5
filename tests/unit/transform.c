/* Windows and the resize by what must hold for any picture; the numbers of the resize are in golden.resize. */
#include "data/transform.h"
#include "tests/test.h"

static const cairn_preprocess alexnet = {.size = 224, .resize = 256};

static void names_go_both_ways(void)
{
    cairn_augment_kind kind;
    for (int i = CAIRN_AUGMENT_NONE; i <= CAIRN_AUGMENT_RRC; i++) {
        REQUIRE_OK(cairn_augment_parse(cairn_augment_name((cairn_augment_kind)i), &kind));
        CHECK_INT(kind, i);
    }
    CHECK_FAILS(cairn_augment_parse("cut", &kind), CAIRN_USAGE, "augment \"cut\" is not known: use none, crop or rrc");
    CHECK_TEXT(cairn_augment_name((cairn_augment_kind)9), "unknown");
}

static void default_resize_keeps_the_ratio_of_imagenet(void)
{
    CHECK_INT(cairn_preprocess_default(224).resize, 256);
    CHECK_INT(cairn_preprocess_default(227).resize, 259);
    CHECK_INT(cairn_preprocess_default(28).resize, 32);
    CHECK_INT(cairn_preprocess_default(1).resize, 1);
    CHECK_NEAR(cairn_preprocess_default(224).mean[0], 0.485, 1e-6);
    CHECK_NEAR(cairn_preprocess_default(224).std[2], 0.225, 1e-6);
}

static void evaluation_takes_the_centre(void)
{
    cairn_window w = cairn_window_eval(&alexnet, 512, 256); /* resized to itself */
    CHECK_NEAR(w.left, 144, 0);
    CHECK_NEAR(w.right, 368, 0);
    CHECK_NEAR(w.top, 16, 0);
    CHECK_NEAR(w.bottom, 240, 0);
    CHECK(!w.flip && !w.isolated);
    w = cairn_window_eval(&alexnet, 375,
                          500); /* to 256 x 341: 16 pixels off the left and 58 (58.5 to even) off the top */
    CHECK_NEAR(w.left, 16 * 375.0 / 256, 1e-12);
    CHECK_NEAR(w.top, 58 * 500.0 / 341, 1e-12);
    CHECK_NEAR(w.bottom - w.top, 224 * 500.0 / 341, 1e-12);
    w = cairn_window_eval(&alexnet, 1, 4000);
    CHECK_NEAR(w.right - w.left, 0.875, 1e-12);
    CHECK_NEAR(w.bottom - w.top, 0.875, 1e-12);
}

/* The box lies in the picture and isn't empty. */
static void check_inside(const cairn_window *w, int width, int height)
{
    CHECK(w->left >= 0 && w->top >= 0 && w->left < w->right && w->top < w->bottom);
    CHECK(w->right <= width + 1e-9 && w->bottom <= height + 1e-9);
}

static void crops_lie_anywhere_inside(void)
{
    double least = 1e9, most = 0;
    int flips = 0;
    for (uint64_t sample = 0; sample < 1000; sample++) {
        cairn_window w = cairn_window_train(CAIRN_AUGMENT_CROP, &alexnet, 500, 375, 3, 0, sample);
        check_inside(&w, 500, 375);
        CHECK_NEAR(w.bottom - w.top, 224 * 375.0 / 256, 1e-9);
        CHECK(!w.isolated);
        least = fmin(least, w.left);
        most = fmax(most, w.left);
        flips += w.flip;
    }
    CHECK(least < 2); /* 341 - 224 = 117 places in steps of 500 / 341 */
    CHECK(most > 115 * 500.0 / 341);
    CHECK(flips > 430 && flips < 570); /* 500 +- 4.4 sigma */
}

static void random_resized_crops_keep_area_and_ratio(void)
{
    double least = 1, most = 0;
    int flips = 0;
    for (uint64_t sample = 0; sample < 1000; sample++) {
        cairn_window w = cairn_window_train(CAIRN_AUGMENT_RRC, &alexnet, 500, 375, 3, 0, sample);
        check_inside(&w, 500, 375);
        CHECK(w.isolated && w.left == floor(w.left) && w.right == floor(w.right));
        double width = w.right - w.left, height = w.bottom - w.top, area = width * height / (500 * 375);
        CHECK(area > 0.079 && area <= 1.0);
        CHECK(width / height > 0.74 && width / height < 1.35);
        least = fmin(least, area);
        most = fmax(most, area);
        flips += w.flip;
    }
    CHECK(least < 0.1 && most > 0.9);
    CHECK(flips > 430 && flips < 570);
    /* Too long for any window of those ratios: the centre, at the nearest ratio. */
    cairn_window w = cairn_window_train(CAIRN_AUGMENT_RRC, &alexnet, 4000, 30, 3, 0, 1);
    CHECK_NEAR(w.right - w.left, 40, 0);
    CHECK_NEAR(w.left, 1980, 0);
    w = cairn_window_train(CAIRN_AUGMENT_RRC, &alexnet, 1, 4000, 3, 0, 1);
    check_inside(&w, 1, 4000);
}

static bool same_window(cairn_window a, cairn_window b)
{
    return a.left == b.left && a.top == b.top && a.right == b.right && a.bottom == b.bottom && a.flip == b.flip;
}

static void draws_depend_on_seed_epoch_and_sample_only(void)
{
    for (int i = CAIRN_AUGMENT_CROP; i <= CAIRN_AUGMENT_RRC; i++) {
        cairn_augment_kind kind = (cairn_augment_kind)i;
        cairn_window w = cairn_window_train(kind, &alexnet, 500, 375, 1, 2, 3);
        CHECK(same_window(w, cairn_window_train(kind, &alexnet, 500, 375, 1, 2, 3)));
        CHECK(!same_window(w, cairn_window_train(kind, &alexnet, 500, 375, 2, 2, 3)));
        CHECK(!same_window(w, cairn_window_train(kind, &alexnet, 500, 375, 1, 3, 3)));
        CHECK(!same_window(w, cairn_window_train(kind, &alexnet, 500, 375, 1, 2, 4)));
    }
    cairn_window none = cairn_window_train(CAIRN_AUGMENT_NONE, &alexnet, 500, 375, 1, 2, 3);
    CHECK(same_window(none, cairn_window_eval(&alexnet, 500, 375)));
}

/* ---- resize ---- */

static cairn_image make_image(int width, int height)
{
    cairn_image image = {.width = width, .height = height};
    image.rgb = malloc((size_t)width * (size_t)height * 3);
    for (int i = 0; image.rgb && i < width * height * 3; i++)
        image.rgb[i] = (uint8_t)(((uint32_t)i * 2654435761u) >> 24);
    return image;
}

static void even_pictures_stay_even(void)
{
    static const int sizes[] = {1, 2, 3, 7, 64, 300, 5000};
    static uint8_t rgb[64 * 64 * 3];
    cairn_resize_scratch scratch = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int value = 0; value < 256; value += 85) {
            cairn_image image = make_image(sizes[i], sizes[sizeof sizes / sizeof *sizes - 1 - i]);
            REQUIRE(image.rgb);
            memset(image.rgb, value, (size_t)image.width * (size_t)image.height * 3);
            cairn_window box = {
                .left = 0.3, .top = 0.1, .right = image.width, .bottom = image.height, .isolated = i % 2};
            REQUIRE_OK(cairn_resize(&image, &box, 64, 3, rgb, &scratch));
            for (int k = 0; k < 64 * 3 * 3; k++)
                if (rgb[k] != value) TEST_FAIL("%d x %d: %d became %d", image.width, image.height, value, rgb[k]);
            free(image.rgb);
        }
    }
    cairn_resize_scratch_release(&scratch);
}

static void same_size_changes_nothing_and_flip_mirrors(void)
{
    cairn_image image = make_image(33, 20);
    REQUIRE(image.rgb);
    static uint8_t rgb[33 * 20 * 3];
    cairn_resize_scratch scratch = {0};
    cairn_window box = {.right = 33, .bottom = 20};
    REQUIRE_OK(cairn_resize(&image, &box, 33, 20, rgb, &scratch));
    CHECK(memcmp(rgb, image.rgb, sizeof rgb) == 0);
    box.flip = true;
    REQUIRE_OK(cairn_resize(&image, &box, 33, 20, rgb, &scratch));
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 33; x++)
            CHECK(memcmp(rgb + (y * 33 + x) * 3, image.rgb + (y * 33 + 32 - x) * 3, 3) == 0);
    cairn_resize_scratch_release(&scratch);
    free(image.rgb);
}

/* A window of the resized picture is what resizing the box gives: pixels beside the box count. */
static void window_is_cut_out_of_the_resized_picture(void)
{
    enum { WIDTH = 341, HEIGHT = 256, SIZE = 224 };
    cairn_image image = make_image(500, 375);
    uint8_t *whole = malloc(WIDTH * HEIGHT * 3), *window = malloc(SIZE * SIZE * 3);
    REQUIRE(image.rgb && whole && window);
    cairn_resize_scratch scratch = {0};
    cairn_window all = {.right = 500, .bottom = 375}, box = cairn_window_eval(&alexnet, 500, 375);
    REQUIRE_OK(cairn_resize(&image, &all, WIDTH, HEIGHT, whole, &scratch));
    REQUIRE_OK(cairn_resize(&image, &box, SIZE, SIZE, window, &scratch));
    int differ = 0;
    for (int y = 0; y < SIZE; y++)
        for (int i = 0; i < SIZE * 3; i++) {
            int a = window[y * SIZE * 3 + i], b = whole[(y + 16) * WIDTH * 3 + 58 * 3 + i];
            differ += a != b;
            CHECK(abs(a - b) <= 1); /* the same sums but for the last bit of a place */
        }
    CHECK(differ <= 20);
    /* Cut out first, only the rim can differ. */
    box.isolated = true;
    REQUIRE_OK(cairn_resize(&image, &box, SIZE, SIZE, whole, &scratch));
    for (int y = 2; y < SIZE - 2; y++)
        CHECK(memcmp(whole + (y * SIZE + 2) * 3, window + (y * SIZE + 2) * 3, (SIZE - 4) * 3) == 0);
    CHECK(memcmp(whole, window, SIZE * 3) != 0);
    cairn_resize_scratch_release(&scratch);
    free(image.rgb);
    free(whole);
    free(window);
}

static void refuses_a_box_beside_the_picture(void)
{
    cairn_image image = make_image(10, 10);
    REQUIRE(image.rgb);
    static uint8_t rgb[4 * 4 * 3];
    cairn_resize_scratch scratch = {0};
    const cairn_window boxes[] = {{.left = 10, .right = 12, .bottom = 10},
                                  {.left = 5, .right = 5, .bottom = 10},
                                  {.right = 10, .top = -3, .bottom = -1},
                                  {.left = (double)NAN, .right = 10, .bottom = (double)NAN}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        CHECK_FAILS(cairn_resize(&image, &boxes[i], 4, 4, rgb, &scratch), CAIRN_USAGE,
                    "holds nothing of a picture of 10 x 10");
    CHECK_FAILS(cairn_resize(&image, &(cairn_window){.right = 10, .bottom = 10}, 0, 4, rgb, &scratch), CAIRN_USAGE,
                "to 0 x 4");
    CHECK_OK(
        cairn_resize(&image, &(cairn_window){.left = -5, .top = -5, .right = 15, .bottom = 15}, 4, 4, rgb, &scratch));
    cairn_resize_scratch_release(&scratch);
    free(image.rgb);
}

int main(void)
{
    RUN(names_go_both_ways);
    RUN(default_resize_keeps_the_ratio_of_imagenet);
    RUN(evaluation_takes_the_centre);
    RUN(crops_lie_anywhere_inside);
    RUN(random_resized_crops_keep_area_and_ratio);
    RUN(draws_depend_on_seed_epoch_and_sample_only);
    RUN(even_pictures_stay_even);
    RUN(same_size_changes_nothing_and_flip_mirrors);
    RUN(window_is_cut_out_of_the_resized_picture);
    RUN(refuses_a_box_beside_the_picture);
    return test_result();
}
