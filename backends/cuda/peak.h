/* peak.h - how fast this GPU multiplies matrices: the table's peak_gflops. */
#ifndef CAIRN_BACKENDS_CUDA_PEAK_H
#define CAIRN_BACKENDS_CUDA_PEAK_H

#include "core/backend.h"

/* Square products by cuBLASLt, doubled in size until one takes long enough to time; zeros, which on a GPU that lowers its clock under load
 * makes it a little faster than real data would. 0 where none runs. */
double cairn_cuda_peak_gflops(cairn_device *device, cairn_dtype dtype);

#endif
