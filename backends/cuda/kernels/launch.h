/* launch.h - starting the kernels: C functions that choose the kernel for an element type and the grid for a size, and put it on a stream.
 *
 *     const cairn_relu_args args = {.src = x, .dst = y, .count = count};
 *     CUDA_TRY(cairn_launch_relu(&args, CAIRN_F16, cuda->compute));
 *
 * They return what cudaLaunchKernel says, and cudaErrorInvalidValue for an element type that has no kernel; the arguments are copied.
 * `dtype` is f32, f16 or bf16.
 */
#ifndef CAIRN_CUDA_KERNELS_LAUNCH_H
#define CAIRN_CUDA_KERNELS_LAUNCH_H

#include "backends/cuda/kernels/args.h"
#include "core/dtype.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cairn_launch_relu(const cairn_relu_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_bias(const cairn_bias_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_dropout(const cairn_dropout_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_augment(const cairn_crop_args *args, cairn_dtype dtype, cudaStream_t stream);

/* dst in another type, or in the same: then a copy. */
cudaError_t cairn_launch_convert(const cairn_convert_args *args, cairn_dtype from, cairn_dtype to, cudaStream_t stream);

/* A gradient of `dtype` into the f32 slab. */
cudaError_t cairn_launch_add_gradient(const cairn_convert_args *args, cairn_dtype dtype, cudaStream_t stream);

/* Matrices turned, or copied into rows of another length, and converted. */
cudaError_t cairn_launch_transpose(const cairn_transpose_args *args, cairn_dtype from, cairn_dtype to,
                                   cudaStream_t stream);
cudaError_t cairn_launch_repitch(const cairn_transpose_args *args, cairn_dtype from, cairn_dtype to,
                                 cudaStream_t stream);

/* How sums over rows are divided among blocks; `partial` is left NULL. The same for every GPU, so that sums are. Then the bytes of
 * `partial` for so many sums a channel. */
cairn_columns cairn_columns_of(int64_t rows, int64_t channels, cairn_dtype dtype);
size_t cairn_columns_bytes(const cairn_columns *columns, int sums);

/* Mask and sums, then the sums of the sums: two kernels. */
cudaError_t cairn_launch_bias_gradient(const cairn_bias_gradient_args *args, cairn_dtype dtype, cudaStream_t stream);

/* Statistics (two kernels) unless it evaluates, then the normalisation; backward two for the sums and, where dst is wanted, one for dx. */
cudaError_t cairn_launch_batchnorm(const cairn_batchnorm_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_batchnorm_backward(const cairn_batchnorm_args *args, cairn_dtype dtype, cudaStream_t stream);

cudaError_t cairn_launch_max_pool(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_max_pool_backward(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_average_pool(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_average_pool_backward(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);

cudaError_t cairn_launch_lrn(const cairn_lrn_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_lrn_backward(const cairn_lrn_args *args, cairn_dtype dtype, cudaStream_t stream);

/* For windows of CAIRN_LRN_WINDOW channels only. */
cudaError_t cairn_launch_lrn_pool(const cairn_lrn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);
cudaError_t cairn_launch_lrn_pool_backward(const cairn_lrn_pool_args *args, cairn_dtype dtype, cudaStream_t stream);

/* Two kernels. `partial` holds CAIRN_SOFTMAX_BYTES; `blocks` is chosen here. */
#define CAIRN_SOFTMAX_BYTES ((size_t)CAIRN_SOFTMAX_BLOCKS * 4 * sizeof(float))
cudaError_t cairn_launch_softmax_loss(const cairn_softmax_args *args, cudaStream_t stream);

typedef enum cairn_update_rule { CAIRN_RULE_SGD_PLAIN, CAIRN_RULE_SGD, CAIRN_RULE_ADAM } cairn_update_rule;

/* The look at the gradients, and the update: over `args->parts` segments, which take `blocks` blocks. `low` is the type of the copy; any
 * where no segment asks for one. */
cudaError_t cairn_launch_update_scan(const cairn_update_args *args, int32_t blocks, cudaStream_t stream);
cudaError_t cairn_launch_update(const cairn_update_args *args, cairn_update_rule rule, cairn_dtype low, int32_t blocks,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
