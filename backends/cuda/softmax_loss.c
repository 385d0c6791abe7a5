/* softmax_loss.c - the loss, its gradient and the hits of a batch. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

_Static_assert(CAIRN_SOFTMAX_BYTES <= CAIRN_CUDA_SCRATCH, "the blocks' sums must fit into the scratch");

cairn_status cairn_cuda_softmax_loss(cairn_device *device, const cairn_softmax_loss *args)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    const cairn_softmax_args a = {.batch = args->batch,
                                  .classes = args->classes,
                                  .logits = args->logits,
                                  .scale = args->scale,
                                  .class_weights = args->class_weights,
                                  .loss_scale = args->loss_scale,
                                  .labels = args->labels,
                                  .smoothing = args->smoothing,
                                  .dlogits = args->dlogits,
                                  .totals = args->totals,
                                  .partial = cuda->scratch};
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_softmax_loss(&a, cuda->compute));
    return CAIRN_OK;
}
