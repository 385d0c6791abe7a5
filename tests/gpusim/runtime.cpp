/* The runtime double by itself: memory, streams and their order, events, and kernels with barriers and shuffles. */
#include "shim/shim.hpp"

#include "cudart/gpusim.hpp"
#include "cudart/kernel.hpp"
#include "tests/gpusim/fat_binary.hpp"
#include "tests/test.h"
#include <vector>

extern "C" unsigned long long gpusim_count(const char *kind_name);

/* ---- kernels ---- */

extern "C" __global__ void scale_add(float *y, const float *x, float a, int n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(n)) y[i] += a * x[i];
}

/* The sum of a block's threads, in a tree of shuffles and then one over the warps. */
extern "C" __global__ void block_sum(float *out, const float *x, int n)
{
    __shared__ float part[32];
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n); i += gridDim.x * blockDim.x)
        sum += x[i];
    for (unsigned by = 16; by; by /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (unsigned by = 16; by; by /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, static_cast<int>(by));
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

/* Where each thread stands, and which of its warp's lanes have an odd number. */
extern "C" __global__ void places(unsigned *out)
{
    const unsigned number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + number] = __ballot_sync(0xffffffffu, threadIdx.x % 2) ^ (block * size + number);
}

static const gpusim::host_kernel kernels[] = {gpusim::invoker<scale_add>::entry("scale_add"),
                                              gpusim::invoker<block_sum>::entry("block_sum"),
                                              gpusim::invoker<places>::entry("places"),
                                              {nullptr, nullptr, 0, nullptr}};

template <class... A>
static cudaError_t launch(void (*kernel)(A...), dim3 grid, dim3 block, cudaStream_t stream, A... a)
{
    void *arguments[] = {&a...};
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, 0, stream);
}

/* ---- what the tests share ---- */

static cudaStream_t stream()
{
    cudaStream_t made;
    CHECK_INT(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), cudaSuccess);
    return made;
}

static float *on_device(int count)
{
    void *memory = nullptr;
    CHECK_INT(cudaMalloc(&memory, static_cast<std::size_t>(count) * sizeof(float)), cudaSuccess);
    return static_cast<float *>(memory);
}

static float *pinned(int count)
{
    void *memory = nullptr;
    CHECK_INT(cudaHostAlloc(&memory, static_cast<std::size_t>(count) * sizeof(float), cudaHostAllocDefault),
              cudaSuccess);
    return static_cast<float *>(memory);
}

static std::vector<float> read(const float *from, int count, cudaStream_t s)
{
    std::vector<float> host(static_cast<std::size_t>(count));
    CHECK_INT(cudaMemcpyAsync(host.data(), from, host.size() * sizeof(float), cudaMemcpyDeviceToHost, s), cudaSuccess);
    CHECK_INT(cudaStreamSynchronize(s), cudaSuccess);
    return host;
}

/* ---- tests ---- */

static void kernels_with_barriers_and_shuffles()
{
    enum { COUNT = 10007 };
    cudaStream_t s = stream();
    float *x = on_device(COUNT), *out = on_device(1);
    std::vector<float> host(COUNT);
    double want = 0;
    for (int i = 0; i < COUNT; i++)
        want += host[static_cast<std::size_t>(i)] = static_cast<float>(i % 7);
    CHECK_INT(cudaMemcpyAsync(x, host.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice, s), cudaSuccess);
    CHECK_INT(cudaMemsetAsync(out, 0, sizeof(float), s), cudaSuccess);
    CHECK_INT(launch(block_sum, dim3(4), dim3(256), s, out, static_cast<const float *>(x), static_cast<int>(COUNT)),
              cudaSuccess);
    CHECK_NEAR(read(out, 1, s)[0], want, 0);
    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(s);
}

static void every_thread_of_a_grid_runs_once()
{
    enum { THREADS = 2 * 3 * 2 * 8 * 4 * 2 };
    cudaStream_t s = stream();
    auto *out = reinterpret_cast<unsigned *>(on_device(THREADS));
    CHECK_INT(launch(places, dim3(2, 3, 2), dim3(8, 4, 2), s, out), cudaSuccess);
    std::vector<unsigned> host(THREADS);
    CHECK_INT(cudaMemcpyAsync(host.data(), out, sizeof(unsigned) * THREADS, cudaMemcpyDeviceToHost, s), cudaSuccess);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_INT(host[i], 0xaaaaaaaau ^ i);
    cudaFree(out);
    cudaStreamDestroy(s);
}

