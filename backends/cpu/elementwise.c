/* SPDX-License-Identifier: MIT
 *
 * elementwise.c - increment, sqrt, maximum and log_of_sum: the rows. The walk over the arrays is in walk.h, and what is
 * computed in elementwise_typed.h.
 */
#include "operation.h"
#include "walk.h"

#include <math.h>

/* The hot loops stay functions of their own, called for thousands of elements at a time. */
#define KERNEL static __attribute__((noinline))

/* glibc has logarithms that take whole vectors (libmvec, at most 4 units in the last place off). Its header says so to
 * the compiler only under -ffast-math, which would also give up NaN and infinities; these functions know them. */
#ifdef CPU_VECTOR_LOG
extern float logf(float) __attribute__((simd("notinbranch")));
extern double log(double) __attribute__((simd("notinbranch")));
#endif

/* The operands: an operation of one input gets it twice. */
enum { X, Y, OUT, OPERANDS };

#define T float
#define wide double
#define SQRT sqrtf
#define LOG logf
#define WIDE_SQRT sqrt
#define WIDE_LOG log
#define FN(name) CPU_TYPED(name, f32)
#include "elementwise_typed.h"
#undef T
#undef wide
#undef SQRT
#undef LOG
#undef WIDE_SQRT
#undef WIDE_LOG
#undef FN
#define T double
#define wide long double
#define SQRT sqrt
#define LOG log
#define WIDE_SQRT sqrt
#define WIDE_LOG logl
#define FN(name) CPU_TYPED(name, f64)
#include "elementwise_typed.h"
#undef T
#undef wide
#undef SQRT
#undef LOG
#undef WIDE_SQRT
#undef WIDE_LOG
#undef FN
#define T int32_t
#define WRAPPING uint32_t
#define FN(name) CPU_TYPED(name, i32)
#include "elementwise_typed.h"
#undef T
#undef WRAPPING
#undef FN
#define T int64_t
#define WRAPPING uint64_t
#define FN(name) CPU_TYPED(name, i64)
#include "elementwise_typed.h"
#undef T
#undef WRAPPING
#undef FN

/* An operation in one dtype. */
typedef struct typed_operation {
    walk_loops loops;
    double flops; /* of an element */
} typed_operation;

