#include "backends/cuda/pool_shape.h"

#define MOST_SIDE   32767 /* pixels; so that positions and their products with a side are 32-bit numbers */
#define MOST_WINDOW 65535 /* elements: a winner is 16 bits, and one value says that there is none */

static cairn_status check_windows(const cairn_pool2d_desc *d)
{
    if (d->stride_h < 1 || d->stride_w < 1 || d->pad_h < 0 || d->pad_w < 0 || d->pad_h >= d->kernel_h ||
        d->pad_w >= d->kernel_w)
        return cairn_fail(CAIRN_USAGE, "pool2d: padding must be below the kernel, and the stride at least 1");
    if ((d->out_h - 1) * d->stride_h >= d->src.dim[2] + d->pad_h ||
        (d->out_w - 1) * d->stride_w >= d->src.dim[3] + d->pad_w)
        return cairn_fail(CAIRN_USAGE, "pool2d: the last of %lldx%lld windows starts outside the %lldx%lld source",
                          (long long)d->out_h, (long long)d->out_w, (long long)d->src.dim[2], (long long)d->src.dim[3]);
    if (d->stride_h > MOST_SIDE || d->stride_w > MOST_SIDE || d->kernel_h > MOST_SIDE || d->kernel_w > MOST_SIDE ||
        d->kernel_h * d->kernel_w > MOST_WINDOW)
        return cairn_fail(CAIRN_DEVICE, "pool2d on cuda: a window of %lldx%lld is more than %d elements",
                          (long long)d->kernel_h, (long long)d->kernel_w, MOST_WINDOW);
    return CAIRN_OK;
}

cairn_status cairn_pool_shape(const cairn_pool2d_desc *d, cairn_pool_args *out)
{
    int64_t h = d->src.dim[2], w = d->src.dim[3];
    bool adaptive = d->kind == CAIRN_POOL_ADAPTIVE_AVERAGE;
    if (d->out_h < 1 || d->out_w < 1)
        return cairn_fail(CAIRN_USAGE, "pool2d: an output of %lldx%lld is empty", (long long)d->out_h,
                          (long long)d->out_w);
    if (d->relu_backward && d->kind != CAIRN_POOL_MAX)
        return cairn_fail(CAIRN_USAGE, "pool2d: only a max-pool can mask a ReLU's gradient");
    if (h > MOST_SIDE || w > MOST_SIDE || d->out_h > MOST_SIDE || d->out_w > MOST_SIDE ||
        d->src.dim[1] > INT32_MAX / 16)
        return cairn_fail(CAIRN_DEVICE, "pool2d on cuda: %lldx%lld of %lld channels is too large; a side has up to %d",
                          (long long)h, (long long)w, (long long)d->src.dim[1], MOST_SIDE);
    *out = (cairn_pool_args){.batch = d->src.dim[0],
                             .src_h = (int)h,
                             .src_w = (int)w,
                             .dst_h = (int)d->out_h,
                             .dst_w = (int)d->out_w,
                             .channels = (int)d->src.dim[1],
                             .adaptive = adaptive,
                             .masks = d->relu_backward};
    if (adaptive) return CAIRN_OK;
    CAIRN_TRY(check_windows(d));
    out->kernel_h = (int)d->kernel_h;
    out->kernel_w = (int)d->kernel_w;
    out->stride_h = (int)d->stride_h;
    out->stride_w = (int)d->stride_w;
    out->pad_h = (int)d->pad_h;
    out->pad_w = (int)d->pad_w;
    out->wide = d->kernel_h * d->kernel_w >= UINT8_MAX;
    return CAIRN_OK;
}

size_t cairn_pool_winner_bytes(const cairn_pool_args *args)
{
    size_t elements = (size_t)args->batch * (size_t)args->dst_h * (size_t)args->dst_w * (size_t)args->channels;
    return elements * (args->wide ? sizeof(uint16_t) : sizeof(uint8_t));
}

cairn_status cairn_pool_layouts(cairn_device *device, const cairn_pool2d_desc *d, cairn_plan *plan)
{
    cairn_shape dst = cairn_shape_make(4, d->src.dim[0], d->src.dim[1], d->out_h, d->out_w);
    CAIRN_TRY(cairn_layout_take(device, d->src, d->src_layout, &plan->layout.src));
    CAIRN_TRY(cairn_layout_nhwc(&cairn_cuda_of(device)->layouts, dst, 0, &plan->layout.dst));
    plan->layout.diff_src = plan->layout.src;
    plan->layout.diff_dst = plan->layout.dst;
    return CAIRN_OK;
}
