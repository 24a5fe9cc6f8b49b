/* SPDX-License-Identifier: MIT
 *
 * statistics.c - a clock, and statistics of a list of times. Sorting allocates nothing, unlike some qsort.
 */
#include "inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_FOR_INTERVAL = 6
}; /* the least and largest of six hold the median with 1 - 2 / 2^6 = 97 %, of five 94 % */

/* Lets the value at `root` sink to its place in a heap whose largest value comes first. */
static void sift(double *heap, int root, int count)
{
    const double value = heap[root];
    int child;

    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && heap[child] < heap[child + 1])
            child++;
        if (!(value < heap[child]))
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = value;
}

void bench_sort(double *values, int count)
{
    for (int root = count / 2; root-- > 0;)
        sift(values, root, count);
    for (int last = count - 1; last > 0; last--) {
        const double largest = values[0];
        values[0] = values[last];
        values[last] = largest;
        sift(values, 0, last);
    }
}

/* The value below which a part (0 to 1) of the sorted values lies, interpolated: numpy.quantile's default. */
static double quantile_of(const double *sorted, int count, double part)
{
    const double at = part * (count - 1), whole = floor(at);
    const double *below = sorted + (int)whole;

    return at > whole ? below[0] + (at - whole) * (below[1] - below[0]) : below[0];
}

fl_bench_statistics bench_statistics_of_sorted(const double *sorted, int count)
{
    fl_bench_statistics s = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

    if (count < 1)
        return s;
    s.median = quantile_of(sorted, count, 0.5);
    s.minimum = sorted[0];
    s.maximum = sorted[count - 1];
    s.first_quartile = quantile_of(sorted, count, 0.25);
    s.third_quartile = quantile_of(sorted, count, 0.75);
    if (count >= FEWEST_FOR_INTERVAL) {
        int rank = (int)floor(0.5 * count - 0.98 * sqrt(count)); /* from 1; 0 of short lists stands for the least */
        rank = rank > 1 ? rank : 1;
        s.low = sorted[rank - 1];
        s.high = sorted[count - rank];
    }
    return s;
}

fl_bench_statistics bench_statistics(const double *values, int count, double *room)
{
    if (count > 0)
        memcpy(room, values, (size_t)count * sizeof *values);
    bench_sort(room, count);
    return bench_statistics_of_sorted(room, count);
}

fl_status fl_bench_statistics_sized(const double *seconds, int count, fl_bench_statistics *found, size_t size)
{
    fl_bench_statistics s;
    double *room;

    if (!found || count < 0 || (count > 0 && !seconds))
        return bench_fail(FL_E_ARGUMENT, "fl_bench_statistics_of: %s",
                          count < 0 ? "count is negative"
                          : found   ? "seconds is NULL"
                                    : "found is NULL");
    for (int i = 0; i < count; i++)
        if (!isfinite(seconds[i]))
            return bench_fail(FL_E_ARGUMENT, "fl_bench_statistics_of: seconds[%d] is %g", i, seconds[i]);
    room = malloc(((size_t)count + 1) * sizeof *room);
    if (!room)
        return bench_fail(FL_E_MEMORY, "fl_bench_statistics_of: out of memory");
    s = bench_statistics(seconds, count, room);
    free(room);
    memset(found, 0, size);
    memcpy(found, &s, size < sizeof s ? size : sizeof s);
    return FL_OK;
}
