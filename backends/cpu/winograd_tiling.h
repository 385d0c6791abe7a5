/* winograd_tiling.h - how tiles cover the images of a batch, and where each tile's row stands in the matrices of a block.
 *
 * A side of `outputs` positions is cut into tiles of two lengths: the first `longs` yield m + 1 outputs from n + 1 points, the
 * others m from n. Both share the transformed filters of their first n points (winograd_lines.h), so the mix that needs the
 * fewest products is taken: 13 outputs of 3 taps are 5 + 4 + 4 with 7 + 6 + 6 = 19 points a side, not 4 * 6 = 24.
 *
 * A band is one row of tiles of one image; bands are numbered through the batch. A block is a run of bands that is worked on at once.
 * Its matrices - one a pair of points - have a row for each tile, ordered so that the tiles which use a pair are neighbours:
 *
 *     short bands' long tiles | long bands' long tiles | long bands' short tiles | short bands' short tiles
 *     all rows: pairs of the first n points;  the 2nd and 3rd part: extra point down;  the 1st and 2nd: extra point across
 */
#ifndef CAIRN_BACKENDS_CPU_WINOGRAD_TILING_H
#define CAIRN_BACKENDS_CPU_WINOGRAD_TILING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cairn_winograd_side {
    int outputs; /* positions to yield; the last tile may reach beyond */
    int tiles, longs;
    int points; /* that its tiles need at most: n, or n + 1 with a long tile */
} cairn_winograd_side;

typedef struct cairn_winograd_tiling {
    int taps;   /* side of the filter: 3 or 5 */
    int points; /* n of a short tile: 6 or 7 */
    int pad;    /* zeros before the first input; the input position of output i's first tap is i - pad */
    cairn_winograd_side down, across;
} cairn_winograd_tiling;

typedef struct cairn_winograd_block {
    ptrdiff_t first, bands;
    ptrdiff_t long_bands; /* of them */
} cairn_winograd_block;

/* One band as the transforms see it. */
typedef struct cairn_winograd_band {
    int image;                     /* in the batch */
    int top;                       /* first output row */
    int points;                    /* down: of each of its tiles */
    ptrdiff_t long_row, short_row; /* rows of its first long and its first short tile; the others follow */
} cairn_winograd_band;

/* False when the filter's side has no form here. */
bool cairn_winograd_tiling_make(int taps, int pad, int out_height, int out_width, cairn_winograd_tiling *tiling);

/* First output of tile i along a side. */
int cairn_winograd_tile_start(const cairn_winograd_tiling *tiling, const cairn_winograd_side *side, int tile);

cairn_winograd_block cairn_winograd_block_make(const cairn_winograd_tiling *tiling, ptrdiff_t first, ptrdiff_t bands);
cairn_winograd_band cairn_winograd_block_band(const cairn_winograd_tiling *tiling, const cairn_winograd_block *block,
                                              ptrdiff_t band);

/* Rows [*first, *first + returned) of the block's matrices use the pair of points (down, across). */
ptrdiff_t cairn_winograd_block_rows(const cairn_winograd_tiling *tiling, const cairn_winograd_block *block, int down,
                                    int across, ptrdiff_t *first);

#endif
