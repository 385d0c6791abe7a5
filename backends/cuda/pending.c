/* pending.c - operations whose files have not landed: each is refused by name. An operation's file takes its line from here. */
#include "backends/cuda/cuda.h"

#define PLAN(operation)                                                                                                \
    cairn_status cairn_cuda_plan_##operation(cairn_device *device, const cairn_##operation##_desc *desc,               \
                                             cairn_plan **out)                                                         \
    {                                                                                                                  \
        (void)device, (void)desc, (void)out;                                                                           \
        return cairn_fail(CAIRN_DEVICE, "cuda: " #operation " is not part of this build");                             \
    }
#define CALL(operation)                                                                                                \
    cairn_status cairn_cuda_##operation(cairn_device *device, const cairn_##operation *args)                           \
    {                                                                                                                  \
        (void)device, (void)args;                                                                                      \
        return cairn_fail(CAIRN_DEVICE, "cuda: " #operation " is not part of this build");                             \
    }

PLAN(pool2d)
PLAN(relu)
PLAN(lrn)
PLAN(lrn_pool)
PLAN(dropout)
PLAN(batchnorm)
PLAN(reorder)
CALL(softmax_loss)
CALL(augment)
CALL(update)
