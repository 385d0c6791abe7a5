/* Antialiased bilinear resize in two passes, rows first, on 8-bit RGB.
 *
 * Each result is a weighted sum of neighbours with weights of a triangle that is one pixel wide on either side when enlarging and as
 * wide as the scale when shrinking. Weights are whole numbers in units of 2^-22 and each pass rounds to 8 bits: the choices of Pillow's
 * ImagingResample, so that a net sees what nets trained elsewhere saw. The sums are exact, hence the same on every processor.
 */
#include "core/os.h"
#include "data/transform.h"
#include <math.h>
#include <string.h>

enum { WEIGHT_BITS = 22, ROUND = 1 << (WEIGHT_BITS - 1) };

/* The kernels below are compiled for AVX2 besides the baseline and picked when the program starts. Sanitizers can't stand that early choice. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ &&    \
    !defined __clang__
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int32_t words4 __attribute__((vector_size(16)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int32_t words16 __attribute__((vector_size(64)));

/* One direction: result i is the sum over t < taps of weight[i * taps + t] * source[first[i] + t]. */
typedef struct axis {
    int count, taps;
    int *first;
    int32_t *weight;
} axis;

/* The box [from, to) of one direction, and the pixels [low, high) that may count. */
typedef struct extent {
    double from, to;
    int low, high;
} extent;

static extent extent_of(double from, double to, int size, bool isolated)
{
    extent e = {.from = fmax(from, 0), .to = fmin(to, size), .low = 0, .high = size};
    if (isolated) {
        e.low = (int)floor(e.from);
        e.high = (int)ceil(e.to);
    }
    return e;
}

static double support_of(const extent *e, int count)
{
    double scale = (e->to - e->from) / count;
    return scale > 1 ? scale : 1;
}

/* The pixels that count for result i. */
static void reach(const extent *e, double support, double center, int *first, int *end)
{
    *first = (int)floor(center - support + 0.5);
    *end = (int)floor(center + support + 0.5);
    if (*first < e->low) *first = e->low;
    if (*end > e->high) *end = e->high;
}

/* The most taps any of `count` results can have. */
static int most_taps(const extent *e, int count)
{
    return 2 * (int)ceil(support_of(e, count)) + 1;
}

static double triangle(double x)
{
    return fmax(1 - fabs(x), 0);
}

/* Fills an axis whose arrays are already there. */
static void plan_axis(const extent *e, bool flip, axis *a)
{
    double scale = (e->to - e->from) / a->count, support = support_of(e, a->count);
    a->taps = 0;
    for (int i = 0; i < a->count; i++) {
        int first, end;
        reach(e, support, e->from + (i + 0.5) * scale, &first, &end);
        if (end - first > a->taps) a->taps = end - first;
    }
    /* Weights are rounded; past thousands of taps, down, so that their sum can't pass one and the result not 255. */
    double half = a->taps > 8192 ? 0 : 0.5;
    memset(a->weight, 0, sizeof *a->weight * (size_t)a->count * (size_t)a->taps);
    for (int i = 0; i < a->count; i++) {
        int place = flip ? a->count - 1 - i : i, first, end;
        double center = e->from + (i + 0.5) * scale, sum = 0;
        reach(e, support, center, &first, &end);
        for (int x = first; x < end; x++)
            sum += triangle((x - center + 0.5) / support);
        /* All results read the same number of pixels: where fewer count, the others weigh 0 and lie inside the picture. */
        a->first[place] = first + a->taps <= e->high ? first : e->high - a->taps;
        int32_t *weight = a->weight + (size_t)place * (size_t)a->taps;
        for (int x = first; x < end; x++)
            weight[x - a->first[place]] =
                (int32_t)(triangle((x - center + 0.5) / support) / sum * (1 << WEIGHT_BITS) + half);
    }
}

/* One row: a->count pixels out of `from`, which may be read one byte past its last pixel; `to` is written one byte past its own. The fourth
 * lane computes that byte's nonsense, and the next pixel overwrites it. */
FOR_EACH_PROCESSOR
static void resize_row(const axis *a, const uint8_t *restrict from, uint8_t *restrict to)
{
    const int32_t *weight = a->weight;
    for (int i = 0; i < a->count; i++, to += 3) {
        const uint8_t *pixel = from + (size_t)a->first[i] * 3;
        words4 sum = {ROUND, ROUND, ROUND, ROUND};
        for (int t = 0; t < a->taps; t++, pixel += 3) {
            bytes4 p;
            memcpy(&p, pixel, sizeof p);
            sum += __builtin_convertvector(p, words4) * *weight++;
        }
        bytes4 result = __builtin_convertvector(sum >> WEIGHT_BITS, bytes4);
        memcpy(to, &result, sizeof result);
    }
}

