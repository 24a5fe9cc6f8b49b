/* SPDX-License-Identifier: MIT
 * Copies between the GPUs of several processes. */
#include "base/status.h"
#include "device/device.h"
#include "device/stream.h"
#include "device/trace.h"

#include <flynn/link.h>

#include <stdlib.h>

struct fl_communicator {
    fl_device *device;
    void *group; /* the plugin's */
};

static fl_status find_library(const char *call, const fl_device *device)
{
    if (!device)
        return core_fail(FL_E_ARGUMENT, "%s: device is NULL", call);
    if (!device->plugin.api->group_id)
        return core_fail(FL_E_UNSUPPORTED, "%s: %s has no library that copies between processes", call,
                         device->plugin.info.resource);
    return FL_OK;
}

fl_status fl_communicator_id(fl_device *device, fl_group_id *id)
{
    fl_status status = find_library("fl_communicator_id", device);

    return status == FL_OK ? device->plugin.api->group_id(device->plugin.self, id) : status;
}

fl_status fl_communicator_create(fl_device *device, const fl_group_id *id, int32_t rank, int32_t size,
                                 fl_communicator **communicator)
{
    fl_communicator *c = NULL;
    fl_status status = find_library("fl_communicator_create", device);

    *communicator = NULL;
    if (status == FL_OK && !(c = calloc(1, sizeof *c)))
        status = core_fail(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = device->plugin.api->group_join(device->plugin.self, id, rank, size, &c->group);
    if (status != FL_OK) {
        free(c);
        return status;
    }
    c->device = core_device_keep(device);
    *communicator = c;
    return FL_OK;
}

fl_status fl_communicator_exchange(fl_communicator *communicator, fl_stream *stream, const fl_piece *to,
                                   const fl_piece *from)
{
    fl_device *device = communicator->device;
    fl_stream *in;
    core_span span;
    fl_status status = core_stream_of("fl_communicator_exchange", device, stream, &in);

    if (status != FL_OK)
        return status;
    core_lock_take(&in->lock);
    span = core_trace_begin(in, CORE_SPAN_LINK, "link", NULL, 0);
    status = device->plugin.api->group_exchange(device->plugin.self, communicator->group, in->handle, to, from);
    core_trace_end(in, span, NULL);
    core_lock_leave(&in->lock);
    return status;
}

void fl_communicator_free(fl_communicator *communicator)
{
    if (!communicator)
        return;
    communicator->device->plugin.api->synchronize(communicator->device->plugin.self);
    communicator->device->plugin.api->group_leave(communicator->device->plugin.self, communicator->group);
    core_device_drop(communicator->device);
    free(communicator);
}
