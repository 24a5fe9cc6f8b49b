/* SPDX-License-Identifier: MIT
 *
 * result.c - hands out the results of a bench as a struct and as lists of samples.
 */
#include "inner.h"

#include <math.h>
#include <string.h>

size_t fl_bench_count(const fl_bench *bench)
{
    return bench ? bench->count : 0;
}

static double median_of(const bench_work *w, fl_bench_quantity quantity)
{
    const bench_samples *list = &w->samples[quantity];

    return list->count > 0 ? bench_statistics(list->s, list->count, w->sorted).median : NAN;
}

fl_status fl_bench_result_sized(const fl_bench *bench, size_t i, fl_bench_result *result, size_t size)
{
    fl_bench_result r;

    if (!bench || !result || i >= bench->count)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_result_get: case %zu of %zu", i, fl_bench_count(bench));
    const bench_work *w = bench->works[i];
    const int total = w->samples[FL_BENCH_TOTAL].count, kernel = w->samples[FL_BENCH_KERNEL].count;
    r = (fl_bench_result){.name = w->name,
                          .resource = w->info.resource,
                          .message = w->message,
                          .disturbed = w->why_disturbed,
                          .first = &w->first,
                          .status = w->status,
                          .passes = w->first_counts  ? 0
                                    : total > kernel ? total
                                                     : kernel,
                          .launches = w->launches,
                          .first_counts = w->first_counts,
                          .checked = w->checked,
                          .right = w->right,
                          .first_s = w->ran ? w->first_s : NAN,
                          .copy_in_s = median_of(w, FL_BENCH_COPY_IN),
                          .kernel_s = median_of(w, FL_BENCH_KERNEL),
                          .copy_out_s = median_of(w, FL_BENCH_COPY_OUT),
                          .total_s = median_of(w, FL_BENCH_TOTAL),
                          .switches_per_s = bench_switches_per_s(&w->disturbed),
                          .stolen = bench_stolen_part(&w->disturbed),
                          .load = w->disturbed.load,
                          .throttled = w->clocks.throttled,
                          .clock_low = w->clocks.low,
                          .clock_high = w->clocks.high,
                          .temperature = w->clocks.hottest,
                          .other_processes = w->clocks.others};
    memset(result, 0, size);
    memcpy(result, &r, size < sizeof r ? size : sizeof r);
    return FL_OK;
}

fl_status fl_bench_gpu_sized(const fl_device *device, fl_bench_gpu *found, size_t size)
{
    bench_gpu_clocks clocks;
    fl_bench_gpu now;

    if (!device || !found)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_gpu_get: %s is NULL", device ? "found" : "device");
    const fl_device_info *info = fl_device_describe(device);
    clocks = bench_gpu_clocks_of(bench_vendor_of(info), info->bus_id);
    bench_gpu_clocks_sample(&clocks);
    now = (fl_bench_gpu){.clock = clocks.high,
                         .temperature = clocks.hottest,
                         .throttled = clocks.throttled,
                         .other_processes = clocks.others};
    memset(found, 0, size);
    memcpy(found, &now, size < sizeof now ? size : sizeof now);
    return FL_OK;
}

fl_status fl_bench_samples(const fl_bench *bench, size_t i, fl_bench_quantity quantity, const double **seconds,
                           int *count)
{
    if (!bench || !seconds || !count || i >= bench->count || (unsigned)quantity >= BENCH_QUANTITIES)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_samples: quantity %d of case %zu of %zu", (int)quantity, i,
                          fl_bench_count(bench));
    *seconds = bench->works[i]->samples[quantity].s;
    *count = bench->works[i]->samples[quantity].count;
    return FL_OK;
}
