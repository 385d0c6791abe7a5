/* device_memory.h - how an opened device gets its memory: core's own business, between device.c and device_memory.c.
 *
 *     CAIRN_TRY(cairn_device_memory_open(device));
 *     ... cairn_device_alloc, cairn_device_free ...
 *     cairn_device_memory_settle(device);
 *     backend->close(device);                          which may still free memory
 *     cairn_device_memory_close(ledger);
 */
#ifndef CAIRN_CORE_DEVICE_MEMORY_H
#define CAIRN_CORE_DEVICE_MEMORY_H

#include "core/backend.h"

/* Puts a growth allocator over the backend's raw calls, and over its events where it has such. Sets device->ledger. */
cairn_status cairn_device_memory_open(cairn_device *device);

/* Gives back to the device all that nobody holds, now and from now on. */
void cairn_device_memory_settle(cairn_device *device);

/* After the device is closed: makes no raw call. */
void cairn_device_memory_close(struct cairn_memory_ledger *ledger);

#endif
