/* augment.c - crop, flip and normalise a batch of byte images. */
#include "backends/ref/ref.h"

static void augment_sample(const cairn_augment *args, int64_t n)
{
    int64_t top = args->crop[3 * n], left = args->crop[3 * n + 1];
    bool flip = args->crop[3 * n + 2] != 0;
    for (int64_t c = 0; c < 3; c++)
        for (int64_t i = 0; i < args->height; i++)
            for (int64_t j = 0; j < args->width; j++) {
                int64_t column = flip ? args->width - 1 - j : j;
                uint8_t byte = args->src[((n * args->src_h + top + i) * args->src_w + left + column) * 3 + c];
                double value = ((double)byte / 255 - (double)args->mean[c]) / (double)args->std[c];
                cairn_ref_set(args->dst, args->dtype, ((n * 3 + c) * args->height + i) * args->width + j, value);
            }
}

cairn_status cairn_ref_augment(cairn_device *device, const cairn_augment *args)
{
    (void)device;
    CAIRN_TRY(cairn_ref_check("augment", args->dtype, args->dst_layout));
    for (int64_t n = 0; n < args->batch; n++) {
        const int32_t *crop = args->crop + 3 * n;
        if (crop[0] < 0 || crop[0] + args->height > args->src_h || crop[1] < 0 || crop[1] + args->width > args->src_w)
            return cairn_fail(CAIRN_USAGE,
                              "augment: sample %lld: a %lldx%lld crop at row %d, column %d leaves the "
                              "%lldx%lld image",
                              (long long)n, (long long)args->height, (long long)args->width, (int)crop[0], (int)crop[1],
                              (long long)args->src_h, (long long)args->src_w);
        augment_sample(args, n);
    }
    return CAIRN_OK;
}
