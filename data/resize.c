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

/* The three channels of a pixel and one more number that nobody looks at. */
typedef int32_t pixel __attribute__((vector_size(16)));

/* One direction: result i is the sum over t < taps of weight[i * taps + t] * source[first[i] + t]. */
typedef struct axis {
    int count, taps;
    int from, to; /* the span of the source that counts */
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
    int left = e->high, right = e->low;
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
        if (a->first[place] < left) left = a->first[place];
        if (a->first[place] + a->taps > right) right = a->first[place] + a->taps;
        int32_t *weight = a->weight + (size_t)place * (size_t)a->taps;
        for (int x = first; x < end; x++)
            weight[x - a->first[place]] =
                (int32_t)(triangle((x - center + 0.5) / support) / sum * (1 << WEIGHT_BITS) + half);
    }
    a->from = left;
    a->to = right;
}

/* The pixels of a row that was made wide. Inlined with a constant `taps`, for the usual numbers of them, so that the loop is unrolled. */
static inline __attribute__((always_inline)) void sum_pixels(const axis *a, int taps, const int32_t *restrict wide,
                                                             int32_t *restrict to)
{
    const int32_t *weight = a->weight;
    for (int i = 0; i < a->count; i++, to += 3, weight += taps) {
        const int32_t *source = wide + (size_t)(a->first[i] - a->from) * 3;
        pixel sum = {ROUND, ROUND, ROUND, ROUND};
        for (int t = 0; t < taps; t++) {
            pixel p;
            memcpy(&p, source + (size_t)t * 3, sizeof p);
            sum += p * weight[t];
        }
        sum >>= WEIGHT_BITS;
        memcpy(to, &sum, sizeof sum); /* the next pixel overwrites the fourth number */
    }
}

/* One row of the source to a->count pixels of three numbers each. `wide` has room for the span and one more number; one number past the
 * end of `to` is written. */
FOR_EACH_PROCESSOR
static void resize_row(const axis *a, const uint8_t *restrict from, int32_t *restrict wide, int32_t *restrict to)
{
    int span = (a->to - a->from) * 3;
    from += (size_t)a->from * 3;
    for (int i = 0; i < span; i++)
        wide[i] = from[i];
    wide[span] = 0;
    switch (a->taps) {
    case 2:
        sum_pixels(a, 2, wide, to);
        break;
    case 3:
        sum_pixels(a, 3, wide, to);
        break;
    case 4:
        sum_pixels(a, 4, wide, to);
        break;
    case 5:
        sum_pixels(a, 5, wide, to);
        break;
    default:
        sum_pixels(a, a->taps, wide, to);
    }
}

/* Row `i` of the result, `count` numbers: the weighted sum of the rows that count, which lie in a ring of a->taps rows. Four at a time, so
 * that sums stay in registers; the last four are filled up with rows that weigh nothing. */
FOR_EACH_PROCESSOR
static void blend_rows(const axis *a, int i, const int32_t *ring, size_t stride, int count, int32_t *restrict sum,
                       uint8_t *restrict to)
{
    const int32_t *weight = a->weight + (size_t)i * (size_t)a->taps;
    for (int k = 0; k < count; k++)
        sum[k] = ROUND;
    for (int t = 0; t < a->taps; t += 4) {
        const int32_t *row[4];
        int32_t w[4];
        for (int n = 0; n < 4; n++) {
            bool counts = t + n < a->taps;
            row[n] = ring + (size_t)((a->first[i] + (counts ? t + n : t)) % a->taps) * stride;
            w[n] = counts ? weight[t + n] : 0;
        }
        const int32_t *restrict r0 = row[0], *restrict r1 = row[1], *restrict r2 = row[2], *restrict r3 = row[3];
        for (int k = 0; k < count; k++)
            sum[k] += w[0] * r0[k] + w[1] * r1[k] + w[2] * r2[k] + w[3] * r3[k];
    }
    for (int k = 0; k < count; k++)
        to[k] = (uint8_t)(sum[k] >> WEIGHT_BITS);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Makes the scratch memory large enough for blocks of these sizes, each aligned, and says where they lie. */
static cairn_status reserve(cairn_resize_scratch *scratch, const size_t *sizes, int count, void **block)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += round_up(sizes[i]);
    if (bytes > scratch->bytes) {
        cairn_resize_scratch_release(scratch);
        scratch->memory = cairn_os_aligned_alloc(bytes);
        if (!scratch->memory) return cairn_fail(CAIRN_MEMORY, "no memory to resize a picture (%zu bytes)", bytes);
        scratch->bytes = bytes;
    }
    uint8_t *memory = scratch->memory;
    for (int i = 0; i < count; i++) {
        block[i] = memory;
        memory += round_up(sizes[i]);
    }
    return CAIRN_OK;
}

cairn_status cairn_resize(const cairn_image *image, const cairn_window *window, int width, int height, uint8_t *rgb,
                          cairn_resize_scratch *scratch)
{
    extent across = extent_of(window->left, window->right, image->width, window->isolated);
    extent down = extent_of(window->top, window->bottom, image->height, window->isolated);
    if (!(window->left < window->right) || !(window->top < window->bottom) || !(across.from < across.to) ||
        !(down.from < down.to) || width < 1 || height < 1)
        return cairn_fail(CAIRN_USAGE, "box %g %g %g %g to %d x %d holds nothing of a picture of %d x %d", window->left,
                          window->top, window->right, window->bottom, width, height, image->width, image->height);
    axis x = {.count = width}, y = {.count = height};
    int x_taps = most_taps(&across, width), y_taps = most_taps(&down, height), samples = width * 3;
    size_t stride = round_up(((size_t)samples + 1) * sizeof(int32_t));
    size_t sizes[] = {sizeof(int) * (size_t)width,
                      sizeof(int) * (size_t)height,
                      sizeof(int32_t) * (size_t)width * (size_t)x_taps,
                      sizeof(int32_t) * (size_t)height * (size_t)y_taps,
                      sizeof(int32_t) * ((size_t)image->width * 3 + 1),
                      stride,
                      stride * (size_t)y_taps};
    void *block[sizeof sizes / sizeof *sizes];
    CAIRN_TRY(reserve(scratch, sizes, sizeof sizes / sizeof *sizes, block));
    x.first = block[0];
    y.first = block[1];
    x.weight = block[2];
    y.weight = block[3];
    int32_t *wide = block[4], *sum = block[5], *ring = block[6];
    plan_axis(&across, window->flip, &x);
    plan_axis(&down, false, &y);

    stride /= sizeof(int32_t);
    int next = y.from; /* row to be resized next; those that the current result needs stay in the ring */
    for (int i = 0; i < height; i++) {
        for (; next < y.first[i] + y.taps; next++)
            resize_row(&x, image->rgb + (size_t)next * (size_t)image->width * 3, wide,
                       ring + (size_t)(next % y.taps) * stride);
        blend_rows(&y, i, ring, stride, samples, sum, rgb + (size_t)i * (size_t)samples);
    }
    return CAIRN_OK;
}

void cairn_resize_scratch_release(cairn_resize_scratch *scratch)
{
    cairn_os_aligned_free(scratch->memory);
    *scratch = (cairn_resize_scratch){0};
}