/* Two streams, the second one's work behind an event of the first. */
static float added_after_copy(bool waits)
{
    enum { COUNT = 1000 };
    cudaStream_t copies = stream(), computes = stream();
    cudaEvent_t copied;
    CHECK_INT(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), cudaSuccess);
    float *x = on_device(COUNT), *y = on_device(COUNT), *host = pinned(COUNT);
    for (int i = 0; i < COUNT; i++)
        host[i] = 1;
    cudaMemsetAsync(x, 0, COUNT * sizeof(float), computes);
    cudaMemsetAsync(y, 0, COUNT * sizeof(float), computes);
    cudaStreamSynchronize(computes);
    cudaMemcpyAsync(x, host, COUNT * sizeof(float), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    if (waits) cudaStreamWaitEvent(computes, copied, 0);
    CHECK_INT(launch(scale_add, dim3(4), dim3(256), computes, y, static_cast<const float *>(x), 2.0f,
                     static_cast<int>(COUNT)),
              cudaSuccess);
    const float last = read(y, COUNT, computes)[COUNT - 1];
    cudaStreamDestroy(copies);
    cudaStreamDestroy(computes);
    cudaEventDestroy(copied);
    cudaFree(x);
    cudaFree(y);
    cudaFreeHost(host);
    return last;
}

static void streams_run_in_a_drawn_order()
{
    int wrong = 0;
    for (int i = 0; i < 20; i++) {
        CHECK_NEAR(added_after_copy(true), 2, 0);
        wrong += added_after_copy(false) != 2;
    }
    CHECK(wrong > 0); /* a forgotten wait shows */
}

/* Nothing runs before something waits, so a host that overwrites a pinned source too early is seen. */
static void pinned_sources_are_read_late()
{
    cudaStream_t s = stream();
    float *x = on_device(1), *host = pinned(1);
    host[0] = 1;
    cudaMemcpyAsync(x, host, sizeof(float), cudaMemcpyHostToDevice, s);
    host[0] = 2;
    CHECK_NEAR(read(x, 1, s)[0], 2, 0);
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(s);
}

static void events_are_reached_in_time()
{
    cudaStream_t s = stream();
    cudaEvent_t from, to;
    float *x = on_device(64), milliseconds = -1;
    cudaEventCreateWithFlags(&from, cudaEventDefault);
    cudaEventCreateWithFlags(&to, cudaEventDefault);
    CHECK_INT(cudaEventQuery(to), cudaSuccess); /* never recorded */
    cudaEventRecord(from, s);
    cudaMemsetAsync(x, 0, 256, s);
    cudaEventRecord(to, s);
    CHECK_INT(cudaEventElapsedTime(&milliseconds, from, to), cudaErrorNotReady);
    for (int asked = 0; asked < 1000 && cudaEventQuery(to) == cudaErrorNotReady;)
        asked++;
    CHECK_INT(cudaEventQuery(to), cudaSuccess);
    CHECK_INT(cudaEventElapsedTime(&milliseconds, from, to), cudaSuccess);
    CHECK(milliseconds > 0 && milliseconds < 1);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    cudaFree(x);
    cudaStreamDestroy(s);
}

static void fresh_memory_is_not_a_number()
{
    cudaStream_t s = stream();
    float *x = on_device(3);
    CHECK(std::isnan(read(x, 3, s)[2]));
    cudaFree(x);
    cudaStreamDestroy(s);
}

static void calls_are_counted()
{
    const unsigned long long before = gpusim_count("malloc");
    cudaFree(on_device(1));
    CHECK_INT(gpusim_count("malloc") - before, 1);
}

static void impossible_grids_are_refused()
{
    cudaStream_t s = stream();
    unsigned *out = nullptr;
    CHECK_INT(launch(places, dim3(1), dim3(1025), s, out), cudaErrorInvalidConfiguration);
    CHECK_INT(launch(places, dim3(1, 65536), dim3(32), s, out), cudaErrorInvalidConfiguration);
    CHECK_INT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK_INT(cudaGetLastError(), cudaSuccess);
    cudaStreamDestroy(s);
}

int main()
{
    fat_binary binary(90);
    gpusim::offer_kernels(kernels);
    binary.add(reinterpret_cast<const char *>(scale_add), "scale_add");
    binary.add(reinterpret_cast<const char *>(block_sum), "block_sum");
    binary.add(reinterpret_cast<const char *>(places), "places");
    RUN(kernels_with_barriers_and_shuffles);
    RUN(every_thread_of_a_grid_runs_once);
    RUN(streams_run_in_a_drawn_order);
    RUN(pinned_sources_are_read_late);
    RUN(events_are_reached_in_time);
    RUN(fresh_memory_is_not_a_number);
    RUN(calls_are_counted);
    RUN(impossible_grids_are_refused);
    return test_result();
}
