/* SPDX-License-Identifier: MIT
 *
 * stream.c - waiting for streams, events, and timing calls.
 */
#include "stream.h"

#include "base/status.h"
#include "trace.h"

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

fl_status core_stream_wait(fl_stream *stream)
{
    core_span span;
    fl_status status;

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
