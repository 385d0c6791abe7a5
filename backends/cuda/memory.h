/* memory.h - memory, copies, streams and events: the part of the table that computes nothing. What each does stands in core/backend.h. */
#ifndef CAIRN_BACKENDS_CUDA_MEMORY_H
#define CAIRN_BACKENDS_CUDA_MEMORY_H

#include "backends/cuda/cuda.h"

#define CAIRN_CUDA_STAGE ((size_t)4 << 20) /* bytes of the pinned buffer that uploads of ordinary memory go through */

void *cairn_cuda_raw_alloc(cairn_device *device, size_t bytes);
void cairn_cuda_raw_free(cairn_device *device, void *memory, size_t bytes);
cairn_status cairn_cuda_upload(cairn_device *device, void *to, const void *from, size_t bytes);
cairn_status cairn_cuda_download(cairn_device *device, void *to, const void *from, size_t bytes);
cairn_status cairn_cuda_zero(cairn_device *device, void *to, size_t bytes);
cairn_status cairn_cuda_synchronize(cairn_device *device);

void *cairn_cuda_host_alloc(cairn_device *device, size_t bytes);
void cairn_cuda_host_free(cairn_device *device, void *memory, size_t bytes);
cairn_status cairn_cuda_copy_in(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);
cairn_status cairn_cuda_copy_out(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);

cairn_status cairn_cuda_event_create(cairn_device *device, cairn_event **out);
void cairn_cuda_event_destroy(cairn_device *device, cairn_event *event);
cairn_status cairn_cuda_event_record(cairn_device *device, cairn_event *event, cairn_queue queue);
cairn_status cairn_cuda_event_wait(cairn_device *device, cairn_event *event, cairn_queue queue);
cairn_status cairn_cuda_event_synchronize(cairn_device *device, cairn_event *event);
cairn_status cairn_cuda_event_reached(cairn_device *device, cairn_event *event, bool *reached);

#endif
