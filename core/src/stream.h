/* SPDX-License-Identifier: MIT
 * Streams and events as core keeps them. */
#ifndef FLYNN_CORE_STREAM_H
#define FLYNN_CORE_STREAM_H

#include "device.h"

struct fl_stream {
    fl_device *device;
    int number;              /* of the device's streams, in the order in which they were made; 0: its default one */
    void *handle;            /* the plugin's */
    pthread_mutex_t lock;    /* the default stream may be used by any thread */
    void *started, *stopped; /* events around a timed call, made at the first one */
};

/* Without a reference to the device: its default stream belongs to it; fl_stream_create adds one. */
fl_status core_stream_create(fl_device *device, fl_stream **stream);
void core_stream_free(fl_stream *stream);

/* The stream, or the device's default one for NULL. FL_E_WRONG_DEVICE when it belongs to another device; `call` is for
 * the message. */
fl_status core_stream_of(const char *call, fl_device *device, fl_stream *stream, fl_stream **found);

/* Waits and reports, under the stream's lock. */
fl_status core_stream_wait(fl_stream *stream);

/* Around timed work in a locked stream. `stop` waits for it. */
fl_status core_timer_start(fl_stream *stream);
fl_status core_timer_stop(fl_stream *stream, double *seconds);

#endif
