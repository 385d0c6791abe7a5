/* One mistake, as its argument says, for misuse.sh to see told. */
#include "shim/shim.hpp"

#include "cudart/gpusim.hpp"
#include "cudart/kernel.hpp"
#include "tests/gpusim/fat_binary.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" __global__ void fill(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

extern "C" __global__ void divergent(float *x)
{
    if (threadIdx.x == 1)
        __syncwarp(); /* its lane 0 comes to another barrier */
    else
        __syncthreads();
    x[0] = 1;
}

extern "C" __global__ void unknown(float *) {}

static const gpusim::host_kernel kernels[] = {gpusim::invoker<fill>::entry("fill"),
                                              gpusim::invoker<divergent>::entry("divergent"),
                                              {nullptr, nullptr, 0, nullptr}};

enum { COUNT = 100 };
static cudaStream_t stream;
static float *x;

template <class... A> static void launch(void (*kernel)(A...), A... a)
{
    void *arguments[] = {&a..., nullptr};
    const cudaError_t error =
        cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(1), dim3(64), arguments, 0, stream);
    if (error == cudaSuccess)
        cudaStreamSynchronize(stream);
    else
        std::printf("%s\n", cudaGetErrorName(error));
}

static void deadlock()
{
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, stream); /* GPUSIM_FAULT=lost_record */
    cudaStreamWaitEvent(stream, event, 0);
    cudaStreamSynchronize(stream);
    cudaEventDestroy(event);
}

static void free_x()
{
    cudaFree(x);
}

static void end_well()
{
    free_x();
    cudaStreamDestroy(stream);
}

struct mistake {
    const char *name;
    void (*make)();
};

static const mistake mistakes[] = {
    {"none", [] {}},
    {"write_behind", [] { launch(fill, x, COUNT + 1); }},
    {"write_far_behind", [] { launch(fill, x, 5000); }},
    {"use_after_free", [] { free_x(), launch(fill, x, 1), std::exit(0); }},
    {"free_twice", [] { free_x(), free_x(); }},
    {"free_inside", [] { cudaFree(x + 1); }},
    {"copy_behind", [] { cudaMemsetAsync(x, 0, sizeof(float) * COUNT + 1, stream), cudaStreamSynchronize(stream); }},
    {"host_reads_device", [] { std::printf("%g\n", static_cast<double>(*static_cast<volatile float *>(x))); }},
    {"wrong_kind", [] { cudaMemcpyAsync(x, x, 4, cudaMemcpyDeviceToHost, stream); }},
    {"leak", [] { std::exit(0); }},
    {"divergent", [] { launch(divergent, x); }},
    {"unknown_kernel", [] { launch(unknown, x); }},
    {"unregistered", [] { launch(reinterpret_cast<void (*)(float *)>(end_well), x); }},
    {"default_stream", [] { cudaMemsetAsync(x, 0, 4, nullptr); }},
    {"deadlock", deadlock},
    {"kernel", [] { launch(fill, x, 1); }},
    {"second_malloc",
     [] {
         std::printf("%s\n", cudaGetErrorName(cudaMalloc(reinterpret_cast<void **>(&x), 1 << 20))), std::fflush(stdout),
             std::_Exit(0);
     }},
};

int main(int, char **argv)
{
    fat_binary binary(90);
    gpusim::offer_kernels(kernels);
    binary.add(reinterpret_cast<const char *>(fill), "fill");
    binary.add(reinterpret_cast<const char *>(divergent), "divergent");
    binary.add(reinterpret_cast<const char *>(unknown), "unknown");
    int devices;
    if (cudaGetDeviceCount(&devices) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc(reinterpret_cast<void **>(&x), sizeof(float) * COUNT) != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
        return 1;
    }
    for (const mistake &one : mistakes)
        if (std::strcmp(one.name, argv[1]) == 0) one.make();
    end_well();
    return 0;
}
