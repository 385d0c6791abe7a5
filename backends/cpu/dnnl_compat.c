#include "backends/cpu/dnnl_compat.h"
#include <stdlib.h>
#include <string.h>

const char *cairn_dnnl_status_text(dnnl_status_t status)
{
    switch (status) {
    case dnnl_success:
        return "success";
    case dnnl_out_of_memory:
        return "out of memory";
    case dnnl_invalid_arguments:
        return "invalid arguments";
    case dnnl_unimplemented:
        return "unimplemented";
    case dnnl_runtime_error:
        return "runtime error";
    case dnnl_not_required:
        return "not required";
    default:
        return "unknown failure";
    }
}

/* oneDNN copies whole dnnl_dims_t, whatever the rank. */
static void widen(int rank, const int64_t *dims, dnnl_dims_t out)
{
    memset(out, 0, sizeof(dnnl_dims_t));
    for (int i = 0; i < rank; i++)
        out[i] = dims[i];
}

dnnl_status_t cairn_dnnl_reorder(dnnl_primitive_desc_t *out, dnnl_engine_t engine, cairn_md from, cairn_md to,
                                 const_dnnl_primitive_attr_t attributes)
{
    return dnnl_reorder_primitive_desc_create(out, from, engine, to, engine, attributes);
}

#if DNNL_VERSION_MAJOR >= 3

dnnl_status_t cairn_md_create(cairn_md *out, int rank, const int64_t *dims, dnnl_data_type_t type,
                              dnnl_format_tag_t tag)
{
    dnnl_dims_t wide;
    dnnl_memory_desc_t md;
    widen(rank, dims, wide);
    dnnl_status_t status = dnnl_memory_desc_create_with_tag(&md, rank, wide, type, tag);
    if (status == dnnl_success) *out = md;
    return status;
}

dnnl_status_t cairn_md_clone(cairn_md *out, cairn_md md)
{
    dnnl_memory_desc_t copy;
    dnnl_status_t status = dnnl_memory_desc_clone(&copy, md);
    if (status == dnnl_success) *out = copy;
    return status;
}

void cairn_md_destroy(cairn_md md)
{
    if (md) dnnl_memory_desc_destroy((dnnl_memory_desc_t)md);
}

static void query_dims(cairn_md md, dnnl_query_t what, int count, dnnl_dims_t out)
{
    dnnl_dims_t *dims = NULL;
    memset(out, 0, sizeof(dnnl_dims_t));
    if (dnnl_memory_desc_query(md, what, &dims) != dnnl_success || !dims) return;
    for (int i = 0; i < count; i++)
        out[i] = (*dims)[i];
}

void cairn_md_take_apart(cairn_md md, cairn_md_parts *out)
{
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    memset(out, 0, sizeof *out);
    dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &out->rank);
    dnnl_memory_desc_query(md, dnnl_query_data_type, &out->type);
    dnnl_memory_desc_query(md, dnnl_query_format_kind, &kind);
    query_dims(md, dnnl_query_dims, out->rank, out->dims);
    out->blocked = kind == dnnl_blocked;
    if (!out->blocked) return;
    dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &out->blocks);
    query_dims(md, dnnl_query_padded_dims, out->rank, out->padded);
    query_dims(md, dnnl_query_strides, out->rank, out->strides);
    if (out->blocks == 0) return;
    query_dims(md, dnnl_query_inner_blks, out->blocks, out->size);
    query_dims(md, dnnl_query_inner_idxs, out->blocks, out->index);
}

dnnl_status_t cairn_dnnl_convolution_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                             const cairn_dnnl_convolution *c, const_dnnl_primitive_attr_t attributes)
{
    return dnnl_convolution_forward_primitive_desc_create(out, engine, dnnl_forward_training, c->algorithm, c->src,
                                                          c->weights, c->bias, c->dst, c->stride, NULL, c->pad_low,
                                                          c->pad_high, attributes);
}

dnnl_status_t cairn_dnnl_convolution_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                   const cairn_dnnl_convolution *c,
                                                   const_dnnl_primitive_attr_t attributes)
{
    return dnnl_convolution_backward_data_primitive_desc_create(out, engine, c->algorithm, c->src, c->weights, c->dst,
                                                                c->stride, NULL, c->pad_low, c->pad_high, c->hint,
                                                                attributes);
}

