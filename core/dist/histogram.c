/* SPDX-License-Identifier: MIT
 *
 * histogram.c - fl_group_histogram: each rank counts its share, and the counts are added up.
 */
#include "group.h"

enum { COUNTS, MOST_ADDED = 1 << 24 }; /* MOST_ADDED: at a time, as fl_group_reduce takes a 32-bit count */

/* Sums up the ranks' counts in host memory, and writes the sums to each rank's `out`. */
static fl_status add_up(fl_group *group, fl_device *device, fl_array *out, const fl_run *run, fl_group_timing *cost)
{
    const int64_t bins = fl_array_size(out);
    int64_t *counts = dist_scratch(group, COUNTS, (size_t)bins * sizeof *counts);
    double start = dist_now(), read;
    fl_status status = counts ? fl_array_to_host(out, counts) : dist_fail(FL_E_MEMORY, "out of host memory");

    read = dist_now();
    cost->stage_s += read - start;
    status = fl_group_agree(group, status, fl_last_error());
    start = dist_now();
    cost->wait_s += start - read;
    for (int64_t b = 0; b < bins && status == FL_OK; b += MOST_ADDED)
        status = fl_group_reduce(group, counts + b, (int32_t)(bins - b < MOST_ADDED ? bins - b : MOST_ADDED), FL_I64,
                                 FL_SUM);
    read = dist_now();
    cost->link_s += read - start;
    cost->bytes += (double)bins * sizeof *counts;
    if (status == FL_OK)
        status = fl_array_write(out, counts, run ? run->stream : NULL);
    if (status == FL_OK)
        status = dist_finish(device, run);
    cost->stage_s += dist_now() - read;
    return fl_group_agree(group, status, fl_last_error());
}

fl_status fl_group_histogram(fl_group *group, fl_device *device, const fl_array *in, double lo, double hi, bool clip,
                             fl_array *out, const fl_run *run, fl_group_timing *timing)
{
    const double start = dist_now();
    fl_group_timing cost = {0};
    double counted;
    fl_status status;

    dist_call(group, "fl_group_histogram of %lld bins of %.17g to %.17g, %d", (long long)fl_array_size(out), lo, hi,
              (int)clip);
    status = fl_histogram(device, in, lo, hi, clip, out, run);
    if (status == FL_OK)
        status = dist_finish(device, run);
    counted = dist_now();
    cost.local_s = counted - start;
    status = fl_group_agree(group, status, fl_last_error());
    cost.wait_s = dist_now() - counted;
    if (status == FL_OK && group->info.size > 1)
        status = add_up(group, device, out, run, &cost);
    if (timing)
        *timing = cost;
    return status;
}
