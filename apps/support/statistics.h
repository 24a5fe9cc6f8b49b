/* SPDX-License-Identifier: MIT
 *
 * statistics.h - a clock, and what to say of a list of times.
 */
#ifndef FLYNN_APPS_SUPPORT_STATISTICS_H
#define FLYNN_APPS_SUPPORT_STATISTICS_H

/* Seconds on a clock that is never set (CLOCK_MONOTONIC), since some moment in the past. */
double seconds_now(void);

/* The value that half of them do not exceed (the mean of the middle two of an even number); NaN for none. Leaves the
 * values as they are. */
double median(const double *values, int count);

typedef struct statistics {
    double median, minimum, maximum;
    double first, third; /* quartiles */
    double spread; /* interquartile range, quartiles interpolated as NumPy's: one interrupted run does not move it */
} statistics;

/* All of them; NaN for an empty list. */
statistics statistics_of(const double *values, int count);

#endif
