/* SPDX-License-Identifier: MIT
 *
 * watch.h - what a kernel of the user's may do besides its work: write beyond an output, give other results in another
 * pass, or what an emulated GPU finds in its accesses.
 */
#pragma once

#include "support/host_array.h"

#include <flynn/flynn.h>

enum { WATCH_OUTPUTS = 3 };

typedef struct watched {
    int overwritten;        /* 1 + the output next to which an element was changed; 0: none */
    int64_t overwritten_at; /* the one nearest to the output, counted from its first */
    int differing;          /* 1 + the output in which the bits of a pass differ from those of the first one; 0: none */
    host_array first, different; /* of both passes */
    bool is_watched;             /* the device looked at each access of the first pass */
    fl_findings findings;        /* what it found */
} watched;

/* An array with guards on both sides: `whole`, of which `*inner` is the array itself. */
fl_status watch_create(fl_device *device, fl_dtype dtype, int64_t size, fl_array **whole, fl_array **inner);

/* Looks for changed elements in the guards of the i-th output. */
fl_status watch_guards(fl_array *whole, int i, watched *found);

/* Compares the i-th output of a pass with the first pass's, which is copied where there is none yet. */
fl_status watch_pass(const fl_array *output, int i, host_array *first, watched *found);

void watched_free(watched *found);
