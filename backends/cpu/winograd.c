/* Our own Winograd convolution, stride 1: tiles F(4x4,3x3) and F(5x5,3x3) for filters of 3x3, F(3x3,5x5) and F(4x4,5x5) for 5x5.
 *
 * Forward: u = G w G^T once; then, a block of tiles at a time and each thread on its own, v = B^T x B, one product m = v u a pair of
 * points, y = A^T m A with bias and ReLU. Blocks are small enough for v and m to stay in the caches. The backward pass to the data is
 * the same with turned filters. The backward pass to the filters needs du = sum over tiles of v^T (A dy A^T): a chunk of tiles is
 * transformed by all threads, then each pair of points, and so each element of du, is summed by one thread; no sum depends on the
 * number of threads. */
#include "backends/cpu/conv2d_candidate.h"
#include "backends/cpu/winograd_kernel.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Tiles of a block and of a chunk, about: whole bands are taken. With fewer, the transformed filters of a forward pass, or the sums of
 * a backward pass to them, come from memory more often; with more, a block leaves the caches and the threads idle at the end. */
enum { LEAST_BLOCK_TILES = 24, MOST_BLOCK_TILES = 72, CHUNK_TILES = 144 };
enum { BLOCKS_PER_THREAD = 3 };
enum { SLICE_CHANNELS = 64 }; /* output channels whose products are in memory at a time, in a forward pass */

/* Matrices at a place in the workspace; `shape.data` is filled in by at(). */
typedef struct region {
    ptrdiff_t start; /* floats */
    cairn_winograd_matrices shape;
} region;

typedef struct winograd {
    cairn_conv2d_candidate candidate; /* first: what the user of this holds */
    const cairn_winograd_kernel *kernel;
    cairn_winograd_tiling tiling;
    int lanes, threads;
    bool has_bias, relu, flipped;
    int groups;
    /* What is transformed by B and what by A: src and dst, for backward to the data diff_dst and diff_src. Blocks of a group. */
    int in_blocks, in_height, in_width, out_blocks, out_height, out_width;
    ptrdiff_t bands, block_bands; /* of the batch, of a block or chunk */
    ptrdiff_t panels;             /* of a group's output channels, 2 lanes each; the last may be half used */
    ptrdiff_t slice_panels;       /* forward: of them at a time */
    region u;    /* transformed filters of the first group, the others behind; or their gradient, of one group */
    region v, m; /* one block's data and products or gradients; the first thread's where each has its own */
    ptrdiff_t thread_floats; /* from one thread's v and m to the next's */
} winograd;

static ptrdiff_t ceiling(ptrdiff_t value, ptrdiff_t unit)
{
    return (value + unit - 1) / unit;
}

