#include "core/device_memory.h"
#include "core/allocator.h"
#include "core/atomic_file.h"
#include "core/os.h"
#include <stdlib.h>
#include <string.h>

struct cairn_memory_ledger {
    cairn_allocator *allocator;
    bool snapshot_left; /* after a failure */
};

/* ---- what the allocator stands on ---- */

static void *raw_alloc(void *context, size_t bytes)
{
    cairn_device *device = context;
    return device->backend->raw_alloc(device, bytes);
}

static void raw_free(void *context, void *memory, size_t bytes)
{
    cairn_device *device = context;
    device->backend->raw_free(device, memory, bytes);
}

/* A queue as the allocator's word for a stream: an address that is only compared. */
static void *stream_of(cairn_queue queue)
{
    return (void *)((uintptr_t)queue + 1);
}

static void *fence_record(void *context, void *stream)
{
    cairn_device *device = context;
    cairn_queue queue = (cairn_queue)((uintptr_t)stream - 1);
    cairn_event *event = NULL;
    if (cairn_event_create(device, &event) == CAIRN_OK && cairn_event_record(device, event, queue) == CAIRN_OK)
        return event;
    cairn_event_destroy(device, event);
    (void)cairn_device_synchronize(device); /* a device that can't even do this tells so at its next work */
    return NULL;
}

/* A failed device tells of it at its next work; its queues do nothing more, so nothing need be waited for. */
static bool fence_done(void *context, void *fence)
{
    bool reached = true;
    return cairn_event_reached(context, fence, &reached) != CAIRN_OK || reached;
}

static void fence_wait(void *context, void *fence)
{
    (void)cairn_event_synchronize(context, fence);
}

static void fence_release(void *context, void *fence)
{
    cairn_event_destroy(context, fence);
}

/* Under AddressSanitizer each block is one of the backend's, so that a step past its end or into a freed one is seen. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEES_EACH_BLOCK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SEES_EACH_BLOCK 1
#endif
#ifndef SEES_EACH_BLOCK
#define SEES_EACH_BLOCK 0
#endif

/* Empty chunks are kept up to 64 MiB, so that workspaces come and go without the driver; the slabs of a net that is gone are given back,
 * which on a CPU means to other programs. */
static cairn_allocator_options options_of(const cairn_device *device)
{
    cairn_allocator_options options = cairn_allocator_defaults(device->backend->name);
    options.advice = "a smaller batch needs less";
    options.limit = device->options.memory_limit;
    options.retain = (size_t)64 << 20;
    if (SEES_EACH_BLOCK) {
        options.own_chunk = 0;
        options.retain = 0;
    }
    return options;
}

/* ---- opening and closing ---- */

cairn_status cairn_device_memory_open(cairn_device *device)
{
    const cairn_allocator_options options = options_of(device);
    cairn_allocator_calls calls = {.context = device, .raw_alloc = raw_alloc, .raw_free = raw_free};
    if (device->backend->event_create) {
        calls.fence_record = fence_record;
        calls.fence_done = fence_done;
        calls.fence_wait = fence_wait;
        calls.fence_release = fence_release;
    }
    struct cairn_memory_ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger) return cairn_fail(CAIRN_MEMORY, "%s: no memory to open the device", options.name);
    cairn_status status = cairn_allocator_create(&options, &calls, &ledger->allocator);
    if (status != CAIRN_OK) {
        free(ledger);
        return status;
    }
    device->ledger = ledger;
    return CAIRN_OK;
}

void cairn_device_memory_settle(cairn_device *device)
{
    cairn_allocator_retain(device->ledger->allocator, 0);
    cairn_allocator_trim(device->ledger->allocator);
}

void cairn_device_memory_close(struct cairn_memory_ledger *ledger)
{
    cairn_allocator_destroy(ledger->allocator);
    free(ledger);
}

/* ---- blocks ---- */

/* The snapshot of the first failure, where one was asked for: later ones may come of trying what does fit. The failure stays the one that
 * is told. */
static cairn_status leave_snapshot(cairn_device *device, cairn_status failure)
{
    const char *path = device->options.memory_snapshot;
    if (failure != CAIRN_MEMORY || !path || device->ledger->snapshot_left) return failure;
    device->ledger->snapshot_left = true;
    const cairn_error error = *cairn_error_last();
    cairn_status status = cairn_device_memory_snapshot(device, path);
    if (status != CAIRN_OK)
        cairn_log_write(device->options.log, CAIRN_LOG_WARNING, "no memory snapshot: %s", cairn_error_last()->message);
    return cairn_error_raise(&error);
}

cairn_status cairn_device_alloc(cairn_device *device, size_t bytes, const char *holder, void **out)
{
    return leave_snapshot(device, cairn_allocator_alloc(device->ledger->allocator, bytes, holder, out));
}

void cairn_device_free(cairn_device *device, void *memory, size_t bytes, const char *holder)
{
    if (cairn_allocator_free(device->ledger->allocator, memory) == CAIRN_OK) return;
    cairn_log_write(device->options.log, CAIRN_LOG_ERROR, "%zu bytes for %s can't be freed: %s", bytes, holder,
                    cairn_error_last()->message);
}

cairn_status cairn_queue_use(cairn_device *device, cairn_queue queue, void *memory)
{
    if (queue == CAIRN_QUEUE_COMPUTE) return CAIRN_OK;
    return cairn_allocator_use(device->ledger->allocator, memory, stream_of(queue));
}

/* ---- what is told ---- */

void cairn_device_footprint(const cairn_device *device, int64_t *now, int64_t *peak)
{
    const bool own = device->backend->host_alloc != NULL; /* else the host's memory is the device's */
    const cairn_memory_stats stats = cairn_device_memory(device);
    *now = own ? (int64_t)stats.taken : cairn_os_resident_bytes();
    *peak = own ? (int64_t)stats.taken_peak : cairn_os_peak_resident_bytes();
}

cairn_memory_stats cairn_device_memory(const cairn_device *device)
{
    return cairn_allocator_stats(device->ledger->allocator);
}

size_t cairn_device_memory_available(cairn_device *device, size_t bytes)
{
    return cairn_allocator_available(device->ledger->allocator, bytes);
}

cairn_status cairn_device_memory_snapshot(const cairn_device *device, const char *path)
{
    char *json;
    CAIRN_TRY(cairn_allocator_snapshot(device->ledger->allocator, &json));
    cairn_status status = cairn_atomic_file_put(path, json, strlen(json));
    free(json);
    return status;
}
