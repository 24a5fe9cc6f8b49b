/* SPDX-License-Identifier: MIT
 *
 * product.h - a product of matrices for a BLAS, on a CPU or a GPU.
 */
#ifndef FLYNN_PRODUCT_H
#define FLYNN_PRODUCT_H

#include <flynn/plugin.h>

#include <stdbool.h>

/* c = alpha op(a) op(b) + beta c, `batch` times. All row-major; op(a) is m x k, op(b) is k x n; op transposes if
 * transpose_a or transpose_b. A stride is the distance of a matrix's rows in memory, a step that of the matrices of the
 * batch, both in elements. If beta is 0, c is not read. Only alpha, beta, a_step and b_step, which then repeat a or b,
 * and the steps of a batch of one may be 0. */
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

/* A BLAS has 32-bit sizes; larger ones are refused with FL_E_LIMIT. */
static inline bool blas_can_count(const blas_product *p)
{
    return p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX && p->a_stride <= INT32_MAX &&
           p->b_stride <= INT32_MAX && p->c_stride <= INT32_MAX && p->batch <= INT32_MAX;
}

#endif
