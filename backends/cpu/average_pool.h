/* average_pool.h - average and adaptive average pooling, by loops over [outer][height][width][inner] buffers, so that plain, blocked and
 * channels-last layouts are all taken as they come.
 *
 *     CAIRN_TRY(cairn_average_pool_plan(device, &desc, &plan));
 */
#ifndef CAIRN_BACKENDS_CPU_AVERAGE_POOL_H
#define CAIRN_BACKENDS_CPU_AVERAGE_POOL_H

#include "core/backend.h"

/* desc->kind is CAIRN_POOL_AVERAGE or CAIRN_POOL_ADAPTIVE_AVERAGE; its numbers were checked. */
cairn_status cairn_average_pool_plan(cairn_device *device, const cairn_pool2d_desc *desc, cairn_plan **out);

#endif
