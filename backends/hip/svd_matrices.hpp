/* SPDX-License-Identifier: MIT
 *
 * svd_matrices.hpp - matrices of the decompositions in svd.hip.cpp: scratch memory, copies, scaling, products.
 */
#ifndef FLYNN_HIP_SVD_MATRICES_HPP
#define FLYNN_HIP_SVD_MATRICES_HPP

#include "blas.hpp"
#include "svd_kernels.h"

#include <algorithm>
#include <cmath>

#define SVD_TRY(statement) \
    do { \
        const fl_status svd_status_ = (statement); \
        if (svd_status_ != FL_OK) \
            return svd_status_; \
    } while (0)

namespace
{

/* ------------------------------------------------------------------------------------------- device, host ---- */

template <typename T>
fl_status scratch(const fl_context *context, int64_t count, T **memory)
{
    void *got;
    SVD_TRY(context->host->scratch(context, (size_t)count * sizeof(T), &got));
    *memory = static_cast<T *>(got);
    return FL_OK;
}

/* Copies `rows` rows of `width` bytes in the context's stream, and waits. */
fl_status copy_and_wait(const fl_context *context, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t rows, hipMemcpyKind kind)
{
    const hip_device *device = hip_device_of(context);
    const hipStream_t queue = hip_stream_of(context)->queue;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, queue));
    HIP_TRY(device->host, device->number, hipStreamSynchronize(queue));
    return FL_OK;
}

template <typename T>
fl_status to_host(const fl_context *context, T *to, const T *from, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(T);
    return copy_and_wait(context, to, bytes, from, bytes, bytes, 1, hipMemcpyDeviceToHost);
}

template <typename T>
fl_status to_device(const fl_context *context, T *to, const T *from, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(T);
    return copy_and_wait(context, to, bytes, from, bytes, bytes, 1, hipMemcpyHostToDevice);
}

template <typename T>
strided<T> matrix_of(const fl_buffer &b)
{
    return {static_cast<T *>(b.data), b.stride[0], 1, b.shape[0], b.shape[1]};
}

template <typename T>
strided<T> packed(T *data, int64_t rows, int64_t columns)
{
    return {data, columns, 1, rows, columns};
}

template <typename T>
strided<const T> read_only(const strided<T> &m)
{
    return {m.data, m.row, m.column, m.rows, m.columns};
}

/* Blocks for this number of elements; each thread takes several if there are very many. */
dim3 blocks_for(int64_t elements)
{
    constexpr int64_t most = 1 << 16;
    return dim3((unsigned)std::min((elements + svd_threads - 1) / svd_threads, most));
}

template <typename From, typename To>
fl_status copy_scaled(const fl_context *context, const strided<const From> &from, const strided<To> &to, int scale)
{
    return hip_queue(context, copy_kernel<From, To>, blocks_for(to.rows * to.columns), dim3(svd_threads), 0, from, to,
                     std::ldexp(1.0, scale));
}

/* Returns the largest absolute value of a - diagonal 1; infinity if an element is not finite. Waits. */
template <typename T>
fl_status find_largest(const fl_context *context, const strided<const T> &a, T diagonal, double *largest)
{
    constexpr unsigned most = 1024;
    const dim3 blocks = dim3(std::min(blocks_for(a.rows * a.columns).x, most));
    double *partial, found[most];
    SVD_TRY(scratch(context, most, &partial));
    SVD_TRY(hip_queue(context, largest_kernel<T>, blocks, dim3(svd_threads), svd_threads * sizeof(double), a, diagonal,
                      partial));
    SVD_TRY(to_host(context, found, partial, blocks.x));
    *largest = *std::max_element(found, found + blocks.x);
    return FL_OK;
}

/* Finds the power of two that scales the elements to about 1; FL_E_ARGUMENT if one is not finite. Waits. */
template <typename T>
fl_status find_scale(const fl_context *context, const fl_buffer &a, int *scale, const char *operation = "svd")
{
    double largest = 0;
    *scale = 0;
    SVD_TRY(find_largest(context, matrix_of<const T>(a), (T)0, &largest));
    if (std::isinf(largest))
        return context->host->error(FL_E_ARGUMENT, "%s: an element of a is not finite", operation);
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    if (largest > 0) /* both 2^1000 and its inverse are finite and normal */
        *scale = std::max(-1000, std::min(-exponent, 1000));
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------------- products ---- */

/* The distance of packed rows, or columns. With only one it has no meaning, but a BLAS requires at least its length. */
template <typename T>
int64_t blas_stride(const strided<T> &m)
{
    return m.column != 1 ? std::max(m.column, m.rows) : std::max(m.row, m.columns);
}

/* c = a b. The rows or the columns of each matrix are packed. */
template <typename T>
fl_status multiply(const fl_context *context, const strided<const T> &a, const strided<const T> &b, const strided<T> &c)
{
    if (!hip_blas_loads()) {
        const int64_t most = 65535;
        const dim3 grid((unsigned)((c.columns + product_edge - 1) / product_edge),
                        (unsigned)std::min((c.rows + product_edge - 1) / product_edge, most));
        return hip_queue(context, product_kernel<T>, grid, dim3(product_edge, product_edge), product_shared<T>(), a, b,
                         c);
    }
    blas_product p = {};
    p.dtype = sizeof(T) == sizeof(float) ? FL_F32 : FL_F64;
    p.transpose_a = a.column != 1;
    p.transpose_b = b.column != 1;
    p.m = c.rows;
    p.n = c.columns;
    p.k = a.columns;
    p.alpha = 1;
    p.a = a.data;
    p.b = b.data;
    p.c = c.data;
    p.a_stride = blas_stride(a);
    p.b_stride = blas_stride(b);
    p.c_stride = blas_stride(c);
    p.batch = 1;
    return hip_blas_multiply(context, p);
}

} // namespace

#endif
