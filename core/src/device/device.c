/* SPDX-License-Identifier: MIT
 *
 * device.c - how long devices and streams live: a device lives until the user's handle and everything that belongs to
 * the device (arrays, streams, events, trace records) are gone.
 */
#include "device.h"

#include "bounds.h"
#include "cache/entries.h"
#include "base/setting_lock.h"
#include "base/status.h"

#include <stdlib.h>

const fl_host core_host = {.size = sizeof(fl_host),
                           .error = core_fail,
                           .scratch = core_pool_take,
                           .enter = core_setting_enter,
                           .leave = core_setting_leave,
                           .cache_find = core_cache_find,
                           .cache_keep = core_cache_keep,
                           .cache_drop = core_cache_drop,
                           .bound = core_operation_bound};

/* ---------------------------------------------------------------------------------------------- devices ---- */

fl_device *core_device_keep(fl_device *device)
{
    atomic_fetch_add(&device->references, 1);
    return device;
}

void core_device_drop(fl_device *device)
{
    if (atomic_fetch_sub(&device->references, 1) > 1)
        return;
    core_stream_free(device->default_stream);
    core_pool_end(&device->pool);
    device->plugin.api->close(device->plugin.self);
    free(device);
}

void fl_device_close(fl_device *device)
{
    if (!device)
        return;
    device->plugin.api->synchronize(device->plugin.self);
    core_device_drop(device);
}

const fl_device_info *fl_device_describe(const fl_device *device)
{
    return device ? &device->plugin.info : NULL;
}

/* ---------------------------------------------------------------------------------------------- streams ---- */

fl_status core_stream_create(fl_device *device, bool urgent, fl_stream **out)
{
    const fl_device_api *api = device->plugin.api;
    fl_stream *stream = calloc(1, sizeof *stream);
    fl_status status;

    if (!stream)
        return core_fail(FL_E_MEMORY, "out of host memory");
    stream->device = device;
    stream->number = atomic_fetch_add(&device->streams, 1);
    status = (urgent && api->stream_create_urgent ? api->stream_create_urgent : api->stream_create)(device->plugin.self,
                                                                                                    &stream->handle);
    if (status != FL_OK) {
        free(stream);
        return status;
    }
    *out = stream;
    return FL_OK;
}

void core_stream_free(fl_stream *stream)
{
    const fl_device_api *api = stream->device->plugin.api;
    void *self = stream->device->plugin.self;

    api->stream_wait(self, stream->handle);
    core_pool_forget_stream(&stream->device->pool, stream->handle);
    if (stream->started)
        api->event_free(self, stream->started);
    if (stream->stopped)
        api->event_free(self, stream->stopped);
    api->stream_free(self, stream->handle);
    free(stream);
}
