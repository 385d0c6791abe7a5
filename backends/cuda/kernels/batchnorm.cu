/* batchnorm.cu - launchers of batchnorm.cuh. */
#include "backends/cuda/kernels/batchnorm.cuh"
#include "backends/cuda/kernels/launcher.cuh"

/* First and last kernels: all rows. Second: the partial sums. */
static cudaError_t launch_rows(kernel_of<cairn_batchnorm_args> kernel, const cairn_batchnorm_args *args,
                               cudaStream_t stream)
{
    return launch_grid(kernel, args->columns.blocks, (unsigned)args->columns.groups, *args, stream);
}

static cudaError_t launch_totals(kernel_of<cairn_batchnorm_args> kernel, const cairn_batchnorm_args *args,
                                 cudaStream_t stream)
{
    return launch_grid(kernel, column_total_blocks(args->columns), 1, *args, stream);
}

cudaError_t cairn_launch_batchnorm(const cairn_batchnorm_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto sums = kernel_for<cairn_batchnorm_args>(dtype, CAIRN_KERNELS(batchnorm_sums));
    auto statistics = kernel_for<cairn_batchnorm_args>(dtype, CAIRN_KERNELS(batchnorm_statistics));
    cudaError_t error = cudaSuccess;
    if (args->train) error = launch_rows(sums, args, stream);
    if (args->train && error == cudaSuccess) error = launch_totals(statistics, args, stream);
    if (error != cudaSuccess) return error;
    return launch_rows(kernel_for<cairn_batchnorm_args>(dtype, CAIRN_KERNELS(batchnorm)), args, stream);
}

cudaError_t cairn_launch_batchnorm_backward(const cairn_batchnorm_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto sums = kernel_for<cairn_batchnorm_args>(dtype, CAIRN_KERNELS(batchnorm_backward_sums));
    cudaError_t error = launch_rows(sums, args, stream);
    if (error == cudaSuccess) error = launch_totals(cairn_batchnorm_backward_totals, args, stream);
    if (error != cudaSuccess || !args->dst) return error;
    return launch_rows(kernel_for<cairn_batchnorm_args>(dtype, CAIRN_KERNELS(batchnorm_backward)), args, stream);
}
