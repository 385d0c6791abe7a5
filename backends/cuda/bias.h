/* bias.h - what conv2d and linear share around their library's call: bias and ReLU behind it, where the library can't fuse them, and their
 * backward before it.
 */
#ifndef CAIRN_BACKENDS_CUDA_BIAS_H
#define CAIRN_BACKENDS_CUDA_BIAS_H

#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

/* dst += bias in rows of `channels`, where has_bias; then max(dst, 0), where relu. In place, by one pass; none where neither is wanted. */
typedef struct cairn_bias_forward {
    int64_t rows, channels;
    cairn_dtype dtype;
    bool has_bias, relu;
} cairn_bias_forward;
cairn_status cairn_bias_forward_run(const cairn_bias_forward *forward, const cairn_cuda *cuda,
                                    const cairn_operands *operands);

typedef struct cairn_bias_backward {
    cairn_columns columns; /* of dy: its rows and channels, and how they are summed */
    cairn_dtype dtype;
    bool has_bias, masks; /* diff_bias is wanted; dy is masked by y first */
} cairn_bias_backward;

/* diff_dst *= (dst > 0) in place, then diff_bias (+)= sum over rows of diff_dst, by one pass over both. Uses the workspace. */
cairn_status cairn_bias_backward_run(const cairn_bias_backward *backward, const cairn_cuda *cuda,
                                     const cairn_operands *operands);

/* Bytes of workspace that it takes. */
size_t cairn_bias_backward_bytes(const cairn_bias_backward *backward);

#endif
