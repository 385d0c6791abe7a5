/* status.c - what a failing library said, as a Cairn failure. */
#include "backends/cuda/cuda.h"
#include <string.h>

/* Length of the function's name in the text of a call. */
static int name_length(const char *call)
{
    return (int)strcspn(call, "( ");
}

cairn_status cairn_cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess) return CAIRN_OK;
    return cairn_fail_at(error == cudaErrorMemoryAllocation ? CAIRN_MEMORY : CAIRN_LIBRARY, file, line,
                         "cuda: %.*s failed: %s (%s)", name_length(call), call, cudaGetErrorString(error),
                         cudaGetErrorName(error));
}

cairn_status cairn_cublas_check(cublasStatus_t status, const char *call, const char *file, int line)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CAIRN_OK;
    return cairn_fail_at(status == CUBLAS_STATUS_ALLOC_FAILED ? CAIRN_MEMORY : CAIRN_LIBRARY, file, line,
                         "cuBLASLt: %.*s failed: %s (%s)", name_length(call), call, cublasLtGetStatusString(status),
                         cublasLtGetStatusName(status));
}

cairn_status cairn_cudnn_check(cudnnStatus_t status, const char *call, const char *file, int line)
{
    if (status == CUDNN_STATUS_SUCCESS) return CAIRN_OK;
    char why[512] = "";
    cudnnGetLastErrorString(why, sizeof why);
    return cairn_fail_at(status == CUDNN_STATUS_ALLOC_FAILED ? CAIRN_MEMORY : CAIRN_LIBRARY, file, line,
                         "cuDNN: %.*s failed: %s%s%.400s", name_length(call), call, cudnnGetErrorString(status),
                         *why ? ": " : "", why);
}
