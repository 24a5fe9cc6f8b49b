/* SPDX-License-Identifier: MIT
 * An open device and its streams as core keeps them. */
#ifndef FLYNN_CORE_DEVICE_H
#define FLYNN_CORE_DEVICE_H

#include "scratch.h"

#include <flynn/plugin.h>
#include <stdatomic.h>

/* The rows of one operation lie in this range of the plugin's table, which may also hold rows of other operations. */
typedef struct core_row_range {
    size_t first, end; /* `end` is one past the last */
} core_row_range;

struct fl_device {
    fl_plugin_device plugin;
    fl_device_api api; /* a copy of the plugin's: plugin.api; NULL are those functions that the plugin does not know */
    core_row_range rows[FL_OP_COUNT]; /* of each operation */
    /* The row that is `auto`, where it can always run; NULL: it must be searched for. */
    const fl_row *automatic[FL_OP_COUNT][FL_DTYPE_COUNT];
    core_pool pool;
    fl_stream *default_stream;
    atomic_int streams;    /* created so far */
    char choice[256];      /* why it was opened in place of another one; "": it was not */
    atomic_int references; /* the user's handle, and each array, stream, event and trace record of the device */
};

struct fl_stream {
    fl_device *device;
    int number;              /* in the order of creation; 0: the device's default stream */
    void *handle;            /* the plugin's */
    core_lock lock;          /* any thread may use the default stream */
    void *started, *stopped; /* events around a timed call, created at the first one */
    fl_graph *recording;     /* the graph that takes the calls of this stream; NULL: they are done */
};

/* The functions that core offers to every plugin. */
extern const fl_host core_host;

/* Take and drop a reference: each object that belongs to a device holds one. The last drop closes the device. */
fl_device *core_device_keep(fl_device *device);
void core_device_drop(fl_device *device);

/* A stream that holds no reference to its device: the device owns its default stream. fl_stream_create adds one. */
fl_status core_stream_create(fl_device *device, bool urgent, fl_stream **stream);
void core_stream_free(fl_stream *stream);

#endif
