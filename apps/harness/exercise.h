/* SPDX-License-Identifier: MIT
 *
 * exercise.h - what the commands of exercises share: taking inputs, running on every backend, writing the result.
 *
 * All of these end the command with one line when something is wrong with a file, an option or the memory.
 */
#ifndef FLYNN_APPS_HARNESS_EXERCISE_H
#define FLYNN_APPS_HARNESS_EXERCISE_H

#include "results.h"

/* Ends the command unless `done`. */
void exercise_must(bool done, const problem *why);

/* Reads an array of `least` to `most` dimensions (both at least 1), in its own dtype. `role` is for the message: "the
 * <role> is 3x4x5; expected two dimensions". */
host_array exercise_read(const char *path, const char *role, int least, int most);

/* Turns the array into another dtype, as C converts. */
void exercise_convert(host_array *array, fl_dtype dtype);

/* An array of uniform random numbers from `low` up to, not including, `high` (integers: whole ones), in row-major order
 * from one seed. --size is to blame when it is too large. */
host_array exercise_random(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high, uint64_t seed);

/* Adds an output to what is run. */
void exercise_output(exercise *e, fl_dtype dtype, int ndim, const int64_t *shape);

/* Runs, checks and shows the exercise on every backend that is open. `results` then holds a measurement of each: free
 * it with result_list_free. EXIT_DONE, or EXIT_WRONG_RESULT when a check failed. */
int exercise_run(const exercise *e, const common_options *common, const backend_list *backends, result_list *results);

/* Writes the i-th output of the first backend to `path` (NULL: not asked for) if its check was passed; else notes that
 * no file was written. */
void exercise_write(const result_list *results, int i, const char *path);

#endif
