/* winograd_kernel.h - the inner loops of the Winograd convolution, compiled once for each vector width (winograd_avx2.c,
 * winograd_avx512.c).
 *
 *     const cairn_winograd_kernel *kernel = cairn_winograd_kernel_for(8);       NULL: not on this processor
 *
 * Everything here is in floats; L is kernel->lanes, a panel is 2 L columns wide. Images are nChw<L>c, filters OIhw<L>i<L>o.
 * No function allocates, fails, or shares state: threads may call them on disjoint outputs.
 */
#ifndef CAIRN_BACKENDS_CPU_WINOGRAD_KERNEL_H
#define CAIRN_BACKENDS_CPU_WINOGRAD_KERNEL_H

#include "backends/cpu/conv2d_candidate.h"
#include "backends/cpu/winograd_tiling.h"

/* Matrices, one a pair of points p: element (p, row, column) stands at
 * data[p * point + row * row_stride + column / (2 L) * panel + column % (2 L)]. All strides are multiples of L. */
typedef struct cairn_winograd_matrices {
    float *data;
    ptrdiff_t point, row, panel;
} cairn_winograd_matrices;

/* Some of the channel blocks of one image of the batch. `pixels` is only written where a function says so. */
typedef struct cairn_winograd_image {
    float *pixels;
    int height, width;
    int blocks; /* of L channels, `height * width * L` floats each */
} cairn_winograd_image;

/* c (rows x panels) = or += a (rows x steps) * b (steps x panels). Strides in floats between rows, steps and panels. */
typedef struct cairn_winograd_product {
    ptrdiff_t rows, steps, panels;
    const float *a;
    ptrdiff_t a_row, a_step;
    const float *b;
    ptrdiff_t b_step, b_panel;
    float *c;
    ptrdiff_t c_row, c_panel;
    bool add;
} cairn_winograd_product;

typedef struct cairn_winograd_kernel {
    int lanes;
    const char *name; /* of the instruction set */

    /* v row = B^T d B of each tile of the band; d reaches `pad` before the image and beyond its end, zeros there. */
    void (*data)(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                 const cairn_winograd_image *image, const cairn_winograd_matrices *v);

    /* image = A^T m A + bias, clamped at 0 with relu; bias (NULL: none) has L floats a block. Writes the image. */
    void (*output)(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                   const cairn_winograd_matrices *m, const float *bias, bool relu, const cairn_winograd_image *image);

    /* m row = A dy A^T of each tile. Where the blocks don't fill the last panel, its rest becomes 0. */
    void (*gradient)(const cairn_winograd_tiling *tiling, const cairn_winograd_band *band,
                     const cairn_winograd_image *image, const cairn_winograd_matrices *m);

    /* u = G w G^T for one filter block, rows its input and columns its output channels; `flipped`: rows output and columns input
     * channels, and the taps turned by 180 degrees, which makes a backward pass to the data a forward one. */
    void (*filters)(const cairn_winograd_tiling *tiling, const float *block, bool flipped,
                    const cairn_winograd_matrices *u, ptrdiff_t row, ptrdiff_t column);

    /* One block of filter gradients = G^T du G, rows input and columns output channels. */
    void (*filter_gradient)(const cairn_winograd_tiling *tiling, const cairn_winograd_matrices *du, ptrdiff_t row,
                            ptrdiff_t column, float *block);

    void (*multiply)(const cairn_winograd_product *product);
} cairn_winograd_kernel;

extern const cairn_winograd_kernel cairn_winograd_avx2;
extern const cairn_winograd_kernel cairn_winograd_avx512;

/* The kernel of that many lanes if it is built in and this processor can run it, else NULL. */
const cairn_winograd_kernel *cairn_winograd_kernel_for(int lanes);

/* cairn_winograd_create with a kernel of the caller's choice: tests run one that this processor would not get. NULL fits nothing. */
cairn_status cairn_winograd_create_with(const cairn_winograd_kernel *kernel, const cairn_conv2d_problem *problem,
                                        cairn_conv2d_pass pass, cairn_conv2d_candidate **out);

/* The number of a pair of points. */
static inline int cairn_winograd_pair(const cairn_winograd_tiling *tiling, int down, int across)
{
    return down * tiling->across.points + across;
}

#endif
