/* SPDX-License-Identifier: MIT
 *
 * merge.c - merging two sorted arrays, and searching in one. The loops are in merge_typed.h and
 * merge_operations_typed.h, once for each dtype.
 */
#include "operation.h"
#include "openmp.h"

#include <string.h>

enum {
    SEARCH_BATCH = 32,     /* searches that go on at a time */
    SEARCH_SAMPLES = 4096, /* most elements with which they begin */
    SEARCH_LEAST_STEP = 4, /* and how far apart these must be */
};

#define TYPED "merge_operations_typed.h"
#include "sorted_dtypes.h"
#undef TYPED

/* ------------------------------------------------------------------------------------------------- plans ---- */

static void CPU_NAME(plan_merge)(void *device, const void *args, fl_launch *launch)
{
    const fl_buffer *out = &((const fl_merge_args *)args)->out;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * (double)dtype_size(out->dtype) * (double)out->shape[0];
}

static void CPU_NAME(plan_search)(void *device, const void *args, fl_launch *launch)
{
    const fl_search_sorted_args *s = args;
    int steps = 1;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    for (int64_t n = s->sorted.shape[0]; n > 0; n /= 2)
        steps++;
    launch->bytes_requested =
        ((double)steps * (double)dtype_size(s->sorted.dtype) + sizeof(int64_t)) * (double)s->values.shape[0];
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_NUMBERS(merge, fl_merge_args, out)
CPU_RUN_NUMBERS(batched, fl_search_sorted_args, sorted)
CPU_RUN_NUMBERS(search, fl_search_sorted_args, sorted)

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_MERGE, "naive", CPU_NUMBERS, plan_merge, run_merge,
             "takes the smaller of the next two elements; threads have parts of the output")},
    {CPU_ROW(FL_OP_SEARCH_SORTED, "batched", CPU_NUMBERS, plan_search, run_batched,
             "binary searches without branches, a step of many of them at a time")},
    {CPU_ROW(FL_OP_SEARCH_SORTED, "naive", CPU_NUMBERS, plan_search, run_search, "a binary search for each value")},
};

CPU_OPERATION(cpu_merge, rows);
