/* SPDX-License-Identifier: MIT
 *
 * matmul.c - c = a b: what each variant costs, and the rows. The loops are in matmul_typed.h, those of the fast
 * variants in matrix_product.c.
 */
#include "../shared/matmul.h"
#include "blas.h"
#include "matrix_product.h"

#define KERNEL static __attribute__((noinline))

enum {
    STRIP = 256, /* columns that `reference` sums at a time */
    SQUARE = 32, /* rows and columns of b that are turned at a time */
};

static matrix_product CPU_NAME(product_of)(const void *args)
{
    const blas_product p = matmul_product(args);

    return (matrix_product){.dtype = p.dtype,
                            .a = p.a,
                            .b = p.b,
                            .c = p.c,
                            .batch = p.batch,
                            .rows = p.m,
                            .columns = p.n,
                            .terms = p.k,
                            .a_step = p.a_step,
                            .a_row = p.transpose_a ? 1 : p.a_stride,
                            .a_term = p.transpose_a ? p.a_stride : 1,
                            .b_step = p.b_step,
                            .b_term = p.transpose_b ? 1 : p.b_stride,
                            .b_column = p.transpose_b ? p.b_stride : 1,
                            .c_step = p.c_step,
                            .c_row = p.c_stride};
}

/* The number of different matrices b: 1 where the whole batch uses one. */
static int64_t count_of_b(const matrix_product *m)
{
    return m->b_step == 0 ? 1 : m->batch;
}

#define real float
#define FN(name) CPU_TYPED(name, f32)
#ifdef CPU_REFERENCE
#define wide double
#endif
#include "matmul_typed.h"
#undef real
#undef FN
#undef wide
#define real double
#define FN(name) CPU_TYPED(name, f64)
#ifdef CPU_REFERENCE
#define wide long double
#endif
#include "matmul_typed.h"
#undef real
#undef FN
#undef wide
#define real uint32_t
#define FN(name) CPU_TYPED(name, i32)
#include "matmul_typed.h"
#undef real
#undef FN
#define real uint64_t
#define FN(name) CPU_TYPED(name, i64)
#include "matmul_typed.h"
#undef real
#undef FN

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* As written: two loads a term, and a store. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    (void)device;
    product_unblocked(&m, product_outputs(&m) * (2 * (double)m.terms + 1), launch);
}

#define CALL(variant) \
    switch (m.dtype) { \
    case FL_F32: return CPU_TYPED(variant, f32)(context, &m, launch); \
    case FL_F64: return CPU_TYPED(variant, f64)(context, &m, launch); \
    case FL_I32: return CPU_TYPED(variant, i32)(context, &m, launch); \
    default: return CPU_TYPED(variant, i64)(context, &m, launch); \
    }

static fl_status CPU_NAME(run_naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    CALL(naive)
}

#ifdef CPU_REFERENCE
static fl_status CPU_NAME(run_reference)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    return m.dtype == FL_F32 ? CPU_TYPED(reference, f32)(context, &m, launch)
                             : CPU_TYPED(reference, f64)(context, &m, launch);
}
#endif

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* A transposed b is copied before. */
static void CPU_NAME(plan_tiled)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    CPU_NAME(plan_product_tiled)(device, &m, launch);
    if (m.b_column != 1)
        launch->bytes_requested += 2 * (double)(count_of_b(&m) * m.terms * m.columns * dtype_size(m.dtype));
}

static fl_status CPU_NAME(run_tiled)(const fl_context *context, const void *args, const fl_launch *launch)
{
    matrix_product m = CPU_NAME(product_of)(args);

    CALL(tiled)
}

/* ----------------------------------------------------------------------------------- register and library ---- */

PRODUCT_VARIANT(register)

/* The library's own loads and stores are unknown: counted are the factors and the result once. */
static void CPU_NAME(plan_library)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    (void)device;
    product_unblocked(&m, product_a_elements(&m) + product_b_elements(&m) + product_outputs(&m), launch);
}

static fl_status CPU_NAME(run_library)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const blas_product p = matmul_product(args);

    return cpu_blas_multiply(context->host, cpu_team(context, launch->flops), &p);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_MATMUL, "register", CPU_NUMBERS, plan_register, run_register,
             "the matrices rearranged into panels, a block of sums in registers")},
    {CPU_ROW(FL_OP_MATMUL, "tiled", CPU_NUMBERS, plan_tiled, run_tiled,
             "blocks of b that stay in the cache; adds four of their rows to a row of c at a time")},
    {CPU_ROW(FL_OP_MATMUL, "naive", CPU_NUMBERS, plan_naive, run_naive,
             "the textbook's three loops, the one over the terms innermost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_MATMUL, "reference", CPU_FLOATS, plan_naive, run_reference,
             "the oracle: the definition, f32 summed in f64, f64 in long double")},
#endif
};

static const fl_row library_rows[] = {
    {CPU_ROW(FL_OP_MATMUL, "library", CPU_FLOATS, plan_library, run_library, "calls OpenBLAS or another BLAS"),
     .available = cpu_blas_ready},
};

CPU_OPERATION(cpu_matmul, rows);
const cpu_operation CPU_NAME(cpu_matmul_library) = {
    .rows = library_rows, .count = sizeof library_rows / sizeof *library_rows, .found = cpu_blas_found};
