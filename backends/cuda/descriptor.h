/* descriptor.h - setting and reading what cuDNN's graph API calls descriptors: objects with typed attributes that are made, filled,
 * finalized and then never changed.
 */
#ifndef CAIRN_BACKENDS_CUDA_DESCRIPTOR_H
#define CAIRN_BACKENDS_CUDA_DESCRIPTOR_H

#include "backends/cuda/cuda.h"

static inline cairn_status cairn_descriptor_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                                cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    CUDNN_TRY(cudnnBackendSetAttribute(descriptor, name, type, count, values));
    return CAIRN_OK;
}

/* An attribute that is another descriptor. */
static inline cairn_status cairn_descriptor_link(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                                 cudnnBackendDescriptor_t value)
{
    return cairn_descriptor_set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

/* cudnnBackendDestroyDescriptor for what may be NULL. */
static inline void cairn_descriptor_destroy(cudnnBackendDescriptor_t descriptor)
{
    if (descriptor) cudnnBackendDestroyDescriptor(descriptor);
}

#endif
