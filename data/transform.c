#include "data/transform.h"
#include "core/rng.h"
#include <math.h>
#include <string.h>

/* Numbers 0..22 of a sample's own stream; CAIRN_RNG_AUGMENT_DRAWS are set aside for it. */
enum { DRAW_FLIP, DRAW_X, DRAW_Y, DRAW_TRIES, RRC_TRIES = 10 };
_Static_assert(DRAW_TRIES + 2 * RRC_TRIES <= CAIRN_RNG_AUGMENT_DRAWS, "a sample draws more than is set aside");

static const char *const augment_names[] = {
    [CAIRN_AUGMENT_NONE] = "none", [CAIRN_AUGMENT_CROP] = "crop", [CAIRN_AUGMENT_RRC] = "rrc"};

const char *cairn_augment_name(cairn_augment_kind kind)
{
    return (size_t)kind < sizeof augment_names / sizeof *augment_names ? augment_names[kind] : "unknown";
}

cairn_status cairn_augment_parse(const char *text, cairn_augment_kind *out)
{
    for (size_t i = 0; i < sizeof augment_names / sizeof *augment_names; i++) {
        if (strcmp(text, augment_names[i]) == 0) {
            *out = (cairn_augment_kind)i;
            return CAIRN_OK;
        }
    }
    return cairn_fail(CAIRN_USAGE, "augment \"%s\" is not known: use none, crop or rrc", text);
}

cairn_preprocess cairn_preprocess_default(int size)
{
    return (cairn_preprocess){.size = size,
                              .resize = (size * 256 + 112) / 224,
                              .mean = {0.485f, 0.456f, 0.406f},
                              .std = {0.229f, 0.224f, 0.225f}};
}

/* The picture with its short side at `resize`; the long one is cut to a whole number, as torchvision does. */
static void resized(const cairn_preprocess *p, int width, int height, int64_t *new_width, int64_t *new_height)
{
    *new_width = width <= height ? p->resize : (int64_t)p->resize * width / height;
    *new_height = width <= height ? (int64_t)p->resize * height / width : p->resize;
}

/* The size x size window at (left, top) of the resized picture, in pixels of the picture itself. */
static cairn_window window_at(const cairn_preprocess *p, int width, int height, double left, double top)
{
    int64_t new_width, new_height;
    resized(p, width, height, &new_width, &new_height);
    double x = (double)width / (double)new_width, y = (double)height / (double)new_height;
    return (cairn_window){
        .left = left * x, .top = top * y, .right = (left + p->size) * x, .bottom = (top + p->size) * y};
}

/* How far the window can move in each direction: 0 where the resized picture is just as large. */
static void room(const cairn_preprocess *p, int width, int height, int64_t *x, int64_t *y)
{
    resized(p, width, height, x, y);
    *x = *x > p->size ? *x - p->size : 0;
    *y = *y > p->size ? *y - p->size : 0;
}

cairn_window cairn_window_eval(const cairn_preprocess *p, int width, int height)
{
    int64_t x, y;
    room(p, width, height, &x, &y);
    return window_at(p, width, height, nearbyint((double)x / 2), nearbyint((double)y / 2));
}

static cairn_window crop_window(const cairn_preprocess *p, int width, int height, cairn_rng rng, uint64_t draws)
{
    int64_t x, y;
    room(p, width, height, &x, &y);
    double left = (double)cairn_rng_below(rng, draws + DRAW_X, (uint32_t)x + 1);
    double top = (double)cairn_rng_below(rng, draws + DRAW_Y, (uint32_t)y + 1);
    return window_at(p, width, height, left, top);
}

static cairn_window whole_pixels(double left, double top, double width, double height)
{
    return (cairn_window){.left = left, .top = top, .right = left + width, .bottom = top + height, .isolated = true};
}

static cairn_window rrc_window(int width, int height, cairn_rng rng, uint64_t draws)
{
    const double least_area = 0.08, least_ratio = 3.0 / 4, largest_ratio = 4.0 / 3;
    double area = (double)width * height;
    for (int i = 0; i < RRC_TRIES; i++) {
        uint64_t draw = draws + DRAW_TRIES + 2 * (uint64_t)i;
        double target = area * (least_area + (1 - least_area) * (double)cairn_rng_uniform(rng, draw));
        double u = (double)cairn_rng_uniform(rng, draw + 1);
        double ratio = exp(log(least_ratio) + (log(largest_ratio) - log(least_ratio)) * u);
        double w = nearbyint(sqrt(target * ratio)), h = nearbyint(sqrt(target / ratio));
        if (w < 1 || h < 1 || w > width || h > height) continue;
        double left = (double)cairn_rng_below(rng, draws + DRAW_X, (uint32_t)(width - w) + 1);
        double top = (double)cairn_rng_below(rng, draws + DRAW_Y, (uint32_t)(height - h) + 1);
        return whole_pixels(left, top, w, h);
    }
    double w = width, h = height; /* the centre, with the ratio the picture has or the nearest allowed */
    if (w / h < least_ratio) h = fmax(nearbyint(w / least_ratio), 1);
    if (w / h > largest_ratio) w = fmax(nearbyint(h * largest_ratio), 1);
    return whole_pixels(floor((width - w) / 2), floor((height - h) / 2), w, h);
}

cairn_window cairn_window_train(cairn_augment_kind kind, const cairn_preprocess *p, int width, int height,
                                uint64_t seed, uint32_t epoch, uint64_t sample)
{
    if (kind == CAIRN_AUGMENT_NONE) return cairn_window_eval(p, width, height);
    cairn_rng rng = cairn_rng_make(seed, CAIRN_RNG_AUGMENT, 0, epoch);
    uint64_t draws = sample * CAIRN_RNG_AUGMENT_DRAWS;
    cairn_window window =
        kind == CAIRN_AUGMENT_CROP ? crop_window(p, width, height, rng, draws) : rrc_window(width, height, rng, draws);
    window.flip = (cairn_rng_bits(rng, draws + DRAW_FLIP) & 1) != 0;
    return window;
}