dnnl_status_t cairn_dnnl_convolution_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                      const cairn_dnnl_convolution *c,
                                                      const_dnnl_primitive_attr_t attributes)
{
    return dnnl_convolution_backward_weights_primitive_desc_create(out, engine, c->algorithm, c->src, c->weights,
                                                                   c->bias, c->dst, c->stride, NULL, c->pad_low,
                                                                   c->pad_high, c->hint, attributes);
}

dnnl_status_t cairn_dnnl_product_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_product *p,
                                         const_dnnl_primitive_attr_t attributes)
{
    return dnnl_inner_product_forward_primitive_desc_create(out, engine, dnnl_forward_training, p->src, p->weights,
                                                            p->bias, p->dst, attributes);
}

dnnl_status_t cairn_dnnl_product_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                               const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes)
{
    return dnnl_inner_product_backward_data_primitive_desc_create(out, engine, p->src, p->weights, p->dst, p->hint,
                                                                  attributes);
}

dnnl_status_t cairn_dnnl_product_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                  const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes)
{
    return dnnl_inner_product_backward_weights_primitive_desc_create(out, engine, p->src, p->weights, p->bias, p->dst,
                                                                     p->hint, attributes);
}

dnnl_status_t cairn_dnnl_max_pool_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                          const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes)
{
    static const dnnl_dims_t dense = {0};
    return dnnl_pooling_forward_primitive_desc_create(
        out, engine, p->train ? dnnl_forward_training : dnnl_forward_inference, dnnl_pooling_max, p->src, p->dst,
        p->stride, p->kernel, dense, p->pad_low, p->pad_high, attributes);
}

dnnl_status_t cairn_dnnl_max_pool_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                           const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes)
{
    static const dnnl_dims_t dense = {0};
    return dnnl_pooling_backward_primitive_desc_create(out, engine, dnnl_pooling_max, p->src, p->dst, p->stride,
                                                       p->kernel, dense, p->pad_low, p->pad_high, p->hint, attributes);
}

dnnl_status_t cairn_dnnl_lrn_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                     const_dnnl_primitive_attr_t attributes)
{
    return dnnl_lrn_forward_primitive_desc_create(
        out, engine, l->train ? dnnl_forward_training : dnnl_forward_inference, dnnl_lrn_across_channels, l->data,
        l->data, l->size, l->alpha, l->beta, l->k, attributes);
}

dnnl_status_t cairn_dnnl_lrn_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                      const_dnnl_primitive_attr_t attributes)
{
    return dnnl_lrn_backward_primitive_desc_create(out, engine, dnnl_lrn_across_channels, l->data, l->data, l->data,
                                                   l->size, l->alpha, l->beta, l->k, l->hint, attributes);
}

dnnl_status_t cairn_dnnl_append_relu(dnnl_post_ops_t post_ops)
{
    return dnnl_post_ops_append_eltwise(post_ops, dnnl_eltwise_relu, 0, 0);
}

#else

dnnl_status_t cairn_md_create(cairn_md *out, int rank, const int64_t *dims, dnnl_data_type_t type,
                              dnnl_format_tag_t tag)
{
    dnnl_dims_t wide;
    dnnl_memory_desc_t *md = malloc(sizeof *md);
    if (!md) return dnnl_out_of_memory;
    widen(rank, dims, wide);
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(md, rank, wide, type, tag);
    if (status == dnnl_success)
        *out = md;
    else
        free(md);
    return status;
}

dnnl_status_t cairn_md_clone(cairn_md *out, cairn_md md)
{
    dnnl_memory_desc_t *copy = malloc(sizeof *copy);
    if (!copy) return dnnl_out_of_memory;
    *copy = *md;
    *out = copy;
    return dnnl_success;
}

void cairn_md_destroy(cairn_md md)
{
    free((void *)md);
}

void cairn_md_take_apart(cairn_md md, cairn_md_parts *out)
{
    memset(out, 0, sizeof *out);
    out->rank = md->ndims;
    out->type = md->data_type;
    widen(md->ndims, md->dims, out->dims);
    out->blocked = md->format_kind == dnnl_blocked;
    if (!out->blocked) return;
    const dnnl_blocking_desc_t *blocking = &md->format_desc.blocking;
    out->blocks = blocking->inner_nblks;
    widen(md->ndims, md->padded_dims, out->padded);
    widen(md->ndims, blocking->strides, out->strides);
    widen(blocking->inner_nblks, blocking->inner_blks, out->size);
    widen(blocking->inner_nblks, blocking->inner_idxs, out->index);
}

