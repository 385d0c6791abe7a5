#include "backends/cuda/memory.h"
#include <string.h>

static cudaStream_t stream_of(const cairn_cuda *cuda, cairn_queue queue)
{
    return queue == CAIRN_QUEUE_COPY ? cuda->copy : cuda->compute;
}

/* A cairn_event is CUDA's event itself. */
static cudaEvent_t native(cairn_event *event)
{
    return (cudaEvent_t)(void *)event;
}

/* ---- memory ---- */

void *cairn_cuda_raw_alloc(cairn_device *device, size_t bytes)
{
    void *memory = NULL;
    if (cairn_cuda_enter(cairn_cuda_of(device)) != CAIRN_OK) return NULL;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
    cudaGetLastError(); /* told by the NULL: no later call shall find it */
    return NULL;
}

void cairn_cuda_raw_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)bytes;
    if (cairn_cuda_enter(cairn_cuda_of(device)) == CAIRN_OK) cudaFree(memory);
}

void *cairn_cuda_host_alloc(cairn_device *device, size_t bytes)
{
    void *memory = NULL;
    if (cairn_cuda_enter(cairn_cuda_of(device)) != CAIRN_OK) return NULL;
    if (cudaHostAlloc(&memory, bytes, cudaHostAllocDefault) == cudaSuccess) return memory;
    cudaGetLastError();
    return NULL;
}

void cairn_cuda_host_free(cairn_device *device, void *memory, size_t bytes)
{
    (void)bytes;
    if (cairn_cuda_enter(cairn_cuda_of(device)) == CAIRN_OK) cudaFreeHost(memory);
}

/* ---- copies ---- */

/* Of ordinary memory CUDA promises only that it "may" be staged before an asynchronous copy returns, and the caller may reuse it at once;
 * so it is staged here, piece by piece. The stream is waited for before the stage is filled anew, and at the end, since the next upload
 * fills it too: uploads belong to the setting up, never to a step. */
cairn_status cairn_cuda_upload(cairn_device *device, void *to, const void *from, size_t bytes)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    for (size_t done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < CAIRN_CUDA_STAGE ? bytes - done : CAIRN_CUDA_STAGE;
        memcpy(cuda->stage, (const char *)from + done, piece);
        CUDA_TRY(cudaMemcpyAsync((char *)to + done, cuda->stage, piece, cudaMemcpyHostToDevice, cuda->compute));
        CUDA_TRY(cudaStreamSynchronize(cuda->compute));
    }
    return CAIRN_OK;
}

cairn_status cairn_cuda_download(cairn_device *device, void *to, const void *from, size_t bytes)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    for (size_t done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < CAIRN_CUDA_STAGE ? bytes - done : CAIRN_CUDA_STAGE;
        CUDA_TRY(cudaMemcpyAsync(cuda->stage, (const char *)from + done, piece, cudaMemcpyDeviceToHost, cuda->compute));
        CUDA_TRY(cudaStreamSynchronize(cuda->compute));
        memcpy((char *)to + done, cuda->stage, piece);
    }
    return CAIRN_OK;
}

cairn_status cairn_cuda_zero(cairn_device *device, void *to, size_t bytes)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaMemsetAsync(to, 0, bytes, cuda->compute));
    return CAIRN_OK;
}

/* Both streams: whoever waits for the device wants everything done. */
cairn_status cairn_cuda_synchronize(cairn_device *device)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaStreamSynchronize(cuda->copy));
    CUDA_TRY(cudaStreamSynchronize(cuda->compute));
    return CAIRN_OK;
}

cairn_status cairn_cuda_copy_in(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(cuda, queue)));
    return CAIRN_OK;
}

cairn_status cairn_cuda_copy_out(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(cuda, queue)));
    return CAIRN_OK;
}

/* ---- events ---- */

cairn_status cairn_cuda_event_create(cairn_device *device, cairn_event **out)
{
    cudaEvent_t event = NULL;
    *out = NULL;
    CAIRN_TRY(cairn_cuda_enter(cairn_cuda_of(device)));
    CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    *out = (cairn_event *)(void *)event;
    return CAIRN_OK;
}

void cairn_cuda_event_destroy(cairn_device *device, cairn_event *event)
{
    if (cairn_cuda_enter(cairn_cuda_of(device)) == CAIRN_OK) cudaEventDestroy(native(event));
}

cairn_status cairn_cuda_event_record(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaEventRecord(native(event), stream_of(cuda, queue)));
    return CAIRN_OK;
}

cairn_status cairn_cuda_event_wait(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cudaStreamWaitEvent(stream_of(cuda, queue), native(event), 0));
    return CAIRN_OK;
}

cairn_status cairn_cuda_event_synchronize(cairn_device *device, cairn_event *event)
{
    CAIRN_TRY(cairn_cuda_enter(cairn_cuda_of(device)));
    CUDA_TRY(cudaEventSynchronize(native(event)));
    return CAIRN_OK;
}

cairn_status cairn_cuda_event_reached(cairn_device *device, cairn_event *event, bool *reached)
{
    CAIRN_TRY(cairn_cuda_enter(cairn_cuda_of(device)));
    cudaError_t state = cudaEventQuery(native(event));
    *reached = state == cudaSuccess;
    if (state == cudaErrorNotReady) {
        cudaGetLastError(); /* an answer, not a failure */
        return CAIRN_OK;
    }
    return cairn_cuda_check(state, "cudaEventQuery", __FILE__, __LINE__);
}
