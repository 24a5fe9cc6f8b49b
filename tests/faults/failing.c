/* SPDX-License-Identifier: MIT
 *
 * The plugin `serial` as a device with memory of its own, to which arrays have to be copied, and which fails when the
 * environment says so, each a whole number:
 *
 *     FAULT_MEMORY    bytes that it has in all; more is FL_E_MEMORY
 *     FAULT_LAUNCHES  reconstructions that it does before all others fail with FL_E_DEVICE
 *     FAULT_SCRATCH   the same, with FL_E_MEMORY: as a kernel that lacks memory of its own
 *     FAULT_WAITS     waits, for streams and events, before all others fail with FL_E_DEVICE: as what fails in a kernel
 *                     is reported
 *
 * Without them nothing fails.
 */
#include "serial_inside.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 128, MOST_WRAPPED = 16, HEADER = 256 };

static const fl_device_api *inner;
static fl_device_api outer;
static fl_row rows[MOST_ROWS], originals[MOST_WRAPPED];
static atomic_llong taken, launches, waits;

/* More than there can be where the variable is not set. */
static long long allowed(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? atoll(value) : (long long)1 << 62;
}

/* ------------------------------------------------------------------------------------------------------ memory ---- */

/* The size lies before the memory. */
static fl_status allocate(void *self, size_t bytes, void **memory)
{
    const long long all = atomic_fetch_add(&taken, (long long)bytes) + (long long)bytes;
    char *start = NULL;
    fl_status status;
    if (all > allowed("FAULT_MEMORY")) {
        atomic_fetch_sub(&taken, (long long)bytes);
        return core->error(FL_E_MEMORY, "out of device memory for %zu bytes", bytes);
    }
    status = inner->allocate(self, bytes + HEADER, (void **)&start);
    if (status != FL_OK)
        return status;
    memcpy(start, &bytes, sizeof bytes);
    *memory = start + HEADER;
    return FL_OK;
}

static void release(void *self, void *memory)
{
    size_t bytes;
    if (!memory) {
        inner->release(self, NULL);
        return;
    }
    memcpy(&bytes, (char *)memory - HEADER, sizeof bytes);
    atomic_fetch_sub(&taken, (long long)bytes);
    inner->release(self, (char *)memory - HEADER);
}

/* ------------------------------------------------------------------------------------------------------- work ---- */

static fl_status waited(fl_status status)
{
    if (status == FL_OK && atomic_fetch_add(&waits, 1) >= allowed("FAULT_WAITS"))
        return core->error(FL_E_DEVICE, "the device is lost: a wait");
    return status;
}

static fl_status stream_wait(void *self, void *stream)
{
    return waited(inner->stream_wait(self, stream));
}

static fl_status event_wait(void *self, void *event)
{
    return waited(inner->event_wait(self, event));
}

static fl_status run_row(int i, const fl_context *context, const void *args, const fl_launch *launch)
{
    const long long number = atomic_fetch_add(&launches, 1);
    if (number >= allowed("FAULT_LAUNCHES"))
        return core->error(FL_E_DEVICE, "the device is lost: a launch");
    if (number >= allowed("FAULT_SCRATCH"))
        return core->error(FL_E_MEMORY, "reconstruct: out of device memory");
    return originals[i].run(context, args, launch);
}

/* `run` does not get its row as an argument, so each row has a function of its own. */
#define ROW(i) \
    static fl_status run_##i(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        return run_row(i, context, args, launch); \
    }
ROW(0)
ROW(1)
ROW(2)
ROW(3)
ROW(4)
ROW(5)
ROW(6)
ROW(7)
ROW(8)
ROW(9)
ROW(10)
ROW(11)
ROW(12)
ROW(13)
ROW(14)
ROW(15)
static fl_status (*const runs[MOST_WRAPPED])(const fl_context *, const void *, const fl_launch *) = {
    run_0, run_1, run_2,  run_3,  run_4,  run_5,  run_6,  run_7,
    run_8, run_9, run_10, run_11, run_12, run_13, run_14, run_15};

static fl_status wrap(fl_plugin_device *device)
{
    int wrapped = 0;
    if (device->row_count > MOST_ROWS)
        return core->error(FL_E_LIMIT, "serial has %zu rows; this plugin has room for %d", device->row_count,
                           MOST_ROWS);
    for (size_t i = 0; i < device->row_count; i++) {
        rows[i] = device->rows[i];
        if (rows[i].operation != FL_OP_RECONSTRUCT)
            continue;
        if (wrapped == MOST_WRAPPED)
            return core->error(FL_E_LIMIT, "serial has more than %d rows of reconstruct", MOST_WRAPPED);
        originals[wrapped] = rows[i];
        rows[i].run = runs[wrapped++];
    }
    inner = device->api;
    outer = *inner;
    outer.allocate = allocate;
    outer.release = release;
    outer.stream_wait = stream_wait;
    outer.event_wait = event_wait;
    device->api = &outer;
    device->rows = rows;
    device->info.host_memory = false;
    device->info.memory_bytes = 1 << 28; /* of a small GPU: --flush takes memory by it, and time */
    return FL_OK;
}

SERIAL_INSIDE("failing", wrap)
