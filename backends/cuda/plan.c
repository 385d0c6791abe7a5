/* plan.c - what the plans of this backend have in common. */
#include "backends/cuda/cuda.h"
#include <stdio.h>
#include <stdlib.h>

cairn_status cairn_cuda_plan_create(cairn_device *device, size_t size, const cairn_plan_ops *ops, const char *algorithm,
                                    cairn_plan **out)
{
    *out = calloc(1, size);
    if (!*out) return cairn_fail(CAIRN_MEMORY, "cuda: no host memory for a plan of %zu bytes", size);
    (*out)->ops = ops;
    (*out)->device = device;
    snprintf((*out)->algorithm, sizeof(*out)->algorithm, "%s", algorithm);
    return CAIRN_OK;
}

void cairn_cuda_plan_destroy(cairn_plan *plan)
{
    free(plan);
}

cairn_status cairn_cuda_check_dtype(cairn_device *device, const char *operation, cairn_dtype dtype)
{
    const cairn_cuda *cuda = cairn_cuda_of(device);
    if (dtype != CAIRN_F32 && dtype != CAIRN_F16 && dtype != CAIRN_BF16)
        return cairn_fail(CAIRN_DEVICE, "%s on cuda: dtype %s is not supported; f32, f16 and bf16 are", operation,
                          cairn_dtype_name(dtype));
    /* Tensor cores take f16 from 7.0 on and bf16 from 8.0 on; before that both are slower than f32 or missing (CUDA C++ Programming Guide,
     * "Compute Capabilities"). */
    int capability = cairn_cuda_capability(cuda), least = dtype == CAIRN_F16 ? 70 : dtype == CAIRN_BF16 ? 80 : 0;
    if (capability < least)
        return cairn_fail(CAIRN_DEVICE,
                          "%s on cuda: %s has no fast %s: that takes compute capability %d.%d, it has %d.%d", operation,
                          cuda->properties.name, cairn_dtype_name(dtype), least / 10, least % 10,
                          cuda->properties.major, cuda->properties.minor);
    return CAIRN_OK;
}
