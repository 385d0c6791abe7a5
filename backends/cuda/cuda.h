/* cuda.h - a CUDA device: its two streams, the handles of cuBLASLt and cuDNN, and what every operation of this backend shares.
 *
 * An operation is one file. Its plan begins with a cairn_plan, allocates nothing while it runs and puts all its work on the compute
 * stream; the host waits for nothing in forward, backward or update:
 *
 *     static cairn_status forward(cairn_plan *base, const cairn_operands *operands)
 *     {
 *         cairn_cuda *cuda = cairn_cuda_of(base->device);
 *         CAIRN_TRY(cairn_cuda_enter(cuda));
 *         CUDA_TRY(cairn_cuda_launch_relu_forward(..., cuda->compute));
 *         return CAIRN_OK;
 *     }
 *
 * Activations lie as NHWC (layout.h). The functions of CUDA, cuBLASLt and cuDNN that are called anywhere are listed in calls.h.
 */
#ifndef CAIRN_BACKENDS_CUDA_CUDA_H
#define CAIRN_BACKENDS_CUDA_CUDA_H

#include "backends/cuda/layout.h"
#include "core/backend.h"
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn_graph.h>
#include <cudnn_ops.h>

#define CAIRN_CUDA_ALIGNMENT 256 /* bytes; of every part of a workspace, as cudaMalloc's */

#define CAIRN_CUDA_SCRATCH ((size_t)16 << 10)

typedef struct cairn_cuda {
    cairn_device base;
    int ordinal; /* what cudaSetDevice takes */
    struct cudaDeviceProp properties;
    cudaStream_t compute; /* operations, upload, download, zero */
    cudaStream_t copy;    /* copies that run beside them */
    cublasLtHandle_t blas;
    cudnnHandle_t dnn;              /* on the compute stream */
    cudnnTensorDescriptor_t logits; /* of the softmax by cuDNN, see classic.h; NULL without library_kernels */
    cairn_layout_table layouts;
    void *
        scratch; /* on the device, CAIRN_CUDA_SCRATCH bytes: for operations without a plan, one after the other on the compute stream */
    void *stage; /* pinned, CAIRN_CUDA_STAGE bytes; see upload in memory.c */
} cairn_cuda;

static inline cairn_cuda *cairn_cuda_of(cairn_device *device)
{
    return (cairn_cuda *)device;
}

/* Makes the device current on the calling thread; the first line of everything that calls CUDA, as a device may be handed from thread to
 * thread and a process may have several. */
cairn_status cairn_cuda_enter(cairn_cuda *cuda);

/* Compute capability as 75, 90, 120. */
static inline int cairn_cuda_capability(const cairn_cuda *cuda)
{
    return cuda->properties.major * 10 + cuda->properties.minor;
}

/* ------------------------------------------------------------------------------------------------------------ failures */

/* Passes a failed call up as CAIRN_LIBRARY (CAIRN_MEMORY where that is the reason), with the name of the call and the library's own text.
 * `call` is a function call; launchers of ours return cudaError_t too. */
#define CUDA_TRY(call)   CAIRN_TRY(cairn_cuda_check((call), #call, __FILE__, __LINE__))
#define CUBLAS_TRY(call) CAIRN_TRY(cairn_cublas_check((call), #call, __FILE__, __LINE__))
#define CUDNN_TRY(call)  CAIRN_TRY(cairn_cudnn_check((call), #call, __FILE__, __LINE__))

cairn_status cairn_cuda_check(cudaError_t error, const char *call, const char *file, int line);
cairn_status cairn_cublas_check(cublasStatus_t status, const char *call, const char *file, int line);
cairn_status cairn_cudnn_check(cudnnStatus_t status, const char *call, const char *file, int line);

/* --------------------------------------------------------------------------------------------------------------- plans */

/* A zeroed plan of `size` bytes, all layouts plain. cairn_cuda_plan_destroy is the `destroy` of every plan that owns nothing more.
 * `algorithm` is for people: "fused", "cuDNN pooling". */
cairn_status cairn_cuda_plan_create(cairn_device *device, size_t size, const cairn_plan_ops *ops, const char *algorithm,
                                    cairn_plan **out);
void cairn_cuda_plan_destroy(cairn_plan *plan);

/* CAIRN_DEVICE with the reason where nets can't compute in `dtype` on this device. `operation` begins the message. */
cairn_status cairn_cuda_check_dtype(cairn_device *device, const char *operation, cairn_dtype dtype);

/* `bytes` rounded up so that what follows in a workspace is aligned. */
static inline size_t cairn_cuda_align(size_t bytes)
{
    return (bytes + CAIRN_CUDA_ALIGNMENT - 1) / CAIRN_CUDA_ALIGNMENT * CAIRN_CUDA_ALIGNMENT;
}

/* Lets the plan have at least so much workspace. */
static inline void cairn_cuda_need(cairn_plan *plan, size_t bytes)
{
    if (bytes > plan->workspace) plan->workspace = bytes;
}

/* --------------------------------------------------------------------------------------------------- slots of the table */

cairn_status cairn_cuda_plan_conv2d(cairn_device *device, const cairn_conv2d_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_linear(cairn_device *device, const cairn_linear_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_pool2d(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_relu(cairn_device *device, const cairn_relu_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_lrn(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_lrn_pool(cairn_device *device, const cairn_lrn_pool_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_dropout(cairn_device *device, const cairn_dropout_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_batchnorm(cairn_device *device, const cairn_batchnorm_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_plan_reorder(cairn_device *device, const cairn_reorder_desc *desc, cairn_plan **out);
cairn_status cairn_cuda_softmax_loss(cairn_device *device, const cairn_softmax_loss *args);
cairn_status cairn_cuda_augment(cairn_device *device, const cairn_augment *args);
cairn_status cairn_cuda_update(cairn_device *device, const cairn_update *args);

#endif
