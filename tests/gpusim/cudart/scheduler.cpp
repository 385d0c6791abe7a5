#include "scheduler.hpp"
#include "device.hpp"
#include "gpusim.hpp"
#include "memory.hpp"
#include <algorithm>
#include <vector>

/* CUDA's handle points at the queue itself. */
struct CUstream_st {
    std::deque<gpusim::item> queue;
    std::uint64_t priority = 0;
};

namespace gpusim
{

namespace
{

constexpr double ITEM_MS = 0.002; /* launch to launch on a real device: a few microseconds */

std::vector<CUstream_st *> streams;
double now = 0;

CUstream_st &known(cudaStream_t stream)
{
    if (std::find(streams.begin(), streams.end(), stream) == streams.end())
        misuse("%s", stream ? "a stream is used that isn't there any more" : "the legacy default stream is used");
    return *stream;
}

bool ready(const CUstream_st &s)
{
    if (s.queue.empty()) return false;
    const item &next = s.queue.front();
    return !next.awaits || next.awaits->reached >= next.number;
}

/* The stream to run now: the ready one of the highest priority. NULL: none is. */
CUstream_st *choose()
{
    CUstream_st *best = nullptr;
    if (!streams.empty() && draw(16) == 0) streams[draw(streams.size())]->priority = draw(1u << 31);
    for (CUstream_st *s : streams)
        if (ready(*s) && (!best || s->priority > best->priority)) best = s;
    return best;
}

void run_one(CUstream_st &s)
{
    item work = std::move(s.queue.front());
    s.queue.pop_front();
    now += ITEM_MS;
    working_on(work.what.c_str());
    if (work.run) work.run();
    working_on(nullptr);
}

} // namespace

double clock_now()
{
    return now;
}

void spend(double milliseconds)
{
    now += milliseconds;
}

void put(cudaStream_t stream, item work)
{
    known(stream).queue.push_back(std::move(work));
}

void enqueue(cudaStream_t stream, std::string what, std::function<void()> run)
{
    put(stream, {std::move(what), std::move(run), nullptr, 0});
}

bool is_empty(cudaStream_t stream)
{
    return known(stream).queue.empty();
}

bool all_empty()
{
    return std::all_of(streams.begin(), streams.end(), [](const CUstream_st *s) { return s->queue.empty(); });
}

void run_until(const std::function<bool()> &done)
{
    if (done()) return;
    enter_device();
    for (CUstream_st *s : streams)
        s->priority = draw(1u << 31);
    while (!done()) {
        CUstream_st *next = choose();
        if (!next) misuse("deadlock: every stream waits for an event that none of them will reach");
        run_one(*next);
    }
    leave_device();
}

void run_a_little()
{
    enter_device();
    for (std::uint64_t left = draw(4); left > 0; left--)
        if (CUstream_st *next = choose()) run_one(*next);
    leave_device();
}

} // namespace gpusim

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    call call(__func__, kind::create);
    if (call.fails()) return remember(cudaErrorMemoryAllocation);
    if (!(flags & cudaStreamNonBlocking))
        gpusim::misuse("a stream that waits for the legacy default stream is created");
    if (gpusim::usable() != cudaSuccess) return remember(gpusim::usable());
    gpusim::streams.push_back(*out = new CUstream_st);
    return cudaSuccess;
}

/* What is still in the queue is done first; CUDA would do it behind the call. */
extern "C" cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    call call(__func__, kind::free);
    gpusim::run_until([=] { return gpusim::is_empty(stream); });
    gpusim::streams.erase(std::find(gpusim::streams.begin(), gpusim::streams.end(), stream));
    delete stream;
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    call call(__func__, kind::wait);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    gpusim::run_until([=] { return gpusim::is_empty(stream); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaDeviceSynchronize(void)
{
    call call(__func__, kind::wait);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    gpusim::run_until(gpusim::all_empty);
    return cudaSuccess;
}
