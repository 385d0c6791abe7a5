/* cuDNN's classic calls: pooling, ReLU, LRN and softmax of NHWC tensors, by plain loops in double. */
#include "../arithmetic/element.hpp"
#include "descriptor.hpp"
#include "gpusim.hpp"
#include "handle.hpp"
#include <algorithm>
#include <cmath>
#include <cudnn_ops.h>
#include <limits>
#include <vector>

using arithmetic::element;
using gpusim::call;
using gpusim::kind;
using gpusim::misuse;

/* The header's names. */
struct cudnnTensorStruct {
    element type;
    std::int64_t n, c, h, w; /* n 0: not set yet */
};
struct cudnnPoolingStruct {
    cudnnPoolingMode_t mode;
    std::int64_t kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w;
};
struct cudnnActivationStruct {
    bool set;
};
struct cudnnLRNStruct {
    std::int64_t size;
    double alpha, beta, k;
};

namespace
{

using tensor = cudnnTensorStruct;

std::int64_t count(const tensor &t)
{
    return t.n * t.c * t.h * t.w;
}

std::int64_t at(const tensor &t, std::int64_t n, std::int64_t i, std::int64_t j, std::int64_t c)
{
    return ((n * t.h + i) * t.w + j) * t.c + c;
}

bool alike(const tensor &a, const tensor &b)
{
    return a.type == b.type && a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w;
}

/* A tensor's elements, read when the stream comes to it. */
std::vector<double> load(const tensor &t, const void *from, const char *what)
{
    gpusim::need_device(from, static_cast<std::size_t>(count(t) * arithmetic::size_of(t.type)), what);
    std::vector<double> to(static_cast<std::size_t>(count(t)));
    for (std::int64_t i = 0; i < count(t); i++)
        to[static_cast<std::size_t>(i)] = static_cast<double>(arithmetic::get(from, t.type, i));
    return to;
}

void store(const tensor &t, void *to, const std::vector<double> &from, const char *what)
{
    gpusim::need_device(to, static_cast<std::size_t>(count(t) * arithmetic::size_of(t.type)), what);
    for (std::int64_t i = 0; i < count(t); i++)
        arithmetic::put(to, t.type, i, static_cast<float>(from[static_cast<std::size_t>(i)]));
}

void check_scales(const void *alpha, const void *beta)
{
    if (*static_cast<const float *>(alpha) != 1 || *static_cast<const float *>(beta) != 0)
        misuse("cuDNN: the double takes an alpha of 1 and a beta of 0 only");
}

double &element_of(std::vector<double> &v, std::int64_t i)
{
    return v[static_cast<std::size_t>(i)];
}

double element_of(const std::vector<double> &v, std::int64_t i)
{
    return v[static_cast<std::size_t>(i)];
}

/* Visits (y's element, x's element) for every element inside of every window, row by row. */
template <class Visit> void for_each_tap(const cudnnPoolingStruct &p, const tensor &x, const tensor &y, Visit visit)
{
    for (std::int64_t n = 0; n < y.n; n++)
        for (std::int64_t i = 0; i < y.h; i++)
            for (std::int64_t j = 0; j < y.w; j++)
                for (std::int64_t r = 0; r < p.kernel_h; r++)
                    for (std::int64_t s = 0; s < p.kernel_w; s++) {
                        const std::int64_t row = i * p.stride_h - p.pad_h + r, column = j * p.stride_w - p.pad_w + s;
                        if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
                        for (std::int64_t c = 0; c < y.c; c++)
                            visit(at(y, n, i, j, c), at(x, n, row, column, c));
                    }
}

/* Of every window, the position of its first maximum; NaN is one. */
std::vector<std::int64_t> winners(const cudnnPoolingStruct &p, const tensor &x, const tensor &y,
                                  const std::vector<double> &value)
{
    std::vector<std::int64_t> best(static_cast<std::size_t>(count(y)), -1);
    for_each_tap(p, x, y, [&](std::int64_t to, std::int64_t from) {
        std::int64_t &winner = best[static_cast<std::size_t>(to)];
        if (winner < 0) winner = from;
        const double most = element_of(value, winner), one = element_of(value, from);
        if (one > most || (std::isnan(one) && !std::isnan(most))) winner = from;
    });
    return best;
}

bool takes_maximum(const cudnnPoolingStruct &p)
{
    return p.mode == CUDNN_POOLING_MAX || p.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
}

bool fits(const cudnnPoolingStruct &p, const tensor &x, const tensor &y)
{
    return x.n == y.n && x.c == y.c && x.type == y.type && y.h == (x.h + 2 * p.pad_h - p.kernel_h) / p.stride_h + 1 &&
           y.w == (x.w + 2 * p.pad_w - p.kernel_w) / p.stride_w + 1;
}

/* k + alpha / size * the sum of squares around channel c of the pixel that begins at `pixel`. */
double lrn_sum(const cudnnLRNStruct &d, const tensor &t, const std::vector<double> &x, std::int64_t pixel,
               std::int64_t c)
{
    double sum = 0;
    const std::int64_t reach = (d.size - 1) / 2;
    for (std::int64_t j = std::max<std::int64_t>(c - reach, 0); j <= std::min(c - reach + d.size - 1, t.c - 1); j++)
        sum += element_of(x, pixel + j) * element_of(x, pixel + j);
    return d.k + d.alpha / static_cast<double>(d.size) * sum;
}

cudnnStatus_t mismatch(const char *function)
{
    return gpusim::refuse(CUDNN_STATUS_BAD_PARAM, "%s: the tensors don't fit each other", function);
}

template <class Struct> cudnnStatus_t create(Struct **out)
{
    call call("cudnnCreate*Descriptor", kind::create);
    if (call.fails()) return gpusim::refuse(CUDNN_STATUS_ALLOC_FAILED, "no memory for a descriptor");
    *out = new Struct{};
    return CUDNN_STATUS_SUCCESS;
}

template <class Struct> cudnnStatus_t destroy(Struct *descriptor)
{
    call call("cudnnDestroy*Descriptor", kind::free);
    delete descriptor;
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

extern "C" cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *out)
{
    return create(out);
}
extern "C" cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor)
{
    return destroy(descriptor);
}
extern "C" cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *out)
{
    return create(out);
}
extern "C" cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t descriptor)
{
    return destroy(descriptor);
}
extern "C" cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t *out)
{
    return create(out);
}
extern "C" cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor)
{
    return destroy(descriptor);
}
extern "C" cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *out)
{
    return create(out);
}
extern "C" cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t descriptor)
{
    return destroy(descriptor);
}

