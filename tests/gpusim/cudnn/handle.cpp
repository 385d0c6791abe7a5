/* Handle, version, and the texts of failures. */
#include "handle.hpp"
#include "descriptor.hpp"
#include "gpusim.hpp"
#include <cstdarg>
#include <cstdio>
#include <string>

using gpusim::call;
using gpusim::kind;

namespace gpusim
{

namespace
{

thread_local std::string last_error;

}

cudnnStatus_t refuse(cudnnStatus_t status, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    last_error = text;
    return status;
}

} // namespace gpusim

extern "C" cudnnStatus_t cudnnCreate(cudnnHandle_t *out)
{
    call call(__func__, kind::create);
    if (call.fails())
        return gpusim::refuse(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "no memory for a handle");
    *out = new cudnnContext{nullptr};
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    call call(__func__, kind::free);
    delete handle;
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

extern "C" std::size_t cudnnGetVersion(void)
{
    return gpusim::faulty("old_cudnn") ? CUDNN_VERSION - 100 : CUDNN_VERSION;
}

extern "C" void cudnnGetLastErrorString(char *message, std::size_t size)
{
    std::snprintf(message, size, "%s", gpusim::last_error.c_str());
}

extern "C" const char *cudnnGetErrorString(cudnnStatus_t status)
{
    static thread_local char text[40];
    std::snprintf(text, sizeof text, "cuDNN status %d", static_cast<int>(status));
    return text;
}
