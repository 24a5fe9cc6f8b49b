/* SPDX-License-Identifier: MIT
 *
 * select.c - fl_group_select: each rank selects, then the elements go to the ranks in whose shares they are.
 */
#include "group.h"

#include <stdlib.h>

enum { ROOM_KEPT };

/* One selection on one rank. */
typedef struct selecting {
    fl_group *group;
    fl_device *device;
    fl_array *out, *count;
    fl_run run;
    fl_array *kept;         /* this rank's elements, as many as it keeps */
    dist_range own, wanted; /* those, and its share of what all keep */
    fl_group_timing cost;
} selecting;

/* The rows that two ranges have in common, as elements of an array whose first element is number `first`. */
static fl_rows common(dist_range a, dist_range b, fl_array *of, int64_t first)
{
    const dist_range part = dist_both(a, b);

    return part.first < part.end ? (fl_rows){of, part.first - first, part.end - part.first} : (fl_rows){0};
}

static fl_status select_here(selecting *s, const fl_array *in, fl_array *out, int64_t *kept)
{
    fl_status status = fl_select(s->device, in, out, s->count, &s->run);

    if (status == FL_OK)
        status = dist_finish(s->device, &s->run);
    return status == FL_OK ? fl_array_to_host(s->count, kept) : status;
}

/* Finds the elements that each rank sends to and gets from each other one. `kept`: the number that each keeps. */
static fl_status measure(selecting *s, const int64_t *kept, fl_rows *to, fl_rows *from)
{
    const int size = s->group->info.size, rank = s->group->info.rank;
    int64_t all = 0, before = 0;

    for (int r = 0; r < size; r++) {
        s->own.first = r == rank ? all : s->own.first;
        all += kept[r];
    }
    s->own.end = s->own.first + kept[rank];
    s->wanted = dist_share(s->group, all, rank);
    if (fl_array_ndim(s->out) != 1 || fl_array_dtype(s->out) != fl_array_dtype(s->kept))
        return dist_fail(FL_E_ARGUMENT, "fl_group_select: out has %d dimensions of dtype %s; expected 1 of %s",
                         fl_array_ndim(s->out), fl_dtype_name(fl_array_dtype(s->out)),
                         fl_dtype_name(fl_array_dtype(s->kept)));
    if (fl_array_size(s->out) < s->wanted.end - s->wanted.first)
        return dist_fail(FL_E_ARGUMENT,
                         "fl_group_select: out has %lld elements; this rank's share of the %lld that are kept is %lld",
                         (long long)fl_array_size(s->out), (long long)all,
                         (long long)(s->wanted.end - s->wanted.first));
    for (int r = 0; r < size; r++) {
        to[r] = common(s->own, dist_share(s->group, all, r), s->kept, s->own.first);
        from[r] = common((dist_range){before, before + kept[r]}, s->wanted, s->out, s->wanted.first);
        before += kept[r];
    }
    return FL_OK;
}

/* Queues the copy of the elements that stay on this rank. */
static fl_status copy_own(const selecting *s, const fl_rows *from, const fl_rows *to)
{
    fl_array *here = NULL, *there = NULL;
    fl_status status;

    if (!from->of)
        return FL_OK;
    status = fl_array_view(from->of, &from->first, &from->count, &here);
    if (status == FL_OK)
        status = fl_array_view(to->of, &to->first, &to->count, &there);
    if (status == FL_OK)
        status = fl_copy_array(s->device, here, there, &(fl_run){.stream = s->run.stream});
    fl_array_free(here);
    fl_array_free(there);
    return status;
}

/* Moves what each rank keeps, so that all shares have the same length. */
static fl_status even_out(selecting *s, const int64_t *kept)
{
    const int size = s->group->info.size, rank = s->group->info.rank;
    fl_rows *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
    fl_status status = to && from ? measure(s, kept, to, from) : dist_fail(FL_E_MEMORY, "out of host memory");
    int64_t share;

    if (status == FL_OK)
        status = copy_own(s, &to[rank], &from[rank]);
    status = dist_move(s->group, status, s->run.stream, to, from, &s->cost);
    free(to);
    free(from);
    if (status != FL_OK)
        return status;
    share = s->wanted.end - s->wanted.first;
    status = fl_array_write(s->count, &share, s->run.stream);
    if (status == FL_OK)
        status = dist_finish(s->device, &s->run);
    if (status == FL_OK)
        status = dist_moved(s->group, &s->cost);
    return fl_group_agree(s->group, status, fl_last_error());
}

static fl_status select_with_others(selecting *s, const fl_array *in)
{
    const size_t size = (size_t)s->group->info.size;
    const double start = dist_now();
    int64_t own = 0, length = fl_array_size(in), *kept = calloc(size, sizeof *kept);
    double selected;
    fl_status status = dist_use(s->group, s->device);

    if (status == FL_OK) {
        status = kept ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");
        if (status == FL_OK)
            status = dist_room(s->group, ROOM_KEPT, fl_array_dtype(in), 1, &length, &s->kept);
        if (status == FL_OK)
            status = select_here(s, in, s->kept, &own);
        selected = dist_now();
        status = fl_group_agree(s->group, status, fl_last_error());
        s->cost.wait_s += dist_now() - selected;
    }
    if (status == FL_OK)
        status = fl_group_gather(s->group, &own, kept, sizeof own);
    if (status == FL_OK)
        status = even_out(s, kept);
    s->cost.local_s = dist_now() - start - s->cost.stage_s - s->cost.link_s - s->cost.wait_s;
    fl_array_free(s->kept);
    free(kept);
    return status;
}

fl_status fl_group_select(fl_group *group, fl_device *device, const fl_array *in, fl_array *out, fl_array *count,
                          const fl_run *run, fl_group_timing *timing)
{
    selecting s = {.group = group, .device = device, .out = out, .count = count};
    int64_t kept;
    fl_status status;

    dist_call(group, "fl_group_select of %s", fl_dtype_name(fl_array_dtype(in)));
    if (run)
        s.run = *run;
    if (group->info.size > 1) {
        status = select_with_others(&s, in);
    } else {
        status = select_here(&s, in, out, &kept);
        status = fl_group_agree(group, status, fl_last_error());
    }
    if (timing)
        *timing = s.cost;
    return status;
}
