/* SPDX-License-Identifier: MIT
 *
 * show.h - what came of slices: a table with a line that explains it for each backend, JSON and CSV.
 */
#ifndef FLYNN_APPS_SLICE_SHOW_H
#define FLYNN_APPS_SLICE_SHOW_H

#include "measure.h"

#include "harness/backends.h"

/* One slice, and of what kind it is: kinds are what crossovers are looked for in. */
typedef struct named_part {
    const char *kind; /* "rows", "columns", "block"; "slice" for --slice */
    slice_part part;
} named_part;

/* All ways for one slice on one backend. */
typedef struct slice_outcome {
    const open_backend *backend;
    const fl_device_info *device;
    const host_array *array;
    const named_part *named;
    slice_times ways[SLICE_WAYS];
} slice_outcome;

/* Is what every way brought the array's? */
bool slice_is_right(const slice_outcome *o);

/* Shows the slices, `parts` of each open backend, as the options ask for it. */
void slice_show(const slice_outcome *list, const backend_list *backends, int parts, const common_options *common);

#endif
