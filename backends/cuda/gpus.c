#include "backends/cuda/gpus.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 64 };

/* Compute capabilities that this build holds machine code for, and the one that it holds PTX of; from CMake. */
static const int machine_code[] = {CAIRN_CUDA_SM};
static const int ptx = CAIRN_CUDA_PTX;

/* ---- the libraries and the driver ---- */

/* A library that is older than the one Cairn was built with may lack what Cairn calls. Versions count 1000 (CUDA) or 100 minor ones. */
static cairn_status too_old(const char *name, void (*function)(void), long found, long needed, long unit)
{
    char path[512] = "?";
    if (found >= needed) return CAIRN_OK;
    (void)cairn_os_file_of(function, path, sizeof path);
    return cairn_fail(
        CAIRN_DEVICE,
        "cuda: %s is too old: %s is version %ld.%ld and Cairn was built with %ld.%ld: install that or a newer "
        "one of the same major version, or put its folder into LD_LIBRARY_PATH",
        name, path, found / unit, found % unit, needed / unit, needed % unit);
}

static cairn_status check_libraries(void)
{
    int runtime = 0;
    CUDA_TRY(cudaRuntimeGetVersion(&runtime));
    CAIRN_TRY(
        too_old("the CUDA runtime", (void (*)(void))cudaRuntimeGetVersion, runtime / 10, CUDART_VERSION / 10, 100));
    CAIRN_TRY(too_old("cuBLASLt", (void (*)(void))cublasLtGetVersion, (long)cublasLtGetVersion() / 100,
                      CUBLAS_VERSION / 100, 100));
    return too_old("cuDNN", (void (*)(void))cudnnGetVersion, (long)cudnnGetVersion() / 100, CUDNN_VERSION / 100, 100);
}

/* CUDA's answer to the first question asked of it, in words. */
static cairn_status cannot_start(cudaError_t error)
{
    int driver = 0;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    cudaDriverGetVersion(&driver);
    if (error == cudaErrorInsufficientDriver && driver == 0)
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: no NVIDIA driver is loaded: install one for CUDA %d.%d or newer, and see nvidia-smi list "
            "the GPU",
            CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (error == cudaErrorInsufficientDriver)
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: the NVIDIA driver is too old: it serves CUDA %d.%d, and this build needs one for %d.0 or newer: "
            "install a newer driver, or build Cairn with an older toolkit",
            driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000);
    if (error == cudaErrorNoDevice && visible)
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: no GPU is visible, as CUDA_VISIBLE_DEVICES is '%s': unset it, or name a GPU that nvidia-smi "
            "lists",
            visible);
    if (error == cudaErrorNoDevice)
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: there is no GPU that the driver can use: see what nvidia-smi says; in a container, start it "
            "with --gpus all");
    return cairn_cuda_check(error, "cudaGetDeviceCount", __FILE__, __LINE__);
}

/* ---- the list ---- */

static int compare_addresses(const void *a, const void *b)
{
    const struct cudaDeviceProp *p = &((const cairn_cuda_gpu *)a)->properties;
    const struct cudaDeviceProp *q = &((const cairn_cuda_gpu *)b)->properties;
    if (p->pciDomainID != q->pciDomainID) return p->pciDomainID < q->pciDomainID ? -1 : 1;
    if (p->pciBusID != q->pciBusID) return p->pciBusID < q->pciBusID ? -1 : 1;
    return (p->pciDeviceID > q->pciDeviceID) - (p->pciDeviceID < q->pciDeviceID);
}

static cairn_status list_gpus(cairn_cuda_gpu gpus[GPUS], int *count)
{
    CAIRN_TRY(check_libraries());
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess && *count == 0) error = cudaErrorNoDevice;
    if (error != cudaSuccess) {
        *count = 0;
        cudaGetLastError(); /* told here: no later call shall find it */
        return cannot_start(error);
    }
    if (*count > GPUS) *count = GPUS;
    for (int i = 0; i < *count; i++) {
        gpus[i].ordinal = i;
        CUDA_TRY(cudaGetDeviceProperties(&gpus[i].properties, i));
    }
    qsort(gpus, (size_t)*count, sizeof *gpus, compare_addresses);
    for (int i = 0; i < *count; i++)
        gpus[i].number = i;
    return CAIRN_OK;
}