dnnl_status_t cairn_dnnl_convolution_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                             const cairn_dnnl_convolution *c, const_dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    dnnl_status_t status =
        dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, c->algorithm, c->src, c->weights, c->bias, c->dst,
                                           c->stride, c->pad_low, c->pad_high);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, NULL);
}

dnnl_status_t cairn_dnnl_convolution_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                   const cairn_dnnl_convolution *c,
                                                   const_dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    dnnl_status_t status = dnnl_convolution_backward_data_desc_init(&d, c->algorithm, c->src, c->weights, c->dst,
                                                                    c->stride, c->pad_low, c->pad_high);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, c->hint);
}

dnnl_status_t cairn_dnnl_convolution_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                      const cairn_dnnl_convolution *c,
                                                      const_dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    dnnl_status_t status = dnnl_convolution_backward_weights_desc_init(&d, c->algorithm, c->src, c->weights, c->bias,
                                                                       c->dst, c->stride, c->pad_low, c->pad_high);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, c->hint);
}

dnnl_status_t cairn_dnnl_product_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_product *p,
                                         const_dnnl_primitive_attr_t attributes)
{
    dnnl_inner_product_desc_t d;
    dnnl_status_t status =
        dnnl_inner_product_forward_desc_init(&d, dnnl_forward_training, p->src, p->weights, p->bias, p->dst);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, NULL);
}

dnnl_status_t cairn_dnnl_product_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                               const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes)
{
    dnnl_inner_product_desc_t d;
    dnnl_status_t status = dnnl_inner_product_backward_data_desc_init(&d, p->src, p->weights, p->dst);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, p->hint);
}

dnnl_status_t cairn_dnnl_product_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                  const cairn_dnnl_product *p, const_dnnl_primitive_attr_t attributes)
{
    dnnl_inner_product_desc_t d;
    dnnl_status_t status = dnnl_inner_product_backward_weights_desc_init(&d, p->src, p->weights, p->bias, p->dst);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, p->hint);
}

dnnl_status_t cairn_dnnl_max_pool_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                          const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes)
{
    dnnl_pooling_desc_t d;
    dnnl_status_t status =
        dnnl_pooling_forward_desc_init(&d, p->train ? dnnl_forward_training : dnnl_forward_inference, dnnl_pooling_max,
                                       p->src, p->dst, p->stride, p->kernel, p->pad_low, p->pad_high);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, NULL);
}

dnnl_status_t cairn_dnnl_max_pool_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                           const cairn_dnnl_max_pool *p, const_dnnl_primitive_attr_t attributes)
{
    dnnl_pooling_desc_t d;
    dnnl_status_t status = dnnl_pooling_backward_desc_init(&d, dnnl_pooling_max, p->src, p->dst, p->stride, p->kernel,
                                                           p->pad_low, p->pad_high);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, p->hint);
}

dnnl_status_t cairn_dnnl_lrn_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                     const_dnnl_primitive_attr_t attributes)
{
    dnnl_lrn_desc_t d;
    dnnl_status_t status =
        dnnl_lrn_forward_desc_init(&d, l->train ? dnnl_forward_training : dnnl_forward_inference,
                                   dnnl_lrn_across_channels, l->data, l->size, l->alpha, l->beta, l->k);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, NULL);
}

dnnl_status_t cairn_dnnl_lrn_backward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const cairn_dnnl_lrn *l,
                                      const_dnnl_primitive_attr_t attributes)
{
    dnnl_lrn_desc_t d;
    dnnl_status_t status =
        dnnl_lrn_backward_desc_init(&d, dnnl_lrn_across_channels, l->data, l->data, l->size, l->alpha, l->beta, l->k);
    return status ? status : dnnl_primitive_desc_create(out, &d, attributes, engine, l->hint);
}

dnnl_status_t cairn_dnnl_append_relu(dnnl_post_ops_t post_ops)
{
    return dnnl_post_ops_append_eltwise(post_ops, 1.0f, dnnl_eltwise_relu, 0, 0);
}

#endif