static ptrdiff_t least(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static ptrdiff_t most(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

static cairn_winograd_matrices at(const region *r, float *workspace)
{
    return (cairn_winograd_matrices){workspace + r->start, r->shape.point, r->shape.row, r->shape.panel};
}

static ptrdiff_t pairs(const winograd *w)
{
    return (ptrdiff_t)w->tiling.down.points * w->tiling.across.points;
}

/* A pair's matrix within matrices that hold one for each. */
static float *of_pair(const cairn_winograd_matrices *m, int pair, ptrdiff_t row)
{
    return m->data + pair * m->point + row * m->row;
}

/* ------------------------------------------------------------------------------------------------ forward, and to the data */

/* The channels of one group in the image that a band belongs to. */
static cairn_winograd_image in_image(const winograd *w, const float *pixels, const cairn_winograd_band *band, int group)
{
    ptrdiff_t floats = (ptrdiff_t)w->in_blocks * w->in_height * w->in_width * w->lanes;
    ptrdiff_t number = (ptrdiff_t)band->image * w->groups + group;
    return (cairn_winograd_image){(float *)pixels + number * floats, w->in_height, w->in_width, w->in_blocks};
}

static cairn_winograd_image out_image(const winograd *w, const float *pixels, const cairn_winograd_band *band,
                                      int group)
{
    ptrdiff_t floats = (ptrdiff_t)w->out_blocks * w->out_height * w->out_width * w->lanes;
    ptrdiff_t number = (ptrdiff_t)band->image * w->groups + group;
    return (cairn_winograd_image){(float *)pixels + number * floats, w->out_height, w->out_width, w->out_blocks};
}

/* Floats of a block of filters, and of a group of them. */
static ptrdiff_t block_floats(const winograd *w)
{
    return (ptrdiff_t)w->tiling.taps * w->tiling.taps * w->lanes * w->lanes;
}

static ptrdiff_t group_floats(const winograd *w)
{
    return block_floats(w) * w->in_blocks * w->out_blocks;
}

/* The transformed filters of a group. */
static cairn_winograd_matrices filters_of(const winograd *w, int group, float *workspace)
{
    cairn_winograd_matrices u = at(&w->u, workspace);
    u.data += group * pairs(w) * u.point;
    return u;
}

static void transform_filters(const winograd *w, const float *weights, float *workspace)
{
#pragma omp for schedule(static) collapse(3)
    for (int group = 0; group < w->groups; group++)
        for (int out = 0; out < w->out_blocks; out++)
            for (int in = 0; in < w->in_blocks; in++) {
                cairn_winograd_matrices u = filters_of(w, group, workspace);
                ptrdiff_t block = w->flipped ? (ptrdiff_t)in * w->out_blocks + out : (ptrdiff_t)out * w->in_blocks + in;
                w->kernel->filters(&w->tiling, weights + group * group_floats(w) + block * block_floats(w), w->flipped,
                                   &u, (ptrdiff_t)in * w->lanes, (ptrdiff_t)out * w->lanes);
            }
}

/* m = v u for the panels [first, first + count), at every pair of points. */
static void multiply_block(const winograd *w, const cairn_winograd_block *block, const cairn_winograd_matrices *v,
                           const cairn_winograd_matrices *u, const cairn_winograd_matrices *m, ptrdiff_t first,
                           ptrdiff_t count)
{
    for (int down = 0; down < w->tiling.down.points; down++)
        for (int across = 0; across < w->tiling.across.points; across++) {
            ptrdiff_t row, rows = cairn_winograd_block_rows(&w->tiling, block, down, across, &row);
            int pair = cairn_winograd_pair(&w->tiling, down, across);
            w->kernel->multiply(&(cairn_winograd_product){.rows = rows,
                                                          .steps = (ptrdiff_t)w->in_blocks * w->lanes,
                                                          .panels = count,
                                                          .a = of_pair(v, pair, row),
                                                          .a_row = v->row,
                                                          .a_step = 1,
                                                          .b = of_pair(u, pair, 0) + first * u->panel,
                                                          .b_step = u->row,
                                                          .b_panel = u->panel,
                                                          .c = of_pair(m, pair, row),
                                                          .c_row = m->row,
                                                          .c_panel = m->panel});
        }
}

/* The output of one block of tiles in one group. */
static void forward_block(const winograd *w, const cairn_operands *operands, const cairn_winograd_block *block,
                          int group, const cairn_winograd_matrices *u, float *workspace)
{
    const float *in = w->flipped ? operands->diff_dst : operands->src;
    float *out = w->flipped ? operands->diff_src : operands->dst;
    cairn_winograd_matrices v = at(&w->v, workspace), m = at(&w->m, workspace);
    for (ptrdiff_t i = 0; i < block->bands; i++) {
        cairn_winograd_band band = cairn_winograd_block_band(&w->tiling, block, i);
        cairn_winograd_image image = in_image(w, in, &band, group);
        w->kernel->data(&w->tiling, &band, &image, &v);
    }
    for (ptrdiff_t panel = 0; panel < w->panels; panel += w->slice_panels) {
        ptrdiff_t count = least(w->slice_panels, w->panels - panel);
        multiply_block(w, block, &v, u, &m, panel, count);
        int first = (int)(2 * panel), blocks = (int)least(2 * count, w->out_blocks - first);
        const float *bias = operands->bias;
        if (bias) bias += ((ptrdiff_t)group * w->out_blocks + first) * w->lanes;
        for (ptrdiff_t i = 0; i < block->bands; i++) {
            cairn_winograd_band band = cairn_winograd_block_band(&w->tiling, block, i);
            cairn_winograd_image image = out_image(w, out, &band, group);
            image.pixels += (ptrdiff_t)first * w->out_height * w->out_width * w->lanes;
            image.blocks = blocks;
            w->kernel->output(&w->tiling, &band, &m, w->has_bias ? bias : NULL, w->relu, &image);
        }
    }
}

static cairn_status run_forward(const cairn_conv2d_candidate *candidate, const cairn_operands *operands)
{
    const winograd *w = (const winograd *)candidate;
    float *workspace = operands->workspace;
#pragma omp parallel num_threads(w->threads)
    {
        float *mine = workspace + omp_get_thread_num() * w->thread_floats;
        transform_filters(w, operands->weights, workspace);
#pragma omp for schedule(dynamic) collapse(2)
        for (int group = 0; group < w->groups; group++)
            for (ptrdiff_t first = 0; first < w->bands; first += w->block_bands) {
                cairn_winograd_block block =
                    cairn_winograd_block_make(&w->tiling, first, least(w->block_bands, w->bands - first));
                cairn_winograd_matrices u = filters_of(w, group, workspace);
                forward_block(w, operands, &block, group, &u, mine);
            }
    }
    return CAIRN_OK;
}

/* -------------------------------------------------------------------------------------------------------- to the filters */

/* v = B^T x B and m = A dy A^T of a chunk, shared among the threads by bands. */
static void transform_chunk(const winograd *w, const cairn_operands *operands, const cairn_winograd_block *chunk,
                            int group, const cairn_winograd_matrices *v, const cairn_winograd_matrices *m)
{
#pragma omp for schedule(static)
    for (ptrdiff_t i = 0; i < chunk->bands; i++) {
        cairn_winograd_band band = cairn_winograd_block_band(&w->tiling, chunk, i);
        cairn_winograd_image src = in_image(w, operands->src, &band, group);
        cairn_winograd_image diff_dst = out_image(w, operands->diff_dst, &band, group);
        w->kernel->data(&w->tiling, &band, &src, v);
        w->kernel->gradient(&w->tiling, &band, &diff_dst, m);
    }
}

/* du = or += v^T m over the chunk, shared among the threads by pairs of points and panels of input channels. */
static void multiply_chunk(const winograd *w, const cairn_winograd_block *chunk, const cairn_winograd_matrices *v,
                           const cairn_winograd_matrices *m, const cairn_winograd_matrices *du)
{
    int in_panels = (w->in_blocks + 1) / 2;
#pragma omp for schedule(static)
    for (int item = 0; item < (int)pairs(w) * in_panels; item++) {
        int pair = item / in_panels, panel = item % in_panels, across_points = w->tiling.across.points;
        ptrdiff_t row;
        ptrdiff_t rows = cairn_winograd_block_rows(&w->tiling, chunk, pair / across_points, pair % across_points, &row);
        ptrdiff_t channel = (ptrdiff_t)panel * 2 * w->lanes;
        w->kernel->multiply(&(cairn_winograd_product){
            .rows = least(2 * (ptrdiff_t)w->lanes, (ptrdiff_t)w->in_blocks * w->lanes - channel),
            .steps = rows,
            .panels = w->panels,
            .a = of_pair(v, pair, row) + panel * v->panel,
            .a_row = 1,
            .a_step = v->row,
            .b = of_pair(m, pair, row),
            .b_step = m->row,
            .b_panel = m->panel,
            .c = of_pair(du, pair, channel),
            .c_row = du->row,
            .c_panel = du->panel,
            .add = chunk->first > 0});
    }
}

/* `diff_weights` of the group. */
static void transform_filter_gradient(const winograd *w, const cairn_winograd_matrices *du, float *diff_weights)
{
#pragma omp for schedule(static) collapse(2)
    for (int out = 0; out < w->out_blocks; out++)
        for (int in = 0; in < w->in_blocks; in++)
            w->kernel->filter_gradient(&w->tiling, du, (ptrdiff_t)in * w->lanes, (ptrdiff_t)out * w->lanes,
                                       diff_weights + ((ptrdiff_t)out * w->in_blocks + in) * block_floats(w));
}

/* diff_bias = sum of diff_dst over images and pixels: an image in f32, the images in double. */
static void sum_bias_gradient(const winograd *w, const float *diff_dst, float *diff_bias)
{
    ptrdiff_t pixels = (ptrdiff_t)w->out_height * w->out_width, images = w->bands / w->tiling.down.tiles;
    int blocks = w->groups * w->out_blocks;
#pragma omp for schedule(static)
    for (int block = 0; block < blocks; block++) {
        double total[16] = {0};
        for (ptrdiff_t n = 0; n < images; n++) {
            const float *dy = diff_dst + (n * blocks + block) * pixels * w->lanes;
            float sum[16] = {0};
            for (ptrdiff_t i = 0; i < pixels; i++)
                for (int lane = 0; lane < w->lanes; lane++)
                    sum[lane] += dy[i * w->lanes + lane];
            for (int lane = 0; lane < w->lanes; lane++)
                total[lane] += (double)sum[lane];
        }
        for (int lane = 0; lane < w->lanes; lane++)
            diff_bias[block * w->lanes + lane] = (float)total[lane];
    }
}

static cairn_status run_backward_weights(const cairn_conv2d_candidate *candidate, const cairn_operands *operands)
{
    const winograd *w = (const winograd *)candidate;
    float *workspace = operands->workspace;
    cairn_winograd_matrices du = at(&w->u, workspace), v = at(&w->v, workspace), m = at(&w->m, workspace);
#pragma omp parallel num_threads(w->threads)
    {
        for (int group = 0; group < w->groups; group++) {
            for (ptrdiff_t first = 0; first < w->bands; first += w->block_bands) {
                cairn_winograd_block chunk =
                    cairn_winograd_block_make(&w->tiling, first, least(w->block_bands, w->bands - first));
                transform_chunk(w, operands, &chunk, group, &v, &m);
                multiply_chunk(w, &chunk, &v, &m, &du);
            }
            transform_filter_gradient(w, &du, (float *)operands->diff_weights + group * group_floats(w));
        }
        if (w->has_bias) sum_bias_gradient(w, operands->diff_dst, operands->diff_bias);
    }
    return CAIRN_OK;
}

/* -------------------------------------------------------------------------------------------------------------- planning */

/* Gives matrices of `floats` each a place behind *used. An odd number of cache lines from one to the next keeps the same element
 * of all of them, which the transforms write together, out of a common set of the cache. */
static region place(const winograd *w, ptrdiff_t floats, ptrdiff_t row, ptrdiff_t panel, ptrdiff_t *used)
{
    ptrdiff_t point = (ceiling(floats, 16) | 1) * 16;
    region r = {*used, {NULL, point, row, panel}};
    *used += pairs(w) * point;
    return r;
}

static size_t plan_forward(winograd *w)
{
    ptrdiff_t wide = 2 * (ptrdiff_t)w->lanes, channels = (ptrdiff_t)w->in_blocks * w->lanes, used = 0;
    ptrdiff_t tiles = w->tiling.across.tiles,
              share = ceiling(w->groups * w->bands, (ptrdiff_t)BLOCKS_PER_THREAD * w->threads);
    w->block_bands = most(least(share, ceiling(MOST_BLOCK_TILES, tiles)), ceiling(LEAST_BLOCK_TILES, tiles));
    w->block_bands = least(w->block_bands, w->bands);
    w->slice_panels = least(ceiling(SLICE_CHANNELS, wide), w->panels);
    ptrdiff_t rows = w->block_bands * w->tiling.across.tiles;
    w->u = place(w, channels * w->panels * wide, wide, channels * wide, &used);
    ptrdiff_t shared = used += (w->groups - 1) * pairs(w) * w->u.shape.point;
    w->v = place(w, rows * channels, channels, wide, &used);
    w->m = place(w, rows * w->slice_panels * wide, w->slice_panels * wide, wide, &used);
    w->thread_floats = used - shared;
    return sizeof(float) * (size_t)(shared + w->threads * w->thread_floats);
}

static size_t plan_backward_weights(winograd *w)
{
    ptrdiff_t wide = 2 * (ptrdiff_t)w->lanes, in_panels = (w->in_blocks + 1) / 2, used = 0;
    w->block_bands = least(ceiling(CHUNK_TILES, w->tiling.across.tiles), w->bands);
    ptrdiff_t rows = w->block_bands * w->tiling.across.tiles;
    w->u = place(w, (ptrdiff_t)w->in_blocks * w->lanes * w->panels * wide, w->panels * wide, wide, &used);
    w->v = place(w, rows * in_panels * wide, wide, rows * wide, &used);
    w->m = place(w, rows * w->panels * wide, wide, rows * wide, &used);
    return sizeof(float) * (size_t)used;
}

static void destroy(cairn_conv2d_candidate *candidate)
{
    free(candidate);
}

cairn_status cairn_winograd_create(const cairn_conv2d_problem *problem, cairn_conv2d_pass pass,
                                   cairn_conv2d_candidate **out)
{
    return cairn_winograd_create_with(cairn_winograd_kernel_for(problem->block), problem, pass, out);
}

/* Is there a form for this problem? Fills in the tiling of the pass. */
static bool fits(const cairn_conv2d_problem *p, bool flipped, cairn_winograd_tiling *tiling)
{
    int pad = (int)(flipped ? p->kernel - 1 - p->pad : p->pad);
    if (p->stride != 1 || pad < 0 || p->channels % (p->groups * p->block) || p->out_channels % (p->groups * p->block))
        return false;
    return cairn_winograd_tiling_make((int)p->kernel, pad, (int)(flipped ? p->height : p->out_height),
                                      (int)(flipped ? p->width : p->out_width), tiling);
}

cairn_status cairn_winograd_create_with(const cairn_winograd_kernel *kernel, const cairn_conv2d_problem *p,
                                        cairn_conv2d_pass pass, cairn_conv2d_candidate **out)
{
    bool flipped = pass == CAIRN_CONV2D_BACKWARD_DATA;
    cairn_winograd_tiling tiling;
    *out = NULL;
    if (!kernel || !fits(p, flipped, &tiling)) return CAIRN_OK;
    winograd *w = malloc(sizeof *w);
    if (!w) return cairn_fail(CAIRN_MEMORY, "no memory for the plan of a Winograd convolution");
    int in_blocks = (int)(p->channels / p->groups) / p->block,
        out_blocks = (int)(p->out_channels / p->groups) / p->block;
    *w = (winograd){.candidate = {.run = run_forward, .destroy = destroy},
                    .kernel = kernel,
                    .tiling = tiling,
                    .lanes = p->block,
                    .threads = p->threads,
                    .has_bias = p->has_bias && !flipped,
                    .relu = p->relu && !flipped,
                    .flipped = flipped,
                    .groups = (int)p->groups,
                    .in_blocks = flipped ? out_blocks : in_blocks,
                    .in_height = (int)(flipped ? p->out_height : p->height),
                    .in_width = (int)(flipped ? p->out_width : p->width),
                    .out_blocks = flipped ? in_blocks : out_blocks,
                    .out_height = (int)(flipped ? p->height : p->out_height),
                    .out_width = (int)(flipped ? p->width : p->out_width),
                    .bands = (ptrdiff_t)p->batch * tiling.down.tiles};
    w->panels = (w->out_blocks + 1) / 2;
    if (pass == CAIRN_CONV2D_BACKWARD_WEIGHTS) {
        w->candidate.run = run_backward_weights;
        w->candidate.workspace = plan_backward_weights(w);
    } else {
        w->candidate.workspace = plan_forward(w);
    }
    int yield = tiling.points - tiling.taps + 1;
    snprintf(w->candidate.name, sizeof w->candidate.name, "winograd F(%dx%d,%dx%d)", yield, yield, tiling.taps,
             tiling.taps);
    *out = &w->candidate;
    return CAIRN_OK;
}
