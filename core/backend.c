#include "core/backend.h"

cairn_status cairn_conv2d_desc_check(const cairn_conv2d_desc *d)
{
    if (d->groups < 1 || d->src.dim[1] % d->groups || d->out_channels < 1 || d->out_channels % d->groups)
        return cairn_fail(CAIRN_USAGE, "conv2d: %lld input and %lld output channels can't be split into %lld groups",
                          (long long)d->src.dim[1], (long long)d->out_channels, (long long)d->groups);
    if (d->kernel_h < 1 || d->kernel_w < 1 || d->stride_h < 1 || d->stride_w < 1 || d->pad_h < 0 || d->pad_w < 0)
        return cairn_fail(CAIRN_USAGE, "conv2d: kernel and stride must be at least 1 and padding at least 0");
    if (d->src.dim[2] + 2 * d->pad_h < d->kernel_h || d->src.dim[3] + 2 * d->pad_w < d->kernel_w)
        return cairn_fail(CAIRN_USAGE, "conv2d: the %lldx%lld kernel is larger than the padded %lldx%lld source",
                          (long long)d->kernel_h, (long long)d->kernel_w, (long long)(d->src.dim[2] + 2 * d->pad_h),
                          (long long)(d->src.dim[3] + 2 * d->pad_w));
    return CAIRN_OK;
}
