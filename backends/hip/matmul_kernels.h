/* SPDX-License-Identifier: MIT
 *
 * matmul_kernels.h - c = a b on a GPU as the first kernel of every course computes it, and the addition of sums that
 * were cut into parts; the fast kernels are in product_kernels.h.
 */
#ifndef FLYNN_HIP_MATMUL_KERNELS_H
#define FLYNN_HIP_MATMUL_KERNELS_H

#include "product_kernels.h"

/* One thread an output, two loads a term. x is the fastest axis: a warp's loads of b and its stores are of neighbours,
 * its loads of a of one element. (Where b is stored transposed its loads lie a row apart.) */
template <typename T>
__global__ __launch_bounds__(1024) void matmul_naive_kernel(factors<T> m)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    const int64_t a_row = m.turned_a ? 1 : m.a_stride, a_term = m.turned_a ? m.a_stride : 1;
    const int64_t b_column = m.turned_b ? m.b_stride : 1, b_term = m.turned_b ? 1 : m.b_stride;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z)
        for (int64_t i = first; i < m.rows; i += next) {
            if (j >= m.columns)
                continue;
            const T *a = m.a + n * m.a_step + i * a_row, *b = m.b + n * m.b_step + j * b_column;
            T sum = 0;
            for (int64_t p = 0; p < m.terms; p++)
                sum += a[p * a_term] * b[p * b_term];
            m.c[n * m.c_step + i * m.c_stride + j] = sum;
        }
}

/* Adds up each output's parts, which lie c_step apart in m.c: to[i * stride + j], in the parts' order. */
template <typename T>
__global__ __launch_bounds__(256) void add_parts_kernel(factors<T> m, int64_t parts, T *to, int64_t stride)
{
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < m.rows * m.columns;
         e += (int64_t)gridDim.x * blockDim.x) {
        const int64_t i = e / m.columns, j = e % m.columns;
        T sum = 0;
        for (int64_t n = 0; n < parts; n++)
            sum += m.c[n * m.c_step + i * m.c_stride + j];
        to[i * stride + j] = sum;
    }
}

#endif
