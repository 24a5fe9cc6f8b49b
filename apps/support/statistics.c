/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_numbers(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
}

fl_bench_statistics statistics_of(const double *values, int count)
{
    fl_bench_statistics s;

    if (fl_bench_statistics_of(values, count, &s) != FL_OK)
        (void)fl_bench_statistics_of(NULL, 0, &s);
    return s;
}

double statistics_range(const fl_bench_statistics *s)
{
    return s->third_quartile - s->first_quartile;
}

double statistics_spread(const fl_bench_statistics *s)
{
    return s->count > 1 ? statistics_range(s) / s->median : (double)NAN;
}

double median(const double *values, int count)
{
    return statistics_of(values, count).median;
}
