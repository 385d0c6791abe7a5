/* cuda.c - the table of the CUDA backend, and opening and closing a device. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/gpus.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/peak.h"
#include "backends/cuda/plugin.h"
#include <stdio.h>
#include <stdlib.h>

cairn_status cairn_cuda_enter(cairn_cuda *cuda)
{
    CUDA_TRY(cudaSetDevice(cuda->ordinal));
    return CAIRN_OK;
}

static cairn_status start(cairn_cuda *cuda)
{
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaStreamCreateWithFlags(&cuda->compute, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&cuda->copy, cudaStreamNonBlocking));
    CUDA_TRY(cudaMalloc(&cuda->scratch, CAIRN_CUDA_SCRATCH));
    CUDA_TRY(cudaHostAlloc(&cuda->stage, CAIRN_CUDA_STAGE, cudaHostAllocDefault));
    CUBLAS_TRY(cublasLtCreate(&cuda->blas));
    CUDNN_TRY(cudnnCreate(&cuda->dnn));
    CUDNN_TRY(cudnnSetStream(cuda->dnn, cuda->compute));
    if (cuda->base.options.library_kernels) CUDNN_TRY(cudnnCreateTensorDescriptor(&cuda->logits));
    return CAIRN_OK;
}

static void name_device(cairn_cuda *cuda, int number)
{
    cairn_device *base = &cuda->base;
    size_t version = cudnnGetVersion();
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    snprintf(base->library, sizeof base->library, "CUDA %d.%d, cuDNN %d.%d.%d", runtime / 1000, runtime % 1000 / 10,
             (int)(version / 10000), (int)(version / 100 % 100), (int)(version % 100));
    snprintf(base->name, sizeof base->name, "cuda:%d (%.60s, %.1f GiB, sm_%d, %s)", number, cuda->properties.name,
             (double)cuda->properties.totalGlobalMem / (1 << 30), cairn_cuda_capability(cuda), base->library);
}

static void device_close(cairn_device *device)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    cairn_cuda_enter(cuda);
    if (cuda->logits) cudnnDestroyTensorDescriptor(cuda->logits);
    if (cuda->dnn) cudnnDestroy(cuda->dnn);
    if (cuda->blas) cublasLtDestroy(cuda->blas);
    if (cuda->scratch) cudaFree(cuda->scratch);
    if (cuda->stage) cudaFreeHost(cuda->stage);
    if (cuda->copy) cudaStreamDestroy(cuda->copy);
    if (cuda->compute) cudaStreamDestroy(cuda->compute);
    cairn_layout_table_release(&cuda->layouts);
    free(cuda);
}

static cairn_status device_open(const cairn_device_options *options, cairn_device **out)
{
    cairn_cuda_gpu gpu;
    *out = NULL;
    CAIRN_TRY(cairn_cuda_gpu_choose(options->which, &gpu));
    cairn_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda) return cairn_fail(CAIRN_MEMORY, "cuda: no host memory for a device");
    cuda->base.backend = cairn_cuda_plugin();
    cuda->base.options = *options;
    cuda->base.threads = 1;
    cuda->ordinal = gpu.ordinal;
    cuda->properties = gpu.properties;
    cuda->base.options.tf32 = options->tf32 && cairn_cuda_capability(cuda) >= 80; /* tensor cores take f32 from Ampere on */
    name_device(cuda, gpu.number);
    cairn_status status = start(cuda);
    if (status == CAIRN_OK) {
        *out = &cuda->base;
        return CAIRN_OK;
    }
    device_close(&cuda->base);
    return cairn_cuda_gpu_unusable(&gpu, status);
}

static cairn_status supports_dtype(cairn_device *device, cairn_dtype dtype)
{
    return cairn_cuda_check_dtype(device, "nets", dtype);
}

static const cairn_layout *flatten(cairn_device *device, cairn_shape src, const cairn_layout *layout)
{
    const cairn_layout *flat = NULL;
    if (layout && !layout->flat && layout->channels == layout->dim[1])
        (void)cairn_layout_flat(&cairn_cuda_of(device)->layouts, layout, src.dim[0], &flat);
    return flat;
}

static size_t layout_bytes(cairn_device *device, const cairn_layout *layout, cairn_dtype dtype)
{
    (void)device;
    return (size_t)cairn_layout_count(layout) * cairn_dtype_size(dtype);
}

static const char *layout_name(cairn_device *device, const cairn_layout *layout)
{
    (void)device;
    return layout->name;
}

const cairn_backend *cairn_cuda_plugin(void)
{
    static const cairn_backend table = {
        .abi = CAIRN_BACKEND_ABI,
        .name = "cuda",
        .build = CAIRN_CUDA_BUILD,
        .numbered = true,
        .augments_into_layouts = true,
        .probe = cairn_cuda_gpu_probe,
        .open = device_open,
        .close = device_close,
        .raw_alloc = cairn_cuda_raw_alloc,
        .raw_free = cairn_cuda_raw_free,
        .upload = cairn_cuda_upload,
        .download = cairn_cuda_download,
        .zero = cairn_cuda_zero,
        .synchronize = cairn_cuda_synchronize,
        .host_alloc = cairn_cuda_host_alloc,
        .host_free = cairn_cuda_host_free,
        .copy_in = cairn_cuda_copy_in,
        .copy_out = cairn_cuda_copy_out,
        .event_create = cairn_cuda_event_create,
        .event_destroy = cairn_cuda_event_destroy,
        .event_record = cairn_cuda_event_record,
        .event_wait = cairn_cuda_event_wait,
        .event_synchronize = cairn_cuda_event_synchronize,
        .event_reached = cairn_cuda_event_reached,
        .supports_dtype = supports_dtype,
        .flatten = flatten,
        .layout_bytes = layout_bytes,
        .layout_name = layout_name,
        .plan_conv2d = cairn_cuda_plan_conv2d,
        .plan_linear = cairn_cuda_plan_linear,
        .plan_pool2d = cairn_cuda_plan_pool2d,
        .plan_relu = cairn_cuda_plan_relu,
        .plan_lrn = cairn_cuda_plan_lrn,
        .plan_lrn_pool = cairn_cuda_plan_lrn_pool,
        .plan_dropout = cairn_cuda_plan_dropout,
        .plan_batchnorm = cairn_cuda_plan_batchnorm,
        .plan_reorder = cairn_cuda_plan_reorder,
        .softmax_loss = cairn_cuda_softmax_loss,
        .augment = cairn_cuda_augment,
        .update = cairn_cuda_update,
        .peak_gflops = cairn_cuda_peak_gflops,
    };
    return &table;
}