/* Machine code of one major version runs on the same and higher minor ones; PTX is compiled by the driver for anything newer. */
static cairn_status check_kernels(const cairn_cuda_gpu *gpu)
{
    int capability = gpu->properties.major * 10 + gpu->properties.minor;
    for (size_t i = 0; i < sizeof machine_code / sizeof *machine_code; i++)
        if (machine_code[i] / 10 == gpu->properties.major && machine_code[i] <= capability) return CAIRN_OK;
    if (capability >= ptx) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE,
                      "cuda:%d: this build has no kernel image for sm_%d (%s); it has %s: build Cairn with "
                      "-DCAIRN_CUDA_ARCHITECTURES=%d (toolkit 12 for sm_60 to sm_70), or train with --device cpu",
                      gpu->number, capability, gpu->properties.name, CAIRN_CUDA_BUILD, capability);
}

/* ---- which one ---- */

static void format_uuid(const cudaUUID_t *uuid, char text[48])
{
    int used = snprintf(text, 48, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, 48 - (size_t)used, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         (unsigned)(unsigned char)uuid->bytes[i]);
}

/* "0 (NVIDIA H200, GPU-...), 1 (...)". */
static void describe_all(const cairn_cuda_gpu *gpus, int count, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < count && used < size; i++) {
        char uuid[48];
        format_uuid(&gpus[i].properties.uuid, uuid);
        used += (size_t)snprintf(text + used, size - used, "%s%d (%.60s, %s)", i ? ", " : "", i,
                                 gpus[i].properties.name, uuid);
    }
}

static cairn_status find(const cairn_cuda_gpu *gpus, int count, const char *which, cairn_cuda_gpu *out)
{
    char known[640], *end;
    long number = strtol(which, &end, 10);
    bool is_number = *which >= '0' && *which <= '9' && *end == '\0';
    int found = 0;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        format_uuid(&gpus[i].properties.uuid, uuid);
        if (is_number ? i != number : strncmp(which, uuid, strlen(which)) != 0) continue;
        *out = gpus[i];
        found++;
    }
    if (found == 1 && *which) return CAIRN_OK;
    describe_all(gpus, count, known, sizeof known);
    return cairn_fail(CAIRN_USAGE, "%s GPU is called 'cuda:%s'; there are: %s", found ? "more than one" : "no", which,
                      known);
}

cairn_status cairn_cuda_gpu_choose(const char *which, cairn_cuda_gpu *out)
{
    cairn_cuda_gpu gpus[GPUS];
    int count = 0;
    CAIRN_TRY(list_gpus(gpus, &count));
    if (which) {
        CAIRN_TRY(find(gpus, count, which, out));
        return check_kernels(out);
    }
    for (int i = 0; i < count; i++) {
        *out = gpus[i];
        if (check_kernels(out) == CAIRN_OK) return CAIRN_OK;
    }
    *out = gpus[0];
    return check_kernels(out);
}

cairn_status cairn_cuda_gpu_probe(bool *present)
{
    int count = 0;
    cairn_cuda_gpu gpu;
    *present = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    cudaGetLastError();
    return cairn_cuda_gpu_choose(NULL, &gpu);
}

cairn_status cairn_cuda_gpu_unusable(const cairn_cuda_gpu *gpu, cairn_status status)
{
    size_t free_bytes = 0, total = 0;
    char why[512];
    snprintf(why, sizeof why, "%.500s", cairn_error_last()->message);
    if (status != CAIRN_MEMORY)
        return cairn_fail(CAIRN_DEVICE,
                          "cuda:%d (%s) can't be started: %s: see what nvidia-smi says of it, or take --device cpu",
                          gpu->number, gpu->properties.name, why);
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) cudaGetLastError();
    return cairn_fail(CAIRN_DEVICE,
                      "cuda:%d (%s): out of memory at start: %s; %zu of %zu MiB are free: end what else uses the GPU "
                      "(nvidia-smi lists it), or name another one",
                      gpu->number, gpu->properties.name, why, free_bytes >> 20, total >> 20);
}
