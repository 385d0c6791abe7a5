#include "backends/cpu/winograd_tiling.h"

/* Takes the fewest points: `tiles` tiles of n points, one more for each output that short tiles leave over. */
static cairn_winograd_side side_make(int outputs, int taps, int points)
{
    int yield = points - taps + 1;
    int tiles = (outputs + yield - 1) / yield, longs = 0;
    for (int fewer = (outputs + yield) / (yield + 1); fewer < (outputs + yield - 1) / yield; fewer++) {
        int needed = outputs - fewer * yield;
        if (fewer * points + needed >= tiles * points + longs) continue;
        tiles = fewer;
        longs = needed;
    }
    return (cairn_winograd_side){outputs, tiles, longs, longs ? points + 1 : points};
}

bool cairn_winograd_tiling_make(int taps, int pad, int out_height, int out_width, cairn_winograd_tiling *tiling)
{
    if (taps != 3 && taps != 5) return false;
    int points = taps == 3 ? 6 : 7;
    *tiling = (cairn_winograd_tiling){.taps = taps,
                                      .points = points,
                                      .pad = pad,
                                      .down = side_make(out_height, taps, points),
                                      .across = side_make(out_width, taps, points)};
    return true;
}

int cairn_winograd_tile_start(const cairn_winograd_tiling *tiling, const cairn_winograd_side *side, int tile)
{
    return tile * (tiling->points - tiling->taps + 1) + (tile < side->longs ? tile : side->longs);
}

/* Long bands among the first `bands` of the batch. */
static ptrdiff_t long_bands(const cairn_winograd_tiling *tiling, ptrdiff_t bands)
{
    ptrdiff_t rest = bands % tiling->down.tiles, longs = tiling->down.longs;
    return bands / tiling->down.tiles * longs + (rest < longs ? rest : longs);
}

cairn_winograd_block cairn_winograd_block_make(const cairn_winograd_tiling *tiling, ptrdiff_t first, ptrdiff_t bands)
{
    return (cairn_winograd_block){first, bands, long_bands(tiling, first + bands) - long_bands(tiling, first)};
}

cairn_winograd_band cairn_winograd_block_band(const cairn_winograd_tiling *tiling, const cairn_winograd_block *block,
                                              ptrdiff_t band)
{
    const cairn_winograd_side *down = &tiling->down, *across = &tiling->across;
    ptrdiff_t number = block->first + band;
    int tile = (int)(number % down->tiles);
    ptrdiff_t longs = long_bands(tiling, number) - long_bands(tiling, block->first); /* before this one */
    ptrdiff_t shorts = band - longs, short_bands = block->bands - block->long_bands;
    ptrdiff_t wide = across->longs, narrow = across->tiles - across->longs;
    bool tall = tile < down->longs;
    return (cairn_winograd_band){
        .image = (int)(number / down->tiles),
        .top = cairn_winograd_tile_start(tiling, down, tile),
        .points = tiling->points + tall,
        .long_row = tall ? (short_bands + longs) * wide : shorts * wide,
        .short_row = block->bands * wide + (tall ? longs : block->long_bands + shorts) * narrow,
    };
}

ptrdiff_t cairn_winograd_block_rows(const cairn_winograd_tiling *tiling, const cairn_winograd_block *block, int down,
                                    int across, ptrdiff_t *first)
{
    bool tall = down >= tiling->points, wide = across >= tiling->points;
    ptrdiff_t longs = tiling->across.longs;
    *first = tall ? (block->bands - block->long_bands) * longs : 0;
    if (wide) return block->bands * longs - *first;
    return tall ? block->long_bands * tiling->across.tiles : block->bands * tiling->across.tiles;
}
