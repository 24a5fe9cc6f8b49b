/* SPDX-License-Identifier: MIT
 *
 * stream.c - waiting for streams, events, copies, and timing calls.
 */
#include "stream.h"

#include "base/status.h"
#include "graph.h"

#include <stdlib.h>

struct fl_event {
    fl_device *device;
    void *handle;
    bool recorded;
};

static const fl_device_api *api_of(const fl_device *device)
{
    return device->plugin.api;
}

/* ---------------------------------------------------------------------------------------------- streams ---- */

static fl_status create(const char *call, fl_device *device, bool urgent, fl_stream **stream)
{
    fl_status status;

    if (!device || !stream)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, device ? "stream" : "device");
    *stream = NULL;
    status = core_stream_create(device, urgent, stream);
    if (status == FL_OK)
        core_device_keep(device);
    return status;
}

fl_status fl_stream_create(fl_device *device, fl_stream **stream)
{
    return create("fl_stream_create", device, false, stream);
}

fl_status fl_stream_create_urgent(fl_device *device, fl_stream **stream)
{
    return create("fl_stream_create_urgent", device, true, stream);
}

void fl_stream_free(fl_stream *stream)
{
    fl_device *device = stream ? stream->device : NULL;

    if (!stream)
        return;
    if (stream->recording)
        core_graph_discard(stream->recording);
    core_stream_free(stream);
    core_device_drop(device);
}

/* ---------------------------------------------------------------------------------------------- waiting ---- */

fl_status core_stream_of(const char *call, fl_device *device, fl_stream *stream, fl_stream **found)
{
    if (stream && stream->device != device)
        return core_fail(
            FL_E_WRONG_DEVICE,
            "%s: the stream belongs to device %s, the call runs on %s; create a stream of that device with "
            "fl_stream_create",
            call, stream->device->plugin.info.resource, device->plugin.info.resource);
    *found = stream ? stream : device->default_stream;
    return FL_OK;
}

/* Refuses what a recording cannot hold. */
static fl_status check_not_recording(const char *call, const fl_stream *stream)
{
    return stream->recording ? core_fail(FL_E_ARGUMENT, "%s: the stream records a graph; call fl_graph_end first", call)
                             : FL_OK;
}

fl_status core_stream_wait(fl_stream *stream)
{
    core_span span;
    fl_status status = check_not_recording("fl_stream_wait", stream);

    if (status != FL_OK)
        return status;
    core_lock_take(&stream->lock);
    span = core_trace_begin(stream, CORE_SPAN_HOST, "wait for", stream->device->plugin.info.resource, 0);
    status = api_of(stream->device)->stream_wait(stream->device->plugin.self, stream->handle);
    core_trace_end(stream, span, NULL);
    core_lock_leave(&stream->lock);
    return status;
}

fl_status fl_stream_wait(fl_stream *stream)
{
    return stream ? core_stream_wait(stream) : core_fail(FL_E_ARGUMENT, "fl_stream_wait: stream is NULL");
}

fl_status fl_device_wait(fl_device *device)
{
    fl_status status, deferred;

    if (!device)
        return core_fail(FL_E_ARGUMENT, "fl_device_wait: device is NULL");
    status = device->plugin.api->synchronize(device->plugin.self);
    deferred = core_stream_wait(device->default_stream);
    return status != FL_OK ? status : deferred;
}

/* ----------------------------------------------------------------------------------------------- events ---- */

fl_status fl_event_create(fl_device *device, fl_event **out)
{
    fl_event *event;
    fl_status status;

    if (!device || !out)
        return core_fail(FL_E_ARGUMENT, "fl_event_create: %s is NULL", device ? "event" : "device");
    *out = NULL;
    event = calloc(1, sizeof *event);
    if (!event)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = api_of(device)->event_create(device->plugin.self, &event->handle);
    if (status != FL_OK) {
        free(event);
        return status;
    }
    event->device = core_device_keep(device);
    *out = event;
    return FL_OK;
}

void fl_event_free(fl_event *event)
{
    fl_device *device = event ? event->device : NULL;

    if (!event)
        return;
    api_of(device)->event_free(device->plugin.self, event->handle);
    free(event);
    core_device_drop(device);
}

