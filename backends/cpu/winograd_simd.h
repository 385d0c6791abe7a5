/* winograd_simd.h - the functions of winograd_kernel.h for one vector width. A file that includes this defines first
 *
 *     WINOGRAD_LANES     floats a vector
 *     WINOGRAD_ROWS      rows of the register block of the matrix product; it is two vectors wide
 *     WINOGRAD_KERNEL    name of the table to define
 *     WINOGRAD_NAME      of the instruction set, for people
 *
 * and is compiled with that instruction set and with multiply-adds contracted. The vectors are the compiler's own, so any width
 * compiles - and can be tested - on any processor.
 */
#ifndef CAIRN_BACKENDS_CPU_WINOGRAD_SIMD_H
#define CAIRN_BACKENDS_CPU_WINOGRAD_SIMD_H

#include "backends/cpu/winograd_kernel.h"

enum { LANES = WINOGRAD_LANES };
typedef float vec __attribute__((vector_size(WINOGRAD_LANES * sizeof(float)), may_alias));
typedef int bits __attribute__((vector_size(WINOGRAD_LANES * sizeof(float)), may_alias));

#include "backends/cpu/winograd_lines.h"
#include "backends/cpu/winograd_multiply.h"

#define MOST WINOGRAD_MOST_POINTS

/* The vector at an address, to read or to write. A function that returned one would have no common ABI without AVX-512. */
#define AT(address) (*(vec *)(address))

WINOGRAD_INLINE float *element(const cairn_winograd_matrices *m, ptrdiff_t row, ptrdiff_t column)
{
    return m->data + row * m->row + column / (2 * LANES) * m->panel + column % (2 * LANES);
}

/* A tile: its place in the image and in the matrices. */
typedef struct tile {
    int top, left;    /* of its outputs */
    int down, across; /* points */
    ptrdiff_t row;
} tile;

WINOGRAD_INLINE tile tile_of(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band, int i)
{
    int longs = tiling->across.longs;
    return (tile){.top = band->top,
                  .left = cairn_winograd_tile_start(tiling, &tiling->across, i),
                  .down = band->points,
                  .across = tiling->points + (i < longs),
                  .row = i < longs ? band->long_row + i : band->short_row + i - longs};
}

/* ------------------------------------------------------------------------------------------------------ input: B^T d B */

WINOGRAD_INLINE void data_tile(int down, int across, const float *pixel, ptrdiff_t pixel_row, float *out,
                               ptrdiff_t pair_row, ptrdiff_t pair)
{
    vec columns[MOST][MOST];
    for (int j = 0; j < across; j++) {
        vec d[MOST], line[MOST];
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            d[i] = AT(pixel + i * pixel_row + j * LANES);
        winograd_data_line(down, d, line);
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            columns[i][j] = line[i];
    }
    for (int i = 0; i < down; i++) {
        vec line[MOST];
        winograd_data_line(across, columns[i], line);
#pragma GCC unroll 8
        for (int j = 0; j < across; j++)
            AT(out + i * pair_row + j * pair) = line[j];
    }
}

/* Copies the part of a tile's input that lies in the image and zeros for the rest. */
static void data_edge(const float *pixels, int height, int width, int top, int left, int down, int across,
                      vec copy[MOST * MOST])
{
    for (int i = 0; i < down; i++)
        for (int j = 0; j < across; j++) {
            int y = top + i, x = left + j;
            bool inside = y >= 0 && y < height && x >= 0 && x < width;
            copy[i * MOST + j] = inside ? AT(pixels + ((ptrdiff_t)y * width + x) * LANES) : (vec){0};
        }
}

