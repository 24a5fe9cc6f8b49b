/* SPDX-License-Identifier: MIT
 *
 * reconstruct_kernels.h - y = u diag(s) vt on a GPU, for float and double: the kernels that it does not share with
 * matmul (product_kernels.h), in whose terms a is u, b is vt and c is y.
 */
#ifndef FLYNN_HIP_RECONSTRUCT_KERNELS_H
#define FLYNN_HIP_RECONSTRUCT_KERNELS_H

#include "product_kernels.h"

template <typename T>
__device__ inline T element_of(const factors<T> &m, int64_t i, int64_t j)
{
    T sum = 0;
    for (int64_t p = 0; p < m.terms; p++)
        sum += m.a[i * m.a_stride + p] * m.s[p] * m.b[p * m.b_stride + j];
    return sum;
}

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* One thread an output, three loads a term. x is the fastest axis: a warp's loads of vt and its stores are of
 * neighbours, its loads of u and s of one element. */
template <typename T>
__global__ __launch_bounds__(1024) void naive_kernel(factors<T> m)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z) {
        const factors<T> one = one_of(m, n);
        for (int64_t i = first; i < m.rows; i += next)
            if (j < m.columns)
                one.c[i * m.c_stride + j] = element_of(one, i, j);
    }
}

/* The same with x along the rows of the result, the mistake of many first kernels: a warp's loads of u and its stores
 * are a whole row apart. */
template <typename T>
__global__ __launch_bounds__(1024) void uncoalesced_kernel(factors<T> m)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z) {
        const factors<T> one = one_of(m, n);
        for (int64_t j = first; j < m.columns; j += next)
            if (i < m.rows)
                one.c[i * m.c_stride + j] = element_of(one, i, j);
    }
}

/* --------------------------------------------------------------------------------------------------- library ---- */

/* A packed copy of u times s. */
template <typename T>
__global__ __launch_bounds__(256) void scale_kernel(factors<T> m, T *scaled)
{
    const int64_t left = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, across = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z)
        for (int64_t p = left; p < m.terms; p += across) {
            const T s = m.s[n * m.s_step + p];
            for (int64_t i = first; i < m.rows; i += next)
                scaled[(n * m.rows + i) * m.terms + p] = m.a[n * m.a_step + i * m.a_stride + p] * s;
        }
}

#endif
