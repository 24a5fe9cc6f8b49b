/* SPDX-License-Identifier: MIT
 *
 * load.h - the array that a word of `flynn show` names, as much of it as is shown.
 */
#pragma once

#include "slices.h"

#include "options/command_line.h"

typedef struct show_options {
    crop_slices crop;
    bool has_crop, each, picture;
    int shape_ndim; /* dimensions that --shape gives; 0: not given */
    int64_t shape[FL_MAX_DIMS];
    const char *png;
    int64_t zoom;
    double relative, absolute; /* -1: not given */
} show_options;

typedef struct shown_array {
    const char *name;
    host_array array;
    array_origin origin; /* where its elements are in the whole array */
} shown_array;

/* Loads the i-th argument: in the shape of --shape, cut by --crop, in --dtype. Of a .npy file little more than what is
 * cut out is in memory at any time. Ends the command with one line if it cannot be read. */
shown_array show_load(const common_options *common, const show_options *own, int i);