/* The sizes a tile can have, as constants. */
#define WINOGRAD_BY_SIZE(function, down, across, ...)                                                                  \
    switch ((down)*10 + (across)) {                                                                                    \
    case 66:                                                                                                           \
        function(6, 6, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    case 67:                                                                                                           \
        function(6, 7, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    case 76:                                                                                                           \
        function(7, 6, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    case 77:                                                                                                           \
        function(7, 7, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    case 78:                                                                                                           \
        function(7, 8, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    case 87:                                                                                                           \
        function(8, 7, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    default:                                                                                                           \
        function(8, 8, __VA_ARGS__);                                                                                   \
        break;                                                                                                         \
    }

static void data_band(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                      const cairn_winograd_image *image, const cairn_winograd_matrices *v)
{
    int height = image->height, width = image->width;
    ptrdiff_t pair_row = v->point * tiling->across.points;
    for (int i = 0; i < tiling->across.tiles; i++) {
        tile t = tile_of(tiling, band, i);
        int top = t.top - tiling->pad, left = t.left - tiling->pad;
        bool inside = top >= 0 && left >= 0 && top + t.down <= height && left + t.across <= width;
        for (int block = 0; block < image->blocks; block++) {
            const float *pixels = image->pixels + (ptrdiff_t)block * height * width * LANES;
            float *out = element(v, t.row, (ptrdiff_t)block * LANES);
            const float *from = pixels + ((ptrdiff_t)top * width + left) * LANES;
            ptrdiff_t from_row = (ptrdiff_t)width * LANES;
            vec copy[MOST * MOST];
            if (!inside) {
                data_edge(pixels, height, width, top, left, t.down, t.across, copy);
                from = (const float *)copy;
                from_row = MOST * LANES;
            }
            WINOGRAD_BY_SIZE(data_tile, t.down, t.across, from, from_row, out, pair_row, v->point)
        }
    }
}

/* ----------------------------------------------------------------------------------------- output: A^T m A, and A dy A^T */

WINOGRAD_INLINE void output_tile(int down, int across, int taps, const float *in, ptrdiff_t pair_row, ptrdiff_t pair,
                                 vec out[MOST * MOST])
{
    const float *scale_down = winograd_output_scale[down - 6], *scale_across = winograd_output_scale[across - 6];
    int high = down - taps + 1, wide = across - taps + 1;
    vec columns[MOST][MOST];
    for (int j = 0; j < across; j++) {
        vec m[MOST], line[MOST];
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            m[i] = AT(in + i * pair_row + j * pair);
        winograd_collect_line(high, down, scale_down, m, line);
#pragma GCC unroll 8
        for (int i = 0; i < high; i++)
            columns[i][j] = line[i];
    }
    for (int i = 0; i < high; i++)
        winograd_collect_line(wide, across, scale_across, columns[i], out + i * MOST);
}

#define OUTPUT_OF_3(down, across, ...) output_tile(down, across, 3, __VA_ARGS__)
#define OUTPUT_OF_5(down, across, ...) output_tile(down, across, 5, __VA_ARGS__)

/* Rows and columns of a tile's outputs that lie in the image. */
WINOGRAD_INLINE int cut(int start, int count, int end)
{
    return start + count <= end ? count : end - start;
}

static void output_band(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                        const cairn_winograd_matrices *m, const float *bias, bool relu,
                        const cairn_winograd_image *image)
{
    int height = image->height, width = image->width;
    ptrdiff_t pair_row = m->point * tiling->across.points;
    for (int n = 0; n < tiling->across.tiles; n++) {
        tile t = tile_of(tiling, band, n);
        int high = cut(t.top, t.down - tiling->taps + 1, height),
            wide = cut(t.left, t.across - tiling->taps + 1, width);
        for (int block = 0; block < image->blocks; block++) {
            const float *in = element(m, t.row, (ptrdiff_t)block * LANES);
            vec out[MOST * MOST];
            if (tiling->taps == 3)
                WINOGRAD_BY_SIZE(OUTPUT_OF_3, t.down, t.across, in, pair_row, m->point, out)
            else
                WINOGRAD_BY_SIZE(OUTPUT_OF_5, t.down, t.across, in, pair_row, m->point, out)
            vec shift = bias ? AT(bias + (ptrdiff_t)block * LANES) : (vec){0};
            float *to = image->pixels + (((ptrdiff_t)block * height + t.top) * width + t.left) * LANES;
            for (int i = 0; i < high; i++)
                for (int j = 0; j < wide; j++) {
                    vec y = out[i * MOST + j] + shift;
                    if (relu) y = (vec)(~(y <= 0.0f) & (bits)y); /* keeps NaN */
                    AT(to + ((ptrdiff_t)i * width + j) * LANES) = y;
                }
        }
    }
}

WINOGRAD_INLINE void gradient_tile(int down, int across, int taps, const vec in[MOST * MOST], float *out,
                                   ptrdiff_t pair_row, ptrdiff_t pair)
{
    const float *scale_down = winograd_output_scale[down - 6], *scale_across = winograd_output_scale[across - 6];
    int high = down - taps + 1, wide = across - taps + 1;
    vec columns[MOST][MOST];
    for (int j = 0; j < wide; j++) {
        vec dy[MOST], line[MOST];
#pragma GCC unroll 8
        for (int i = 0; i < high; i++)
            dy[i] = in[i * MOST + j];
        winograd_evaluate_line(high, down, scale_down, dy, line);
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            columns[i][j] = line[i];
    }
    for (int i = 0; i < down; i++) {
        vec line[MOST];
        winograd_evaluate_line(wide, across, scale_across, columns[i], line);
#pragma GCC unroll 8
        for (int j = 0; j < across; j++)
            AT(out + i * pair_row + j * pair) = line[j];
    }
}

#define GRADIENT_OF_3(down, across, ...) gradient_tile(down, across, 3, __VA_ARGS__)
#define GRADIENT_OF_5(down, across, ...) gradient_tile(down, across, 5, __VA_ARGS__)

static void gradient_band(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                          const cairn_winograd_image *image, const cairn_winograd_matrices *m)
{
    int height = image->height, width = image->width;
    ptrdiff_t pair_row = m->point * tiling->across.points;
    for (int n = 0; n < tiling->across.tiles; n++) {
        tile t = tile_of(tiling, band, n);
        int high = t.down - tiling->taps + 1, wide = t.across - tiling->taps + 1;
        for (int block = 0; block < image->blocks; block++) {
            const float *pixels = image->pixels + (ptrdiff_t)block * height * width * LANES;
            vec dy[MOST * MOST];
            data_edge(pixels, height, width, t.top, t.left, high, wide, dy);
            float *out = element(m, t.row, (ptrdiff_t)block * LANES);
            if (tiling->taps == 3)
                WINOGRAD_BY_SIZE(GRADIENT_OF_3, t.down, t.across, dy, out, pair_row, m->point)
            else
                WINOGRAD_BY_SIZE(GRADIENT_OF_5, t.down, t.across, dy, out, pair_row, m->point)
        }
        if (image->blocks % 2) {
            float *rest = element(m, t.row, (ptrdiff_t)image->blocks * LANES);
            for (int i = 0; i < t.down; i++)
                for (int j = 0; j < t.across; j++)
                    AT(rest + i * pair_row + j * m->point) = (vec){0};
        }
    }
}

/* -------------------------------------------------------------------------------------------------- filters: G w G^T */

/* Taps [taps][taps][row][column lane] of a filter block as the backward pass to the data wants them. */
static void flip_block(int taps, const float *block, float *flipped)
{
    int count = taps * taps;
    for (int tap = 0; tap < count; tap++)
        for (int in = 0; in < LANES; in++)
            for (int out = 0; out < LANES; out++)
                flipped[((count - 1 - tap) * LANES + out) * LANES + in] = block[(tap * LANES + in) * LANES + out];
}

WINOGRAD_INLINE void filter_tile(int down, int across, int taps, const float *block, float *out, ptrdiff_t pair_row,
                                 ptrdiff_t pair)
{
    vec columns[MOST][WINOGRAD_MOST_TAPS];
    for (int j = 0; j < taps; j++) {
        vec w[WINOGRAD_MOST_TAPS], line[MOST];
#pragma GCC unroll 8
        for (int i = 0; i < taps; i++)
            w[i] = AT(block + (i * taps + j) * LANES * LANES);
        winograd_evaluate_line(taps, down, winograd_filter_scale, w, line);
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            columns[i][j] = line[i];
    }
    for (int i = 0; i < down; i++) {
        vec line[MOST];
        winograd_evaluate_line(taps, across, winograd_filter_scale, columns[i], line);
#pragma GCC unroll 8
        for (int j = 0; j < across; j++)
            AT(out + i * pair_row + j * pair) = line[j];
    }
}

#define FILTER_OF_3(down, across, ...) filter_tile(down, across, 3, __VA_ARGS__)
#define FILTER_OF_5(down, across, ...) filter_tile(down, across, 5, __VA_ARGS__)

static void filter_block(const cairn_winograd_tiling *tiling, const float *block, bool flipped,
                         const cairn_winograd_matrices *u, ptrdiff_t row, ptrdiff_t column)
{
    vec turned[WINOGRAD_MOST_TAPS * WINOGRAD_MOST_TAPS * LANES];
    ptrdiff_t pair_row = u->point * tiling->across.points;
    if (flipped) {
        flip_block(tiling->taps, block, (float *)turned);
        block = (const float *)turned;
    }
    for (int i = 0; i < LANES; i++) {
        float *out = element(u, row + i, column);
        const float *w = block + i * LANES;
        if (tiling->taps == 3)
            WINOGRAD_BY_SIZE(FILTER_OF_3, tiling->down.points, tiling->across.points, w, out, pair_row, u->point)
        else
            WINOGRAD_BY_SIZE(FILTER_OF_5, tiling->down.points, tiling->across.points, w, out, pair_row, u->point)
    }
}

WINOGRAD_INLINE void filter_gradient_tile(int down, int across, int taps, const float *in, ptrdiff_t pair_row,
                                          ptrdiff_t pair, float *block)
{
    vec columns[WINOGRAD_MOST_TAPS][MOST];
    for (int j = 0; j < across; j++) {
        vec du[MOST], line[WINOGRAD_MOST_TAPS];
#pragma GCC unroll 8
        for (int i = 0; i < down; i++)
            du[i] = AT(in + i * pair_row + j * pair);
        winograd_collect_line(taps, down, winograd_filter_scale, du, line);
#pragma GCC unroll 8
        for (int i = 0; i < taps; i++)
            columns[i][j] = line[i];
    }
    for (int i = 0; i < taps; i++) {
        vec line[WINOGRAD_MOST_TAPS];
        winograd_collect_line(taps, across, winograd_filter_scale, columns[i], line);
#pragma GCC unroll 8
        for (int j = 0; j < taps; j++)
            AT(block + (i * taps + j) * LANES * LANES) = line[j];
    }
}

#define FILTER_GRADIENT_OF_3(down, across, ...) filter_gradient_tile(down, across, 3, __VA_ARGS__)
#define FILTER_GRADIENT_OF_5(down, across, ...) filter_gradient_tile(down, across, 5, __VA_ARGS__)

static void filter_gradient_block(const cairn_winograd_tiling *tiling, const cairn_winograd_matrices *du, ptrdiff_t row,
                                  ptrdiff_t column, float *block)
{
    ptrdiff_t pair_row = du->point * tiling->across.points;
    for (int i = 0; i < LANES; i++) {
        const float *in = element(du, row + i, column);
        float *w = block + i * LANES;
        if (tiling->taps == 3)
            WINOGRAD_BY_SIZE(FILTER_GRADIENT_OF_3, tiling->down.points, tiling->across.points, in, pair_row, du->point,
                             w)
        else
            WINOGRAD_BY_SIZE(FILTER_GRADIENT_OF_5, tiling->down.points, tiling->across.points, in, pair_row, du->point,
                             w)
    }
}

const cairn_winograd_kernel WINOGRAD_KERNEL = {
    .lanes = LANES,
    .name = WINOGRAD_NAME,
    .data = data_band,
    .output = output_band,
    .gradient = gradient_band,
    .filters = filter_block,
    .filter_gradient = filter_gradient_block,
    .multiply = winograd_multiply,
};

#endif
