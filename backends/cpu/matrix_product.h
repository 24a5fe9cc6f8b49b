/* SPDX-License-Identifier: MIT
 *
 * matrix_product.h - products of matrices, with or without factors on a diagonal between them: what reconstruct and
 * matmul have in common.
 */
#ifndef FLYNN_CPU_MATRIX_PRODUCT_H
#define FLYNN_CPU_MATRIX_PRODUCT_H

#include "operation.h"

/* c[n, i, j] = sum over p of a[n, i, p] * s[n, p] * b[n, p, j], `batch` times. A step is the distance from one matrix
 * of the batch to the next, all other distances are those of neighbours along that dimension, in elements: of a, and of
 * b, one of the two is 1, and a's rows or b's columns are the neighbours where it is stored transposed. A step of 0
 * repeats a or b. s is multiplied into a first. */
typedef struct matrix_product {
    fl_dtype dtype;
    const void *a, *s, *b; /* s may be NULL: all ones */
    void *c;
    int64_t batch, rows, columns, terms;
    int64_t a_step, a_row, a_term;
    int64_t s_step;
    int64_t b_step, b_term, b_column;
    int64_t c_step, c_row;
} matrix_product;

/* The variants `tiled` and `register` in f32, f64, i32 and i64, with their plans. `tiled` needs b_column == 1. */
fl_status CPU_NAME(product_tiled)(const fl_context *context, const matrix_product *m, const fl_launch *launch);
fl_status CPU_NAME(product_register)(const fl_context *context, const matrix_product *m, const fl_launch *launch);
void CPU_NAME(plan_product_tiled)(const cpu_device *device, const matrix_product *m, fl_launch *launch);
void CPU_NAME(plan_product_register)(const cpu_device *device, const matrix_product *m, fl_launch *launch);

/* plan_<variant> and run_<variant> of an operation whose product_of makes a product of the arguments. */
#define PRODUCT_VARIANT(variant) \
    static void CPU_NAME(plan_##variant)(void *device, const void *args, fl_launch *launch) \
    { \
        const matrix_product m = CPU_NAME(product_of)(args); \
        CPU_NAME(plan_product_##variant)(device, &m, launch); \
    } \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        const matrix_product m = CPU_NAME(product_of)(args); \
        return CPU_NAME(product_##variant)(context, &m, launch); \
    }

/* ------------------------------------------------------------------------------------------ what it costs ---- */

/* Elements of all results, and of all a and b that take part. */
static inline double product_outputs(const matrix_product *m)
{
    return (double)m->batch * (double)m->rows * (double)m->columns;
}

static inline double product_a_elements(const matrix_product *m)
{
    return (double)m->batch * (double)m->rows * (double)m->terms;
}

static inline double product_b_elements(const matrix_product *m)
{
    return (double)m->batch * (double)m->terms * (double)m->columns;
}

/* Each output is a sum of products; before it s is multiplied into a, once. */
static inline double product_flops(const matrix_product *m)
{
    return (m->s ? product_a_elements(m) : 0) + 2 * product_outputs(m) * (double)m->terms;
}

/* A variant that has no tiles. */
static inline void product_unblocked(const matrix_product *m, double elements, fl_launch *launch)
{
    for (int d = 0; d < 3; d++)
        launch->block[d] = 0;
    launch->flops = product_flops(m);
    launch->bytes_requested = (double)dtype_size(m->dtype) * elements;
}

#endif
