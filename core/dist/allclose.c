/* SPDX-License-Identifier: MIT
 *
 * allclose.c - fl_group_allclose: each rank compares its share, and the findings are put together.
 */
#include "group.h"

#include <stdlib.h>

/* The answer of one rank, and how many elements it compared. */
typedef struct answer {
    fl_closeness found;
    int64_t count;
} answer;

/* The ranks' answers as one of the whole arrays: of equal excesses the lowest index. */
static fl_closeness combine(const answer *of, int ranks)
{
    fl_closeness all = {.close = true, .worst_index = -1};
    int64_t before = 0;

    for (int r = 0; r < ranks; r++) {
        const fl_closeness *one = &of[r].found;
        if (one->worst_index >= 0 && (all.worst_index < 0 || one->worst_excess > all.worst_excess)) {
            all.worst_index = before + one->worst_index;
            all.worst_excess = one->worst_excess;
        }
        all.differing += one->differing;
        before += of[r].count;
    }
    all.close = all.differing == 0;
    return all;
}

fl_status fl_group_allclose(fl_group *group, fl_device *device, const fl_array *a, const fl_array *b, double relative,
                            double absolute, bool equal_nan, fl_closeness *found, const fl_run *run,
                            fl_group_timing *timing)
{
    const double start = dist_now();
    const size_t ranks = (size_t)group->info.size;
    fl_group_timing cost = {0};
    answer own = {.count = 0}, *all = calloc(ranks, sizeof *all);
    fl_status status = all ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    dist_call(group, "fl_group_allclose by %.17g, %.17g, %d", relative, absolute, (int)equal_nan);
    if (status == FL_OK)
        status = fl_allclose(device, a, b, relative, absolute, equal_nan, &own.found, run);
    own.count = status == FL_OK ? fl_array_size(a) : 0;
    cost.local_s = dist_now() - start;
    status = fl_group_agree(group, status, fl_last_error());
    cost.wait_s = dist_now() - start - cost.local_s;
    if (status == FL_OK)
        status = fl_group_gather(group, &own, all, sizeof own);
    if (status == FL_OK)
        *found = combine(all, group->info.size);
    cost.link_s = dist_now() - start - cost.local_s - cost.wait_s;
    cost.bytes = status == FL_OK ? (double)((ranks - 1) * sizeof own) : 0;
    free(all);
    if (timing)
        *timing = cost;
    return status;
}