#define LOOPS_OF(name, dtype, flops) \
    { \
        {CPU_TYPED(name##_row, dtype), CPU_TYPED(name##_column, dtype)}, flops \
    }

static const typed_operation CPU_NAME(increment)[FL_DTYPE_COUNT] = {
    [FL_I32] = LOOPS_OF(increment, i32, 0),
    [FL_I64] = LOOPS_OF(increment, i64, 0),
    [FL_F32] = LOOPS_OF(increment, f32, 1),
    [FL_F64] = LOOPS_OF(increment, f64, 1),
};
static const typed_operation CPU_NAME(maximum)[FL_DTYPE_COUNT] = {
    [FL_I32] = LOOPS_OF(maximum, i32, 0),
    [FL_I64] = LOOPS_OF(maximum, i64, 0),
    [FL_F32] = LOOPS_OF(maximum, f32, 1),
    [FL_F64] = LOOPS_OF(maximum, f64, 1),
};
static const typed_operation CPU_NAME(sqrt)[FL_DTYPE_COUNT] = {
    [FL_F32] = LOOPS_OF(sqrt, f32, 1),
    [FL_F64] = LOOPS_OF(sqrt, f64, 1),
};
static const typed_operation CPU_NAME(log_of_sum)[FL_DTYPE_COUNT] = {
    [FL_F32] = LOOPS_OF(log_of_sum, f32, 2),
    [FL_F64] = LOOPS_OF(log_of_sum, f64, 2),
};

/* ------------------------------------------------------------------------------------------------- rows ---- */

static void CPU_NAME(plan)(const fl_buffer *out, int operands, const typed_operation *table, fl_launch *launch)
{
    double elements = 1;

    for (int d = 0; d < out->ndim; d++)
        elements *= (double)out->shape[d];
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = elements * operands * (double)walk_size_of(out->dtype);
    launch->flops = elements * table[out->dtype].flops;
}

static walk CPU_NAME(walk_of)(const fl_buffer *x, const fl_buffer *y, const fl_buffer *out)
{
    return CPU_NAME(walk_along)((const fl_buffer *const[OPERANDS]){x, y, out}, OPERANDS);
}

/* Few elements that are neighbours in all operands, in one call of `row`: describing the walk would take longer. False:
 * they are not. */
static bool CPU_NAME(at_once)(const fl_context *context, const fl_buffer *const *buffers, const walk_loops *loops,
                              double work)
{
    const fl_buffer *out = buffers[OUT];
    char *at[OPERANDS];

    (void)context, (void)work;
    if (out->ndim != 1 || out->shape[0] > WALK_PIECE || cpu_team(context, work) > 1)
        return false;
    for (int k = 0; k < OPERANDS; k++) {
        if (buffers[k]->stride[0] != 1)
            return false;
        at[k] = buffers[k]->data;
    }
    loops->row(at, out->shape[0]);
    return true;
}

/* Column by column is never at once. */
#define CPU_AT_ONCE_naive(context, buffers, loops, work) CPU_NAME(at_once)(context, buffers, loops, work)
#define CPU_AT_ONCE_uncoalesced(context, buffers, loops, work) ((void)(buffers), false)

/* cpu_team counts 20 ps for a byte. A byte in the caches takes this part of them, so that fewer threads pay. */
#define WORK_increment 0.6
#define WORK_sqrt 1.0
#define WORK_maximum 0.6
#define WORK_log_of_sum 1.0

#define UNARY(operation) \
    static void CPU_NAME(plan_##operation)(void *device, const void *args, fl_launch *launch) \
    { \
        (void)device; \
        CPU_NAME(plan)(&((const fl_unary_args *)args)->out, 2, CPU_NAME(operation), launch); \
    } \
    UNARY_RUN(operation, naive) \
    UNARY_RUN(operation, uncoalesced)
#define UNARY_RUN(operation, variant) \
    static fl_status CPU_NAME(operation##_##variant)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_unary_args *a = args; \
        const walk_loops *loops = &CPU_NAME(operation)[a->out.dtype].loops; \
        const fl_buffer *const buffers[OPERANDS] = {&a->in, &a->in, &a->out}; \
        if (!CPU_AT_ONCE_##variant(context, buffers, loops, WORK_##operation * launch->bytes_requested)) \
            CPU_NAME(walk_##variant) \
        (context, CPU_NAME(walk_of)(&a->in, &a->in, &a->out), loops, WORK_##operation * launch->bytes_requested); \
        return FL_OK; \
    }
#define BINARY(operation) \
    static void CPU_NAME(plan_##operation)(void *device, const void *args, fl_launch *launch) \
    { \
        (void)device; \
        CPU_NAME(plan)(&((const fl_binary_args *)args)->out, 3, CPU_NAME(operation), launch); \
    } \
    BINARY_RUN(operation, naive) \
    BINARY_RUN(operation, uncoalesced)
#define BINARY_RUN(operation, variant) \
    static fl_status CPU_NAME(operation##_##variant)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_binary_args *a = args; \
        const walk_loops *loops = &CPU_NAME(operation)[a->out.dtype].loops; \
        const fl_buffer *const buffers[OPERANDS] = {&a->x, &a->y, &a->out}; \
        if (!CPU_AT_ONCE_##variant(context, buffers, loops, WORK_##operation * launch->bytes_requested)) \
            CPU_NAME(walk_##variant) \
        (context, CPU_NAME(walk_of)(&a->x, &a->y, &a->out), loops, WORK_##operation * launch->bytes_requested); \
        return FL_OK; \
    }
UNARY(increment)
UNARY(sqrt)
BINARY(maximum)
BINARY(log_of_sum)

#ifdef CPU_REFERENCE
/* The oracle: element by element, wherever it lies, row by row. */
static void CPU_NAME(reference)(fl_operation operation, const walk *w, fl_dtype dtype)
{
    const int last = w->dimensions - 1;
    const int64_t rows = CPU_NAME(walk_elements)(w, 0, last), *step = w->stride[last], count = w->shape[last];

    for (int64_t row = 0; row < rows; row++) {
        char *at[WALK_MOST] = {NULL};
        CPU_NAME(walk_locate)(w, 0, last, row, at);
        switch (dtype) {
        case FL_F32: CPU_TYPED(reference, f32)(operation, at, step, count); break;
        case FL_F64: CPU_TYPED(reference, f64)(operation, at, step, count); break;
        case FL_I32: CPU_TYPED(reference, i32)(operation, at, step, count); break;
        default: CPU_TYPED(reference, i64)(operation, at, step, count); break;
        }
    }
}

#define UNARY_REFERENCE(operation, number) \
    static fl_status CPU_NAME(reference_##operation)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_unary_args *a = args; \
        const walk w = CPU_NAME(walk_of)(&a->in, &a->in, &a->out); \
        (void)context, (void)launch; \
        CPU_NAME(reference)(number, &w, a->out.dtype); \
        return FL_OK; \
    }
#define BINARY_REFERENCE(operation, number) \
    static fl_status CPU_NAME(reference_##operation)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_binary_args *a = args; \
        const walk w = CPU_NAME(walk_of)(&a->x, &a->y, &a->out); \
        (void)context, (void)launch; \
        CPU_NAME(reference)(number, &w, a->out.dtype); \
        return FL_OK; \
    }
UNARY_REFERENCE(increment, FL_OP_INCREMENT)
UNARY_REFERENCE(sqrt, FL_OP_SQRT)
BINARY_REFERENCE(maximum, FL_OP_MAXIMUM)
BINARY_REFERENCE(log_of_sum, FL_OP_LOG_OF_SUM)
#define REFERENCE_ROW(name, number, types) \
    {CPU_ROW(number, "reference", types, plan_##name, reference_##name, \
             "the oracle: element by element, computed in the next wider format")},
#else
#define REFERENCE_ROW(name, number, types)
#endif

#define ROWS(name, number, types) \
    {CPU_ROW(number, "naive", types, plan_##name, name##_naive, "one loop over the elements in memory order")}, \
        {CPU_ROW(number, "uncoalesced", types, plan_##name, name##_uncoalesced, \
                 "inner loop along the slowest axis, a cache line per element, to measure its cost")}, \
        REFERENCE_ROW(name, number, types)

static const fl_row rows[] = {ROWS(increment, FL_OP_INCREMENT, CPU_NUMBERS) ROWS(sqrt, FL_OP_SQRT, CPU_FLOATS) ROWS(
    maximum, FL_OP_MAXIMUM, CPU_NUMBERS) ROWS(log_of_sum, FL_OP_LOG_OF_SUM, CPU_FLOATS)};

CPU_OPERATION(cpu_elementwise, rows);
