/* classic.h - the plain path: pooling, activation, LRN and softmax by cuDNN's classic calls, which cairn_device_options.library_kernels
 * asks for. They are what our own kernels are compared with on a GPU, in results and in time.
 *
 * What cuDNN has no call for is computed by our kernels then too: averages over windows cut at the edges, windows of LRN of an even size
 * or in bf16, tensors of 2^31 elements and more. A plan's `algorithm` says which it is.
 */
#ifndef CAIRN_BACKENDS_CUDA_CLASSIC_H
#define CAIRN_BACKENDS_CUDA_CLASSIC_H

#include "backends/cuda/cuda.h"

/* Can cuDNN do it? */
bool cairn_classic_has_pool2d(const cairn_pool2d_desc *desc);
bool cairn_classic_has_relu(const cairn_relu_desc *desc);
bool cairn_classic_has_lrn(const cairn_lrn_desc *desc);

/* Then by these. */
cairn_status cairn_classic_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
cairn_status cairn_classic_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
cairn_status cairn_classic_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);

/* The logarithms of the softmax of plain f32 `logits` [batch][classes] into `out`. */
cairn_status cairn_classic_log_softmax(cairn_cuda *cuda, int64_t batch, int64_t classes, const float *logits,
                                       float *out);

/* ---- what those share ---- */

/* Describes an NHWC activation, or with `rows` x `columns` x 1 x 1 a matrix. */
cairn_status cairn_classic_describe(cudnnTensorDescriptor_t tensor, cairn_dtype dtype, cairn_shape shape);

/* Fewer than 2^31 elements, which descriptors count in int. */
bool cairn_classic_fits(cairn_shape shape);

#endif
