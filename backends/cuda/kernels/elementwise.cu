/* elementwise.cu - launchers of elementwise.cuh, bias.cuh and dropout.cuh. */
#include "backends/cuda/kernels/bias.cuh"
#include "backends/cuda/kernels/dropout.cuh"
#include "backends/cuda/kernels/elementwise.cuh"
#include "backends/cuda/kernels/launcher.cuh"

cudaError_t cairn_launch_relu(const cairn_relu_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_relu_args>(dtype, CAIRN_KERNELS(relu));
    return launch_threads(kernel, packs_of(args->count, width_of(dtype)), *args, stream);
}

cudaError_t cairn_launch_bias(const cairn_bias_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_bias_args>(dtype, CAIRN_KERNELS(bias));
    return launch_threads(kernel, args->rows * packs_of(args->channels, width_of(dtype)), *args, stream);
}

cudaError_t cairn_launch_bias_gradient(const cairn_bias_gradient_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_bias_gradient_args>(dtype, CAIRN_KERNELS(bias_gradient));
    cudaError_t error = launch_grid(kernel, args->columns.blocks, (unsigned)args->columns.groups, *args, stream);
    if (error != cudaSuccess) return error;
    return launch_grid<cairn_bias_gradient_args>(cairn_bias_gradient_total, column_total_blocks(args->columns), 1,
                                                 *args, stream);
}

cudaError_t cairn_launch_dropout(const cairn_dropout_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_dropout_args>(dtype, CAIRN_KERNELS(dropout));
    return launch_threads(kernel, packs_of(args->count, width_of(dtype)), *args, stream);
}

cudaError_t cairn_launch_convert(const cairn_convert_args *args, cairn_dtype from, cairn_dtype to, cudaStream_t stream)
{
    if (from == to)
        return cudaMemcpyAsync(args->dst, args->src, (size_t)(args->count * bytes_of(from)), cudaMemcpyDeviceToDevice,
                               stream);
    kernel_of<cairn_convert_args> kernel = kernel_for<cairn_convert_args>(
        from, kernel_for<cairn_convert_args>(to, nullptr, cairn_convert_f32_f16, cairn_convert_f32_bf16),
        kernel_for<cairn_convert_args>(to, cairn_convert_f16_f32, nullptr, cairn_convert_f16_bf16),
        kernel_for<cairn_convert_args>(to, cairn_convert_bf16_f32, cairn_convert_bf16_f16, nullptr));
    return launch_threads(kernel, packs_of(args->count, 8), *args, stream);
}

cudaError_t cairn_launch_add_gradient(const cairn_convert_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_convert_args>(dtype, CAIRN_KERNELS(add_gradient));
    return launch_threads(kernel, packs_of(args->count, 8), *args, stream);
}
