/* SPDX-License-Identifier: MIT
 *
 * scan.c - fl_group_scan: each rank reduces its share, and gets the totals of all ranks; then it scans its share,
 * starting from the total of the lower ranks. Nothing else goes from rank to rank.
 */
#include "total.h"

/* One scan on one rank. */
typedef struct scanning {
    fl_device *device;
    const fl_array *in;
    fl_reduction reduction;
    bool exclusive;
    fl_array *out;
    const fl_run *run;
    fl_run queue;        /* of the work besides the scan: the same stream */
    int64_t elements[2]; /* room for two of any dtype that copies read until they are done */
} scanning;

static fl_status check(const scanning *s)
{
    const int in = fl_array_ndim(s->in), out = fl_array_ndim(s->out);
    const fl_dtype dtype = fl_reduce_dtype(fl_array_dtype(s->in), s->reduction);

    if (s->reduction != FL_SUM && s->reduction != FL_MAXIMUM)
        return dist_fail(FL_E_ARGUMENT, "fl_group_scan: reduction is %d; expected FL_SUM or FL_MAXIMUM",
                         (int)s->reduction);
    if (in != 1 || out != 1 || fl_array_size(s->in) != fl_array_size(s->out))
        return dist_fail(FL_E_ARGUMENT,
                         "fl_group_scan: in and out have %d and %d dimensions, %lld and %lld elements; expected 1 "
                         "dimension, and as many elements",
                         in, out, (long long)fl_array_size(s->in), (long long)fl_array_size(s->out));
    if (fl_array_dtype(s->out) != dtype)
        return dist_fail(FL_E_ARGUMENT, "fl_group_scan: out is %s; expected %s", fl_dtype_name(fl_array_dtype(s->out)),
                         fl_dtype_name(dtype));
    return FL_OK;
}

/* The sum, or the first of the largest elements, bit for bit, of what the lower ranks have. */
static fl_status total_of_lower(fl_group *group, const scanning *s, dist_total *before, fl_group_timing *cost)
{
    const fl_reduction reduction = s->reduction == FL_MAXIMUM ? FL_ARGMAX : s->reduction;
    const dist_reduction r = {s->device, s->in, NULL, reduction, fl_reduce_dtype(fl_array_dtype(s->in), reduction),
                              &s->queue};
    const dist_total *all;
    const fl_status status = dist_totals(group, check(s), &r, &all, cost);

    if (status == FL_OK)
        *before = dist_combine(reduction, all, group->info.rank);
    return status;
}

/* Copies `in` to out, which is of in's dtype or, for sums of integers, of i64. */
static fl_status copy(const scanning *s)
{
    if (s->in == s->out)
        return FL_OK;
    return fl_array_dtype(s->in) == fl_array_dtype(s->out) ? fl_copy_array(s->device, s->in, s->out, &s->queue)
                                                           : fl_convert(s->device, s->in, s->out, &s->queue);
}

/* Scans this rank's elements, which follow elements that give `before`: a copy of them in out whose first element also
 * has `before` in it, in place. The first result of an exclusive scan is `before` itself. */
static fl_status scan_after(scanning *s, const dist_total *before)
{
    const int64_t first = 0, one = 1;
    const fl_dtype dtype = fl_array_dtype(s->out);
    dist_total pair[] = {*before, {.count = 1}}, both;
    fl_array *place = NULL;
    fl_status status = fl_array_view(s->out, &first, &one, &place);

    if (status == FL_OK)
        status = dist_read_element(s->in, 0, &pair[1]);
    both = dist_combine(s->reduction, pair, 2);
    dist_store(&both, dtype, &s->elements[0]);
    dist_store(before, dtype, &s->elements[1]);
    if (status == FL_OK)
        status = copy(s);
    if (status == FL_OK)
        status = fl_array_write(place, &s->elements[0], s->queue.stream);
    if (status == FL_OK)
        status = fl_scan(s->device, s->out, s->reduction, s->exclusive, s->out, s->run);
    if (status == FL_OK && s->exclusive)
        status = fl_array_write(place, &s->elements[1], s->queue.stream);
    fl_array_free(place);
    return status;
}

fl_status fl_group_scan(fl_group *group, fl_device *device, const fl_array *in, fl_reduction reduction, bool exclusive,
                        fl_array *out, const fl_run *run, fl_group_timing *timing)
{
    scanning s = {device, in, reduction, exclusive, out, run, {.stream = run ? run->stream : NULL}, {0}};
    dist_total before = {.count = 0};
    fl_group_timing cost = {0};
    fl_status status = FL_OK, waited;
    double start, scanned;

    dist_call(group, "fl_group_scan of %s by %d, %d", fl_dtype_name(fl_array_dtype(in)), (int)reduction,
              (int)exclusive);
    if (group->info.size > 1)
        status = total_of_lower(group, &s, &before, &cost);
    if (status == FL_OK) {
        start = dist_now();
        status = before.count > 0 && fl_array_size(in) > 0 ? scan_after(&s, &before)
                                                           : fl_scan(device, in, reduction, exclusive, out, run);
        waited = dist_finish(device, run);
        scanned = dist_now();
        status = fl_group_agree(group, status == FL_OK ? waited : status, fl_last_error());
        cost.local_s += scanned - start;
        cost.wait_s += dist_now() - scanned;
    }
    if (timing)
        *timing = cost;
    return status;
}
