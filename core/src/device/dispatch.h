/* SPDX-License-Identifier: MIT
 * Runs a checked call on a plugin: chooses the row, checks its launch against the device's limits, runs and times it.
 */
#ifndef FLYNN_CORE_DISPATCH_H
#define FLYNN_CORE_DISPATCH_H

#include "choose.h"
#include "stream.h"

/* A running call. Its stream is locked, so that no other thread queues work between its steps. */
typedef struct core_call {
    fl_device *device;
    fl_stream *stream;
    const fl_run *run; /* never NULL */
    fl_context context;
    struct core_piece *recorded; /* the last piece of the stream's recording before this call */
} core_call;

/* Locks the run's stream and starts its timer if run->timing is not NULL. After FL_OK core_call_end must be called. */
fl_status core_call_begin(core_call *call, const char *name, fl_device *device, const fl_run *run);

/* Plans, checks and queues the row that run->variant names: the last step of a call, which `timing` describes. `bytes`:
 * compulsory bytes. */
fl_status core_call_step(core_call *call, const core_step *step, double bytes);

/* A whole call of one step: starts it, converts the `count` inputs to the step's dtype, queues the step and ends it. */
fl_status core_call_run(const char *name, fl_device *device, const fl_run *run, const core_step *step,
                        fl_buffer *const *inputs, int count, double bytes);

/* In place of core_call_step for arrays without elements: checks that the variant exists, and queues nothing. */
fl_status core_call_nothing(core_call *call, const core_step *step);

/* In place of core_call_run for inputs without elements, which no row takes: checks that the variant exists, and makes
 * the elements of `out`, if it has any, the empty sum: 0. Waits if it has. */
fl_status core_call_empty(const char *name, fl_device *device, const fl_run *run, const core_step *step, fl_array *out);

/* Queues the conversion of `buffer` to `dtype` into packed scratch memory, and changes `buffer` to that. */
fl_status core_call_convert(core_call *call, fl_buffer *buffer, fl_dtype dtype);

/* Ends a call whose steps returned `status`: if run->timing is not NULL, waits and fills it; frees scratch memory and
 * unlocks the stream. `last`: the step that `timing` describes; NULL: none. */
fl_status core_call_end(core_call *call, const core_step *last, fl_status status);

/* core_call_end for a call whose result has count[0] elements of `element` bytes, whose bytes are added to `timing`. */
fl_status core_call_end_counted(core_call *call, const core_step *last, fl_status status, const fl_array *count,
                                double element);

/* The whole call when there are no elements: nothing is queued. */
fl_status core_call_no_elements(const char *name, const fl_run *run);

/* Queues count[0] = 0: the whole call when the result has no elements. */
fl_status core_call_count_none(const char *name, fl_array *count, const fl_run *run);

#endif
