/* ref.h - what the operations of the ref backend share.
 *
 * ref is the textbook and the oracle: every operation is the formula of core/backend.h as loops, sums are taken in double and
 * rounded once. It knows plain layouts only. Activations, their gradients, weights and biases come in the plan's dtype (f32, f16
 * or bf16); gradients of parameters and running statistics are f32.
 *
 * An operation is one file. Its plan begins with a cairn_plan, keeps a copy of what it was asked, and sizes its scratch as
 * workspace, since nothing is allocated while a plan runs:
 *
 *     CAIRN_TRY(cairn_ref_check("relu", desc->dtype, desc->src_layout));
 *     CAIRN_TRY(cairn_ref_plan_create(device, sizeof(relu_plan), &ops[desc->train], out));
 *     ((relu_plan *)*out)->desc = *desc;
 */
#ifndef CAIRN_BACKENDS_REF_REF_H
#define CAIRN_BACKENDS_REF_REF_H

#include "core/backend.h"

/* CAIRN_DEVICE with the reason where ref can't compute in `dtype` or read `layout`. `operation` begins the message. */
cairn_status cairn_ref_check(const char *operation, cairn_dtype dtype, const cairn_layout *layout);

/* A zeroed plan of `size` bytes with all layouts plain. cairn_ref_plan_destroy is the `destroy` of every plan. */
cairn_status cairn_ref_plan_create(cairn_device *device, size_t size, const cairn_plan_ops *ops, cairn_plan **out);
void cairn_ref_plan_destroy(cairn_plan *plan);

/* Element `i` of an array of `dtype`, and its rounding into one. */
static inline double cairn_ref_get(const void *data, cairn_dtype dtype, int64_t i)
{
    switch (dtype) {
    case CAIRN_F16:
        return (double)cairn_f16_to_f32(((const uint16_t *)data)[i]);
    case CAIRN_BF16:
        return (double)cairn_bf16_to_f32(((const uint16_t *)data)[i]);
    default:
        return (double)((const float *)data)[i];
    }
}

static inline void cairn_ref_set(void *data, cairn_dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case CAIRN_F16:
        ((uint16_t *)data)[i] = cairn_f32_to_f16((float)value);
        break;
    case CAIRN_BF16:
        ((uint16_t *)data)[i] = cairn_f32_to_bf16((float)value);
        break;
    default:
        ((float *)data)[i] = (float)value;
    }
}

/* to[0..count) = data[first..first + count) as doubles. */
void cairn_ref_widen(const void *data, cairn_dtype dtype, int64_t first, int64_t count, double *to);

/* A parameter's gradient: gradient[i] = sum, or gradient[i] += sum where it accumulates. */
static inline void cairn_ref_put_gradient(float *gradient, int64_t i, double sum, bool accumulate)
{
    gradient[i] = (float)(accumulate ? (double)gradient[i] + sum : sum);
}

/* max(value, 0); NaN stays NaN, so that a broken net is seen. */
static inline double cairn_ref_relu(double value)
{
    return value < 0 ? 0 : value;
}

/* dy *= (y > 0) in place: the backward of a ReLU that was fused into another operation. */
void cairn_ref_relu_mask(void *dy, const void *y, cairn_dtype dtype, int64_t count);

/* The slots of the table. */
cairn_status cairn_ref_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out);
cairn_status cairn_ref_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out);
cairn_status cairn_ref_softmax_loss(cairn_device *device, const cairn_softmax_loss *args);
cairn_status cairn_ref_augment(cairn_device *device, const cairn_augment *args);
cairn_status cairn_ref_update(cairn_device *device, const cairn_update *args);

#endif
