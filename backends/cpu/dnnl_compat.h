/* dnnl_compat.h - the part of oneDNN's C API that Cairn uses, spelled one way for 2.x and 3.x.
 *
 * 3.x made memory descriptors opaque, merged "init an operation's descriptor, then make a primitive descriptor" into one call, and gave
 * several calls more arguments. Nothing outside dnnl_compat.c asks for the version of the library.
 *
 *     cairn_md src;
 *     CAIRN_DNNL(cairn_md_create(&src, 4, (int64_t[]){32, 3, 224, 224}, dnnl_format_tag_any), "describe the input");
 *     cairn_dnnl_convolution c = {.src = src, ...};
 *     dnnl_primitive_desc_t forward;
 *     dnnl_status_t status = cairn_dnnl_convolution_forward(&forward, engine, &c, attributes);
 *
 * Functions here return oneDNN's own status, so that a caller can take dnnl_unimplemented as an answer.
 */
#ifndef CAIRN_BACKENDS_CPU_DNNL_COMPAT_H
#define CAIRN_BACKENDS_CPU_DNNL_COMPAT_H

#include "core/status.h"
#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

/* ---- status ---- */

/* A word for a status: "unimplemented". */
const char *cairn_dnnl_status_text(dnnl_status_t status);

/* Evaluates a oneDNN call; on failure returns CAIRN_LIBRARY: "oneDNN 2.6.3 could not <what>: <its word>". */
#define CAIRN_DNNL(call, what)                                                                                         \
    do {                                                                                                               \
        dnnl_status_t dnnl_status_ = (call);                                                                           \
        if (dnnl_status_ != dnnl_success)                                                                              \
            return cairn_fail(CAIRN_LIBRARY, "oneDNN could not %s: %s", (what), cairn_dnnl_status_text(dnnl_status_)); \
    } while (0)

/* ---- memory descriptors: shape, type and layout of a tensor ---- */

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t cairn_md;
#else
typedef const dnnl_memory_desc_t *cairn_md;
#endif

dnnl_status_t cairn_md_create(cairn_md *out, int rank, const int64_t *dims, dnnl_data_type_t type,
                              dnnl_format_tag_t tag);
dnnl_status_t cairn_md_clone(cairn_md *out, cairn_md md);
void cairn_md_destroy(cairn_md md); /* what create and clone gave; NULL is allowed */

/* A blocked descriptor taken apart. */
typedef struct cairn_md_parts {
    dnnl_data_type_t type;
    bool blocked; /* false: a format of its own (Winograd weights), nothing below is set but rank and dims */
    int rank;
    dnnl_dims_t dims, padded, strides;
    int blocks; /* inner blocks, outermost first: of dimension index[i], size[i] elements */
    dnnl_dims_t size, index;
} cairn_md_parts;
void cairn_md_take_apart(cairn_md md, cairn_md_parts *out);

/* ---- primitive descriptors ---- */

typedef struct cairn_dnnl_convolution {
    dnnl_alg_kind_t algorithm;
    cairn_md src, weights, bias, dst; /* or the gradients of these; bias may be NULL */
    dnnl_dims_t stride, pad_low, pad_high;
    const_dnnl_primitive_desc_t hint; /* backward: the forward's */
} cairn_dnnl_convolution;

dnnl_status_t cairn_dnnl_convolution_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                             const cairn_dnnl_convolution *c, const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_convolution_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                   const cairn_dnnl_convolution *c,
                                                   const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_convolution_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                      const cairn_dnnl_convolution *c,
                                                      const_dnnl_primitive_attr_t attributes);

typedef struct cairn_dnnl_product {
    cairn_md src, weights, bias, dst; /* or the gradients of these; bias may be NULL */
    const_dnnl_primitive_desc_t hint; /* backward: the forward's */
} cairn_dnnl_product;

dnnl_status_t cairn_dnnl_product_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_product *p,
                                         const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_product_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                               const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_product_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                  const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes);

typedef struct cairn_dnnl_max_pool {
    cairn_md src, dst; /* or their gradients */
    dnnl_dims_t stride, kernel, pad_low, pad_high;
    bool train;
    const_dnnl_primitive_desc_t hint;
} cairn_dnnl_max_pool;

dnnl_status_t cairn_dnnl_max_pool_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                          const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_max_pool_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                           const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes);

typedef struct cairn_dnnl_lrn {
    cairn_md data; /* src, dst and their gradients lie alike */
    int64_t size;
    float alpha, beta, k;
    bool train;
    const_dnnl_primitive_desc_t hint;
} cairn_dnnl_lrn;

dnnl_status_t cairn_dnnl_lrn_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                     const_dnnl_primitive_attr_t attributes);
dnnl_status_t cairn_dnnl_lrn_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                      const_dnnl_primitive_attr_t attributes);

dnnl_status_t cairn_dnnl_reorder(dnnl_primitive_desc_t *out, dnnl_engine_t engine, cairn_md from, cairn_md to,
                                 const_dnnl_primitive_attr_t attributes);

/* Appends max(y, 0). */
dnnl_status_t cairn_dnnl_append_relu(dnnl_post_ops_t post_ops);

#endif
