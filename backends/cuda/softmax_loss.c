/* softmax_loss.c - the loss, its gradient and the hits of a batch. */
#include "backends/cuda/classic.h"
#include "backends/cuda/kernels/launch.h"

_Static_assert(CAIRN_SOFTMAX_BYTES <= CAIRN_CUDA_SCRATCH, "the blocks' sums must fit into the scratch");

cairn_status cairn_cuda_softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    const bool classic = device->options.library_kernels && args->dlogits && args->batch <= INT32_MAX / args->classes;
    const cairn_softmax_args a = {.batch = args->batch,
                                  .classes = args->classes,
                                  .logits = args->logits,
                                  .scale = args->scale,
                                  .class_weights = args->class_weights,
                                  .loss_scale = args->loss_scale,
                                  .labels = args->labels,
                                  .smoothing = args->smoothing,
                                  .dlogits = args->dlogits,
                                  .normalised = classic,
                                  .totals = args->totals,
                                  .partial = cuda->scratch};
    CAIRN_TRY(cairn_cuda_enter(cuda));
    if (classic) CAIRN_TRY(cairn_classic_log_softmax(cuda, args->batch, args->classes, args->logits, args->dlogits));
    CUDA_TRY(cairn_launch_softmax_loss(&a, cuda->compute));
    return CAIRN_OK;
}
