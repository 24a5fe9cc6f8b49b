/* SPDX-License-Identifier: MIT
 *
 * primes.c - fl_group_primes: each rank sieves an interval, then the primes go to the ranks in whose shares they are.
 */
#include "group.h"

fl_status fl_group_primes(fl_group *group, fl_device *device, int64_t upto, fl_array *out, fl_array *count,
                          const fl_run *run, fl_group_timing *timing)
{
    const double start = dist_now();
    fl_group_timing cost = {0};
    int64_t first, share;
    fl_status status;

    dist_call(group, "fl_group_primes below %lld", (long long)upto);
    fl_group_share(group, upto > 0 ? upto : 0, group->info.rank, &first, &share);
    status = fl_primes_between(device, first, first + share, out, count, run);
    if (status == FL_OK)
        status = dist_finish(device, run);
    cost.local_s = dist_now() - start;
    status = fl_group_agree(group, status, fl_last_error());
    cost.wait_s = dist_now() - start - cost.local_s;
    if (timing)
        *timing = cost;
    return status;
}
