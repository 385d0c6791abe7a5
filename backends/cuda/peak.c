#include "backends/cuda/peak.h"

/* Not measured yet by any operation. */
double cairn_cuda_peak_gflops(cairn_device *device, cairn_dtype dtype)
{
    (void)device, (void)dtype;
    return 0;
}
