/* SPDX-License-Identifier: MIT
 * Work in streams: which stream a call uses, waiting, timing. */
#ifndef FLYNN_CORE_STREAM_H
#define FLYNN_CORE_STREAM_H

#include "device.h"

/* The stream of a call: `stream`, or the device's default stream for NULL. FL_E_WRONG_DEVICE: it belongs to another
 * device. `call` is named in the message. */
fl_status core_stream_of(const char *call, fl_device *device, fl_stream *stream, fl_stream **found);

/* Locks the stream, waits for its work and reports what failed in it. */
fl_status core_stream_wait(fl_stream *stream);

/* Called before and after timed work in a locked stream. `stop` waits for the work. */
fl_status core_timer_start(fl_stream *stream);
fl_status core_timer_stop(fl_stream *stream, double *seconds);

#endif
