/* layout.h - a cairn_layout of the CPU backend: one memory descriptor of oneDNN, kept once for the device's life, so that equal
 * layouts are equal pointers.
 *
 *     const cairn_layout *any, *chosen;
 *     CAIRN_TRY(cairn_layout_tag(cpu, shape, dnnl_format_tag_any, &any));
 *     ... make a primitive descriptor with cairn_layout_md(any), ask what it chose ...
 *     CAIRN_TRY(cairn_layout_intern(cpu, chosen_md, &chosen));
 *     plan->layout.src = cairn_layout_public(chosen);                         NULL where it is the plain one
 */
#ifndef CAIRN_BACKENDS_CPU_LAYOUT_H
#define CAIRN_BACKENDS_CPU_LAYOUT_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/dnnl_compat.h"

/* Every layout one device has met. */
typedef struct cairn_layout_table cairn_layout_table;
cairn_status cairn_layout_table_create(cairn_layout_table **out);
void cairn_layout_table_destroy(cairn_layout_table *table); /* NULL is allowed */

/* The layout of a descriptor (copied), or of a shape with a format. dnnl_format_tag_any gives a layout that only describes what is
 * wanted. f32 but where a type is given; a tensor of another type than its layout's lies in it element for element. */
cairn_status cairn_layout_intern(cairn_cpu *cpu, cairn_md md, const cairn_layout **out);
cairn_status cairn_layout_tag(cairn_cpu *cpu, cairn_shape shape, dnnl_format_tag_t tag, const cairn_layout **out);
cairn_status cairn_layout_tag_dims(cairn_cpu *cpu, int rank, const int64_t *dims, dnnl_format_tag_t tag,
                                   const cairn_layout **out);

cairn_status cairn_layout_tag_as(cairn_cpu *cpu, dnnl_data_type_t type, int rank, const int64_t *dims,
                                 dnnl_format_tag_t tag, const cairn_layout **out);

/* The layout of activations of another type that lie in the same order; NULL for NULL. CAIRN_DEVICE for what is no grid (see below). */
cairn_status cairn_layout_twin(cairn_cpu *cpu, const cairn_layout *layout, dnnl_data_type_t type,
                               const cairn_layout **out);

/* The blocked format of activations this processor likes: nChw16c or nChw8c. */
static inline dnnl_format_tag_t cairn_layout_blocked(const cairn_cpu *cpu)
{
    return cpu->block == 16 ? dnnl_nChw16c : dnnl_nChw8c;
}

/* Row-major, of a rank up to 5. */
cairn_status cairn_layout_plain(cairn_cpu *cpu, int rank, const int64_t *dims, const cairn_layout **out);

/* The plain layout of the same dimensions as another one. */
cairn_status cairn_layout_plain_of(cairn_cpu *cpu, const cairn_layout *layout, const cairn_layout **out);

/* What the contract's NULL or non-NULL layout of a shape means here. */
cairn_status cairn_layout_of(cairn_cpu *cpu, cairn_shape shape, const cairn_layout *layout, const cairn_layout **out);

/* What the contract shows of it: NULL for the plain one. */
const cairn_layout *cairn_layout_public(const cairn_layout *layout);

cairn_md cairn_layout_md(const cairn_layout *layout);
size_t cairn_layout_size(const cairn_layout *layout); /* bytes, padding included */
int64_t cairn_layout_elements(const cairn_layout *layout);
const char *
cairn_layout_word(const cairn_layout *layout);           /* "aBcd8b": dimensions by falling stride, then inner blocks */
bool cairn_layout_is_opaque(const cairn_layout *layout); /* a format of its own, such as Winograd weights */

/* How a 4-D activation lies, for loops of our own: [outer][height][width][inner]; inner is 1 for NCHW, 8 or 16 for blocked channels,
 * C for NHWC. False for a layout of another form. */
typedef struct cairn_layout_grid {
    int64_t outer, height, width, inner;
    dnnl_format_tag_t tag; /* dnnl_nchw, dnnl_nChw8c, dnnl_nChw16c or dnnl_nhwc: for another shape lying alike */
} cairn_layout_grid;
bool cairn_layout_as_grid(const cairn_layout *layout, cairn_layout_grid *out);

#endif
