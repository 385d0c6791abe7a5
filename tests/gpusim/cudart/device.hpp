/* device.hpp - the devices that the profile describes, as CUDA_VISIBLE_DEVICES leaves them, and the last error.
 *
 * GPUSIM_PROFILE names a file of profiles/ ("h200") or a path. Its "driver" is the newest CUDA version that the driver could serve, as
 * cudaDriverGetVersion gives it; 0 stands for no driver at all.
 */
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <string>
#include <vector>

namespace gpusim
{

struct device {
    std::string name, uuid;
    int major, minor, pci_domain, pci_bus, pci_device;
    int multiprocessors, threads_per_multiprocessor, registers, l2_bytes, memory_bus_bits, clock_khz, memory_clock_khz;
    std::size_t memory, shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
};

struct machine {
    int driver = 0;
    std::vector<device> devices;
};

const machine &this_machine();
const device &current_device();

/* cudaSuccess, or why no call can work here: no driver, one too old, or no device. */
cudaError_t usable();

/* Keeps an error for cudaGetLastError, and gives it back. */
cudaError_t remember(cudaError_t error);

} // namespace gpusim
