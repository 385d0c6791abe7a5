/* guarded.h - device memory with guard zones on both sides, so that a write outside is seen, and poisoned inside, so that an element
 * never written is seen too.
 *
 *     guarded g;
 *     CAIRN_TRY(guarded_create(device, bytes, &g));
 *     ... write at g.data ...
 *     CAIRN_TRY(guarded_check(&g, "dst"));
 *     guarded_destroy(&g);
 */
#ifndef CAIRN_TESTS_SUPPORT_GUARDED_H
#define CAIRN_TESTS_SUPPORT_GUARDED_H

#include "core/device.h"

typedef struct guarded {
    cairn_device *device;
    unsigned char *block; /* device address of all of it */
    void *data;           /* device address of the part in use, 64-byte aligned; NULL for no bytes */
    size_t bytes;
} guarded;

/* Poisoned: every byte 0xff, which reads as NaN in f32, f16 and bf16. */
cairn_status guarded_create(cairn_device *device, size_t bytes, guarded *out);
void guarded_destroy(guarded *g); /* idempotent; a zeroed one is allowed */

cairn_status guarded_poison(const guarded *g);

/* CAIRN_DATA naming `what` when a guard zone was written to. */
cairn_status guarded_check(const guarded *g, const char *what);

#endif
