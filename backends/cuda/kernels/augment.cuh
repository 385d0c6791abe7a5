/* augment.cuh - bytes of pictures to normalised numbers: crop, flip, scale, cast, channels last and padded. */
#ifndef CAIRN_CUDA_KERNELS_AUGMENT_CUH
#define CAIRN_CUDA_KERNELS_AUGMENT_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/number.cuh"

/* Reads 3 bytes and writes a pixel of `channels` (or 3) elements: neighbouring threads have neighbouring pixels. */
template <class T> __device__ __forceinline__ void augment(const cairn_crop_args &a)
{
    unsigned line = thread_index() / (unsigned)a.width, j = thread_index() % (unsigned)a.width;
    int64_t n = line / (unsigned)a.height, i = line % (unsigned)a.height;
    if (n >= a.batch) return;
    const int32_t *crop = a.crop + 3 * n;
    int64_t column = crop[1] + (crop[2] ? a.width - 1 - j : j);
    const uint8_t *from = a.src + ((n * a.src_h + crop[0] + i) * a.src_w + column) * 3;
    T *plane = (T *)a.dst + (n * 3 * a.height + i) * a.width + j;
    float x[8] = {};
    for (int c = 0; c < 3; c++)
        x[c] = (float)from[c] * a.scale[c] + a.shift[c];
    if (a.channels == 0) {
        for (int c = 0; c < 3; c++)
            plane[c * a.height * a.width] = from_float<T>(x[c]);
        return;
    }
    T *pixel = (T *)a.dst + ((n * a.height + i) * a.width + j) * a.channels;
    if (a.channels == 8 && aligned(a.dst)) {
        store(pixel, 8, true, x);
    } else if (a.channels == 4 && aligned(a.dst)) {
        const float four[4] = {x[0], x[1], x[2], 0.0f};
        store(pixel, 4, true, four);
    } else {
        for (int c = 0; c < a.channels; c++)
            pixel[c] = from_float<T>(c < 3 ? x[c] : 0.0f);
    }
}

CAIRN_KERNEL(augment, cairn_crop_args)

#endif
