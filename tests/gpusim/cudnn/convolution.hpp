/* convolution.hpp - the three convolutions on f32 arrays without gaps: activations [N][H][W][C], weights [K][R][S][C / groups]. */
#pragma once

#include <cstdint>

namespace gpusim
{

struct convolution_shape {
    std::int64_t batch, channels, height, width;      /* x */
    std::int64_t filters, kernel_h, kernel_w, groups; /* w */
    std::int64_t rows, columns;                       /* of y */
    std::int64_t pad_h, pad_w, stride_h, stride_w;
};

/* Each overwrites its result. */
void convolve(const convolution_shape &s, const float *x, const float *w, float *y);
void convolve_backward_data(const convolution_shape &s, const float *dy, const float *w, float *dx);

/* The images' sums are added one after the other, beginning with image `first`; with `half_sums` each of them rounded to f16, as an
 * engine does that notes a reduction in reduced precision. */
void convolve_backward_filter(const convolution_shape &s, const float *x, const float *dy, float *dw,
                              std::int64_t first, bool half_sums);

} // namespace gpusim
