/* Devices, versions and the last error. */
#include "device.hpp"
#include "gpusim.hpp"
#include <cstdio>
#include <cstring>

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

namespace gpusim
{

namespace
{

thread_local cudaError_t last = cudaSuccess;
thread_local int chosen = 0;

struct error_text {
    cudaError_t error;
    const char *name, *text;
};

constexpr error_text texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "an argument is out of range"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "the device has not so much memory left"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "the driver can't be started"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "grid, block or shared memory are too large"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "the driver is older than the runtime"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "no such kernel"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "there is no device"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "there is no device of this number"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no code for this compute capability"},
    {cudaErrorNotReady, "cudaErrorNotReady", "not done yet"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "a kernel failed"},
};

const error_text &text_of(cudaError_t error)
{
    for (const error_text &one : texts)
        if (one.error == error) return one;
    misuse("the double never gives error %d", static_cast<int>(error));
}

} // namespace

cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess) last = error;
    return error;
}

/* A driver serves every runtime of its own major version and of those before. */
cudaError_t usable()
{
    if (this_machine().driver / 1000 < CUDART_VERSION / 1000) return cudaErrorInsufficientDriver;
    return this_machine().devices.empty() ? cudaErrorNoDevice : cudaSuccess;
}

const device &current_device()
{
    if (usable() != cudaSuccess) misuse("a call that needs a device was made where there is none");
    return this_machine().devices.at(static_cast<std::size_t>(chosen));
}

} // namespace gpusim

extern "C" cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = gpusim::last;
    gpusim::last = cudaSuccess;
    return error;
}

extern "C" const char *cudaGetErrorName(cudaError_t error)
{
    return gpusim::text_of(error).name;
}

extern "C" const char *cudaGetErrorString(cudaError_t error)
{
    return gpusim::text_of(error).text;
}

extern "C" cudaError_t cudaDriverGetVersion(int *version)
{
    *version = gpusim::this_machine().driver;
    return cudaSuccess;
}

extern "C" cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = gpusim::faulty("old_cudart") ? CUDART_VERSION - 10 : CUDART_VERSION;
    return cudaSuccess;
}

extern "C" cudaError_t cudaGetDeviceCount(int *count)
{
    call call(__func__, kind::query);
    *count = 0;
    if (call.fails()) return remember(cudaErrorInitializationError);
    if (gpusim::usable() != cudaSuccess) return remember(gpusim::usable());
    *count = static_cast<int>(gpusim::this_machine().devices.size());
    return cudaSuccess;
}

static bool exists(int device)
{
    return gpusim::usable() == cudaSuccess && device >= 0 &&
           static_cast<std::size_t>(device) < gpusim::this_machine().devices.size();
}

extern "C" cudaError_t cudaSetDevice(int device)
{
    if (gpusim::usable() != cudaSuccess) return remember(gpusim::usable());
    if (!exists(device)) return remember(cudaErrorInvalidDevice);
    gpusim::chosen = device;
    return cudaSuccess;
}

extern "C" cudaError_t cudaGetDevice(int *device)
{
    *device = gpusim::chosen;
    return remember(gpusim::usable());
}

/* "GPU-00112233-4455-..." as the 16 bytes that its digits are. */
static void put_uuid(const std::string &text, cudaUUID_t *uuid)
{
    std::string digits;
    for (char c : text.substr(text.find('-') + 1))
        if (c != '-') digits += c;
    for (std::size_t i = 0; i < sizeof uuid->bytes; i++)
        uuid->bytes[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
}

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int number)
{
    call call(__func__, kind::query);
    if (!exists(number)) return remember(cudaErrorInvalidDevice);
    const gpusim::device &d = gpusim::this_machine().devices[static_cast<std::size_t>(number)];
    *out = {};
    std::snprintf(out->name, sizeof out->name, "%s", d.name.c_str());
    put_uuid(d.uuid, &out->uuid);
    out->major = d.major;
    out->minor = d.minor;
    out->pciDomainID = d.pci_domain;
    out->pciBusID = d.pci_bus;
    out->pciDeviceID = d.pci_device;
    out->totalGlobalMem = d.memory;
    out->multiProcessorCount = d.multiprocessors;
    out->maxThreadsPerMultiProcessor = d.threads_per_multiprocessor;
    out->regsPerBlock = out->regsPerMultiprocessor = d.registers;
    out->l2CacheSize = d.l2_bytes;
    out->memoryBusWidth = d.memory_bus_bits;
    out->sharedMemPerBlock = d.shared_per_block;
    out->sharedMemPerBlockOptin = d.shared_per_block_optin;
    out->sharedMemPerMultiprocessor = d.shared_per_multiprocessor;
    out->warpSize = 32;
    out->maxThreadsPerBlock = 1024;
    out->maxThreadsDim[0] = out->maxThreadsDim[1] = 1024;
    out->maxThreadsDim[2] = 64;
    out->maxGridSize[0] = 2147483647;
    out->maxGridSize[1] = out->maxGridSize[2] = 65535;
    out->asyncEngineCount = 2;
    out->concurrentKernels = 1;
    out->unifiedAddressing = 1;
    out->canMapHostMemory = 1;
    return cudaSuccess;
}

extern "C" cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number)
{
    call call(__func__, kind::query);
    if (!exists(number)) return remember(cudaErrorInvalidDevice);
    const gpusim::device &d = gpusim::this_machine().devices[static_cast<std::size_t>(number)];
    switch (attribute) {
    case cudaDevAttrClockRate:
        *value = d.clock_khz;
        return cudaSuccess;
    case cudaDevAttrMemoryClockRate:
        *value = d.memory_clock_khz;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = d.multiprocessors;
        return cudaSuccess;
    default:
        gpusim::misuse("cudaDeviceGetAttribute: the double knows no attribute %d", static_cast<int>(attribute));
    }
}
