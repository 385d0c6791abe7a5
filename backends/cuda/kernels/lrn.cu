/* lrn.cu - launchers of lrn.cuh and lrn_pool.cuh. */
#include "backends/cuda/kernels/launcher.cuh"
#include "backends/cuda/kernels/lrn.cuh"
#include "backends/cuda/kernels/lrn_pool.cuh"

/* Threads of the warps that take so many pixels, see lrn_place_of. */
static int64_t lrn_threads(int64_t pixels, int64_t channels, cairn_dtype dtype)
{
    int64_t packs = packs_of(channels, width_of(dtype));
    if (packs <= 32) return packs_of(pixels, 32 / packs) * 32;
    return pixels * packs_of(packs, CAIRN_LRN_SHARED) * 32;
}

cudaError_t cairn_launch_lrn(const cairn_lrn_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_lrn_args>(dtype, CAIRN_KERNELS(lrn)),
         any = kernel_for<cairn_lrn_args>(dtype, CAIRN_KERNELS(lrn_any));
    if (args->size != CAIRN_LRN_WINDOW) return launch_threads(any, args->rows * args->channels, *args, stream);
    return launch_threads(kernel, lrn_threads(args->rows, args->channels, dtype), *args, stream);
}

cudaError_t cairn_launch_lrn_backward(const cairn_lrn_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_lrn_args>(dtype, CAIRN_KERNELS(lrn_backward)),
         any = kernel_for<cairn_lrn_args>(dtype, CAIRN_KERNELS(lrn_any_backward));
    if (args->size != CAIRN_LRN_WINDOW) return launch_threads(any, args->rows * args->channels, *args, stream);
    return launch_threads(kernel, lrn_threads(args->rows, args->channels, dtype), *args, stream);
}

cudaError_t cairn_launch_lrn_pool(const cairn_lrn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_lrn_pool_args>(dtype, CAIRN_KERNELS(lrn_pool));
    int64_t strips = packs_of(args->pool.dst_h, args->strip), columns = args->pool.batch * strips * args->pool.dst_w;
    return launch_threads(kernel, lrn_threads(columns, args->pool.channels, dtype), *args, stream);
}

cudaError_t cairn_launch_lrn_pool_backward(const cairn_lrn_pool_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_lrn_pool_args>(dtype, CAIRN_KERNELS(lrn_pool_backward));
    int64_t pixels = args->pool.batch * args->pool.src_h * args->pool.src_w;
    return launch_threads(kernel, lrn_threads(pixels, args->pool.channels, dtype), *args, stream);
}
