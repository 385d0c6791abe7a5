/* update.cu - launchers of update.cuh. */
#include "backends/cuda/kernels/launcher.cuh"
#include "backends/cuda/kernels/update.cuh"

cudaError_t cairn_launch_update_scan(const cairn_update_args *args, int32_t blocks, cudaStream_t stream)
{
    return launch_grid<cairn_update_args>(cairn_update_scan, blocks, 1, *args, stream);
}

cudaError_t cairn_launch_update(const cairn_update_args *args, cairn_update_rule rule, cairn_dtype low, int32_t blocks,
                                cudaStream_t stream)
{
    static const struct {
        kernel_of<cairn_update_args> f16, bf16;
    } kernels[] = {
        {cairn_update_sgd_plain_f16, cairn_update_sgd_plain_bf16},
        {cairn_update_sgd_f16, cairn_update_sgd_bf16},
        {cairn_update_adam_f16, cairn_update_adam_bf16},
    };
    return launch_grid(low == CAIRN_BF16 ? kernels[rule].bf16 : kernels[rule].f16, blocks, 1, *args, stream);
}
