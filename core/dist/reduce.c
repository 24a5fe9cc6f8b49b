/* SPDX-License-Identifier: MIT
 *
 * reduce.c - fl_group_reduce_array: each rank reduces its share, and the results are put together in the order of
 * ranks.
 */
#include "total.h"

/* Stores the result: a sum, an extreme, or its place. */
static fl_status store(const dist_reduction *r, dist_total total, void *result)
{
    if (total.count == 0 && r->reduction != FL_SUM)
        return dist_fail(FL_E_ARGUMENT, "fl_group_reduce_array: no rank has an element; expected at least one for an "
                                        "extreme");
    if (r->reduction == FL_ARGMIN || r->reduction == FL_ARGMAX)
        total.whole = total.place;
    dist_store(&total, r->dtype, result);
    return FL_OK;
}

fl_status fl_group_reduce_array(fl_group *group, fl_device *device, const fl_array *x, const fl_array *y,
                                fl_reduction reduction, fl_dtype dtype, void *result, const fl_run *run,
                                fl_group_timing *timing)
{
    const dist_reduction r = {device, x, y, reduction, dtype, run};
    const dist_total *all;
    fl_group_timing cost = {0};
    fl_status status;

    dist_call(group, "fl_group_reduce_array of %s by %d to %s", fl_dtype_name(fl_array_dtype(x)), (int)reduction,
              fl_dtype_name(dtype));
    status = dist_totals(group, FL_OK, &r, &all, &cost);
    if (status == FL_OK)
        status = store(&r, dist_combine(reduction, all, group->info.size), result);
    if (timing)
        *timing = cost;
    return status;
}
