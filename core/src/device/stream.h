/* SPDX-License-Identifier: MIT
 * Work in streams: which stream a call uses, waiting, copies, timing. */
#ifndef FLYNN_CORE_STREAM_H
#define FLYNN_CORE_STREAM_H

#include "device.h"

/* The stream of a call: `stream`, or the device's default stream for NULL. FL_E_WRONG_DEVICE: it belongs to another
 * device. `call` is named in the message. */
fl_status core_stream_of(const char *call, fl_device *device, fl_stream *stream, fl_stream **found);

/* Locks the stream, waits for its work and reports what failed in it. */
fl_status core_stream_wait(fl_stream *stream);

/* Queues the copy of an array with at least one element to packed memory if `reads`, else from there: in one piece,
 * except for views of more than two dimensions. The packed memory is the host's or the device's, as `kind` says. The
 * caller holds the stream's lock. */
fl_status core_copy_packed(fl_stream *stream, fl_copy_kind kind, bool reads, const fl_buffer *b, void *packed);

/* Called before and after timed work in a locked stream. `stop` waits for the work. */
fl_status core_timer_start(fl_stream *stream);
fl_status core_timer_stop(fl_stream *stream, double *seconds);

#endif
