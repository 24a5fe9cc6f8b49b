/* SPDX-License-Identifier: MIT
 *
 * multiply_add.c - x = x * factor + term, over and over: measures the arithmetic throughput, for comparison.
 */
#include "operation.h"

#include <string.h>

/* Chains of multiply-adds that do not wait for each other: two units, each with four to five steps from one result to
 * the next, are busy with ten. */
enum { CHAINS = 12 };

/* CHAINS vectors of x stay in registers for all the steps. */
#define VECTORS(type, name, part_name) \
    static void name(const type *in, type *out, type factor, type term, int64_t steps) \
    { \
        CPU_VECTOR(type) x[CHAINS]; \
        memcpy(x, in, sizeof x); \
        for (int64_t step = 0; step < steps; step++) { \
            _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) x[c] = x[c] * factor + term; \
        } \
        memcpy(out, x, sizeof x); \
    } \
    /* Fewer elements than the vectors hold: computed in vectors padded with unused numbers. */ \
    static void part_name(const type *in, type *out, type factor, type term, int64_t steps, int64_t count) \
    { \
        type part[CHAINS * (sizeof(CPU_VECTOR(type)) / sizeof(type))] = {0}; \
        memcpy(part, in, (size_t)count * sizeof(type)); \
        name(part, part, factor, term, steps); \
        memcpy(out, part, (size_t)count * sizeof(type)); \
    }

#if CPU_VECTOR_BITS >= 128
typedef float vector_f32 __attribute__((vector_size(CPU_VECTOR_BITS / 8)));
typedef double vector_f64 __attribute__((vector_size(CPU_VECTOR_BITS / 8)));
#else
typedef float vector_f32;
typedef double vector_f64;
#endif
#define CPU_VECTOR(type) CPU_VECTOR_##type
#define CPU_VECTOR_float vector_f32
#define CPU_VECTOR_double vector_f64

VECTORS(float, CPU_TYPED(chains, f32), CPU_TYPED(chains_part, f32))
VECTORS(double, CPU_TYPED(chains, f64), CPU_TYPED(chains_part, f64))

/* One element; in vectors as wide as the compiler makes them of the loop over elements in `naive`. */
#define ELEMENTS(type, name) \
    static void name(const type *in, type *out, type factor, type term, int64_t steps, int64_t count) \
    { \
        for (int64_t i = 0; i < count; i++) { \
            type x = in[i]; \
            for (int64_t step = 0; step < steps; step++) \
                x = x * factor + term; \
            out[i] = x; \
        } \
    }

ELEMENTS(float, CPU_TYPED(elements, f32))
ELEMENTS(double, CPU_TYPED(elements, f64))

static void CPU_NAME(plan_multiply_add)(void *device, const void *args, fl_launch *launch)
{
    const fl_multiply_add_args *m = args;
    const double elements = (double)m->in.shape[0];

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = 2 * elements * (double)m->steps;
    launch->bytes_requested = 2 * elements * (m->in.dtype == FL_F32 ? sizeof(float) : sizeof(double));
}

#define RUN(type, at, count, one) \
    one((const type *)m->in.data + (at), (type *)m->out.data + (at), (type)m->factor, (type)m->term, m->steps count)
#define COMMA_(n) , n

static fl_status CPU_NAME(run_naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    enum { PIECE = 64 }; /* elements that a thread takes at a time */
    const fl_multiply_add_args *m = args;
    const int64_t size = m->in.shape[0];

    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t i = 0; i < size; i += PIECE) {
        const int64_t count = size - i < PIECE ? size - i : PIECE;
        if (m->in.dtype == FL_F32)
            RUN(float, i, COMMA_(count), CPU_TYPED(elements, f32));
        else
            RUN(double, i, COMMA_(count), CPU_TYPED(elements, f64));
    }
    return FL_OK;
}

static fl_status CPU_NAME(run_register)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_multiply_add_args *m = args;
    const int64_t size = m->in.shape[0];
    const int64_t piece = CHAINS * (int64_t)(m->in.dtype == FL_F32 ? sizeof(vector_f32) / sizeof(float)
                                                                   : sizeof(vector_f64) / sizeof(double));

    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t i = 0; i < size; i += piece) {
        const int64_t count = size - i;
        if (m->in.dtype == FL_F32 && count >= piece)
            RUN(float, i, , CPU_TYPED(chains, f32));
        else if (m->in.dtype == FL_F32)
            RUN(float, i, COMMA_(count), CPU_TYPED(chains_part, f32));
        else if (count >= piece)
            RUN(double, i, , CPU_TYPED(chains, f64));
        else
            RUN(double, i, COMMA_(count), CPU_TYPED(chains_part, f64));
    }
    return FL_OK;
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_MULTIPLY_ADD, "register", CPU_FLOATS, plan_multiply_add, run_register,
             "twelve vectors at a time, in registers")},
    {CPU_ROW(FL_OP_MULTIPLY_ADD, "naive", CPU_FLOATS, plan_multiply_add, run_naive,
             "element by element; each step waits for the previous one")},
};

CPU_OPERATION(cpu_multiply_add, rows);
