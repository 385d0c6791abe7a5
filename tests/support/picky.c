#include "tests/support/picky.h"
#include "backends/backends.h"
#include "tests/support/golden.h"
#include "tests/support/one_by_one.h"
#include <stddef.h>
#include <string.h>

enum { PADDING = 5 }; /* elements behind a turned tensor */

struct cairn_layout {
    int64_t elements;
    size_t size; /* of one */
};

/* One layout a size: interned, as the contract asks, in a table that is large enough for the nets of tests. */
static const cairn_layout *turned(int64_t elements, size_t size)
{
    static cairn_layout table[64];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].elements == 0) table[i] = (cairn_layout){elements, size};
        if (table[i].elements == elements && table[i].size == size) return &table[i];
    }
    return NULL;
}

static size_t layout_bytes(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype)
{
    (void)device, (void)dtype; /* it holds the size of an element */
    return (size_t)(layout->elements + PADDING) * layout->size;
}

static const char *layout_name(cairn_device *device, const cairn_layout *layout)
{
    (void)device, (void)layout;
    return "turned";
}

static void turn(const char *from, char *to, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, from + (size_t)(count - 1 - i) * size, size);
}

/* Is the tensor laid out as this device likes, not plain? */
static bool is_turned(const cairn_layout *layout)
{
    return layout != NULL;
}

/* ---- plans around ref's ---- */

enum { SRC, DST, DIFF_DST, DIFF_SRC, WEIGHTS, DIFF_WEIGHTS, OPERANDS };

static const size_t places[OPERANDS] = {offsetof(cairn_operands, src),      offsetof(cairn_operands, dst),
                                        offsetof(cairn_operands, diff_dst), offsetof(cairn_operands, diff_src),
                                        offsetof(cairn_operands, weights),  offsetof(cairn_operands, diff_weights)};

typedef struct picky_plan {
    cairn_plan base;
    cairn_plan *inner;
    char *plain[OPERANDS]; /* turned operands in plain order, and how long they are; 0: comes plain */
    int64_t count[OPERANDS];
    size_t size[OPERANDS]; /* of an element */
} picky_plan;

typedef cairn_status pass(cairn_plan *plan, const cairn_operands *operands);

/* Turns what is there, runs ref, and turns everything back: what ref only read comes back as it was. */
static cairn_status run(picky_plan *plan, pass *inner, const cairn_operands *operands)
{
    cairn_operands turned_operands = *operands;
    char *given[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) {
        memcpy(&given[i], (const char *)operands + places[i], sizeof given[i]);
        if (plan->count[i] == 0 || !given[i]) continue;
        turn(given[i], plan->plain[i], plan->count[i], plan->size[i]);
        memcpy((char *)&turned_operands + places[i], &plan->plain[i], sizeof plan->plain[i]);
    }
    CAIRN_TRY(inner(plan->inner, &turned_operands));
    for (int i = 0; i < OPERANDS; i++)
        if (plan->count[i] > 0 && given[i] && i != SRC && i != WEIGHTS)
            turn(plan->plain[i], given[i], plan->count[i], plan->size[i]);
    return CAIRN_OK;
}

static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
{
    picky_plan *plan = (picky_plan *)base;
    return run(plan, plan->inner->ops->forward, operands);
}

static cairn_status backward(cairn_plan *base, const cairn_operands *operands)
{
    picky_plan *plan = (picky_plan *)base;
    return run(plan, plan->inner->ops->backward, operands);
}

static void destroy(cairn_plan *base)
{
    picky_plan *plan = (picky_plan *)base;
    for (int i = 0; i < OPERANDS; i++)
        free(plan->plain[i]);
    cairn_plan_destroy(plan->inner);
    free(plan);
}

/* Around a plan of ref's in `dtype`: operands of so many elements come turned, 0 plain. */
static cairn_plan *wrap(cairn_plan *inner, cairn_dtype dtype, int64_t src, int64_t dst, int64_t weights)
{
    size_t size = cairn_dtype_size(dtype);
    static const cairn_plan_ops ops = {.forward = forward, .backward = backward, .destroy = destroy};
    picky_plan *plan = golden_alloc(1, sizeof *plan);
    *plan = (picky_plan){
        .base = *inner,
        .inner = inner,
        .count = {src, dst, dst, src, weights, weights},
        .size = {size, size, size, size, size, sizeof(float)},
    };
    plan->base.ops = &ops;
    for (int i = 0; i < OPERANDS; i++)
        plan->plain[i] = golden_alloc(plan->count[i] + 1, sizeof(float));
    if (src > 0) plan->base.layout.src = plan->base.layout.diff_src = turned(src, size);
    if (dst > 0) plan->base.layout.dst = plan->base.layout.diff_dst = turned(dst, size);
    if (weights > 0) plan->base.layout.weights = turned(weights, sizeof(float));
    if (weights > 0 && dtype != CAIRN_F32) plan->base.layout.weights_low = turned(weights, size);
    return &plan->base;
}

