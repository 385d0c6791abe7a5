/* augment.c - crop, flip and normalise a batch of byte pictures. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/kernels/launch.h"

/* dst must be that of the pictures: plain, or NHWC of three channels, padded or not. */
static cairn_status check(cairn_device *device, const cairn_augment *args)
{
    const cairn_layout *l = args->dst_layout;
    CAIRN_TRY(cairn_cuda_check_dtype(device, "augment", args->dtype));
    if (l && (l->flat || l->dim[0] != args->batch || l->dim[1] != 3 || l->dim[2] != args->height ||
              l->dim[3] != args->width))
        return cairn_fail(CAIRN_USAGE, "augment on cuda: the layout given is not that of %lld pictures of 3x%lldx%lld",
                          (long long)args->batch, (long long)args->height, (long long)args->width);
    if (args->height > args->src_h || args->width > args->src_w)
        return cairn_fail(CAIRN_USAGE, "augment: no %lldx%lld crop is in a %lldx%lld image", (long long)args->height,
                          (long long)args->width, (long long)args->src_h, (long long)args->src_w);
    return CAIRN_OK;
}

cairn_status cairn_cuda_augment(cairn_device *device, const cairn_augment *args)
{
    cairn_cuda *cuda = cairn_cuda_of(device);
    CAIRN_TRY(check(device, args));
    cairn_crop_args crop = {.src = args->src,
                            .crop = args->crop,
                            .dst = args->dst,
                            .batch = args->batch,
                            .src_h = args->src_h,
                            .src_w = args->src_w,
                            .height = args->height,
                            .width = args->width,
                            .channels = args->dst_layout ? (int)args->dst_layout->channels : 0};
    for (int c = 0; c < 3; c++) {
        crop.scale[c] = (float)(1 / (255 * (double)args->std[c]));
        crop.shift[c] = (float)(-(double)args->mean[c] / (double)args->std[c]);
    }
    CAIRN_TRY(cairn_cuda_enter(cuda));
    CUDA_TRY(cairn_launch_augment(&crop, args->dtype, cuda->compute));
    return CAIRN_OK;
}
