/* launcher.cuh - what launchers share: a kernel of one struct, over a line of blocks of CAIRN_THREADS. */
#ifndef CAIRN_CUDA_KERNELS_LAUNCHER_CUH
#define CAIRN_CUDA_KERNELS_LAUNCHER_CUH

#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.cuh"

/* The kernel's versions for the three element types, for kernel_for. */
#define CAIRN_KERNELS(name) cairn_##name##_f32, cairn_##name##_f16, cairn_##name##_bf16

template <class Args> using kernel_of = void (*)(Args);

template <class Args>
kernel_of<Args> kernel_for(cairn_dtype dtype, kernel_of<Args> f32, kernel_of<Args> f16, kernel_of<Args> bf16)
{
    switch (dtype) {
    case CAIRN_F32:
        return f32;
    case CAIRN_F16:
        return f16;
    case CAIRN_BF16:
        return bf16;
    default:
        return nullptr;
    }
}

template <class Args>
cudaError_t launch_grid(kernel_of<Args> kernel, int64_t blocks, unsigned groups, const Args &args, cudaStream_t stream)
{
    if (!kernel) return cudaErrorInvalidValue;
    if (blocks <= 0) return cudaSuccess;                                           /* nothing to do */
    if (blocks > UINT32_MAX / CAIRN_THREADS) return cudaErrorInvalidConfiguration; /* see thread_index */
    void *parameters[] = {const_cast<Args *>(&args)};
    return cudaLaunchKernel((const void *)kernel, dim3((unsigned)blocks, groups), dim3(CAIRN_THREADS), parameters, 0,
                            stream);
}

/* `threads` in all. */
template <class Args>
cudaError_t launch_threads(kernel_of<Args> kernel, int64_t threads, const Args &args, cudaStream_t stream)
{
    return launch_grid(kernel, (threads + CAIRN_THREADS - 1) / CAIRN_THREADS, 1, args, stream);
}

/* Bytes of an element, and elements in 16 bytes. */
static inline int64_t bytes_of(cairn_dtype dtype)
{
    return dtype == CAIRN_F32 ? 4 : 2;
}

static inline int64_t width_of(cairn_dtype dtype)
{
    return 16 / bytes_of(dtype);
}

/* `count` in packs of `width`. */
static inline int64_t packs_of(int64_t count, int64_t width)
{
    return (count + width - 1) / width;
}

#endif
