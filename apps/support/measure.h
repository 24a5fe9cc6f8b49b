/* SPDX-License-Identifier: MIT
 *
 * measure.h - runs one exercise on one open device and takes its times apart.
 */
#ifndef FLYNN_APPS_MEASURE_H
#define FLYNN_APPS_MEASURE_H

#include "compare.h"
#include "host_array.h"

#include <flynn/flynn.h>

enum { MOST_INPUTS = 3 };

/* What is run: `inputs` in host memory to one output. */
typedef struct exercise {
    const char *name; /* "convolve" */
    int input_count;
    host_array inputs[MOST_INPUTS];
    fl_dtype dtype; /* of the output */
    int ndim;
    int64_t shape[FL_MAX_DIMS];
    const void *more; /* what `call` needs besides */
    /* Queues the operation. */
    fl_status (*call)(fl_device *device, fl_array *const *inputs, fl_array *out, const void *more, const fl_run *run);
} exercise;

/* How it is run. */
typedef struct measure_plan {
    const char *variant; /* NULL: auto */
    int block[3];
    int repeat; /* timed passes; 0: as many as min_time_s asks for */
    int warmup; /* passes between the cold one and the timed ones */
    double min_time_s;
    bool pageable; /* host arrays are ordinary memory instead of pinned */
} measure_plan;

/* The times of one quantity, in the order in which they were taken. */
typedef struct samples {
    double *s;
    int count;
} samples;

/* What came of it. Free with measurement_free. */
typedef struct measurement {
    const char *requested; /* the backend as the user named it */
    fl_device_info device;
    fl_timing timing; /* of the cold pass: variant, block, bytes, flops; kernel_s is the median of `kernel` */
    double cold_s;    /* the first pass from host arrays to host arrays: allocations, module load and all */
    samples h2d, kernel, d2h, total;
    host_array result;
    compare_result check;
    char check_method[96];
} measurement;

/* Runs the exercise on the device: one cold pass, the warm-ups, then timed passes. Between the cold pass and the others
 * the output is overwritten with NaN (all bits set), so that the result that is checked was made by a timed pass.
 *
 * kernel, h2d and d2h are taken between events of the device; a kernel that is over in less than 50 us is queued many
 * times between two events, and a sample is the mean of those. total is taken by the wall clock, from host arrays to
 * host arrays. Where arrays lie in host memory anyway there are no copies: h2d and d2h are 0. Ends the command (fail)
 * when the library fails. */
measurement measure(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device);

void measurement_free(measurement *m);

#endif
