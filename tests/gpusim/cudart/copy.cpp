/* Copies and fills. */
#include "device.hpp"
#include "gpusim.hpp"
#include "memory.hpp"
#include "scheduler.hpp"
#include <cstring>
#include <vector>

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

namespace
{

constexpr double BUS_BYTES_PER_MS = 25e6; /* PCIe 4.0 x16, about */

void check_kind(const void *to, const void *from, cudaMemcpyKind direction)
{
    const bool to_device = direction == cudaMemcpyHostToDevice || direction == cudaMemcpyDeviceToDevice;
    const bool from_device = direction == cudaMemcpyDeviceToHost || direction == cudaMemcpyDeviceToDevice;
    if (direction == cudaMemcpyDefault) return;
    if (gpusim::is_device(to) != to_device || gpusim::is_device(from) != from_device)
        gpusim::misuse("a copy's addresses are not where its cudaMemcpyKind %d says", static_cast<int>(direction));
}

void copy_now(void *to, const void *from, std::size_t bytes)
{
    if (gpusim::is_device(to)) gpusim::need_device(to, bytes, "a copy's destination");
    if (gpusim::is_device(from)) gpusim::need_device(from, bytes, "a copy's source");
    std::memcpy(to, from, bytes);
    gpusim::spend(static_cast<double>(bytes) / BUS_BYTES_PER_MS);
}

} // namespace

/* Pinned memory is read when the stream gets there, so that a host which overwrites it too early is found out. Of other memory the manual
 * says: into the device it is staged before the call returns; from the device the call returns when the copy is done. */
extern "C" cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind direction,
                                       cudaStream_t stream)
{
    call call(__func__, kind::copy);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    check_kind(to, from, direction);
    if (gpusim::is_device(to) && !gpusim::is_device(from) && !gpusim::is_pinned(from, bytes)) {
        const char *first = static_cast<const char *>(from);
        auto staged = std::make_shared<std::vector<char>>(first, first + bytes);
        gpusim::enqueue(stream, "cudaMemcpyAsync", [=] { copy_now(to, staged->data(), bytes); });
        return cudaSuccess;
    }
    gpusim::enqueue(stream, "cudaMemcpyAsync", [=] { copy_now(to, from, bytes); });
    if (!gpusim::is_device(to) && !gpusim::is_pinned(to, bytes))
        gpusim::run_until([=] { return gpusim::is_empty(stream); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream)
{
    call call(__func__, kind::fill);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    gpusim::enqueue(stream, "cudaMemsetAsync", [=] {
        gpusim::need_device(to, bytes, "cudaMemsetAsync");
        std::memset(to, value, bytes);
    });
    return cudaSuccess;
}
