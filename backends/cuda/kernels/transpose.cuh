/* transpose.cuh - between plain order and channels last: each sample (or each output of a weight) is a matrix to be turned. Activations
 * NCHW: rows are channels, columns pixels. Weights OIHW the same, and the columns of a fully connected layer's rows too. */
#ifndef CAIRN_CUDA_KERNELS_TRANSPOSE_CUH
#define CAIRN_CUDA_KERNELS_TRANSPOSE_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

#define CAIRN_TILE 32

/* Moves both arrays once: a block turns tiles of 32 x 32 through shared memory (33 wide: no two threads of a warp meet in a bank), so
 * that reads and writes both go along rows. */
template <class From, class To> __device__ __forceinline__ void transpose(const cairn_transpose_args &a)
{
    __shared__ float tile[CAIRN_TILE][CAIRN_TILE + 1];
    int x = threadIdx.x % CAIRN_TILE, y = threadIdx.x / CAIRN_TILE;
    constexpr int down = CAIRN_THREADS / CAIRN_TILE;
    unsigned tiles_across = (unsigned)((a.columns + CAIRN_TILE - 1) / CAIRN_TILE);
    unsigned tiles_down = (unsigned)((a.dst_pitch + CAIRN_TILE - 1) / CAIRN_TILE);
    unsigned tile_number = blockIdx.x / tiles_across;
    int64_t column = (int64_t)(blockIdx.x % tiles_across) * CAIRN_TILE;
    int64_t row = (int64_t)(tile_number % tiles_down) * CAIRN_TILE, matrix = tile_number / tiles_down;
    const From *src = (const From *)a.src + matrix * a.rows * a.src_pitch;
    To *dst = (To *)a.dst + matrix * a.columns * a.dst_pitch;
#pragma unroll
    for (int i = 0; i < CAIRN_TILE; i += down) {
        bool there = row + y + i < a.rows && column + x < a.columns;
        tile[y + i][x] = there ? to_float(src[(row + y + i) * a.src_pitch + column + x]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < CAIRN_TILE; i += down)
        if (column + y + i < a.columns && row + x < a.dst_pitch)
            dst[(column + y + i) * a.dst_pitch + row + x] = from_float<To>(tile[x][y + i]);
}

/* Rows of channels into rows with another padding. A thread has one element: such a copy is rare. */
template <class From, class To> __device__ __forceinline__ void repitch(const cairn_transpose_args &a)
{
    int64_t row = thread_number() / a.dst_pitch, column = thread_number() % a.dst_pitch;
    if (row >= a.batch * a.rows) return;
    float x = column < a.columns ? to_float(((const From *)a.src)[row * a.src_pitch + column]) : 0.0f;
    ((To *)a.dst)[row * a.dst_pitch + column] = from_float<To>(x);
}

#define CAIRN_REORDER_KERNEL(from, from_name, to, to_name)                                                             \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS)                                                        \
        cairn_transpose_##from_name##_##to_name(cairn_transpose_args a)                                                \
    {                                                                                                                  \
        transpose<from, to>(a);                                                                                        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS)                                                        \
        cairn_repitch_##from_name##_##to_name(cairn_transpose_args a)                                                  \
    {                                                                                                                  \
        repitch<from, to>(a);                                                                                          \
    }
CAIRN_REORDER_KERNEL(float, f32, float, f32)
CAIRN_REORDER_KERNEL(float, f32, __half, f16)
CAIRN_REORDER_KERNEL(float, f32, __nv_bfloat16, bf16)
CAIRN_REORDER_KERNEL(__half, f16, float, f32)
CAIRN_REORDER_KERNEL(__half, f16, __half, f16)
CAIRN_REORDER_KERNEL(__half, f16, __nv_bfloat16, bf16)
CAIRN_REORDER_KERNEL(__nv_bfloat16, bf16, float, f32)
CAIRN_REORDER_KERNEL(__nv_bfloat16, bf16, __half, f16)
CAIRN_REORDER_KERNEL(__nv_bfloat16, bf16, __nv_bfloat16, bf16)

#endif
