/* SPDX-License-Identifier: MIT
 *
 * matmul.h - FL_OP_MATMUL's arguments as a product for a BLAS, on a CPU or a GPU.
 */
#ifndef FLYNN_MATMUL_H
#define FLYNN_MATMUL_H

#include "product.h"

#include <flynn/operations.h>

/* Rows that lie `stride` apart, of a matrix of `rows` x `columns`: of a single row the stride may be anything, which a
 * BLAS refuses if it is below the row's length. */
static inline int64_t matmul_stride(const fl_buffer *matrix)
{
    return matrix->shape[1] > 1 ? matrix->stride[1] : matrix->shape[2];
}

/* One b for a whole batch, of which all rows of a, and all of c, have the same distance: it is one product of
 * `batch` times as many rows. A BLAS has 32-bit sizes. */
static inline void matmul_join(blas_product *p)
{
    if (p->batch > 1 && p->b_step == 0 && !p->transpose_a && p->a_step == p->m * p->a_stride &&
        p->c_step == p->m * p->c_stride && p->m <= INT32_MAX / p->batch) {
        p->m *= p->batch;
        p->batch = 1;
    }
}

static inline blas_product matmul_product(const void *args)
{
    const fl_matmul_args *given = (const fl_matmul_args *)args;
    blas_product p;

    p.dtype = given->c.dtype;
    p.transpose_a = given->transpose_a != 0;
    p.transpose_b = given->transpose_b != 0;
    p.m = given->c.shape[1];
    p.n = given->c.shape[2];
    p.k = given->a.shape[p.transpose_a ? 1 : 2];
    p.alpha = 1;
    p.beta = 0;
    p.a = given->a.data;
    p.b = given->b.data;
    p.c = given->c.data;
    p.a_stride = matmul_stride(&given->a);
    p.b_stride = matmul_stride(&given->b);
    p.c_stride = matmul_stride(&given->c);
    p.batch = given->c.shape[0];
    p.a_step = given->a.stride[0];
    p.b_step = given->b.stride[0];
    p.c_step = given->c.stride[0];
    matmul_join(&p);
    return p;
}

/* 2 m n k operations, whatever the variant: a product and a sum for each term of each output. */
static inline double matmul_outputs(const blas_product *p)
{
    return (double)p->batch * (double)p->m * (double)p->n;
}

static inline double matmul_flops(const blas_product *p)
{
    return 2 * matmul_outputs(p) * (double)p->k;
}

#endif
