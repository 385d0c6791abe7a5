#include "backends/cuda/layout.h"
#include "backends/cuda/cuda.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cairn_layout_table_release(cairn_layout_table *table)
{
    for (cairn_layout *layout = table->first, *next; layout; layout = next) {
        next = layout->next;
        free(layout);
    }
    table->first = NULL;
}

static bool equal(const cairn_layout *a, const cairn_layout *b)
{
    return a->flat == b->flat && a->channels == b->channels && memcmp(a->dim, b->dim, sizeof a->dim) == 0;
}

static cairn_status intern(cairn_layout_table *table, const cairn_layout *wanted, const cairn_layout **out)
{
    for (*out = table->first; *out; *out = (*out)->next)
        if (equal(*out, wanted)) return CAIRN_OK;
    cairn_layout *layout = malloc(sizeof *layout);
    if (!layout) return cairn_fail(CAIRN_MEMORY, "cuda: no host memory for a layout");
    *layout = *wanted;
    if (layout->channels != layout->dim[1])
        snprintf(layout->name, sizeof layout->name, "nhwc(%d in %d)", (int)layout->dim[1], (int)layout->channels);
    else
        snprintf(layout->name, sizeof layout->name, "%s", layout->flat ? "flat nhwc" : "nhwc");
    layout->next = table->first;
    *out = table->first = layout;
    return CAIRN_OK;
}

cairn_status cairn_layout_nhwc(cairn_layout_table *table, cairn_shape shape, int64_t channels, const cairn_layout **out)
{
    cairn_layout layout = {.channels = channels ? channels : shape.dim[1]};
    *out = NULL;
    if (shape.rank != 4) return cairn_fail(CAIRN_USAGE, "cuda: a tensor of rank %d has no NHWC layout", shape.rank);
    memcpy(layout.dim, shape.dim, sizeof layout.dim);
    bool plain = layout.dim[1] == 1 || layout.dim[2] * layout.dim[3] == 1;
    if (plain && layout.channels == layout.dim[1]) return CAIRN_OK;
    return intern(table, &layout, out);
}

cairn_status cairn_layout_flat(cairn_layout_table *table, const cairn_layout *nhwc, int64_t rows,
                               const cairn_layout **out)
{
    cairn_layout layout = *nhwc;
    layout.flat = true;
    layout.dim[0] = rows;
    return intern(table, &layout, out);
}

cairn_status cairn_layout_take(cairn_device *device, cairn_shape shape, const cairn_layout *given,
                               const cairn_layout **out)
{
    if (!given || given->flat || given->channels != given->dim[1])
        return cairn_layout_nhwc(&cairn_cuda_of(device)->layouts, shape, 0, out);
    if (shape.rank != 4 || memcmp(given->dim, shape.dim, sizeof given->dim) != 0)
        return cairn_fail(CAIRN_USAGE, "cuda: the layout given for a source is that of another shape");
    *out = given;
    return CAIRN_OK;
}
