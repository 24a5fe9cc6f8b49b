/* SPDX-License-Identifier: MIT
 *
 * summary.h - statistics of an array, and its histogram. What is not finite is counted and left out of them.
 */
#pragma once

#include "rows.h"

enum { MOST_BARS = 40 };

typedef struct array_summary {
    int64_t finite, nans, infinities, zeros; /* elements */
    int64_t least, most; /* where the first smallest and the first largest finite one is; -1: none */
    double mean, sum;    /* of the finite elements; NaN if there are none */
} array_summary;

array_summary summary_of(const host_array *array);

/* How many finite elements lie in each of `bars` equal parts from the smallest to the largest one. Integers of fewer
 * than MOST_BARS values have a bar for each value. 0 bars: the elements are all equal, or there are fewer than 2. */
typedef struct array_histogram {
    int bars;
    int64_t count[MOST_BARS];
} array_histogram;
array_histogram histogram_of(const host_array *array, const array_summary *summary, int most_bars);

/* Prints "from 0 at [0] to 1 at [9]; mean 0.5, sum 5" and the histogram. */
void summary_print(FILE *stream, int width, const host_array *array, const array_origin *origin);

/* Prints the name, dtype, shape and size of an array. */
void array_print_head(FILE *stream, int width, const char *name, const host_array *array);

/* Prints that, then elements and summary: what `flynn show` shows of an array. */
void array_print(FILE *stream, int width, const char *name, const host_array *array, const array_origin *origin,
                 int64_t most);
