/* SPDX-License-Identifier: MIT
 * From a checked call to a plugin's row: choosing the variant, holding the launch against the device's limits, running
 * and timing it. */
#ifndef FLYNN_CORE_DISPATCH_H
#define FLYNN_CORE_DISPATCH_H

#include "stream.h"

/* One row to run, its arguments checked. */
typedef struct core_step {
    fl_operation operation;
    fl_dtype dtype;   /* computed in */
    const void *args; /* the operation's struct */
} core_step;

/* "convolve"; never NULL. */
const char *core_operation_name(fl_operation operation);

/* A call under way: its stream is locked, so that nothing of another thread comes between its steps. */
typedef struct core_call {
    fl_device *device;
    fl_stream *stream;
    const fl_run *run; /* never NULL */
    fl_context context;
} core_call;

/* Locks the run's stream and starts its clock where timing is asked for. After FL_OK core_call_end must be called. */
fl_status core_call_begin(core_call *call, const char *name, fl_device *device, const fl_run *run);

/* Plans, checks and queues the row that run->variant names (the last step of a call: what `timing` tells of), with
 * `bytes` compulsory bytes. */
fl_status core_call_step(core_call *call, const core_step *step, double bytes);

/* In place of core_call_step, where there are no elements to work on: the variant must exist, and nothing is queued. */
fl_status core_call_nothing(core_call *call, const core_step *step);

/* Queues FL_OP_CONVERT into scratch memory: `buffer` as `dtype`, packed. */
fl_status core_call_convert(core_call *call, fl_buffer *buffer, fl_dtype dtype);

/* Ends the call that got as far as `status`: waits where timing is asked for, gives scratch back, unlocks. `last` is
 * the step that `timing` tells of; NULL: there was nothing to do. */
fl_status core_call_end(core_call *call, const core_step *last, fl_status status);

/* The same for a call whose result is as long as count[0] says, in elements of `element` bytes: only now `timing` can
 * tell the bytes that were stored. */
fl_status core_call_end_counted(core_call *call, const core_step *last, fl_status status, const fl_array *count,
                                double element);

/* Queues count[0] = 0: all there is to do for a result without elements. */
fl_status core_call_count_none(fl_array *count, const fl_run *run);

#endif
