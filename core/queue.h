/* queue.h - asynchronous copies: pinned host memory, two queues of work, and events that order them.
 *
 *     CAIRN_TRY(cairn_host_alloc(device, bytes, "loader ring", &pictures));
 *     CAIRN_TRY(cairn_event_create(device, &copied));
 *     CAIRN_TRY(cairn_queue_copy_in(device, CAIRN_QUEUE_COPY, on_device, pictures, bytes));
 *     CAIRN_TRY(cairn_event_record(device, copied, CAIRN_QUEUE_COPY));
 *     CAIRN_TRY(cairn_event_wait(device, copied, CAIRN_QUEUE_COMPUTE));      work asked from here on finds the pictures there
 *
 * What is put into one queue runs in order; the two run side by side unless an event orders them. Operations, upload, download and zero are
 * work of the compute queue. On a device without queues (ref, cpu) all is done when it returns, and an event is always reached.
 */
#ifndef CAIRN_CORE_QUEUE_H
#define CAIRN_CORE_QUEUE_H

#include "core/device.h"

typedef enum cairn_queue { CAIRN_QUEUE_COMPUTE, CAIRN_QUEUE_COPY } cairn_queue;

/* A mark in a queue. */
typedef struct cairn_event cairn_event;

/* Host memory that the device reads and writes on its own (pinned), 64-byte aligned, not zeroed; ordinary memory where there is no such,
 * or with a NULL device. CAIRN_MEMORY names `holder`. Free before the device closes; NULL is allowed. */
cairn_status cairn_host_alloc(cairn_device *device, size_t bytes, const char *holder, void **out);
void cairn_host_free(cairn_device *device, void *memory, size_t bytes);

/* Between memory of cairn_host_alloc and the device. Both must stay as they are until the queue has passed the copy. */
cairn_status cairn_queue_copy_in(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);
cairn_status cairn_queue_copy_out(cairn_device *device, cairn_queue queue, void *to, const void *from, size_t bytes);

/* Says that `queue` uses a block of cairn_device_alloc from now on: once freed, it is not handed out again before what is then in the queue
 * is done. The compute queue, to which all such memory belongs, need not be named. Another must first wait for an event of the compute
 * queue, where earlier work may still use the block's memory. */
cairn_status cairn_queue_use(cairn_device *device, cairn_queue queue, void *memory);

/* *out is NULL on a device without queues, and every function takes that. Destroy before the device closes. */
cairn_status cairn_event_create(cairn_device *device, cairn_event **out);
void cairn_event_destroy(cairn_device *device, cairn_event *event); /* NULL is allowed */

/* Puts the mark behind all that is in the queue so far; an event may be recorded again and again. */
cairn_status cairn_event_record(cairn_device *device, cairn_event *event, cairn_queue queue);

/* Holds the queue's later work until the mark is reached. The host goes on. An event never recorded holds nothing. */
cairn_status cairn_event_wait(cairn_device *device, cairn_event *event, cairn_queue queue);

/* Holds the host until the mark is reached. */
cairn_status cairn_event_synchronize(cairn_device *device, cairn_event *event);

/* Asks without waiting. */
cairn_status cairn_event_reached(cairn_device *device, cairn_event *event, bool *reached);

#endif
