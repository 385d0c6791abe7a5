/* Resize against what Pillow computes: the same bytes. */
#include "data/transform.h"
#include "tests/support/golden.h"
#include "tests/test.h"

static uint8_t *input_pixels(const json_t *input, int *width, int *height)
{
    *width = (int)golden_integer(input, "width");
    *height = (int)golden_integer(input, "height");
    int64_t bytes = (int64_t)*width * *height * 3;
    bool noise = strcmp(json_string_value(golden_get(input, "kind")), "noise") == 0;
    uint32_t key = golden_hash((uint32_t)golden_integer(input, "seed"));
    uint8_t *rgb = golden_alloc(bytes, 1);
    for (int64_t i = 0; i < bytes; i++) {
        int64_t x = i / 3 % *width, y = i / 3 / *width, c = i % 3;
        rgb[i] = (uint8_t)(noise ? golden_hash((uint32_t)i ^ key) : x * 3 + y * 2 + 40 * c);
    }
    return rgb;
}

static uint8_t *from_base64(const char *text, int64_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *data = golden_alloc(bytes + 3, 1);
    uint32_t bits = 0;
    int64_t n = 0;
    for (int i = 0; text[i] && text[i] != '=' && n < bytes; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
        if (i % 4 > 0) data[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    if (n != bytes) TEST_FAIL("base64 holds %lld bytes, want %lld", (long long)n, (long long)bytes);
    return data;
}

static void resizes_case(const json_t *test, cairn_resize_scratch *scratch)
{
    cairn_image image = {0};
    image.rgb = input_pixels(golden_get(test, "input"), &image.width, &image.height);
    cairn_window window = {.right = image.width, .bottom = image.height, .isolated = true};
    const json_t *box = golden_get(test, "crop_box_left_top_right_bottom");
    if (json_is_array(box)) {
        window.left = json_number_value(json_array_get(box, 0));
        window.top = json_number_value(json_array_get(box, 1));
        window.right = json_number_value(json_array_get(box, 2));
        window.bottom = json_number_value(json_array_get(box, 3));
    }
    int width = (int)golden_integer(test, "width"), height = (int)golden_integer(test, "height");
    int64_t bytes = (int64_t)width * height * 3;
    uint8_t *got = golden_alloc(bytes, 1);
    uint8_t *want = from_base64(json_string_value(golden_get(test, "rgb_base64")), bytes);
    CHECK_OK(cairn_resize(&image, &window, width, height, got, scratch));
    int64_t differ = 0, worst = 0;
    for (int64_t i = 0; i < bytes; i++) {
        int64_t error = llabs((long long)got[i] - want[i]);
        differ += error != 0;
        worst = error > worst ? error : worst;
    }
    printf("%d x %d to %d x %d: %lld bytes differ, at most by %lld\n", image.width, image.height, width, height,
           (long long)differ, (long long)worst);
    CHECK_INT(worst, 0);
    free(image.rgb);
    free(got);
    free(want);
}

static void resizes_as_pillow(void)
{
    json_t *file = golden_load(GOLDEN_DATA("resize.json"));
    cairn_resize_scratch scratch = {0};
    size_t index;
    json_t *test;
    json_array_foreach(json_object_get(file, "cases"), index, test) resizes_case(test, &scratch);
    CHECK_INT(index, 10);
    cairn_resize_scratch_release(&scratch);
    json_decref(file);
}

int main(void)
{
    RUN(resizes_as_pillow);
    return test_result();
}
