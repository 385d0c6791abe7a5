/* Handle, version and status texts. */
#include "gpusim.hpp"
#include <cublasLt.h>

using gpusim::call;
using gpusim::kind;

/* The header's name for what a handle points at. */
struct cublasLtContext {
    int device;
};

extern "C" cublasStatus_t cublasLtCreate(cublasLtHandle_t *out)
{
    call call(__func__, kind::create);
    if (call.fails()) return CUBLAS_STATUS_ALLOC_FAILED;
    *out = new cublasLtContext{0};
    return cudaGetDevice(&(*out)->device) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

extern "C" cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    call call(__func__, kind::free);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" std::size_t cublasLtGetVersion(void)
{
    return gpusim::faulty("old_cublas") ? CUBLAS_VERSION - 100 : CUBLAS_VERSION;
}

extern "C" const char *cublasLtGetStatusName(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
        gpusim::misuse("the double never gives cuBLAS status %d", static_cast<int>(status));
    }
}

extern "C" const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return cublasLtGetStatusName(status);
}
