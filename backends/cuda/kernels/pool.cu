/* pool.cu - launchers of pool.cuh. */
#include "backends/cuda/kernels/launcher.cuh"
#include "backends/cuda/kernels/pool.cuh"

/* A thread for each pack of channels of a plane of so many pixels. */
static cudaError_t launch_pixels(kernel_of<cairn_pool_args> kernel, const cairn_pool_args *args, int height, int width,
                                 cairn_dtype dtype, cudaStream_t stream)
{
    int64_t pixels = args->batch * height * width;
    return launch_threads(kernel, pixels * packs_of(args->channels, width_of(dtype)), *args, stream);
}

cudaError_t cairn_launch_max_pool(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_pool_args>(dtype, CAIRN_KERNELS(max_pool));
    return launch_pixels(kernel, args, args->dst_h, args->dst_w, dtype, stream);
}

cudaError_t cairn_launch_max_pool_backward(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_pool_args>(dtype, CAIRN_KERNELS(max_pool_backward));
    return launch_pixels(kernel, args, args->src_h, args->src_w, dtype, stream);
}

cudaError_t cairn_launch_average_pool(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_pool_args>(dtype, CAIRN_KERNELS(average_pool));
    return launch_pixels(kernel, args, args->dst_h, args->dst_w, dtype, stream);
}

cudaError_t cairn_launch_average_pool_backward(const cairn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_pool_args>(dtype, CAIRN_KERNELS(average_pool_backward));
    return launch_pixels(kernel, args, args->src_h, args->src_w, dtype, stream);
}
