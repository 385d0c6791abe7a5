/* gpus.h - which GPUs there are, which one is meant, and why one can't be used, each with what to do about it.
 *
 * GPUs are numbered in the order of their PCI addresses, as nvidia-smi numbers them, among those that CUDA_VISIBLE_DEVICES lets be seen.
 */
#ifndef CAIRN_BACKENDS_CUDA_GPUS_H
#define CAIRN_BACKENDS_CUDA_GPUS_H

#include "backends/cuda/cuda.h"

typedef struct cairn_cuda_gpu {
    int number;  /* in PCI order, from 0 */
    int ordinal; /* what cudaSetDevice takes */
    struct cudaDeviceProp properties;
} cairn_cuda_gpu;

/* The table's probe. */
cairn_status cairn_cuda_gpu_probe(bool *present);

/* The GPU that `which` names: a number, the beginning of a UUID ("GPU-5c1f"), or NULL for the first that this build has kernels for.
 * CAIRN_DEVICE with the reason and the mend; CAIRN_USAGE where nothing is called so. */
cairn_status cairn_cuda_gpu_choose(const char *which, cairn_cuda_gpu *out);

/* Words a failure to start the device, whose last error is `status`, as CAIRN_DEVICE with the mend. */
cairn_status cairn_cuda_gpu_unusable(const cairn_cuda_gpu *gpu, cairn_status status);

#endif
