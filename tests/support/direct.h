/* direct.h - the operations that need no plan, called on any device with the same arguments but host memory in them.
 *
 *     cairn_softmax_loss args = {.batch = 2, ..., .logits = host_logits, ..., .totals = host_totals};
 *     REQUIRE_OK(direct_softmax_loss(device, &args));            args.dlogits and args.totals now hold the device's results
 *
 * Operands lie between guard zones; what is only written is poisoned with NaN first, what is only read must come back unchanged.
 */
#ifndef CAIRN_TESTS_SUPPORT_DIRECT_H
#define CAIRN_TESTS_SUPPORT_DIRECT_H

#include "core/backend.h"

cairn_status direct_softmax_loss(cairn_device *device, const cairn_softmax_loss *args);
cairn_status direct_augment(cairn_device *device, const cairn_augment *args);

/* `count`: elements of each slab. */
cairn_status direct_update(cairn_device *device, const cairn_update *args, int64_t count);

#endif
