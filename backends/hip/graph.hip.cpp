/* SPDX-License-Identifier: MIT
 *
 * graph.hip.cpp - graphs: work that a stream records, and that is queued again as one piece.
 */
#include "device.hpp"

#if !defined(GPU_EMULATION)

/* The mode is relaxed: rows allocate memory while they are recorded, and so may other threads. */
fl_status hip_graph_begin(void *self, void *recorded)
{
    hip_device *device = static_cast<hip_device *>(self);
    hip_stream *stream = static_cast<hip_stream *>(recorded);
    const fl_status status = hip_make_counters(device, stream); /* else the graph would hold how they are made */
    if (status != FL_OK)
        return status;
    HIP_SELECT(device);
    device->recording.lock();
    const hipError_t error = hipStreamBeginCapture(stream->queue, hipStreamCaptureModeRelaxed);
    if (error != hipSuccess)
        device->recording.unlock();
    HIP_TRY(device->host, device->number, error);
    stream->records = true;
    return FL_OK;
}

fl_status hip_graph_end(void *self, void *recorded, int32_t keep, void **graph)
{
    hip_device *device = static_cast<hip_device *>(self);
    hip_stream *stream = static_cast<hip_stream *>(recorded);
    hipGraph_t captured = nullptr;
    hipGraphExec_t made = nullptr;
    stream->records = false;
    hipError_t error = hipStreamEndCapture(stream->queue, &captured);
    device->recording.unlock();
    if (error == hipSuccess && keep)
        error = hipGraphInstantiateWithFlags(&made, captured, 0);
    if (captured)
        (void)hipGraphDestroy(captured);
    HIP_TRY(device->host, device->number, error);
    *graph = made;
    return FL_OK;
}

fl_status hip_graph_run(void *self, void *graph, void *stream)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            hipGraphLaunch(static_cast<hipGraphExec_t>(graph), static_cast<hip_stream *>(stream)->queue));
    return FL_OK;
}

void hip_graph_free(void *self, void *graph)
{
    const hip_device *device = static_cast<hip_device *>(self);
    if (hipSetDevice(device->number) == hipSuccess)
        (void)hipGraphExecDestroy(static_cast<hipGraphExec_t>(graph));
}

#endif
