#include "backends/cuda/bias.h"

cairn_status cairn_bias_forward_run(const cairn_bias_forward *forward, const cairn_cuda *cuda,
                                    const cairn_operands *operands)
{
    if (forward->has_bias) {
        const cairn_bias_args args = {.src = operands->dst,
                                      .bias = operands->bias,
                                      .dst = operands->dst,
                                      .rows = forward->rows,
                                      .channels = forward->channels,
                                      .relu = forward->relu};
        CUDA_TRY(cairn_launch_bias(&args, forward->dtype, cuda->compute));
    } else if (forward->relu) {
        const cairn_relu_args args = {
            .src = operands->dst, .dst = operands->dst, .count = forward->rows * forward->channels};
        CUDA_TRY(cairn_launch_relu(&args, forward->dtype, cuda->compute));
    }
    return CAIRN_OK;
}

cairn_status cairn_bias_backward_run(const cairn_bias_backward *backward, const cairn_cuda *cuda,
                                     const cairn_operands *operands)
{
    const void *mask = backward->masks ? operands->dst : NULL;
    if (backward->has_bias) {
        cairn_bias_gradient_args args = {.columns = backward->columns,
                                         .dy = operands->diff_dst,
                                         .y = mask,
                                         .diff_bias = operands->diff_bias,
                                         .accumulate = operands->accumulate};
        args.columns.partial = operands->workspace;
        CUDA_TRY(cairn_launch_bias_gradient(&args, backward->dtype, cuda->compute));
    } else if (mask) {
        const cairn_relu_args args = {.src = operands->diff_dst,
                                      .mask = mask,
                                      .dst = operands->diff_dst,
                                      .count = backward->columns.rows * backward->columns.channels};
        CUDA_TRY(cairn_launch_relu(&args, backward->dtype, cuda->compute));
    }
    return CAIRN_OK;
}

size_t cairn_bias_backward_bytes(const cairn_bias_backward *backward)
{
    return backward->has_bias ? cairn_columns_bytes(&backward->columns, 1) : 0;
}
