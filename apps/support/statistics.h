/* SPDX-License-Identifier: MIT
 *
 * statistics.h - a clock, and statistics of a list of times.
 */
#pragma once

#include <stddef.h>

/* Seconds on a clock that is never set (CLOCK_MONOTONIC), since an unspecified moment. */
double seconds_now(void);

/* In place, ascending. */
void sort_numbers(double *values, size_t count);

/* NaN for an empty list. Does not reorder the values. */
double median(const double *values, int count);

typedef struct statistics {
    double median, minimum, maximum;
    double first, third; /* quartiles */
    double spread; /* interquartile range: robust against one interrupted run; quartiles as NumPy interpolates them */
} statistics;

/* All NaN for an empty list. */
statistics statistics_of(const double *values, int count);
