/* Events: marks that one stream passes and that others, or the host, wait for. */
#include "device.hpp"
#include "gpusim.hpp"
#include "scheduler.hpp"

/* CUDA's handle. */
struct CUevent_st {
    std::shared_ptr<gpusim::mark> mark = std::make_shared<gpusim::mark>();
    bool timed = false;
};

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

static bool reached(cudaEvent_t event)
{
    return event->mark->reached >= event->mark->recorded;
}

extern "C" cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    call call(__func__, kind::create);
    if (call.fails()) return remember(cudaErrorMemoryAllocation);
    *out = new CUevent_st;
    (*out)->timed = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    call call(__func__, kind::free);
    delete event;
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    call call(__func__, kind::event);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    std::shared_ptr<gpusim::mark> mark = event->mark;
    const long number = ++mark->recorded;
    gpusim::enqueue(stream, "cudaEventRecord", [=] {
        if (gpusim::faulty("lost_record")) return;
        if (mark->reached < number) mark->reached = number;
        mark->time = gpusim::clock_now();
    });
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    call call(__func__, kind::event);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    if (!gpusim::faulty("forgotten_wait"))
        gpusim::put(stream, {"cudaStreamWaitEvent", nullptr, event->mark, event->mark->recorded});
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    call call(__func__, kind::wait);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    gpusim::run_until([=] { return reached(event); });
    return cudaSuccess;
}

/* Time passes between two questions, so a host that asks again and again gets its answer. "Not ready" is no failure to remember. */
extern "C" cudaError_t cudaEventQuery(cudaEvent_t event)
{
    call call(__func__, kind::query);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    if (!reached(event)) gpusim::run_a_little();
    return reached(event) ? cudaSuccess : cudaErrorNotReady;
}

extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    call call(__func__, kind::query);
    if (!from->timed || !to->timed || !from->mark->recorded || !to->mark->recorded)
        return remember(cudaErrorInvalidValue);
    if (!reached(from) || !reached(to)) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(to->mark->time - from->mark->time);
    return cudaSuccess;
}