extern "C" cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t t, cudnnTensorFormat_t format,
                                                    cudnnDataType_t type, int n, int c, int h, int w)
{
    if (format != CUDNN_TENSOR_NHWC) misuse("cuDNN: the double knows tensors in NHWC only");
    if (n < 1 || c < 1 || h < 1 || w < 1) return gpusim::refuse(CUDNN_STATUS_BAD_PARAM, "a tensor is empty");
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16)
        return gpusim::refuse(CUDNN_STATUS_BAD_PARAM, "data type %d", static_cast<int>(type));
    *t = {type == CUDNN_DATA_FLOAT ? element::f32 : type == CUDNN_DATA_HALF ? element::f16 : element::bf16, n, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t p, cudnnPoolingMode_t mode,
                                                     cudnnNanPropagation_t nan, int kernel_h, int kernel_w, int pad_h,
                                                     int pad_w, int stride_h, int stride_w)
{
    if (nan != CUDNN_PROPAGATE_NAN) misuse("cuDNN: the double passes NaN on");
    if (mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING) misuse("cuDNN: the double's averages include padding");
    if (kernel_h < 1 || kernel_w < 1 || stride_h < 1 || stride_w < 1 || pad_h < 0 || pad_w < 0 || pad_h >= kernel_h ||
        pad_w >= kernel_w)
        return gpusim::refuse(CUDNN_STATUS_BAD_PARAM, "such a window can't be");
    *p = {mode, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w};
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t a, cudnnActivationMode_t mode,
                                                      cudnnNanPropagation_t nan, double)
{
    if (mode != CUDNN_ACTIVATION_RELU || nan != CUDNN_PROPAGATE_NAN)
        misuse("cuDNN: the double knows the ReLU that passes NaN on only");
    a->set = true;
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t d, unsigned size, double alpha, double beta,
                                               double k)
{
    if (size < CUDNN_LRN_MIN_N || size > CUDNN_LRN_MAX_N || k < CUDNN_LRN_MIN_K || beta < CUDNN_LRN_MIN_BETA)
        return gpusim::refuse(CUDNN_STATUS_BAD_PARAM, "LRN: size %u, k %g or beta %g is out of range", size, k, beta);
    *d = {size, alpha, beta, k};
    return CUDNN_STATUS_SUCCESS;
}

