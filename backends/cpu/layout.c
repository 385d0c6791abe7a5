#include "backends/cpu/layout.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_layout {
    cairn_md md;
    cairn_md_parts parts;
    size_t size;
    bool plain;
    char word[32];
    struct cairn_layout *next;
};

struct cairn_layout_table {
    cairn_layout *first;
};

cairn_status cairn_layout_table_create(cairn_layout_table **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? CAIRN_OK : cairn_fail(CAIRN_MEMORY, "no memory for the table of layouts");
}

void cairn_layout_table_destroy(cairn_layout_table *table)
{
    if (!table) return;
    for (cairn_layout *layout = table->first, *next; layout; layout = next) {
        next = layout->next;
        cairn_md_destroy(layout->md);
        free(layout);
    }
    free(table);
}

/* Row-major without gaps, where the strides of dimensions of size 1 mean nothing. */
static bool is_plain(const cairn_md_parts *parts)
{
    if (!parts->blocked || parts->blocks) return false;
    int64_t dense = 1;
    for (int i = parts->rank - 1; i >= 0; i--) {
        if (parts->padded[i] != parts->dims[i]) return false;
        if (parts->dims[i] != 1 && parts->strides[i] != dense) return false;
        dense *= parts->dims[i];
    }
    return true;
}

/* Dimensions a, b, c... by falling stride, a capital where the dimension is also blocked, then each inner block. */
static void spell(const cairn_md_parts *parts, char *word, size_t size)
{
    if (!parts->blocked) {
        snprintf(word, size, "opaque");
        return;
    }
    int order[DNNL_MAX_NDIMS];
    size_t used = 0;
    for (int i = 0; i < parts->rank; i++) {
        int at = i;
        for (; at > 0 && parts->strides[order[at - 1]] < parts->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < parts->rank && used + 1 < size; i++) {
        char letter = 'a';
        for (int b = 0; b < parts->blocks; b++)
            if (parts->index[b] == order[i]) letter = 'A';
        word[used++] = (char)(letter + order[i]);
    }
    word[used] = '\0';
    for (int b = 0; b < parts->blocks && used < size; b++)
        used += (size_t)snprintf(word + used, size - used, "%d%c", (int)parts->size[b], (int)('a' + parts->index[b]));
}

static const cairn_layout *find(const cairn_layout_table *table, cairn_md md)
{
    for (const cairn_layout *layout = table->first; layout; layout = layout->next)
        if (dnnl_memory_desc_equal(layout->md, md)) return layout;
    return NULL;
}

static cairn_status add(cairn_cpu *cpu, cairn_md md, const cairn_md_parts *parts, const cairn_layout **out)
{
    cairn_layout *layout = calloc(1, sizeof *layout);
    if (!layout) return cairn_fail(CAIRN_MEMORY, "no memory for a layout");
    if (cairn_md_clone(&layout->md, md) != dnnl_success) {
        free(layout);
        return cairn_fail(CAIRN_MEMORY, "no memory for a layout");
    }
    layout->parts = *parts;
    layout->size = dnnl_memory_desc_get_size(md);
    layout->plain = is_plain(parts);
    spell(parts, layout->word, sizeof layout->word);
    layout->next = cpu->layouts->first;
    cpu->layouts->first = layout;
    *out = layout;
    return CAIRN_OK;
}

cairn_status cairn_layout_intern(cairn_cpu *cpu, cairn_md md, const cairn_layout **out)
{
    *out = find(cpu->layouts, md);
    if (*out) return CAIRN_OK;
    cairn_md_parts parts;
    cairn_md_take_apart(md, &parts);
    /* Plain in fact but written with other strides, as NHWC with one channel: the one plain layout stands for it. */
    if (is_plain(&parts)) {
        cairn_md plain;
        static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
        CAIRN_DNNL(cairn_md_create(&plain, parts.rank, parts.dims, parts.type, tags[parts.rank - 1]),
                   "describe a plain layout");
        cairn_status status = CAIRN_OK;
        *out = find(cpu->layouts, plain);
        if (!*out) status = add(cpu, plain, &parts, out);
        cairn_md_destroy(plain);
        return status;
    }
    return add(cpu, md, &parts, out);
}

cairn_status cairn_layout_tag_as(cairn_cpu *cpu, dnnl_data_type_t type, int rank, const int64_t *dims,
                                 dnnl_format_tag_t tag, const cairn_layout **out)
{
    cairn_md md;
    CAIRN_DNNL(cairn_md_create(&md, rank, dims, type, tag), "describe a layout");
    cairn_status status = cairn_layout_intern(cpu, md, out);
    cairn_md_destroy(md);
    return status;
}

cairn_status cairn_layout_tag_dims(cairn_cpu *cpu, int rank, const int64_t *dims, dnnl_format_tag_t tag,
                                   const cairn_layout **out)
{
    return cairn_layout_tag_as(cpu, dnnl_f32, rank, dims, tag, out);
}

cairn_status cairn_layout_tag(cairn_cpu *cpu, cairn_shape shape, dnnl_format_tag_t tag, const cairn_layout **out)
{
    return cairn_layout_tag_dims(cpu, shape.rank, shape.dim, tag, out);
}

cairn_status cairn_layout_plain(cairn_cpu *cpu, int rank, const int64_t *dims, const cairn_layout **out)
{
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
    if (rank < 1 || rank > 5) return cairn_fail(CAIRN_USAGE, "a tensor of rank %d has no layout here", rank);
    return cairn_layout_tag_dims(cpu, rank, dims, tags[rank - 1], out);
}

cairn_status cairn_layout_plain_of(cairn_cpu *cpu, const cairn_layout *layout, const cairn_layout **out)
{
    return cairn_layout_plain(cpu, layout->parts.rank, layout->parts.dims, out);
}

cairn_status cairn_layout_twin(cairn_cpu *cpu, const cairn_layout *layout, dnnl_data_type_t type,
                               const cairn_layout **out)
{
    cairn_layout_grid grid;
    *out = layout;
    if (!layout || layout->parts.type == type) return CAIRN_OK;
    if (!cairn_layout_as_grid(layout, &grid))
        return cairn_fail(CAIRN_DEVICE, "cpu: the layout %s has no like in another type", layout->word);
    return cairn_layout_tag_as(cpu, type, layout->parts.rank, layout->parts.dims, grid.tag, out);
}

cairn_status cairn_layout_of(cairn_cpu *cpu, cairn_shape shape, const cairn_layout *layout, const cairn_layout **out)
{
    *out = layout;
    return layout ? CAIRN_OK : cairn_layout_plain(cpu, shape.rank, shape.dim, out);
}

const cairn_layout *cairn_layout_public(const cairn_layout *layout)
{
    return layout->plain ? NULL : layout;
}

cairn_md cairn_layout_md(const cairn_layout *layout)
{
    return layout->md;
}

size_t cairn_layout_size(const cairn_layout *layout)
{
    return layout->size;
}

int64_t cairn_layout_elements(const cairn_layout *layout)
{
    return (int64_t)(layout->size / dnnl_data_type_size(layout->parts.type));
}

const char *cairn_layout_word(const cairn_layout *layout)
{
    return layout->word;
}

bool cairn_layout_is_opaque(const cairn_layout *layout)
{
    return !layout->parts.blocked;
}

bool cairn_layout_as_grid(const cairn_layout *layout, cairn_layout_grid *out)
{
    const cairn_md_parts *p = &layout->parts;
    if (!p->blocked || p->rank != 4 || p->blocks > 1) return false;
    int64_t inner = 1, n = p->dims[0], c = p->padded[1], h = p->dims[2], w = p->dims[3];
    dnnl_format_tag_t tag = dnnl_nchw;
    if (p->blocks == 1) {
        inner = p->size[0];
        if (p->index[0] != 1 || (inner != 8 && inner != 16)) return false;
        tag = inner == 8 ? dnnl_nChw8c : dnnl_nChw16c;
    } else if (!layout->plain) {
        inner = c;
        tag = dnnl_nhwc;
    }
    if (p->padded[0] != n || p->padded[2] != h || p->padded[3] != w) return false;
    if ((w > 1 && p->strides[3] != inner) || (h > 1 && p->strides[2] != w * inner)) return false;
    if (c / inner > 1 && p->strides[1] != h * w * inner) return false;
    if (n > 1 && p->strides[0] != c * h * w) return false;
    *out = (cairn_layout_grid){n * c / inner, h, w, inner, tag};
    return true;
}
