/* peak.h - how many multiply-adds this processor does right now.
 *
 *     double gflops = cairn_cpu_peak_gflops(device, CAIRN_F32);
 */
#ifndef CAIRN_BACKENDS_CPU_PEAK_H
#define CAIRN_BACKENDS_CPU_PEAK_H

#include "core/backend.h"

/* As the contract says; 0 for anything but f32. */
double cairn_cpu_peak_gflops(cairn_device *device, cairn_dtype dtype);

#endif
