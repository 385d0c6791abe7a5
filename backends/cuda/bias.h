/* bias.h - the start of a backward pass that conv2d and linear share: the mask of a fused ReLU, and the bias gradient.
 */
#ifndef CAIRN_BACKENDS_CUDA_BIAS_H
#define CAIRN_BACKENDS_CUDA_BIAS_H

#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

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
