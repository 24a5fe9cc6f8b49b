/* SPDX-License-Identifier: MIT
 *
 * measure.h - runs one exercise on one open device, and times its parts.
 */
#pragma once

#include "kind.h"

/* Runs the exercise on the device: one cold pass, the warm-ups, then timed passes. Between the cold pass and the others
 * the outputs are overwritten with NaN (all bits set), or for an exercise in place with the input, so that the result
 * that is checked was made by a timed pass.
 *
 * kernel, h2d and d2h are taken between events of the device; a kernel that is over in less than 200 us is queued
 * several times between two events, and a sample is the mean of those. total is taken by the wall clock, from host
 * arrays to host arrays. Where arrays lie in host memory anyway there are no copies: h2d and d2h are 0. Of a counted
 * result only what counts is copied back. Ends the command (fail) when the library fails.
 *
 * It is done in steps, so that several backends can take turns and what changes on the machine meanwhile meets all of
 * them. `plan` and `e` must stay. */
typedef struct measuring measuring;
/* All up to the warm-ups. NULL: the plan is optional and cannot run. */
measuring *measure_start(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device);
/* Runs one part in `rounds` of the timed passes. Are there more to run? */
bool measure_round(measuring *m, int rounds);
/* Fetches the results and frees `m`. */
measurement measure_end(measuring *m);

void measurement_free(measurement *m);

/* Is another pass wanted after `count` passes that took `spent` seconds? */
bool measure_more(const measure_plan *plan, int count, double spent);
