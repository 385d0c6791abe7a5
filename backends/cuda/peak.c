#include "backends/cuda/peak.h"
#include "backends/cuda/matmul.h"
#include "core/os.h"

enum { SMALLEST = 1024, LARGEST = 8192 };
#define LONG_ENOUGH 0.005 /* seconds of one product, beside which its start counts for little */

/* Seconds of one product of two square matrices, 0 where it can't be had. */
static double time_product(cairn_cuda *cuda, const cairn_matmul *product, char *memory, size_t matrix)
{
    double best = 0;
    for (int run = 0; run < 3; run++) { /* the first one also loads the kernel */
        double start = cairn_os_seconds();
        if (cairn_matmul_run(product, cuda, memory, memory + matrix, NULL, 0, memory + 2 * matrix,
                             memory + 3 * matrix) != CAIRN_OK ||
            cudaStreamSynchronize(cuda->compute) != cudaSuccess)
            return 0;
        double seconds = cairn_os_seconds() - start;
        if (run > 0 && (best == 0 || seconds < best)) best = seconds;
        if (seconds > 10 * LONG_ENOUGH) return seconds; /* no GPU is so slow: a simulated one is */
    }
    return best;
}

static double measure(cairn_cuda *cuda, cairn_dtype dtype, int64_t size)
{
    const cairn_matmul_desc desc = {
        .rows = size, .columns = size, .inner = size, .transpose_b = true, .input = dtype, .output = dtype};
    size_t matrix = (size_t)(size * size) * cairn_dtype_size(dtype);
    cairn_matmul product;
    void *memory = NULL;
    double seconds = 0;
    if (cairn_matmul_plan(cuda, &desc, &product) == CAIRN_OK &&
        cudaMalloc(&memory, 3 * matrix + product.workspace) == cudaSuccess &&
        cudaMemsetAsync(memory, 0, 3 * matrix, cuda->compute) == cudaSuccess)
        seconds = time_product(cuda, &product, memory, matrix);
    if (memory) cudaFree(memory);
    cairn_matmul_release(&product);
    cudaGetLastError(); /* too little memory ends the search, and is no failure */
    return seconds;
}

double cairn_cuda_peak_gflops(cairn_device *device, cairn_dtype dtype)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    double best = 0;
    if (cairn_cuda_enter(cuda) != CAIRN_OK || cairn_cuda_check_dtype(device, "peak", dtype) != CAIRN_OK) return 0;
    for (int64_t size = SMALLEST; size <= LARGEST; size *= 2) {
        double seconds = measure(cuda, dtype, size);
        if (seconds <= 0) break;
        double gflops = 2e-9 * (double)(size * size * size) / seconds;
        if (gflops > best) best = gflops;
        if (seconds > LONG_ENOUGH) break;
    }
    return best;
}
