/* SPDX-License-Identifier: MIT
 *
 * reference.h - what results are compared with: the `reference` variant of an operation, on a device of this machine.
 */
#pragma once

#include "kind.h"

/* Opens the plainest device of this machine that offers this variant of the operation (NULL: any); ends the command
 * with exit code 3 when there is none. Close it with fl_device_close. */
fl_device *reference_device(const char *operation, const char *variant);

/* Copies an array to the device, or, with `absolute`, its absolute values: a sum over those bounds a sum's rounding. */
fl_array *reference_upload(fl_device *device, const host_array *array, bool absolute);

/* Returns `count` elements of an array from `first` on, in one dimension, as an array of the device. Where that
 * computes in host memory it has no memory of its own: the array must stay, and nothing may be written to its elements.
 */
fl_array *reference_part(fl_device *device, const host_array *array, int64_t first, int64_t count);

/* Returns a stream for one call: calls in the same stream wait for each other, also where threads make them. Free it
 * with fl_stream_free. */
fl_stream *reference_stream(fl_device *device);

/* Copies a result to the host and frees it on the device. */
host_array reference_fetch(fl_array *result);

/* An array and a copy in another dtype, for a check: the command ends where memory is short. */
host_array reference_array(fl_dtype dtype, int ndim, const int64_t *shape);
host_array reference_convert(const host_array *array, fl_dtype dtype);

/* Compares a result in `count` blocks, which threads share: block(user, i) compares one and gives each element its
 * index in the whole result. Blocks in which something is wrong are compared twice. */
compare_result reference_blocks(int64_t count, compare_result (*block)(const void *user, int64_t i), const void *user);

int64_t int64_larger(int64_t a, int64_t b);
int64_t int64_smaller(int64_t a, int64_t b);

/* Half the distance from 1 to the next number: the largest relative error of one rounding. */
double unit_roundoff(fl_dtype dtype);

/* The smallest number above 0: twice what one rounding is off at most where a result underflows. */
double smallest_subnormal(fl_dtype dtype);

/* result[i], to be compared with expected[k]. A double does not hold every i64 beyond 2^53: two different ones stay
 * different. */
double reference_got(const host_array *result, int64_t i, const host_array *expected, int64_t k);

/* Elements that a check may compare within 1 s of one core, and those where equal bits are expected, which is quicker.
 */
enum { REFERENCE_MOST = 1 << 24, REFERENCE_MOST_EQUAL = 1 << 26 };

/* For operations that compute each element of the one output by itself; kinds without `expect` and `check` are such.
 * The output by the `reference` variant: all elements with --check=full, and with auto if there are at most `most`;
 * else some, spread evenly. With exercise.once all elements of a large output are computed in blocks when they are
 * compared, so that they take no memory. seconds above 0: without --check=full no more elements than take about that
 * long. */
void reference_expect(exercise *e, int64_t most, double seconds);
bool reference_is_whole(const exercise *e); /* all elements are expected */
void reference_free(exercise *e);

/* The bound within which a result is right: units in the last place of the expected one, or, where those are 0, as
 * np.allclose. */
typedef struct reference_bound {
    double ulps, relative, absolute;
} reference_bound;

/* `expected` has all elements of `result`, or as many as reference_expect computes. */
compare_result reference_compare(const host_array *result, const host_array *expected, const reference_bound *bound);

/* Returns the name of the check that compares `variant` with the variant `reference`; nothing if they are the same. */
compare_result reference_verdict(compare_result found, const char *variant, char *method, size_t size);

/* exercise_steps.check by kind->ulps. */
compare_result reference_check(const exercise *e, const measurement *m, char *method, size_t size);
