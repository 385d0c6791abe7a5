#include "core/queue.h"
#include "core/backend.h"
#include "core/os.h"

cairn_status cairn_host_alloc(cairn_device *device, size_t bytes, const char *holder, void **out)
{
    bool pinned = device && device->backend->host_alloc;
    *out = NULL;
    if (bytes == 0) return CAIRN_OK;
    *out = pinned ? device->backend->host_alloc(device, bytes) : cairn_os_aligned_alloc(bytes);
    if (*out) return CAIRN_OK;
    return cairn_fail(CAIRN_MEMORY, "no %s memory of %zu bytes for the %s: a smaller batch needs less",
                      pinned ? "pinned host" : "host", bytes, holder);
}

void cairn_host_free(cairn_device *device, void *memory, size_t bytes)
{
    if (!memory) return;
    if (device && device->backend->host_free)
        device->backend->host_free(device, memory, bytes);
    else
        cairn_os_aligned_free(memory);
}

cairn_status cairn_queue_copy_in(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return CAIRN_OK;
    const cairn_backend *backend = device->backend;
    return backend->copy_in ? backend->copy_in(device, queue, to, from, bytes)
                            : backend->upload(device, to, from, bytes);
}

cairn_status cairn_queue_copy_out(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return CAIRN_OK;
    const cairn_backend *backend = device->backend;
    return backend->copy_out ? backend->copy_out(device, queue, to, from, bytes)
                             : backend->download(device, to, from, bytes);
}

cairn_status cairn_event_create(cairn_device *device, cairn_event **out)
{
    *out = NULL;
    return device->backend->event_create ? device->backend->event_create(device, out) : CAIRN_OK;
}

void cairn_event_destroy(cairn_device *device, cairn_event *event)
{
    if (event) device->backend->event_destroy(device, event);
}

cairn_status cairn_event_record(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    return event ? device->backend->event_record(device, event, queue) : CAIRN_OK;
}

cairn_status cairn_event_wait(cairn_device *device, cairn_event *event, cairn_queue queue)
{
    return event ? device->backend->event_wait(device, event, queue) : CAIRN_OK;
}

cairn_status cairn_event_synchronize(cairn_device *device, cairn_event *event)
{
    return event ? device->backend->event_synchronize(device, event) : CAIRN_OK;
}

cairn_status cairn_event_reached(cairn_device *device, cairn_event *event, bool *reached)
{
    *reached = true;
    return event ? device->backend->event_reached(device, event, reached) : CAIRN_OK;
}