fl_status fl_event_record(fl_event *event, fl_stream *stream)
{
    fl_status status;

    if (!event)
        return core_fail(FL_E_ARGUMENT, "fl_event_record: event is NULL");
    status = core_stream_of("fl_event_record", event->device, stream, &stream);
    if (status == FL_OK)
        status = check_not_recording("fl_event_record", stream);
    if (status != FL_OK)
        return status;
    core_lock_take(&stream->lock);
    status = api_of(event->device)->event_record(event->device->plugin.self, event->handle, stream->handle);
    core_lock_leave(&stream->lock);
    event->recorded = event->recorded || status == FL_OK;
    return status;
}

static fl_status check_recorded(const char *call, const char *name, const fl_event *event)
{
    if (!event)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, name);
    return event->recorded
               ? FL_OK
               : core_fail(FL_E_ARGUMENT, "%s: %s was never recorded; call fl_event_record first", call, name);
}

fl_status fl_event_wait(fl_event *event)
{
    fl_status status = check_recorded("fl_event_wait", "event", event);
    core_span span;

    if (status != FL_OK)
        return status;
    span = core_trace_begin(event->device->default_stream, CORE_SPAN_HOST, "wait for",
                            event->device->plugin.info.resource, 0);
    status = api_of(event->device)->event_wait(event->device->plugin.self, event->handle);
    core_trace_end(event->device->default_stream, span, NULL);
    return status;
}

fl_status fl_stream_wait_event(fl_stream *stream, fl_event *event)
{
    fl_status status = check_recorded("fl_stream_wait_event", "event", event);

    if (status == FL_OK)
        status = core_stream_of("fl_stream_wait_event", event->device, stream, &stream);
    if (status == FL_OK)
        status = check_not_recording("fl_stream_wait_event", stream);
    if (status != FL_OK)
        return status;
    core_lock_take(&stream->lock);
    status = api_of(event->device)->stream_wait_event(event->device->plugin.self, stream->handle, event->handle);
    core_lock_leave(&stream->lock);
    return status;
}

fl_status fl_event_elapsed(fl_event *start, fl_event *stop, double *seconds)
{
    fl_status status = check_recorded("fl_event_elapsed", "start", start);

    if (status == FL_OK)
        status = check_recorded("fl_event_elapsed", "stop", stop);
    if (status != FL_OK)
        return status;
    if (!seconds)
        return core_fail(FL_E_ARGUMENT, "fl_event_elapsed: seconds is NULL");
    if (start->device != stop->device)
        return core_fail(FL_E_WRONG_DEVICE,
                         "fl_event_elapsed: start belongs to device %s, stop to %s; expected one device",
                         start->device->plugin.info.resource, stop->device->plugin.info.resource);
    status = api_of(stop->device)->event_wait(stop->device->plugin.self, stop->handle);
    if (status != FL_OK)
        return status;
    return api_of(stop->device)->event_elapsed(stop->device->plugin.self, start->handle, stop->handle, seconds);
}

/* ----------------------------------------------------------------------------------------------- copies ---- */

/* A copy between an array and packed memory, which `reads` says the direction of. */
typedef struct packed_copy {
    fl_copy_kind kind;
    bool reads;
    fl_buffer buffer;
    void *packed;
} packed_copy;

/* The dimensions of an array after merging those whose elements are contiguous: a packed array has one, a view of some
 * of an array's columns has two. The last one's stride is 1. */
typedef struct merged_dims {
    int count;
    int64_t shape[FL_MAX_DIMS], stride[FL_MAX_DIMS];
} merged_dims;

static merged_dims merge_dims(const fl_buffer *b)
{
    merged_dims m = {0};

    for (int d = 0; d < b->ndim; d++) {
        if (b->shape[d] == 1 && d + 1 < b->ndim)
            continue;
        if (m.count > 0 && m.stride[m.count - 1] == b->shape[d] * b->stride[d])
            m.count--;
        else
            m.shape[m.count] = 1;
        m.shape[m.count] *= b->shape[d];
        m.stride[m.count++] = b->stride[d];
    }
    return m;
}

