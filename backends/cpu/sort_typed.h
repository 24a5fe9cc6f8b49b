/* SPDX-License-Identifier: MIT
 *
 * sort_typed.h - sorting by comparison, for one dtype. Included once for each (sorted_dtypes.h).
 */

#include "merge_typed.h"

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* Merge sort from the bottom up: runs of one element are sorted; merging neighbours doubles them. */
static fl_status FN(naive)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    const int64_t n = s->in.shape[0];
    element *from = s->out.data, *to;
    void *scratch;
    fl_status status = context->host->scratch(context, (size_t)n * sizeof(element), &scratch);

    (void)launch;
    if (status != FL_OK)
        return status;
    CPU_NAME(copy_elements)(context, s, s->in.data, s->out.data);
    to = scratch;
    for (int64_t run = 1; run < n; run *= 2) {
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 100.0 * (double)n))
        for (int64_t start = 0; start < n; start += 2 * run)
            FN(merge_runs)
        (from + start, min64(run, n - start), from + min64(start + run, n), min64(run, max64(0, n - start - run)),
         to + start);
        element *merged = to;
        to = from;
        from = merged;
    }
    CPU_NAME(copy_elements)(context, s, from, s->out.data);
    return FL_OK;
}

/* ----------------------------------------------------------------------------------------------- library ---- */

static int FN(compare)(const void *a, const void *b)
{
    const element x = *(const element *)a, y = *(const element *)b;

    return FN(less)(y, x) - FN(less)(x, y);
}

static fl_status FN(library)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    (void)launch;
    CPU_NAME(copy_elements)(context, s, s->in.data, s->out.data);
    qsort(s->out.data, (size_t)s->in.shape[0], sizeof(element), FN(compare));
    return FL_OK;
}
