/* SPDX-License-Identifier: MIT
 *
 * passes.h - times an exercise on open devices by libflynn-bench (flynn/bench.h).
 */
#pragma once

#include "kind.h"

#include <flynn/bench.h>

/* The work that is timed: a variant on a backend. */
typedef struct choice {
    const open_backend *on;
    const char *variant; /* NULL: auto */
    int block[3];
    bool optional; /* one of a list of variants: left out, with a remark, where it cannot run */
    bool tuned;    /* variant and block are a saved sweep's: where they cannot run, auto does */
} choice;

/* The options that say how passes are timed. Its `step` shows the progress, and ends the run when --max-time is over
 * and there is something to show. */
fl_bench_plan passes_plan(const common_options *common);

/* The processes of the group as a team. */
fl_bench_team passes_team(void);

/* Keeps a quantity's samples of the i-th case beyond fl_bench_free. Free `s`. */
samples passes_samples(const fl_bench *bench, size_t i, fl_bench_quantity quantity);

/* Times the exercise with each choice, and adds a measurement of each that could run before --max-time was over. Before
 * the timed passes the outputs are overwritten (all bits set), or for an exercise in place with the input, so that the
 * result that is checked was made by a timed pass. Of a counted result only what counts is copied back. `together`: the
 * choices take turns, which needs the memory of all of them at once. With exercise.once there is one choice and one
 * pass, which takes no memory besides inputs and results where the device has none of its own; an input that the kind
 * spends becomes the result. Ends the command (fail) when the library fails. */
void passes_run(exercise *e, const choice *choices, int count, bool together, result_list *results);

void measurement_free(measurement *m);
