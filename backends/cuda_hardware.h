/* cuda_hardware.h - is there an NVIDIA GPU in this machine, asked of the operating system and of no library of NVIDIA's.
 *
 * What "auto" goes by where the driver is missing or broken: a GPU that is there and can't be used is an error, never a quiet run on the CPU.
 */
#ifndef CAIRN_BACKENDS_CUDA_HARDWARE_H
#define CAIRN_BACKENDS_CUDA_HARDWARE_H

#include <stdbool.h>

/* True where the driver has left its folder or device file, or the PCI bus lists a display controller of NVIDIA's. `root` goes before
 * every path: "" but in tests. */
bool cairn_cuda_hardware_present(const char *root);

#endif
