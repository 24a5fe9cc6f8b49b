/* SPDX-License-Identifier: MIT
 *
 * product.h - a product of matrices as it is asked of a BLAS, on a CPU or a GPU.
 */
#ifndef FLYNN_PRODUCT_H
#define FLYNN_PRODUCT_H

#include <flynn/plugin.h>

#include <stdbool.h>

/* c = alpha op(a) op(b) + beta c, `batch` times. All row-major; op(a) is m x k, op(b) k x n, and op transposes where it
 * says so. A stride is that of the rows of the matrix as it lies in memory, a step from one matrix of the batch to the
 * next, both in elements. c is not read where beta is 0. Nothing is 0 but alpha and beta, and the steps of a batch of
 * one. */
typedef struct blas_product {
    fl_dtype dtype; /* FL_F32 or FL_F64 */
    bool transpose_a, transpose_b;
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t a_stride, b_stride, c_stride;
    int64_t batch, a_step, b_step, c_step;
} blas_product;

/* A BLAS counts in 32 bits. What it cannot take is refused with FL_E_LIMIT. */
static inline bool blas_can_count(const blas_product *p)
{
    return p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX && p->a_stride <= INT32_MAX &&
           p->b_stride <= INT32_MAX && p->c_stride <= INT32_MAX && p->batch <= INT32_MAX;
}

#endif
