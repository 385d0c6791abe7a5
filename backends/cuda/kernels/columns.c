/* columns.c - how sums over rows are divided among blocks; see columns.cuh. */
#include "backends/cuda/kernels/launch.h"

#define THREADS     256  /* CAIRN_THREADS, which C can't see */
#define MOST_ACROSS 32   /* a warp's 512 bytes side by side: whole lines, and enough rows below */
#define MOST_BLOCKS 1024 /* some for every multiprocessor there is */
#define LEAST_ROWS  8    /* that a thread adds up, so that partial sums are few beside what they sum */

cairn_columns cairn_columns_of(int64_t rows, int64_t channels, cairn_dtype dtype)
{
    int64_t width = 16 / (int64_t)cairn_dtype_size(dtype), packs = (channels + width - 1) / width;
    cairn_columns c = {.rows = rows, .channels = channels, .across = 1};
    while (c.across < MOST_ACROSS && c.across < packs)
        c.across *= 2;
    c.groups = (int)((packs + c.across - 1) / c.across);
    int64_t tall = (int64_t)(THREADS / c.across) * LEAST_ROWS, blocks = (rows + tall - 1) / tall;
    int64_t most = MOST_BLOCKS / c.groups;
    if (blocks > most) blocks = most;
    c.blocks = blocks < 1 ? 1 : (int)blocks;
    return c;
}

size_t cairn_columns_bytes(const cairn_columns *columns, int sums)
{
    return (size_t)sums * (size_t)columns->blocks * (size_t)columns->channels * sizeof(float);
}
