/* SPDX-License-Identifier: MIT
 *
 * streams.cpp - streams and events. A stream runs its work at once; with AMD_EMULATOR_LAZY as late as a GPU might: only
 * as far as something waits for it, so that what does not wait reads what was there before.
 */
#include "runtime.h"
#include "settings.h"

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace
{
struct event {
    uint64_t recorded = 0, done = 0; /* how often */
    std::chrono::steady_clock::time_point time;
};

struct item {
    std::function<hipError_t()> work; /* empty: waits for an event */
    event *awaited = nullptr;
    uint64_t until = 0;
};

struct graph {
    std::vector<std::function<hipError_t()>> work;
};

struct stream {
    std::deque<item> queue;
    std::unique_ptr<graph> recorded; /* what is queued goes into it; null: it is done */
};

stream null_stream;
/* Never destroyed: programs close devices in their own destructors. */
std::set<stream *> &streams = *new std::set<stream *>{&null_stream};
hipError_t device_error = hipSuccess;

stream *stream_of(hipStream_t handle)
{
    stream *s = handle ? (stream *)handle : &null_stream;
    return streams.count(s) ? s : nullptr;
}

void execute(const std::function<hipError_t()> &work)
{
    const hipError_t error = work();
    if (error != hipSuccess)
        device_error = error;
}

/* One item of a stream. False: there is none, or it waits. */
bool advance(stream *s)
{
    if (s->queue.empty())
        return false;
    const item first = s->queue.front();
    if (first.awaited && first.awaited->done < first.until)
        return false;
    s->queue.pop_front();
    if (first.work)
        execute(first.work);
    return true;
}

/* One item of a stream other than this one. */
bool advance_another(const stream *than)
{
    for (stream *s : streams)
        if (s != than && advance(s))
            return true;
    return false;
}

void drain(stream *s)
{
    if (s->recorded)
        mistake("a stream is waited for while it records");
    while (!s->queue.empty())
        if (!advance(s) && !advance_another(s))
            mistake("a stream waits for an event that no stream will record");
}

/* What went wrong since the last call that waited. */
hipError_t waited()
{
    const hipError_t error = device_error;
    device_error = hipSuccess;
    return result(error);
}
} // namespace

hipError_t enqueue(hipStream_t handle, std::function<hipError_t()> work, bool now)
{
    stream *s = stream_of(handle);
    if (!s)
        return hipErrorInvalidHandle;
    if (s->recorded) {
        s->recorded->work.push_back(std::move(work));
        return hipSuccess;
    }
    if (!settings().lazy) {
        execute(work);
        return hipSuccess;
    }
    s->queue.push_back({std::move(work), nullptr, 0});
    if (now)
        drain(s);
    return hipSuccess;
}

/* The streams that were created last go first. */
void drain_all()
{
    for (const stream *s : streams)
        if (s->recorded)
            mistake("the device is waited for while a stream records");
    for (bool any = true; any;) {
        any = false;
        for (auto s = streams.rbegin(); s != streams.rend(); ++s)
            while (advance(*s))
                any = true;
    }
}

HIP_API hipError_t hipStreamCreateWithFlags(hipStream_t *handle, unsigned)
{
    turn mine;
    if (fails_now())
        return result(hipErrorOutOfMemory);
    stream *s = new stream;
    streams.insert(s);
    *handle = (hipStream_t)s;
    return result(hipSuccess);
}

/* The order in which streams take turns is the emulator's: priorities change nothing. */
HIP_API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -1;
    return result(hipSuccess);
}

HIP_API hipError_t hipStreamCreateWithPriority(hipStream_t *handle, unsigned flags, int)
{
    return hipStreamCreateWithFlags(handle, flags);
}

HIP_API hipError_t hipStreamDestroy(hipStream_t handle)
{
    turn mine;
    stream *s = stream_of(handle);
    if (!s || s == &null_stream)
        return result(hipErrorInvalidHandle);
    drain(s);
    streams.erase(s);
    delete s;
    return result(hipSuccess);
}

HIP_API hipError_t hipStreamSynchronize(hipStream_t handle)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    stream *s = stream_of(handle);
    if (!s)
        return result(hipErrorInvalidHandle);
    drain(s);
    return waited();
}

/* A graph is the list of what was queued while it was recorded. */
HIP_API hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode)
{
    turn mine;
    if (fails_now())
        return result(hipErrorOutOfMemory);
    stream *s = stream_of(handle);
    if (!s || s->recorded)
        return result(hipErrorInvalidHandle);
    s->recorded = std::make_unique<graph>();
    return result(hipSuccess);
}

HIP_API hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *made)
{
    turn mine;
    stream *s = stream_of(handle);
    if (!s || !s->recorded)
        return result(hipErrorInvalidHandle);
    *made = (hipGraph_t)s->recorded.release();
    return result(hipSuccess);
}

HIP_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *made, hipGraph_t from, unsigned long long)
{
    turn mine;
    if (fails_now())
        return result(hipErrorOutOfMemory);
    *made = (hipGraphExec_t) new graph(*(const graph *)from);
    return result(hipSuccess);
}

HIP_API hipError_t hipGraphDestroy(hipGraph_t freed)
{
    turn mine;
    delete (graph *)freed;
    return result(hipSuccess);
}

HIP_API hipError_t hipGraphLaunch(hipGraphExec_t launched, hipStream_t handle)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    hipError_t error = hipSuccess;
    for (const auto &work : ((const graph *)launched)->work)
        if (error == hipSuccess)
            error = enqueue(handle, work);
    return result(error);
}

HIP_API hipError_t hipGraphExecDestroy(hipGraphExec_t freed)
{
    turn mine;
    delete (graph *)freed;
    return result(hipSuccess);
}

/* For the stand-ins of libraries, which queue what they compute on the host. */
HIP_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    return result(enqueue(stream, [=] {
        callback(stream, hipSuccess, data);
        return hipSuccess;
    }));
}

HIP_API hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t awaited, unsigned)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    stream *s = stream_of(handle);
    event *e = (event *)awaited;
    if (!s)
        return result(hipErrorInvalidHandle);
    if (e->done < e->recorded)
        s->queue.push_back({{}, e, e->recorded});
    return result(hipSuccess);
}

HIP_API hipError_t hipDeviceSynchronize()
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    drain_all();
    return waited();
}

HIP_API hipError_t hipEventCreate(hipEvent_t *handle)
{
    turn mine;
    if (fails_now())
        return result(hipErrorOutOfMemory);
    *handle = (hipEvent_t) new event;
    return result(hipSuccess);
}

HIP_API hipError_t hipEventDestroy(hipEvent_t handle)
{
    turn mine;
    drain_all();
    delete (event *)handle;
    return result(hipSuccess);
}

HIP_API hipError_t hipEventRecord(hipEvent_t handle, hipStream_t on)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    event *e = (event *)handle;
    const uint64_t time = ++e->recorded;
    return result(enqueue(on, [=] {
        e->done = time;
        e->time = std::chrono::steady_clock::now();
        return hipSuccess;
    }));
}

HIP_API hipError_t hipEventSynchronize(hipEvent_t handle)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    const event *e = (const event *)handle;
    while (e->done < e->recorded)
        if (!advance_another(nullptr))
            mistake("an event is waited for that no stream will record");
    return result(hipSuccess);
}

HIP_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t from, hipEvent_t to)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    const event *first = (const event *)from, *last = (const event *)to;
    if (!first->recorded || !last->recorded)
        return result(hipErrorInvalidHandle);
    if (first->done < first->recorded || last->done < last->recorded)
        return result(hipErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
    return result(hipSuccess);
}
