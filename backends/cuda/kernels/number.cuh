/* number.cuh - the element types of kernels, and some of them at a time.
 *
 * Kernels compute in f32 whatever they read and write. A thread takes as many elements as 16 bytes hold, in one access where they are
 * whole and aligned, else one by one; elements beyond the end read as 0 and are never written:
 *
 *     float x[WIDTH<T>];
 *     load(from + first, count - first, whole, x);
 *
 * Kernel bodies are compiled by nvcc for the GPU and by a C++ compiler for the host, over a shim that tests/gpusim gives: they use
 * threadIdx, blockIdx, blockDim, gridDim, static __shared__ arrays, __syncthreads, __shfl_*_sync over whole warps, atomicAdd and atomicOr
 * on int, __threadfence, rsqrtf, and nothing else that is CUDA's alone.
 */
#ifndef CAIRN_CUDA_KERNELS_NUMBER_CUH
#define CAIRN_CUDA_KERNELS_NUMBER_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

#define CAIRN_THREADS 256 /* of a block, unless a launcher says otherwise; never more */

/* Defines the kernels cairn_<name>_f32, _f16 and _bf16 that profilers show, each the body template `name` for one element type. */
#define CAIRN_KERNEL(name, arguments)                                                                                  \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_##name##_f32(arguments a)                        \
    {                                                                                                                  \
        name<float>(a);                                                                                                \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_##name##_f16(arguments a)                        \
    {                                                                                                                  \
        name<__half>(a);                                                                                               \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS) cairn_##name##_bf16(arguments a)                       \
    {                                                                                                                  \
        name<__nv_bfloat16>(a);                                                                                        \
    }

__device__ __forceinline__ float to_float(float v)
{
    return v;
}

__device__ __forceinline__ float to_float(__half v)
{
    return __half2float(v);
}

__device__ __forceinline__ float to_float(__nv_bfloat16 v)
{
    return __bfloat162float(v);
}

/* Rounded to nearest, ties to even. */
template <class T> __device__ __forceinline__ T from_float(float v);

template <> __device__ __forceinline__ float from_float<float>(float v)
{
    return v;
}

template <> __device__ __forceinline__ __half from_float<__half>(float v)
{
    return __float2half_rn(v);
}

template <> __device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float v)
{
    return __float2bfloat16_rn(v);
}

/* max(v, 0); NaN stays NaN, so that a broken net is seen. */
__device__ __forceinline__ float relu_of(float v)
{
    return v < 0.0f ? 0.0f : v;
}

/* Elements in 16 bytes. */
template <class T> constexpr int WIDTH = 16 / (int)sizeof(T);

/* N elements that are read and written by accesses of up to 16 bytes. */
template <class T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) pack {
    T element[N];
};

/* Can elements from `start` on be taken by whole packs, if the offset is a multiple of the pack? */
__device__ __forceinline__ bool aligned(const void *start)
{
    return ((uintptr_t)start & 15) == 0;
}

/* to = from[0..N), or from[0..count) and zeros behind; `whole` says that all N are there and aligned. */
template <class T, int N> __device__ __forceinline__ void load(const T *from, int64_t count, bool whole, float (&to)[N])
{
    if (whole) {
        const pack<T, N> p = *(const pack<T, N> *)from;
#pragma unroll
        for (int i = 0; i < N; i++)
            to[i] = to_float(p.element[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = i < count ? to_float(from[i]) : 0.0f;
}

/* to[0..N) = from, or to[0..count). */
template <class T, int N>
__device__ __forceinline__ void store(T *to, int64_t count, bool whole, const float (&from)[N])
{
    if (whole) {
        pack<T, N> p;
#pragma unroll
        for (int i = 0; i < N; i++)
            p.element[i] = from_float<T>(from[i]);
        *(pack<T, N> *)to = p;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count) to[i] = from_float<T>(from[i]);
}

/* This thread's number in the grid. */
__device__ __forceinline__ int64_t thread_number()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* The same for kernels that divide it, where 32 bits are several times cheaper; launchers hold grids to as many threads. */
__device__ __forceinline__ unsigned thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#endif
