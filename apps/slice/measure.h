/* SPDX-License-Identifier: MIT
 *
 * measure.h - the ways from a large array on a device to a slice of it on the host, timed.
 */
#ifndef FLYNN_APPS_SLICE_MEASURE_H
#define FLYNN_APPS_SLICE_MEASURE_H

#include "harness/measure.h"

/* whole: copy the whole array and slice it on the host; view: take a view on the device and copy only that, row by row
 * where rows lie apart; packed: bring the view's rows together on the device, then copy one block. */
typedef enum slice_way { SLICE_WHOLE = 0, SLICE_VIEW = 1, SLICE_PACKED = 2 } slice_way;
enum { SLICE_WAYS = 3 };
extern const char *const slice_way_names[SLICE_WAYS];

/* A part of an array: from start[d], shape[d] long. */
typedef struct slice_part {
    int64_t start[FL_MAX_DIMS], shape[FL_MAX_DIMS];
} slice_part;

/* One way for one part on one device. */
typedef struct slice_times {
    bool possible;       /* false: packed, in a dtype that the device does not convert to */
    samples kernel, d2h; /* between events: packing on the device, and the copy */
    samples host;        /* slicing on the host, by the wall clock */
    samples total;       /* by the wall clock, from the array on the device to the packed slice on the host */
    double copied;       /* bytes */
    compare_result check;
} slice_times;

/* An array on a device, with the host memory to copy it to. */
typedef struct slice_session slice_session;

/* Copies `array` to the device. Ends the command (fail) where something fails, like the others here. */
slice_session *slice_session_open(fl_device *device, const host_array *array, const measure_plan *plan);

/* Times one way, and compares each element that it brought with the array's. */
slice_times slice_measure(slice_session *session, const slice_part *part, slice_way way);

/* The slice that was brought last, packed. */
const void *slice_session_result(const slice_session *session);

void slice_session_close(slice_session *session);
void slice_times_free(slice_times *times);

#endif
