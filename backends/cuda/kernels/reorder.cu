/* reorder.cu - launchers of transpose.cuh and augment.cuh: what brings numbers into the layout a net computes in. */
#include "backends/cuda/kernels/augment.cuh"
#include "backends/cuda/kernels/launcher.cuh"
#include "backends/cuda/kernels/transpose.cuh"

cudaError_t cairn_launch_augment(const cairn_crop_args *args, cairn_dtype dtype, cudaStream_t stream)
{
    auto kernel = kernel_for<cairn_crop_args>(dtype, CAIRN_KERNELS(augment));
    return launch_threads(kernel, args->batch * args->height * args->width, *args, stream);
}

/* The kernel for a pair of types. */
#define CAIRN_KERNELS_FROM(name, from)                                                                                 \
    cairn_##name##_##from##_f32, cairn_##name##_##from##_f16, cairn_##name##_##from##_bf16
#define CAIRN_KERNEL_FOR_PAIR(name, from, to)                                                                          \
    kernel_for<cairn_transpose_args>(from, kernel_for<cairn_transpose_args>(to, CAIRN_KERNELS_FROM(name, f32)),        \
                                     kernel_for<cairn_transpose_args>(to, CAIRN_KERNELS_FROM(name, f16)),              \
                                     kernel_for<cairn_transpose_args>(to, CAIRN_KERNELS_FROM(name, bf16)))

cudaError_t cairn_launch_transpose(const cairn_transpose_args *args, cairn_dtype from, cairn_dtype to,
                                   cudaStream_t stream)
{
    int64_t tiles = packs_of(args->columns, CAIRN_TILE) * packs_of(args->dst_pitch, CAIRN_TILE);
    return launch_grid(CAIRN_KERNEL_FOR_PAIR(transpose, from, to), args->batch * tiles, 1, *args, stream);
}

cudaError_t cairn_launch_repitch(const cairn_transpose_args *args, cairn_dtype from, cairn_dtype to,
                                 cudaStream_t stream)
{
    return launch_threads(CAIRN_KERNEL_FOR_PAIR(repitch, from, to), args->batch * args->rows * args->dst_pitch, *args,
                          stream);
}
