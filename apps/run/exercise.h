/* SPDX-License-Identifier: MIT
 *
 * exercise.h - the one way in which all exercises are run: options, files, backends, inputs, expected result,
 * measurement, check, output.
 *
 * The functions here end the command with one line when something is wrong with a file, an option or the memory.
 */
#pragma once

#include "inputs.h"
#include "kind.h"
#include "results.h"
#include "shape.h"

int exercise_main(const exercise_kind *kind, int argc, char **argv);

/* The operation of the library that a backend must have for the exercise. */
const char *exercise_operation(const exercise_kind *kind);

/* The shared options that the exercise takes, TAKES_... */
unsigned exercise_takes(const exercise_kind *kind);

/* For commands that call an exercise's functions themselves: its inputs for `common` and its own defaults, planned,
 * with what is expected. `keep`: singular values; 0: the exercise's own. The first input is random, in -1..1: the
 * course's are mostly zeros, which hide the order of sums. */
void exercise_prepare(exercise *e, const exercise_kind *kind, const common_options *common, int64_t keep);
void exercise_free(exercise *e);

/* ------------------------------------------------------------------------------------ for the exercises ---- */

/* The table's first line. */
void exercise_title(exercise *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For the check of a counted output of which all `count` expected elements were compared: it must have as many, and an
 * empty one is right. */
void exercise_check_count(const measurement *m, int64_t count, compare_result *found);

/* The first backend's i-th output, if it is right; else NULL, with a line that `path` was not written. */
const host_array *exercise_right_output(const result_list *results, int i, const char *path);
