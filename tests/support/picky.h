/* picky.h - a device that computes as ref does but is picky about layouts: it wants the operands of convolutions turned back to front and
 * padded, pools take activations as they come, and everything else is plain. What a net makes of such a device must be what it makes of
 * ref, bit for bit, with no more reorders than there are disagreements.
 *
 *     picky p;
 *     REQUIRE_OK(picky_open(false, &p));         p.device is used as any other
 *     ... plan and run ...                       p.reorders: reorders planned so far
 *
 * An obliging one flattens and augments in its own layout too, and computes LRN and max-pool as one operation.
 */
#ifndef CAIRN_TESTS_SUPPORT_PICKY_H
#define CAIRN_TESTS_SUPPORT_PICKY_H

#include "core/backend.h"

typedef struct picky {
    cairn_backend backend; /* first: a plan's device leads from here to the counts */
    cairn_device *device;  /* ref's, with the table above; closed by whoever uses it */
    int reorders;
} picky;

/* `out` must stay where it is until the device is closed. */
cairn_status picky_open(bool obliging, picky *out);

#endif
