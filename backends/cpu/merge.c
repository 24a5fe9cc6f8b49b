/* SPDX-License-Identifier: MIT
 *
 * merge.c - merging two sorted arrays, and searching in one. The loops are in merge_typed.h and
 * merge_operations_typed.h, once for each dtype.
 */
#include "cpu.h"
#include "openmp.h"

#include <string.h>

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#define TYPED "merge_operations_typed.h"
#include "sorted_dtypes.h"
#undef TYPED

/* ------------------------------------------------------------------------------------------------- plans ---- */

static inline double size_of(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

static void CPU_NAME(plan_merge)(void *device, const void *args, fl_launch *launch)
{
    const fl_buffer *out = &((const fl_merge_args *)args)->out;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * size_of(out->dtype) * (double)out->shape[0];
}

static void CPU_NAME(plan_search)(void *device, const void *args, fl_launch *launch)
{
    const fl_search_sorted_args *s = args;
    int steps = 1;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    for (int64_t n = s->sorted.shape[0]; n > 0; n /= 2)
        steps++;
    launch->bytes_requested = (steps * size_of(s->sorted.dtype) + sizeof(int64_t)) * (double)s->values.shape[0];
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

#define RUN(operation, dtype_of) \
    static fl_status CPU_NAME(run_##operation)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        (void)launch; \
        switch (dtype_of) { \
        case FL_F32: return CPU_TYPED(operation, f32)(context, args); \
        case FL_F64: return CPU_TYPED(operation, f64)(context, args); \
        case FL_I32: return CPU_TYPED(operation, i32)(context, args); \
        default: return CPU_TYPED(operation, i64)(context, args); \
        } \
    }
RUN(merge, ((const fl_merge_args *)args)->out.dtype)
RUN(search, ((const fl_search_sorted_args *)args)->sorted.dtype)

#define DTYPES (1u << FL_F32 | 1u << FL_F64 | 1u << FL_I32 | 1u << FL_I64)

static const fl_row rows[] = {
    {.operation = FL_OP_MERGE,
     .variant = "naive",
     .dtypes = DTYPES,
     .summary = "takes the smaller of the next two elements; threads have parts of the output",
     .plan = CPU_NAME(plan_merge),
     .run = CPU_NAME(run_merge)},
    {.operation = FL_OP_SEARCH_SORTED,
     .variant = "naive",
     .dtypes = DTYPES,
     .summary = "a binary search for each value",
     .plan = CPU_NAME(plan_search),
     .run = CPU_NAME(run_search)},
};

const cpu_operation CPU_NAME(cpu_merge) = {.rows = rows, .count = sizeof rows / sizeof *rows};
