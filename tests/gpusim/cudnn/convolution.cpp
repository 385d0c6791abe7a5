#include "convolution.hpp"
#include "../arithmetic/element.hpp"
#include "../arithmetic/matmul.hpp"
#include "gpusim.hpp"
#include <algorithm>
#include <vector>

namespace gpusim
{

namespace
{

/* One image and one group, as a product of matrices: rows are pixels of y, columns are taps (r, s, c). */
struct piece {
    const convolution_shape &s;
    std::int64_t pixels, taps, group_channels, group_filters;

    explicit piece(const convolution_shape &shape)
        : s(shape), pixels(shape.rows * shape.columns),
          taps(shape.kernel_h * shape.kernel_w * shape.channels / shape.groups),
          group_channels(shape.channels / shape.groups), group_filters(shape.filters / shape.groups)
    {
    }
    std::int64_t x_at(std::int64_t image, std::int64_t group) const
    {
        return image * s.height * s.width * s.channels + group * group_channels;
    }
    std::int64_t y_at(std::int64_t image, std::int64_t group) const
    {
        return image * pixels * s.filters + group * group_filters;
    }
    std::int64_t w_at(std::int64_t group) const
    {
        return group * group_filters * taps;
    }
};

/* Calls visit(tap's channels in the patches, pixel of x) for every tap of every pixel of y; x is -1 in the padding. */
template <class Visit> void for_each_tap(const piece &p, Visit visit)
{
    const convolution_shape &s = p.s;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < s.rows; i++)
        for (std::int64_t j = 0; j < s.columns; j++)
            for (std::int64_t r = 0; r < s.kernel_h; r++)
                for (std::int64_t c = 0; c < s.kernel_w; c++, at += p.group_channels) {
                    const std::int64_t row = i * s.stride_h - s.pad_h + r, column = j * s.stride_w - s.pad_w + c;
                    const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
                    visit(at, inside ? row * s.width + column : -1);
                }
}

void gather(const piece &p, const float *x, float *patches)
{
    for_each_tap(p, [&](std::int64_t at, std::int64_t pixel) {
        if (pixel < 0)
            std::fill_n(patches + at, p.group_channels, 0.0f);
        else
            std::copy_n(x + pixel * p.s.channels, p.group_channels, patches + at);
    });
}

void scatter(const piece &p, const float *patches, float *x)
{
    for_each_tap(p, [&](std::int64_t at, std::int64_t pixel) {
        for (std::int64_t c = 0; pixel >= 0 && c < p.group_channels; c++)
            x[pixel * p.s.channels + c] += patches[at + c];
    });
}

void spend_on(const piece &p)
{
    spend(2e-12 * static_cast<double>(p.s.batch * p.pixels * p.s.filters * p.taps));
}

} // namespace

/* GPUSIM_FAULT=swapped_group: each group is convolved with the next one's filters. */
void convolve(const convolution_shape &s, const float *x, const float *w, float *y)
{
    const piece p(s);
    const std::int64_t swap = faulty("swapped_group") ? 1 : 0;
    std::vector<float> patches(static_cast<std::size_t>(p.pixels * p.taps));
    for (std::int64_t n = 0; n < s.batch; n++)
        for (std::int64_t g = 0; g < s.groups; g++) {
            gather(p, x + p.x_at(n, g), patches.data());
            arithmetic::multiply(p.pixels, p.group_filters, p.taps, {patches.data(), p.taps, 1},
                                 {w + p.w_at((g + swap) % s.groups), 1, p.taps}, y + p.y_at(n, g), s.filters, false);
        }
    spend_on(p);
}

void convolve_backward_data(const convolution_shape &s, const float *dy, const float *w, float *dx)
{
    const piece p(s);
    std::vector<float> patches(static_cast<std::size_t>(p.pixels * p.taps));
    std::fill_n(dx, s.batch * s.height * s.width * s.channels, 0.0f);
    for (std::int64_t n = 0; n < s.batch; n++)
        for (std::int64_t g = 0; g < s.groups; g++) {
            arithmetic::multiply(p.pixels, p.taps, p.group_filters, {dy + p.y_at(n, g), s.filters, 1},
                                 {w + p.w_at(g), p.taps, 1}, patches.data(), p.taps, false);
            scatter(p, patches.data(), dx + p.x_at(n, g));
        }
    spend_on(p);
}

void convolve_backward_filter(const convolution_shape &s, const float *x, const float *dy, float *dw,
                              std::int64_t first, bool half_sums)
{
    const piece p(s);
    std::vector<float> patches(static_cast<std::size_t>(p.pixels * p.taps));
    std::fill_n(dw, s.filters * p.taps, 0.0f);
    for (std::int64_t i = 0; i < s.batch; i++) {
        const std::int64_t n = (first + i) % s.batch;
        for (std::int64_t g = 0; g < s.groups; g++) {
            gather(p, x + p.x_at(n, g), patches.data());
            arithmetic::multiply(p.group_filters, p.taps, p.pixels, {dy + p.y_at(n, g), 1, s.filters},
                                 {patches.data(), p.taps, 1}, dw + p.w_at(g), p.taps, true);
        }
        for (std::int64_t k = 0; half_sums && k < s.filters * p.taps; k++)
            dw[k] = __half2float(__float2half_rn(dw[k]));
    }
    spend_on(p);
}

} // namespace gpusim
