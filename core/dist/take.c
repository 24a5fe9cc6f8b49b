/* SPDX-License-Identifier: MIT
 *
 * take.c - numbers that are dealt out to the ranks as they ask for them, by a counter that all share (fl_link.take).
 */
#include "group.h"

/* A rank takes the numbers that are left, divided by this and by the number of ranks. The pieces become smaller towards
 * the end, so that no rank is still busy with a large one when the others are done. */
enum { PART_OF_REST = 8 };
/* The number added to the counter when nothing is dealt any more: more than can be dealt, and 2^20 ranks may add it. */
static const int64_t ended_at = (int64_t)1 << 40;

/* Some link can have no counter: each rank then gets its share. All ranks do the same. */
static fl_status agree_on_counter(fl_group *group, fl_status status)
{
    int64_t none = status == FL_E_UNSUPPORTED;
    fl_status agreed = fl_group_agree(group, none ? FL_OK : status, fl_last_error());

    if (agreed == FL_OK)
        agreed = group->link->reduce(&none, 1, FL_I64, FL_MAXIMUM);
    group->dealt.counted = !none;
    return agreed;
}

fl_status fl_group_deal(fl_group *group, int64_t count)
{
    fl_status status;

    dist_call(group, "fl_group_deal of %lld", (long long)count);
    status = fl_group_agree(group, count >= 0 && count < ended_at ? FL_OK : FL_E_LIMIT,
                            "fl_group_deal: more than 2^40 numbers");
    group->dealt = (dist_deal){.count = count};
    if (status != FL_OK || !group->link)
        return status;
    return agree_on_counter(group, group->link->count());
}

/* A rank that counts by itself. */
static fl_status add_alone(dist_deal *d, int64_t by, int64_t *was)
{
    *was = d->seen;
    d->seen += by;
    return FL_OK;
}

static fl_status add(fl_group *group, int64_t by, int64_t *was)
{
    dist_deal *d = &group->dealt;
    fl_status status;

    if (!d->counted)
        return add_alone(d, by, was);
    status = group->link->take(by, was);
    d->seen = *was + by;
    return status;
}

fl_status fl_group_take(fl_group *group, int64_t *first, int64_t *share)
{
    dist_deal *d = &group->dealt;
    const int64_t left = d->count - d->seen, part = left / (PART_OF_REST * (int64_t)group->info.size),
                  by = !d->counted ? d->count
                       : part > 1  ? part
                                   : 1;
    int64_t was;
    const fl_status status = add(group, by, &was);

    *first = *share = 0;
    if (status != FL_OK || was >= d->count)
        return status;
    *first = was;
    *share = by < d->count - was ? by : d->count - was;
    if (!d->counted)
        fl_group_share(group, d->count, group->info.rank, first, share);
    return FL_OK;
}

fl_status fl_group_deal_end(fl_group *group)
{
    int64_t was;

    return add(group, ended_at, &was);
}

fl_status fl_group_deal_ended(fl_group *group, bool *ended)
{
    int64_t was = 0;
    const fl_status status = add(group, 0, &was);

    *ended = was >= ended_at;
    return status;
}
