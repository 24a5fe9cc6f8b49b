/* SPDX-License-Identifier: MIT
 *
 * device.hip.cpp - the functions of a GPU as a Flynn device: memory, copies, streams and events. open.hip.cpp probes
 * and opens GPUs.
 */
#include "device.hpp"
#include "gpu/gpu_range.h"

#include <new>

fl_status hip_failed(const fl_host *host, int device, hipError_t error, const char *statement, const char *function,
                     const char *file, int line)
{
    const char *slash = std::strrchr(file, '/');
    (void)hipGetLastError(); /* clears it, or the next launch would report it again */
    return host->error(error == hipErrorOutOfMemory ? FL_E_MEMORY : FL_E_DEVICE,
                       "%s in %s, %s:%d, on %s device %d: %s (%s)", statement, function, slash ? slash + 1 : file, line,
                       gpu_vendor, device, hipGetErrorString(error), hipGetErrorName(error));
}

namespace
{

/* ---------------------------------------------------------------------------------------------------- memory ---- */

fl_status allocate(void *self, size_t bytes, void **memory)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipMalloc(memory, bytes));
    return FL_OK;
}

void release(void *self, void *memory)
{
    hip_device *device = static_cast<hip_device *>(self);
    const std::lock_guard<std::recursive_mutex> guard(device->recording);
    if (hipSetDevice(device->number) == hipSuccess && hipDeviceSynchronize() == hipSuccess)
        (void)hipFree(memory);
}

fl_status allocate_host(void *self, size_t bytes, void **memory)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipHostMalloc(memory, bytes, hipHostMallocDefault));
    return FL_OK;
}

void release_host(void *self, void *memory)
{
    const hip_device *device = static_cast<hip_device *>(self);
    if (hipSetDevice(device->number) == hipSuccess)
        (void)hipHostFree(memory);
}

fl_status copy(void *self, void *stream, const fl_copy *c)
{
    static const hipMemcpyKind kinds[] = {hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice};
    const hip_device *device = static_cast<hip_device *>(self);
    const hipStream_t queue = static_cast<hip_stream *>(stream)->queue;
    const hipMemcpyKind kind = kinds[c->kind];
    const bool packed = c->rows == 1 || (c->to_pitch == c->width && c->from_pitch == c->width);
    HIP_SELECT(device);
    if (packed)
        HIP_TRY(device->host, device->number, hipMemcpyAsync(c->to, c->from, c->width * c->rows, kind, queue));
    else
        HIP_TRY(device->host, device->number,
                hipMemcpy2DAsync(c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->rows, kind, queue));
    return FL_OK;
}

/* --------------------------------------------------------------------------------------------------- streams ---- */

hipError_t create_queue(hipStream_t *queue, bool urgent)
{
#if !defined(GPU_EMULATION) /* which has no priorities */
    int least, greatest;
    const hipError_t error = urgent ? hipDeviceGetStreamPriorityRange(&least, &greatest) : hipSuccess;
    if (urgent)
        return error != hipSuccess ? error : hipStreamCreateWithPriority(queue, hipStreamNonBlocking, greatest);
#endif
    (void)urgent;
    return hipStreamCreateWithFlags(queue, hipStreamNonBlocking);
}

fl_status create(void *self, bool urgent, void **created)
{
    hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    hip_stream *stream = new (std::nothrow) hip_stream{};
    if (!stream)
        return device->host->error(FL_E_MEMORY, "out of host memory for a stream");
    void *report;
    hipError_t error = hipHostMalloc(&report, sizeof *stream->report, hipHostMallocDefault);
    if (error == hipSuccess) {
        stream->report = new (report) hip_report{};
        error = create_queue(&stream->queue, urgent);
        if (error != hipSuccess)
            (void)hipHostFree(report);
    }
    if (error != hipSuccess) {
        delete stream;
        return hip_failed(device->host, device->number, error, "a new stream", __func__, __FILE__, __LINE__);
    }
    const std::lock_guard<std::mutex> guard(device->lock);
    stream->next = device->streams;
    device->streams = stream;
    *created = stream;
    return FL_OK;
}

fl_status stream_create(void *self, void **created)
{
    return create(self, false, created);
}

fl_status stream_create_urgent(void *self, void **created)
{
    return create(self, true, created);
}

void stream_free(void *self, void *freed)
{
    hip_device *device = static_cast<hip_device *>(self);
    hip_stream *stream = static_cast<hip_stream *>(freed);
    {
        const std::lock_guard<std::mutex> guard(device->lock);
        hip_stream **link = &device->streams;
        while (*link != stream)
            link = &(*link)->next;
        *link = stream->next;
    }
    if (hipSetDevice(device->number) == hipSuccess) {
        (void)hipStreamSynchronize(stream->queue);
        (void)hipStreamDestroy(stream->queue);
        (void)hipHostFree(stream->report);
    }
    delete stream;
}

