/* one_by_one.h - ReLU, LRN and max-pool as one operation of the contract, made of ref's three: what a device that has such an operation must compute. */
#ifndef CAIRN_TESTS_SUPPORT_ONE_BY_ONE_H
#define CAIRN_TESTS_SUPPORT_ONE_BY_ONE_H

#include "core/backend.h"

/* A plan_lrn_pool for a device of ref's; plain layouts only. */
cairn_status one_by_one_plan_lrn_pool(cairn_device *device, const cairn_lrn_pool_desc *desc, cairn_plan **out);

#endif
