/* peak.h - how fast this GPU multiplies matrices: the table's peak_gflops. */
#ifndef CAIRN_BACKENDS_CUDA_PEAK_H
#define CAIRN_BACKENDS_CUDA_PEAK_H

#include "core/backend.h"

double cairn_cuda_peak_gflops(cairn_device *device, cairn_dtype dtype);

#endif
