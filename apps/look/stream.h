/* SPDX-License-Identifier: MIT
 *
 * stream.h - the kernels of BabelStream next to its copy, in f64: mul, add, triad and dot. Papers give the bandwidth of
 * a machine by them (Deakin, Price, Martineau and McIntosh-Smith, "Evaluating attainable memory bandwidth of parallel
 * programming models via BabelStream", 2018; the first ones are McCalpin's STREAM).
 */
#pragma once

#include "support/problem.h"

#include <flynn/flynn.h>

typedef enum stream_kernel { STREAM_MUL, STREAM_ADD, STREAM_TRIAD, STREAM_DOT, STREAM_KERNELS } stream_kernel;

/* The arrays of one device, which the four kernels share. Zeroed before the first use. */
typedef struct stream_arrays {
    fl_device *device;
    int64_t count; /* of the elements of x, y and the result of all but dot */
    fl_array *x, *y, *result, *sum;
    fl_function *function[STREAM_KERNELS];
} stream_arrays;

/* Makes what the kernel needs, in arrays of at most `bytes` each. Returns the bytes that it reads and writes; NaN, and
 * why: nothing here compiles it. Ends the command on other errors. */
double stream_prepare(stream_arrays *s, fl_device *device, stream_kernel kernel, int64_t bytes, problem *why);
/* Queues the kernel once. */
fl_status stream_queue(const stream_arrays *s, stream_kernel kernel, const fl_run *run);
/* Returns whether each element of what the kernel left is right; otherwise says which one is not. */
bool stream_is_right(const stream_arrays *s, stream_kernel kernel, problem *why);
void stream_free(stream_arrays *s);
