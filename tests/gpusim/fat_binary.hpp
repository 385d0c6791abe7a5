/* fat_binary.hpp - registers kernels of a test as nvcc's object files register theirs.
 *
 *     fat_binary binary(90);                                    code for sm_90
 *     binary.add(reinterpret_cast<const char *>(kernel), "kernel");
 */
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>

extern "C" void **__cudaRegisterFatBinary(void *wrapper);
extern "C" void __cudaUnregisterFatBinary(void **handle);
extern "C" void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int limit,
                                       uint3 *, uint3 *, dim3 *, dim3 *, int *);

class fat_binary
{
  public:
    explicit fat_binary(std::uint32_t capability)
        : image{0x00100001ba55ed50u, sizeof image - 16, 0x0000004000010002u, 0, 0, std::uint64_t{capability} << 32}
    {
        handle = __cudaRegisterFatBinary(&wrapper);
    }
    ~fat_binary()
    {
        __cudaUnregisterFatBinary(handle);
    }
    fat_binary(const fat_binary &) = delete;
    fat_binary &operator=(const fat_binary &) = delete;
    void add(const char *stub, const char *name)
    {
        __cudaRegisterFunction(handle, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    }

  private:
    /* A container's header of 16 bytes and one entry of machine code whose header of 64 bytes is all it has: see image.cpp. */
    unsigned long long image[10];
    __fatBinC_Wrapper_t wrapper = {FATBINC_MAGIC, FATBINC_VERSION, image, nullptr};
    void **handle;
};
