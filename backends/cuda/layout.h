/* layout.h - how a tensor lies in a GPU's memory: channels last, for activations and weights alike.
 *
 * One formula covers them all. Element (a, b, i, j) of a plain tensor of dim (A, B, H, W) lies at
 *
 *     ((a * H + i) * W + j) * channels + b
 *
 * with channels >= B; the channels beyond B are zeros that count in no sum. So activations (N, C, H, W) are NHWC and weights
 * (O, C / groups, KH, KW) are OHWI, which cuDNN calls KRSC. The same memory seen as rows, "flat", is the matrix (N, H W C) that a flattened
 * activation is, and fully connected weights (O, C H W) whose columns are permuted to meet it.
 *
 * A layout says nothing of the element type, so f32 weights and their f16 copy share one. Layouts are interned: equal ones of a device
 * are one pointer. Plain order is NULL, as everywhere, also where channels last is the same (B or H W is 1, nothing padded).
 */
#ifndef CAIRN_BACKENDS_CUDA_LAYOUT_H
#define CAIRN_BACKENDS_CUDA_LAYOUT_H

#include "core/backend.h"

struct cairn_layout {
    bool flat;        /* stands for a tensor of rank 2, (A, B H W) */
    int64_t dim[4];   /* A, B, H, W of the plain tensor */
    int64_t channels; /* stored for each pixel: B, or padded to more */
    char name[24];    /* "nhwc", "nhwc(3 in 8)", "flat nhwc" */
    cairn_layout *next;
};

/* The layouts one device has met, newest first. */
typedef struct cairn_layout_table {
    cairn_layout *first;
} cairn_layout_table;
void cairn_layout_table_release(cairn_layout_table *table);

/* Channels last of a plain tensor (A, B, H, W) with `channels` stored, 0 for just B. *out is NULL where that is the plain order. */
cairn_status cairn_layout_nhwc(cairn_layout_table *table, cairn_shape shape, int64_t channels,
                               const cairn_layout **out);

/* The flat view of an unpadded NHWC layout, with `rows` in place of its A: rows = N for the flattened activation, O for the weights that
 * meet it. */
cairn_status cairn_layout_flat(cairn_layout_table *table, const cairn_layout *nhwc, int64_t rows,
                               const cairn_layout **out);

/* Elements stored, padding included. */
static inline int64_t cairn_layout_count(const cairn_layout *layout)
{
    return layout->dim[0] * layout->dim[2] * layout->dim[3] * layout->channels;
}

/* Channels last of an activation (N, C, H, W) for an operation that takes what comes: `given` where it is a layout already, else NHWC
 * without padding. CAIRN_USAGE where `given` is not of this shape. */
cairn_status cairn_layout_take(cairn_device *device, cairn_shape shape, const cairn_layout *given,
                               const cairn_layout **out);

#endif
