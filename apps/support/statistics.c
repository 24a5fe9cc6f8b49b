/* SPDX-License-Identifier: MIT */
#include "statistics.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

/* The quantile `part` (0 to 1) of sorted values, interpolated: numpy.quantile's default. */
static double quantile(const double *sorted, int count, double part)
{
    double place = part * (count - 1);
    int below = (int)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

statistics statistics_of(const double *values, int count)
{
    if (count < 1)
        return (statistics){NAN, NAN, NAN, NAN, NAN, NAN};
    double *sorted = memory_zeroed((size_t)count, sizeof *sorted);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    sort_numbers(sorted, (size_t)count);
    statistics found = {
        .median = quantile(sorted, count, 0.5),
        .minimum = sorted[0],
        .maximum = sorted[count - 1],
        .first = quantile(sorted, count, 0.25),
        .third = quantile(sorted, count, 0.75),
    };
    found.spread = found.third - found.first;
    free(sorted);
    return found;
}

double median(const double *values, int count)
{
    return statistics_of(values, count).median;
}