/* Queues the copy of rows whose starts are `pitch` bytes apart on the device, from address `at` on, to packed memory if
 * `reads`, else from there. */
static fl_status copy_rows(const fl_stream *stream, fl_copy_kind kind, bool reads, char *at, char *packed, fl_copy rows,
                           size_t pitch)
{
    rows.kind = kind;
    rows.to = reads ? packed : at;
    rows.from = reads ? at : packed;
    rows.to_pitch = reads ? rows.width : pitch;
    rows.from_pitch = reads ? pitch : rows.width;
    return api_of(stream->device)->copy(stream->device->plugin.self, stream->handle, &rows);
}

static fl_status copy_packed(const fl_stream *stream, const packed_copy *c)
{
    const fl_buffer *b = &c->buffer;
    const size_t size = fl_dtype_size(b->dtype);
    const merged_dims m = merge_dims(b);
    const int outer = m.count > 2 ? m.count - 2 : 0;
    const int64_t counts[2] = {outer > 0 ? m.shape[0] : 1, outer > 1 ? m.shape[1] : 1};
    const fl_copy rows = {.width = (size_t)m.shape[m.count - 1] * size,
                          .rows = m.count > 1 ? (size_t)m.shape[m.count - 2] : 1};
    const size_t pitch = m.count > 1 ? (size_t)m.stride[m.count - 2] * size : rows.width;
    char *at = c->packed;
    fl_status status = FL_OK;

    for (int64_t i = 0; i < counts[0] && status == FL_OK; i++) {
        for (int64_t j = 0; j < counts[1] && status == FL_OK; j++) {
            int64_t offset = (outer > 0 ? i * m.stride[0] : 0) + (outer > 1 ? j * m.stride[1] : 0);
            status = copy_rows(stream, c->kind, c->reads, (char *)b->data + (size_t)offset * size, at, rows, pitch);
            at += rows.rows * rows.width;
        }
    }
    return status;
}

static fl_status queue_recorded(const core_piece *piece, fl_stream *stream, const fl_context *context)
{
    (void)context;
    return copy_packed(stream, piece->data);
}

fl_status core_copy_packed(fl_stream *stream, fl_copy_kind kind, bool reads, const fl_buffer *b, void *packed)
{
    static const core_piece pieces[] = {
        [FL_COPY_TO_DEVICE] = {.kind = CORE_SPAN_TO_DEVICE, .name = "copy to device", .queue = queue_recorded},
        [FL_COPY_TO_HOST] = {.kind = CORE_SPAN_TO_HOST, .name = "copy to host", .queue = queue_recorded},
        [FL_COPY_ON_DEVICE] = {.kind = CORE_SPAN_KERNEL, .name = "copy", .queue = queue_recorded}};
    const packed_copy copy = {kind, reads, *b, packed};
    packed_copy *recorded;

    if (!stream->recording)
        return copy_packed(stream, &copy);
    recorded = core_graph_record(stream->recording, &pieces[kind], sizeof *recorded);
    if (!recorded)
        return core_fail(FL_E_MEMORY, "out of host memory");
    *recorded = copy;
    return FL_OK;
}

/* ----------------------------------------------------------------------------------------------- timing ---- */

fl_status core_timer_start(fl_stream *stream)
{
    const fl_device_api *api = api_of(stream->device);
    void *self = stream->device->plugin.self;
    fl_status status = FL_OK;

    if (!stream->started)
        status = api->event_create(self, &stream->started);
    if (status == FL_OK && !stream->stopped)
        status = api->event_create(self, &stream->stopped);
    return status == FL_OK ? api->event_record(self, stream->started, stream->handle) : status;
}

fl_status core_timer_stop(fl_stream *stream, double *seconds)
{
    const fl_device_api *api = api_of(stream->device);
    void *self = stream->device->plugin.self;
    fl_status status = api->event_record(self, stream->stopped, stream->handle);

    if (status == FL_OK)
        status = api->stream_wait(self, stream->handle);
    return status == FL_OK ? api->event_elapsed(self, stream->started, stream->stopped, seconds) : status;
}
