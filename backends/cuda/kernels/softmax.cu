/* softmax.cu - launcher of softmax.cuh. */
#include "backends/cuda/kernels/launcher.cuh"
#include "backends/cuda/kernels/softmax.cuh"

cudaError_t cairn_launch_softmax_loss(const cairn_softmax_args *args, cudaStream_t stream)
{
    cairn_softmax_args a = *args;
    a.blocks = a.batch < CAIRN_SOFTMAX_BLOCKS ? (int)a.batch : CAIRN_SOFTMAX_BLOCKS;
    cudaError_t error = launch_grid<cairn_softmax_args>(cairn_softmax_loss_f32, a.blocks, 1, a, stream);
    if (error != cudaSuccess) return error;
    return launch_grid<cairn_softmax_args>(cairn_softmax_totals, 1, 1, a, stream);
}