/* Begins an operation: counts it, and checks what all have in common. */
#define BEGIN()                                                                                                        \
    call call(__func__, kind::library);                                                                                \
    if (call.fails()) return gpusim::refuse(CUDNN_STATUS_EXECUTION_FAILED, "fails as GPUSIM_FAIL says");               \
    check_scales(alpha, beta)

extern "C" cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pool,
                                             const void *alpha, const cudnnTensorDescriptor_t x_desc, const void *x,
                                             const void *beta, const cudnnTensorDescriptor_t y_desc, void *y)
{
    BEGIN();
    const cudnnPoolingStruct p = *pool;
    const tensor xt = *x_desc, yt = *y_desc;
    if (!fits(p, xt, yt)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnPoolingForward", [=] {
        const std::vector<double> in = load(xt, x, "cudnnPoolingForward: x");
        std::vector<double> out(static_cast<std::size_t>(count(yt)));
        if (takes_maximum(p)) {
            const std::vector<std::int64_t> best = winners(p, xt, yt, in);
            for (std::size_t i = 0; i < out.size(); i++)
                out[i] = element_of(in, best[i]);
        } else {
            for_each_tap(p, xt, yt,
                         [&](std::int64_t to, std::int64_t from) { element_of(out, to) += element_of(in, from); });
            for (double &value : out)
                value /= static_cast<double>(p.kernel_h * p.kernel_w);
        }
        store(yt, y, out, "cudnnPoolingForward: y");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t pool,
                                              const void *alpha, const cudnnTensorDescriptor_t y_desc, const void *,
                                              const cudnnTensorDescriptor_t dy_desc, const void *dy,
                                              const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                              const cudnnTensorDescriptor_t dx_desc, void *dx)
{
    BEGIN();
    const cudnnPoolingStruct p = *pool;
    const tensor xt = *x_desc, yt = *y_desc;
    if (!fits(p, xt, yt) || !alike(xt, *dx_desc) || !alike(yt, *dy_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnPoolingBackward", [=] {
        const std::vector<double> in = load(xt, x, "cudnnPoolingBackward: x"),
                                  gradient = load(yt, dy, "cudnnPoolingBackward: dy");
        std::vector<double> out(in.size());
        if (takes_maximum(p)) {
            const std::vector<std::int64_t> best = winners(p, xt, yt, in);
            for (std::size_t i = 0; i < best.size(); i++)
                element_of(out, best[i]) += gradient[i];
        } else {
            const double share = 1 / static_cast<double>(p.kernel_h * p.kernel_w);
            for_each_tap(p, xt, yt, [&](std::int64_t from, std::int64_t to) {
                element_of(out, to) += share * element_of(gradient, from);
            });
        }
        store(xt, dx, out, "cudnnPoolingBackward: dx");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t, const void *alpha,
                                                const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                                const cudnnTensorDescriptor_t y_desc, void *y)
{
    BEGIN();
    const tensor t = *x_desc;
    if (!alike(t, *y_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnActivationForward", [=] {
        std::vector<double> values = load(t, x, "cudnnActivationForward: x");
        for (double &value : values)
            value = value < 0 ? 0 : value;
        store(t, y, values, "cudnnActivationForward: y");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle, cudnnActivationDescriptor_t, const void *alpha,
                                                 const cudnnTensorDescriptor_t y_desc, const void *y,
                                                 const cudnnTensorDescriptor_t dy_desc, const void *dy,
                                                 const cudnnTensorDescriptor_t, const void *, const void *beta,
                                                 const cudnnTensorDescriptor_t dx_desc, void *dx)
{
    BEGIN();
    const tensor t = *y_desc;
    if (!alike(t, *dy_desc) || !alike(t, *dx_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnActivationBackward", [=] {
        const std::vector<double> on = load(t, y, "cudnnActivationBackward: y");
        std::vector<double> values = load(t, dy, "cudnnActivationBackward: dy");
        for (std::size_t i = 0; i < values.size(); i++)
            values[i] = on[i] > 0 ? values[i] : 0;
        store(t, dx, values, "cudnnActivationBackward: dx");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn, cudnnLRNMode_t,
                                                     const void *alpha, const cudnnTensorDescriptor_t x_desc,
                                                     const void *x, const void *beta,
                                                     const cudnnTensorDescriptor_t y_desc, void *y)
{
    BEGIN();
    const cudnnLRNStruct d = *lrn;
    const tensor t = *x_desc;
    if (!alike(t, *y_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnLRNCrossChannelForward", [=] {
        const std::vector<double> in = load(t, x, "cudnnLRNCrossChannelForward: x");
        std::vector<double> out(in.size());
        for (std::int64_t pixel = 0; pixel < count(t); pixel += t.c)
            for (std::int64_t c = 0; c < t.c; c++)
                element_of(out, pixel + c) = element_of(in, pixel + c) * std::pow(lrn_sum(d, t, in, pixel, c), -d.beta);
        store(t, y, out, "cudnnLRNCrossChannelForward: y");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn, cudnnLRNMode_t,
                                                      const void *alpha, const cudnnTensorDescriptor_t y_desc,
                                                      const void *, const cudnnTensorDescriptor_t dy_desc,
                                                      const void *dy, const cudnnTensorDescriptor_t x_desc,
                                                      const void *x, const void *beta,
                                                      const cudnnTensorDescriptor_t dx_desc, void *dx)
{
    BEGIN();
    const cudnnLRNStruct d = *lrn;
    const tensor t = *x_desc;
    if (!alike(t, *y_desc) || !alike(t, *dy_desc) || !alike(t, *dx_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnLRNCrossChannelBackward", [=] {
        const std::vector<double> in = load(t, x, "cudnnLRNCrossChannelBackward: x"),
                                  gradient = load(t, dy, "cudnnLRNCrossChannelBackward: dy");
        std::vector<double> out(in.size());
        const std::int64_t reach = (d.size - 1) / 2;
        for (std::int64_t pixel = 0; pixel < count(t); pixel += t.c)
            for (std::int64_t j = 0; j < t.c; j++) {
                const double s = lrn_sum(d, t, in, pixel, j), g = element_of(gradient, pixel + j);
                const double share = g * element_of(in, pixel + j) * std::pow(s, -d.beta - 1);
                element_of(out, pixel + j) += g * std::pow(s, -d.beta);
                for (std::int64_t c = std::max<std::int64_t>(j - reach, 0); c <= std::min(j + reach, t.c - 1); c++)
                    element_of(out, pixel + c) -=
                        2 * d.alpha * d.beta / static_cast<double>(d.size) * element_of(in, pixel + c) * share;
            }
        store(t, dx, out, "cudnnLRNCrossChannelBackward: dx");
    });
    return CUDNN_STATUS_SUCCESS;
}

extern "C" cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                             cudnnSoftmaxMode_t mode, const void *alpha,
                                             const cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                             const cudnnTensorDescriptor_t y_desc, void *y)
{
    BEGIN();
    const tensor t = *x_desc;
    if (algorithm != CUDNN_SOFTMAX_LOG || mode != CUDNN_SOFTMAX_MODE_INSTANCE)
        misuse("cuDNN: the double knows the logarithm of a softmax over whole samples only");
    if (!alike(t, *y_desc)) return mismatch(__func__);
    gpusim::enqueue(handle->stream, "cudnnSoftmaxForward", [=] {
        const std::vector<double> in = load(t, x, "cudnnSoftmaxForward: x");
        std::vector<double> out(in.size());
        const std::int64_t each = count(t) / t.n;
        for (std::int64_t first = 0; first < count(t); first += each) {
            double most = -std::numeric_limits<double>::infinity(), sum = 0;
            for (std::int64_t c = 0; c < each; c++)
                most = std::max(most, element_of(in, first + c));
            for (std::int64_t c = 0; c < each; c++)
                sum += std::exp(element_of(in, first + c) - most);
            for (std::int64_t c = 0; c < each; c++)
                element_of(out, first + c) = element_of(in, first + c) - most - std::log(sum);
        }
        store(t, y, out, "cudnnSoftmaxForward: y");
    });
    return CUDNN_STATUS_SUCCESS;
}
