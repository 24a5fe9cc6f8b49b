/* SPDX-License-Identifier: MIT
 *
 * statistics.h - a clock, and statistics of a list of times.
 */
#pragma once

#include <flynn/bench.h>
#include <stddef.h>

/* Monotonic time in seconds (CLOCK_MONOTONIC), since an unspecified moment. */
double seconds_now(void);

/* Sorts in place, ascending. */
void sort_numbers(double *values, size_t count);

/* NaN for an empty list. Does not reorder the values. */
double median(const double *values, int count);

/* Statistics of the values: all NaN for an empty list, and for one with a NaN. Does not reorder the values. */
fl_bench_statistics statistics_of(const double *values, int count);
/* The interquartile range: robust against one interrupted run. */
double statistics_range(const fl_bench_statistics *s);
/* The spread of times, everywhere: the interquartile range over the median. NaN of one sample, which shows none. */
double statistics_spread(const fl_bench_statistics *s);
