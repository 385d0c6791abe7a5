/* elementwise.cuh - kernels in which each element stands alone: ReLU and its backward, conversions, adding a gradient. */
#ifndef CAIRN_CUDA_KERNELS_ELEMENTWISE_CUH
#define CAIRN_CUDA_KERNELS_ELEMENTWISE_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

/* Moves 2 arrays (3 with a mask), each once, in the order they lie: consecutive threads take consecutive 16 bytes. */
template <class T> __device__ __forceinline__ void relu(const cairn_relu_args &a)
{
    constexpr int N = WIDTH<T>;
    int64_t first = thread_number() * N, left = a.count - first;
    if (left <= 0) return;
    bool whole = left >= N && aligned(a.src) && aligned(a.dst) && aligned(a.mask);
    float x[N], y[N];
    load((const T *)a.src + first, left, whole, x);
    if (a.mask) {
        load((const T *)a.mask + first, left, whole, y);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = y[i] > 0.0f ? x[i] : 0.0f;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = relu_of(x[i]);
    }
    store((T *)a.dst + first, left, whole, x);
}

CAIRN_KERNEL(relu, cairn_relu_args)

/* Moves both arrays once, in order. Eight elements a thread: one or two accesses of 16 bytes on each side. */
template <class From, class To> __device__ __forceinline__ void convert(const cairn_convert_args &a)
{
    constexpr int N = 8;
    int64_t first = thread_number() * N, left = a.count - first;
    if (left <= 0) return;
    bool whole = left >= N && aligned(a.src) && aligned(a.dst);
    float x[N];
    load((const From *)a.src + first, left, whole, x);
    store((To *)a.dst + first, left, whole, x);
}

#define CAIRN_CONVERT_KERNEL(from, from_name, to, to_name)                                                             \
    extern "C" __global__ void __launch_bounds__(CAIRN_THREADS)                                                        \
        cairn_convert_##from_name##_##to_name(cairn_convert_args a)                                                    \
    {                                                                                                                  \
        convert<from, to>(a);                                                                                          \
    }
CAIRN_CONVERT_KERNEL(float, f32, __half, f16)
CAIRN_CONVERT_KERNEL(float, f32, __nv_bfloat16, bf16)
CAIRN_CONVERT_KERNEL(__half, f16, float, f32)
CAIRN_CONVERT_KERNEL(__half, f16, __nv_bfloat16, bf16)
CAIRN_CONVERT_KERNEL(__nv_bfloat16, bf16, float, f32)
CAIRN_CONVERT_KERNEL(__nv_bfloat16, bf16, __half, f16)

/* A gradient that a library gave in T goes into the f32 slab. Moves src once, dst once, or twice where it accumulates. */
template <class T> __device__ __forceinline__ void add_gradient(const cairn_convert_args &a)
{
    constexpr int N = 8;
    int64_t first = thread_number() * N, left = a.count - first;
    if (left <= 0) return;
    bool whole = left >= N && aligned(a.src) && aligned(a.dst);
    float g[N], sum[N];
    load((const T *)a.src + first, left, whole, g);
    if (a.accumulate) {
        load((const float *)a.dst + first, left, whole, sum);
#pragma unroll
        for (int i = 0; i < N; i++)
            g[i] += sum[i];
    }
    store((float *)a.dst + first, left, whole, g);
}

CAIRN_KERNEL(add_gradient, cairn_convert_args)

#endif