static cairn_status plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out)
{
    cairn_conv2d_desc plain = *desc;
    plain.src_layout = NULL;
    CAIRN_TRY(cairn_backend_ref.plan_conv2d(device, &plain, out));
    const cairn_shape s = desc->src;
    int64_t rows = (s.dim[2] + 2 * desc->pad_h - desc->kernel_h) / desc->stride_h + 1;
    int64_t columns = (s.dim[3] + 2 * desc->pad_w - desc->kernel_w) / desc->stride_w + 1;
    *out = wrap(*out, desc->dtype, cairn_shape_count(s), s.dim[0] * desc->out_channels * rows * columns,
                desc->out_channels * s.dim[1] / desc->groups * desc->kernel_h * desc->kernel_w);
    return CAIRN_OK;
}

static cairn_status plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out)
{
    cairn_pool2d_desc plain = *desc;
    plain.src_layout = NULL;
    CAIRN_TRY(cairn_backend_ref.plan_pool2d(device, &plain, out));
    const cairn_shape s = desc->src;
    if (is_turned(desc->src_layout))
        *out = wrap(*out, desc->dtype, cairn_shape_count(s), s.dim[0] * s.dim[1] * desc->out_h * desc->out_w, 0);
    return CAIRN_OK;
}

/* Everything else asks for plain operands, however they would come. */
#define PLAIN_OPERATION(kind)                                                                                          \
    static cairn_status plan_##kind(cairn_device *device, const cairn_##kind##_desc *desc, cairn_plan **out)           \
    {                                                                                                                  \
        cairn_##kind##_desc plain = *desc;                                                                             \
        plain.src_layout = NULL;                                                                                       \
        return cairn_backend_ref.plan_##kind(device, &plain, out);                                                     \
    }
PLAIN_OPERATION(relu)
PLAIN_OPERATION(lrn)
PLAIN_OPERATION(batchnorm)
#undef PLAIN_OPERATION

/* A flattened tensor is the same memory, back to front; dropout and linear take it as it comes. */
static const cairn_layout *flatten(cairn_device *device, cairn_shape src, const cairn_layout *layout)
{
    (void)device, (void)src;
    return layout;
}

static cairn_status plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out)
{
    cairn_dropout_desc plain = *desc;
    plain.src_layout = NULL;
    CAIRN_TRY(cairn_backend_ref.plan_dropout(device, &plain, out));
    int64_t count = cairn_shape_count(desc->src);
    if (is_turned(desc->src_layout) && desc->src.rank == 2) *out = wrap(*out, desc->dtype, count, count, 0);
    return CAIRN_OK;
}

static cairn_status plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out)
{
    cairn_linear_desc plain = *desc;
    plain.src_layout = NULL;
    CAIRN_TRY(cairn_backend_ref.plan_linear(device, &plain, out));
    if (is_turned(desc->src_layout)) *out = wrap(*out, desc->dtype, desc->batch * desc->in_features, 0, 0);
    return CAIRN_OK;
}

static cairn_status augment(cairn_device *device, const cairn_augment *args)
{
    cairn_augment plain = *args;
    int64_t count = args->batch * 3 * args->height * args->width;
    if (!is_turned(args->dst_layout)) return cairn_backend_ref.augment(device, args);
    plain.dst_layout = NULL;
    plain.dst = golden_alloc(count, sizeof(float));
    cairn_status status = cairn_backend_ref.augment(device, &plain);
    turn(plain.dst, args->dst, count, cairn_dtype_size(args->dtype));
    free(plain.dst);
    return status;
}

/* Both ways are the same: back to front, and the other dtype on the way. */
static cairn_status plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out)
{
    cairn_reorder_desc plain = *desc;
    plain.from = plain.to = NULL;
    CAIRN_TRY(cairn_backend_ref.plan_reorder(device, &plain, out));
    if (is_turned(desc->from) != is_turned(desc->to))
        *out = wrap(*out, desc->from_dtype, cairn_shape_count(desc->shape), 0, 0);
    picky *self = (picky *)(uintptr_t)device->backend;
    self->reorders++;
    return CAIRN_OK;
}

cairn_status picky_open(bool obliging, picky *out)
{
    const cairn_backend *const ref[] = {&cairn_backend_ref, NULL};
    *out = (picky){.backend = cairn_backend_ref};
    out->backend.layout_bytes = layout_bytes;
    out->backend.layout_name = layout_name;
    out->backend.plan_conv2d = plan_conv2d;
    out->backend.plan_pool2d = plan_pool2d;
    out->backend.plan_linear = plan_linear;
    out->backend.plan_relu = plan_relu;
    out->backend.plan_lrn = plan_lrn;
    out->backend.plan_dropout = plan_dropout;
    out->backend.plan_batchnorm = plan_batchnorm;
    out->backend.plan_reorder = plan_reorder;
    if (obliging) {
        out->backend.flatten = flatten;
        out->backend.augment = augment;
        out->backend.augments_into_layouts = true;
        out->backend.plan_lrn_pool = one_by_one_plan_lrn_pool;
    }
    CAIRN_TRY(cairn_device_select(ref, "ref", &(cairn_device_options){0}, &out->device));
    out->device->backend = &out->backend;
    return CAIRN_OK;
}