/* Row `i` of the result: `bytes` bytes (a multiple of 16) summed down the rows that count. */
FOR_EACH_PROCESSOR
static void blend_rows(const axis *a, int i, const uint8_t *restrict from, size_t stride, uint8_t *restrict to)
{
    const int32_t *weight = a->weight + (size_t)i * (size_t)a->taps;
    for (size_t at = 0; at < stride; at += sizeof(bytes16)) {
        const uint8_t *row = from + at;
        words16 sum = (words16){0} + ROUND;
        for (int t = 0; t < a->taps; t++, row += stride) {
            bytes16 p;
            memcpy(&p, row, sizeof p);
            sum += __builtin_convertvector(p, words16) * weight[t];
        }
        bytes16 result = __builtin_convertvector(sum >> WEIGHT_BITS, bytes16);
        memcpy(to + at, &result, sizeof result);
    }
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static cairn_status reserve(cairn_resize_scratch *scratch, size_t bytes)
{
    if (bytes <= scratch->bytes) return CAIRN_OK;
    cairn_resize_scratch_release(scratch);
    scratch->memory = cairn_os_aligned_alloc(bytes);
    if (!scratch->memory) return cairn_fail(CAIRN_MEMORY, "no memory to resize a picture (%zu bytes)", bytes);
    scratch->bytes = bytes;
    return CAIRN_OK;
}

/* Cuts the next block off the scratch memory. */
static void *take(uint8_t **memory, size_t bytes)
{
    void *block = *memory;
    *memory += round_up(bytes);
    return block;
}

cairn_status cairn_resize(const cairn_image *image, const cairn_window *window, int width, int height, uint8_t *rgb,
                          cairn_resize_scratch *scratch)
{
    extent across = extent_of(window->left, window->right, image->width, window->isolated);
    extent down = extent_of(window->top, window->bottom, image->height, window->isolated);
    if (!(across.from < across.to) || !(down.from < down.to) || width < 1 || height < 1)
        return cairn_fail(CAIRN_USAGE, "box %g %g %g %g to %d x %d holds nothing of a picture of %d x %d", window->left,
                          window->top, window->right, window->bottom, width, height, image->width, image->height);
    axis x = {.count = width}, y = {.count = height};
    size_t most_rows = (size_t)fmin(down.to - down.from + 2 * support_of(&down, height) + 8, image->height);
    size_t stride = round_up((size_t)width * 3 + 1), last_row = (size_t)image->width * 3;
    size_t x_weights = sizeof(int32_t) * (size_t)width * (size_t)most_taps(&across, width);
    size_t y_weights = sizeof(int32_t) * (size_t)height * (size_t)most_taps(&down, height);
    size_t firsts = round_up(sizeof(int) * (size_t)width) + round_up(sizeof(int) * (size_t)height);
    CAIRN_TRY(reserve(scratch, firsts + round_up(x_weights) + round_up(y_weights) + round_up(last_row + 1) + stride +
                                   stride * most_rows));
    uint8_t *memory = scratch->memory;
    x.first = take(&memory, sizeof(int) * (size_t)width);
    y.first = take(&memory, sizeof(int) * (size_t)height);
    x.weight = take(&memory, x_weights);
    y.weight = take(&memory, y_weights);
    uint8_t *padded = take(&memory, last_row + 1), *result = take(&memory, stride), *rows = memory;
    plan_axis(&across, window->flip, &x);
    plan_axis(&down, false, &y);

    int first = y.first[0], end = y.first[height - 1] + y.taps;
    for (int r = first; r < end; r++) {
        const uint8_t *row = image->rgb + (size_t)r * last_row;
        if (r == image->height - 1) row = memcpy(padded, row, last_row);
        resize_row(&x, row, rows + (size_t)(r - first) * stride);
    }
    for (int i = 0; i < height; i++) {
        blend_rows(&y, i, rows + (size_t)(y.first[i] - first) * stride, stride, result);
        memcpy(rgb + (size_t)i * (size_t)width * 3, result, (size_t)width * 3);
    }
    return CAIRN_OK;
}

void cairn_resize_scratch_release(cairn_resize_scratch *scratch)
{
    cairn_os_aligned_free(scratch->memory);
    *scratch = (cairn_resize_scratch){0};
}
