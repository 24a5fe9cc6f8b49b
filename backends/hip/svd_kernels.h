/* SPDX-License-Identifier: MIT
 *
 * svd_kernels.h - what a decomposition needs besides factorizations: looking at the matrix, putting it into the shape
 * that libraries take, random numbers, products, and putting the vectors where they belong. Included by
 * svd_matrices.hpp.
 */
#ifndef FLYNN_HIP_SVD_KERNELS_H
#define FLYNN_HIP_SVD_KERNELS_H

#include "device.hpp"

#define SVD_ANYWHERE __host__ __device__
#include "../shared/svd_sketch.h"

namespace
{

/* Element (i, j) is data[i * row + j * column]. */
template <typename T>
struct strided {
    T *data;
    int64_t row, column, rows, columns;
};

template <typename T>
strided<T> transposed(const strided<T> &m)
{
    return {m.data, m.column, m.row, m.columns, m.rows};
}

/* The first and the number of elements that are this thread's: e = first; e < count; e += step. */
__device__ inline int64_t first_element()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline int64_t element_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

constexpr unsigned svd_threads = 256; /* of a block */

/* Each block finds the largest absolute value of a - diagonal 1; infinity if an element is not finite. */
template <typename T>
__global__ __launch_bounds__(svd_threads) void largest_kernel(strided<const T> a, T diagonal, double *largest)
{
    GPU_DYNAMIC_SHARED(memory);
    double *best = reinterpret_cast<double *>(memory);
    double mine = 0;
    for (int64_t e = first_element(); e < a.rows * a.columns; e += element_step()) {
        const int64_t i = e / a.columns, j = e % a.columns;
        const T x = a.data[i * a.row + j * a.column] - (i == j ? diagonal : (T)0);
        const double size = x - x == 0 ? fabs((double)x) : (double)INFINITY;
        mine = size > mine ? size : mine;
    }
    best[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && best[threadIdx.x + half] > best[threadIdx.x])
            best[threadIdx.x] = best[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        largest[blockIdx.x] = best[0];
}

/* to = from * factor, one shape. */
template <typename From, typename To>
__global__ __launch_bounds__(svd_threads) void copy_kernel(strided<const From> from, strided<To> to, double factor)
{
    for (int64_t e = first_element(); e < to.rows * to.columns; e += element_step()) {
        const int64_t i = e / to.columns, j = e % to.columns;
        to.data[i * to.row + j * to.column] = (To)((double)from.data[i * from.row + j * from.column] * factor);
    }
}

/* Row i of `to` is row order[i] of `from` times sign[i]. */
template <typename To>
__global__ __launch_bounds__(svd_threads) void take_rows_kernel(strided<const double> from, strided<To> to,
                                                                const int64_t *order, const double *sign)
{
    for (int64_t e = first_element(); e < to.rows * to.columns; e += element_step()) {
        const int64_t i = e / to.columns, j = e % to.columns;
        to.data[i * to.row + j * to.column] = (To)(from.data[order[i] * from.row + j * from.column] * sign[i]);
    }
}

template <typename T>
__global__ __launch_bounds__(svd_threads) void gaussian_kernel(T *out, int64_t count, uint64_t seed)
{
    for (int64_t e = first_element(); e < count; e += element_step())
        out[e] = (T)random_normal(seed, (uint64_t)e);
}

constexpr int product_edge = 16; /* of a block and a tile */

/* c = a b, a tile of c a block: for devices without a BLAS. */
template <typename T>
__global__ __launch_bounds__(product_edge *product_edge) void product_kernel(strided<const T> a, strided<const T> b,
                                                                             strided<T> c)
{
    GPU_DYNAMIC_SHARED(memory);
    T *of_b = reinterpret_cast<T *>(memory), *of_a = of_b + product_edge * product_edge;
    const int x = (int)threadIdx.x, y = (int)threadIdx.y;
    const int64_t j = (int64_t)blockIdx.x * product_edge + x;
    for (int64_t i0 = (int64_t)blockIdx.y * product_edge; i0 < c.rows; i0 += (int64_t)gridDim.y * product_edge) {
        const int64_t i = i0 + y;
        T sum = 0;
        for (int64_t p = 0; p < a.columns; p += product_edge) {
            const bool a_inside = i < c.rows && p + x < a.columns, b_inside = p + y < b.rows && j < c.columns;
            of_a[y * product_edge + x] = a_inside ? a.data[i * a.row + (p + x) * a.column] : (T)0;
            of_b[y * product_edge + x] = b_inside ? b.data[(p + y) * b.row + j * b.column] : (T)0;
            __syncthreads();
            for (int q = 0; q < product_edge; q++)
                sum += of_a[y * product_edge + q] * of_b[q * product_edge + x];
            __syncthreads(); /* all have read the tiles before the next ones are written */
        }
        if (i < c.rows && j < c.columns)
            c.data[i * c.row + j * c.column] = sum;
    }
}

template <typename T>
constexpr size_t product_shared()
{
    return (size_t)2 * product_edge * product_edge * sizeof(T);
}

} // namespace

#endif
