/* SPDX-License-Identifier: MIT
 *
 * sort_numbers.h - what the tests of sort share: numbers of many kinds, and what they are when sorted.
 */
#ifndef FLYNN_TESTS_SORT_NUMBERS_H
#define FLYNN_TESTS_SORT_NUMBERS_H

#include "harness.h"

extern const fl_dtype sort_dtypes[4];

/* UNIFORM: 0..1, integers the whole range; ANY_BITS: any bit pattern, NaN with both signs and payloads among them;
 * SPECIAL: zeros of both signs, infinities, NaN, the extremes, over and over. */
enum kind { UNIFORM, ANY_BITS, SPECIAL, ALL_NAN, EQUAL, FEW, ASCENDING, DESCENDING, PIPES, KINDS };
extern const char *const kind_names[KINDS];

struct numbers {
    fl_dtype dtype;
    int64_t n;
    void *data;
};

struct numbers numbers_create(fl_dtype dtype, int64_t n, enum kind kind, uint64_t seed);
void numbers_free(struct numbers *numbers);

/* What is expected: the numbers in NumPy's order; freed by the caller. */
void *sorted_of(const struct numbers *numbers);

/* The same numbers in that order. */
struct numbers numbers_sorted(fl_dtype dtype, int64_t n, enum kind kind, uint64_t seed);

const char *numbers_at(const struct numbers *numbers, int64_t i);
/* Whether a comes before b in the order and is not equal to it. */
bool numbers_precede(fl_dtype dtype, const void *a, const void *b);
fl_array *numbers_on(fl_device *device, const struct numbers *numbers);

/* Whether element i is the same number in both, all NaN being the same. */
bool is_same(fl_dtype dtype, const void *a, const void *b, int64_t i);

/* Fails the test unless `got` is in the expected order and has exactly the elements of the input. */
void expect_sorted(const void *expected, const struct numbers *got, const char *what);

/* Sorts a view into a larger array; fails the test unless the result is right and nothing around it was touched. */
void check_sort(fl_device *device, const struct numbers *input, const void *expected, bool in_place, const fl_run *run,
                const char *what);

#endif
