/* shim.hpp - what a kernel's body needs from CUDA, on the host. g++ compiles the product's kernel headers behind it (-include).
 *
 * The threads of a block run one after the other in one loop (next_thread). A thread that comes to a barrier or a shuffle is left there on
 * a stack of its own and the loop goes on with the next (block.cpp), so kernels without either cost no more than a loop. Blocks run one after
 * the other as well, hence shared memory is static and atomics are plain.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <utility>
#include <vector_functions.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __launch_bounds__
#undef __managed__
#define __global__
#define __device__
#define __host__
#define __shared__      static
#define __constant__    static const
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace gpusim
{

extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;

bool next_thread();
void block_barrier();
void warp_barrier(unsigned mask);

/* Every lane of `mask` gives a value and takes that of lane `from`; all bits set where that lane gave none. */
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned from);

/* The lanes of `mask` for which `predicate` holds, as bits. */
unsigned vote(unsigned mask, bool predicate);

/* How the runtime finds and calls a kernel. `run` runs every thread of a block; `sizes` are of the arguments, in bytes. */
struct host_kernel {
    const char *name; /* mangled: nvcc and g++ agree, and nvcc registers kernels by it */
    void (*run)(void *const *arguments);
    unsigned count;
    const unsigned *sizes;
};

template <auto Kernel> struct invoker;
template <class... Argument, void (*Kernel)(Argument...)> struct invoker<Kernel> {
    template <std::size_t... I> static void call(void *const *arguments, std::index_sequence<I...>)
    {
        while (next_thread())
            Kernel(*static_cast<std::remove_cv_t<Argument> *>(arguments[I])...);
    }
    static void run(void *const *arguments)
    {
        call(arguments, std::index_sequence_for<Argument...>{});
    }
    static constexpr unsigned sizes[sizeof...(Argument) + 1] = {sizeof(Argument)...};
    static constexpr host_kernel entry(const char *name)
    {
        return {name, run, sizeof...(Argument), sizes};
    }
};

template <class T> T shuffled(unsigned mask, T value, unsigned from)
{
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "a shuffle moves 8 bytes at most");
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = exchange(mask, bits, from);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/* Lanes are counted along x, then y, then z. */
inline unsigned lane()
{
    return (thread_index.x + block_size.x * (thread_index.y + block_size.y * thread_index.z)) & 31;
}

} // namespace gpusim

#define threadIdx gpusim::thread_index
#define blockIdx  gpusim::block_index
#define blockDim  gpusim::block_size
#define gridDim   gpusim::grid_size
#define warpSize  32

/* ---- barriers, shuffles, votes ---- */

inline void __syncthreads()
{
    gpusim::block_barrier();
}

inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    gpusim::warp_barrier(mask);
}

/* A lane reads within its own group of `width`; from outside of it, its own value (CUDA C++ programming guide, warp shuffle). */
template <class T> T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const unsigned w = static_cast<unsigned>(width);
    return gpusim::shuffled(mask, value, (gpusim::lane() & ~(w - 1)) + (static_cast<unsigned>(from) & (w - 1)));
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned lane = gpusim::lane(), w = static_cast<unsigned>(width);
    return gpusim::shuffled(mask, value, (lane & (w - 1)) + by < w ? lane + by : lane);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned lane = gpusim::lane(), w = static_cast<unsigned>(width);
    return gpusim::shuffled(mask, value, (lane & (w - 1)) >= by ? lane - by : lane);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
    const unsigned lane = gpusim::lane(), w = static_cast<unsigned>(width), from = lane ^ static_cast<unsigned>(with);
    return gpusim::shuffled(mask, value, (from & ~(w - 1)) <= (lane & ~(w - 1)) ? from : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return gpusim::vote(mask, predicate != 0);
}

inline int __any_sync(unsigned mask, int predicate)
{
    return gpusim::vote(mask, predicate != 0) != 0;
}

inline int __all_sync(unsigned mask, int predicate)
{
    return gpusim::vote(mask, predicate == 0) == 0;
}

/* ---- atomics: one thread runs at a time ---- */

template <class T> T atomicAdd(T *at, T value)
{
    const T old = *at;
    *at = old + value;
    return old;
}

template <class T> T atomicMax(T *at, T value)
{
    const T old = *at;
    *at = old < value ? value : old;
    return old;
}

template <class T> T atomicOr(T *at, T value)
{
    const T old = *at;
    *at = old | value;
    return old;
}

template <class T> T atomicExch(T *at, T value)
{
    return std::exchange(*at, value);
}

template <class T> T atomicCAS(T *at, T expected, T value)
{
    const T old = *at;
    if (old == expected) *at = value;
    return old;
}

inline void __threadfence() {}

/* ---- arithmetic ---- */

using std::isfinite;
using std::isinf;
using std::isnan;

template <class T> T __ldg(const T *from)
{
    return *from;
}

template <class T> T min(T a, T b)
{
    return b < a ? b : a;
}

template <class T> T max(T a, T b)
{
    return a < b ? b : a;
}

inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __uint_as_float(unsigned bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}

inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

inline float rsqrtf(float x)
{
    return 1.0f / std::sqrt(x);
}
