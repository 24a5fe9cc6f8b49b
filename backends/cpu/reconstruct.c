/* SPDX-License-Identifier: MIT
 *
 * reconstruct.c - y = u diag(s) vt: what each variant costs, and the rows. The loops are in reconstruct_typed.h, those
 * of the fast variants in matrix_product.c.
 */
#include "blas.h"
#include "matrix_product.h"

#define KERNEL static __attribute__((noinline))

enum { STRIP = 256 }; /* columns that `reference` sums at a time */

static inline int64_t batch_of(const fl_reconstruct_args *c)
{
    return c->y.shape[0];
}

static inline int64_t rows_of(const fl_reconstruct_args *c)
{
    return c->y.shape[1];
}

static inline int64_t columns_of(const fl_reconstruct_args *c)
{
    return c->y.shape[2];
}

#define real float
#define FN(name) CPU_TYPED(name, f32)
#define wide double
#include "reconstruct_typed.h"
#undef real
#undef wide
#undef FN
#define real double
#define wide long double
#define FN(name) CPU_TYPED(name, f64)
#include "reconstruct_typed.h"
#undef real
#undef wide
#undef FN

/* ------------------------------------------------------------------------------------- plans and products ---- */

static matrix_product CPU_NAME(product_of)(const void *args)
{
    const fl_reconstruct_args *c = args;

    return (matrix_product){.dtype = c->y.dtype,
                            .a = c->u.data,
                            .s = c->s.data,
                            .b = c->vt.data,
                            .c = c->y.data,
                            .batch = batch_of(c),
                            .rows = rows_of(c),
                            .columns = columns_of(c),
                            .terms = c->rank,
                            .a_step = c->u.stride[0],
                            .a_row = c->u.stride[1],
                            .a_term = 1,
                            .s_step = c->s.stride[0],
                            .b_step = c->vt.stride[0],
                            .b_term = c->vt.stride[1],
                            .b_column = 1,
                            .c_step = c->y.stride[0],
                            .c_row = c->y.stride[1]};
}

/* Each multiply-add loads an element of vt and a sum, and stores the sum. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    (void)device;
    product_unblocked(&m, 2 * product_a_elements(&m) + 3 * product_outputs(&m) * (double)m.terms, launch);
}

#ifdef CPU_REFERENCE
/* The oracle multiplies three numbers for each term. */
static void CPU_NAME(plan_reference)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    (void)device;
    product_unblocked(&m, product_outputs(&m) * (3 * (double)m.terms + 1), launch);
    launch->flops = 3 * product_outputs(&m) * (double)m.terms;
}
#endif

PRODUCT_VARIANT(tiled)
PRODUCT_VARIANT(register)

/* The library's own loads and stores are unknown: counted are the factors and the result once, u with s in it once
 * more. */
static void CPU_NAME(plan_library)(void *device, const void *args, fl_launch *launch)
{
    const matrix_product m = CPU_NAME(product_of)(args);

    (void)device;
    product_unblocked(&m, 3 * product_a_elements(&m) + product_b_elements(&m) + product_outputs(&m), launch);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_FLOATS(naive, fl_reconstruct_args, y)
CPU_RUN_FLOATS(library, fl_reconstruct_args, y)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_reconstruct_args, y)
#endif

/* `register` is what auto takes: nowhere was OpenBLAS found to be faster. */
static const fl_row rows[] = {
    {CPU_ROW(FL_OP_RECONSTRUCT, "register", CPU_FLOATS, plan_register, run_register,
             "the factors rearranged into panels, a block of sums in registers")},
    {CPU_ROW(FL_OP_RECONSTRUCT, "tiled", CPU_FLOATS, plan_tiled, run_tiled,
             "blocks of vt that stay in the cache; adds four of their rows to a row of y at a time")},
    {CPU_ROW(FL_OP_RECONSTRUCT, "naive", CPU_FLOATS, plan_naive, run_naive,
             "the textbook's three loops, columns innermost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_RECONSTRUCT, "reference", CPU_FLOATS, plan_reference, run_reference,
             "the oracle: the definition, f32 summed in f64, f64 in long double")},
#endif
};

static const fl_row library_rows[] = {
    {CPU_ROW(FL_OP_RECONSTRUCT, "library", CPU_FLOATS, plan_library, run_library,
             "multiplies a copy of u by s, then calls OpenBLAS or another BLAS"),
     .available = cpu_blas_ready},
};

CPU_OPERATION(cpu_reconstruct, rows);
const cpu_operation CPU_NAME(cpu_reconstruct_library) = {
    .rows = library_rows, .count = sizeof library_rows / sizeof *library_rows, .found = cpu_blas_found};
