/* SPDX-License-Identifier: MIT
 *
 * slices.h - --crop: what of an array is shown, in NumPy's slices.
 *
 * The room teach/ has the commands for teaching: `flynn show`.
 */
#pragma once

#include "display/rows.h"

/* A slice of a dimension: FIRST:END:STEP, or one index. */
typedef struct crop_slice {
    bool is_index, has_first, has_end;
    int64_t first, end, step;
} crop_slice;

/* A slice for each of the first `count` dimensions; the other dimensions are whole. */
typedef struct crop_slices {
    int count;
    crop_slice slice[FL_MAX_DIMS];
} crop_slices;

/* Reads "0:10,::2,-1". Ends the command where it is wrong. */
void slices_read(const char *option, const char *text, crop_slices *slices);

/* The elements that slices select: for each dimension the first index, the step and the number of indices. Dimensions
 * beyond ndim have 0, 1 and 1. */
typedef struct selection {
    int ndim;
    int64_t first[FL_MAX_DIMS], step[FL_MAX_DIMS], count[FL_MAX_DIMS];
    bool dropped[FL_MAX_DIMS]; /* an index: the result does not have this dimension */
} selection;

/* Ends the command where the array named `what` has fewer dimensions, or no such index. */
selection slices_select(const crop_slices *slices, int ndim, const int64_t *shape, const char *what);

/* The shape of what is selected, and the origin of its indices. Returns its dimensions. */
int selection_shape(const selection *s, int64_t shape[FL_MAX_DIMS], array_origin *origin);