/* Returns the error that the device reported for this stream, and clears it. */
fl_status reported(const hip_device *device, hip_stream *stream)
{
    if (!__atomic_exchange_n(&stream->report->not_separable, 0, __ATOMIC_ACQ_REL))
        return FL_OK;
    return device->host->error(FL_E_ARGUMENT, "convolve: the kernel is not of rank one, which `separable` needs: use "
                                              "tiled or auto");
}

fl_status stream_wait(void *self, void *stream)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipStreamSynchronize(static_cast<hip_stream *>(stream)->queue));
    return reported(device, static_cast<hip_stream *>(stream));
}

fl_status synchronize(void *self)
{
    hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    {
        const std::lock_guard<std::recursive_mutex> guard(device->recording);
        HIP_TRY(device->host, device->number, hipDeviceSynchronize());
    }
    fl_status status = FL_OK;
    const std::lock_guard<std::mutex> guard(device->lock);
    for (hip_stream *stream = device->streams; stream; stream = stream->next) {
        const fl_status deferred = reported(device, stream);
        status = deferred != FL_OK ? deferred : status;
    }
    return status;
}

fl_status stream_wait_event(void *self, void *stream, void *event)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            hipStreamWaitEvent(static_cast<hip_stream *>(stream)->queue, static_cast<hipEvent_t>(event), 0));
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------------- events ---- */

fl_status event_create(void *self, void **created)
{
    const hip_device *device = static_cast<hip_device *>(self);
    hipEvent_t event;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipEventCreate(&event));
    *created = event;
    return FL_OK;
}

void event_free(void *self, void *event)
{
    const hip_device *device = static_cast<hip_device *>(self);
    if (hipSetDevice(device->number) == hipSuccess)
        (void)hipEventDestroy(static_cast<hipEvent_t>(event));
}

fl_status event_record(void *self, void *event, void *stream)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            hipEventRecord(static_cast<hipEvent_t>(event), static_cast<hip_stream *>(stream)->queue));
    return FL_OK;
}

fl_status event_wait(void *self, void *event)
{
    const hip_device *device = static_cast<hip_device *>(self);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipEventSynchronize(static_cast<hipEvent_t>(event)));
    return FL_OK;
}

fl_status event_elapsed(void *self, void *start, void *stop, double *seconds)
{
    const hip_device *device = static_cast<hip_device *>(self);
    float milliseconds;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            hipEventElapsedTime(&milliseconds, static_cast<hipEvent_t>(start), static_cast<hipEvent_t>(stop)));
    *seconds = milliseconds * 1e-3;
    return FL_OK;
}

void close_device(void *self)
{
    hip_device *device = static_cast<hip_device *>(self);
    device->close_libraries(device);
    delete device;
}

void range_push(void *self, const char *name, const char *detail)
{
    static const bool wanted = gpu_range_wanted();
    char text[96];
    (void)self;
    if (!wanted)
        return;
    std::snprintf(text, sizeof text, "%s%s%s", name, detail ? " " : "", detail ? detail : "");
    gpu_range_push(text);
}

void range_pop(void *self)
{
    static const bool wanted = gpu_range_wanted();
    (void)self;
    if (wanted)
        gpu_range_pop();
}

/* Only timed calls ask for this, so that launches do not pay for it. */
fl_status last_kernel(void *self, void *of, fl_kernel_facts *facts)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const hip_launched &last = static_cast<hip_stream *>(of)->last;
    gpu_kernel_use use = {};
    if (!last.kernel)
        return FL_OK;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, last.use(last.kernel, last.threads, last.shared, &use));
    if (use.registers == 0)
        return FL_OK;
    facts->registers = use.registers;
    facts->threads = last.threads;
    facts->resident_blocks = use.resident_blocks;
    facts->resident_threads = device->resident_threads;
    facts->local_bytes = (int64_t)use.local_bytes;
    facts->shared_bytes = (int64_t)use.shared_bytes;
    return FL_OK;
}

const fl_device_api device_api = {
    sizeof(fl_device_api),
    close_device,
    synchronize,
    allocate,
    release,
    allocate_host,
    release_host,
    copy,
    stream_create,
    stream_free,
    stream_wait,
    stream_wait_event,
    event_create,
    event_free,
    event_record,
    event_wait,
    event_elapsed,
    range_push,
    range_pop,
    last_kernel,
    nullptr,
    hip_program_compile,
    hip_program_free,
    hip_program_symbol,
    hip_group_id,
    hip_group_join,
    hip_group_exchange,
    hip_group_leave,
    stream_create_urgent,
    0, // takes_lanes
    hip_program_watch,
    hip_graph_begin,
    hip_graph_end,
    hip_graph_run,
    hip_graph_free,
};

} // namespace

const fl_device_api *hip_device_functions()
{
    return &device_api;
}
