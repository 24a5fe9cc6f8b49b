/* SPDX-License-Identifier: MIT
 * An open device as core keeps it. */
#ifndef FLYNN_CORE_DEVICE_H
#define FLYNN_CORE_DEVICE_H

#include "scratch.h"

#include <flynn/plugin.h>
#include <stdatomic.h>

/* An operation's rows are among these of the plugin's, the end excluded: a call need not look at all of them. */
typedef struct core_row_range {
    size_t first, end;
} core_row_range;

struct fl_device {
    fl_plugin_device plugin;
    core_row_range rows[FL_OP_COUNT]; /* of each operation */
    core_pool pool;
    fl_stream *default_stream;
    atomic_int streams;    /* made so far */
    atomic_int references; /* the user's handle, and each array, stream and event of the device */
};

/* What core offers every plugin. */
extern const fl_host core_host;

/* For what belongs to a device and must outlive the user's handle. */
fl_device *core_device_keep(fl_device *device);
void core_device_drop(fl_device *device);

#endif
