/* SPDX-License-Identifier: MIT
 *
 * svd.hip.cpp - FL_OP_SVD on a GPU. The factorizations are the vendor's (solver.hpp) or the host's (host_svd.h); what
 * is here is how a decomposition is put together from them, so that it is as exact as the dtype, and fast.
 *
 * f32: the eigenvectors of the smaller one of a'a and aa', in f64, give the near vectors; the QR factorization of their
 * product with a gives the far ones, and the values on the diagonal of r. In f32 the squares in a'a would cost half the
 * digits; f64 has twice as many, so that all is exact to the rounding of f32: an eigenvalue, and a product of two
 * vectors, is off by a few 1e-16 of the largest square, the values and r beside its diagonal thus by the root of that,
 * a few 1e-8 of the largest value. It is several times as fast as decompositions of a itself, whose rotations or
 * bidiagonals keep a GPU waiting.
 *
 * f64: the solver's decomposition of a itself.
 *
 * The rows wait: how a is scaled, and in which order the values come, is decided on the host.
 */
#include "blas.hpp"
#include "solver.hpp"
#include "svd_kernels.h"

#include "../cpu/host_svd.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

namespace
{

#define SVD_TRY(statement) \
    do { \
        const fl_status svd_status_ = (statement); \
        if (svd_status_ != FL_OK) \
            return svd_status_; \
    } while (0)

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

/* Blocks for so many elements, of which each thread takes several where there are very many. */
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

/* The power of two by which the elements become about 1; FL_E_ARGUMENT for one that is not finite. Waits. */
template <typename T>
fl_status find_scale(const fl_context *context, const fl_buffer &a, int *scale)
{
    constexpr unsigned most = 1024;
    const dim3 blocks = dim3(std::min(blocks_for(a.shape[0] * a.shape[1]).x, most));
    double *partial, found[most], largest = 0;
    SVD_TRY(scratch(context, most, &partial));
    SVD_TRY(hip_queue(context, largest_kernel<T>, blocks, dim3(svd_threads), svd_threads * sizeof(double),
                      matrix_of<const T>(a), partial));
    SVD_TRY(to_host(context, found, partial, blocks.x));
    for (unsigned i = 0; i < blocks.x; i++)
        largest = std::max(largest, found[i]);
    if (std::isinf(largest))
        return context->host->error(FL_E_ARGUMENT,
                                    "svd: a has an element that is not finite: there is no decomposition");
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    *scale = largest > 0 ? -std::min(exponent, 1000) : 0; /* 2^1000 and its inverse can be told; 2^1074 cannot */
    *scale = std::min(*scale, 1000);
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------------- products ---- */

bool has_blas()
{
    static const bool has = [] {
        char why[256];
        return hip_blas_available(why, sizeof why);
    }();
    return has;
}

/* From one packed row, or column, to the next. Where there is only one it means nothing, and a BLAS yet wants it to be
 * as long as that. */
template <typename T>
int64_t blas_stride(const strided<T> &m)
{
    return m.column != 1 ? std::max(m.column, m.rows) : std::max(m.row, m.columns);
}

/* c = a b. Of each matrix the rows or the columns are packed. */
template <typename T>
fl_status multiply(const fl_context *context, const strided<const T> &a, const strided<const T> &b, const strided<T> &c)
{
    if (!has_blas()) {
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

/* -------------------------------------------------------------------------------------- putting it together ---- */

/* Vectors as rows, and the values that belong to them, on the device and scaled. near: of the shorter edge of a. */
struct decomposition {
    strided<const double> near, far;
    std::vector<double> values; /* k of them, in any order, and of any sign, which is the far vector's */
};

/* The results, sorted, in their dtype and places. Waits. */
template <typename T>
fl_status put(const fl_context *context, const fl_svd_args *args, const decomposition &d, int scale)
{
    const int64_t k = args->s.shape[0];
    std::vector<int64_t> order((size_t)k);
    std::vector<double> sign((size_t)k), plus((size_t)k, 1);
    std::vector<T> s((size_t)k);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
        return std::fabs(d.values[(size_t)x]) > std::fabs(d.values[(size_t)y]);
    });
    for (size_t i = 0; i < (size_t)k; i++) {
        const double value = d.values[(size_t)order[i]];
        sign[i] = value < 0 ? -1 : 1;
        s[i] = (T)std::ldexp(std::fabs(value), -scale);
    }
    int64_t *order_there;
    double *sign_there, *plus_there;
    SVD_TRY(scratch(context, k, &order_there));
    SVD_TRY(scratch(context, k, &sign_there));
    SVD_TRY(scratch(context, k, &plus_there));
    SVD_TRY(to_device(context, order_there, order.data(), k));
    SVD_TRY(to_device(context, sign_there, sign.data(), k));
    SVD_TRY(to_device(context, plus_there, plus.data(), k));
    SVD_TRY(to_device(context, static_cast<T *>(args->s.data), s.data(), k));
    const bool tall = args->a.shape[0] >= args->a.shape[1];
    const strided<T> u = transposed(matrix_of<T>(args->u)), vt = matrix_of<T>(args->vt);
    SVD_TRY(hip_queue(context, take_rows_kernel<T>, blocks_for(u.rows * u.columns), dim3(svd_threads), 0,
                      tall ? d.far : d.near, u, order_there, tall ? sign_there : plus_there));
    return hip_queue(context, take_rows_kernel<T>, blocks_for(vt.rows * vt.columns), dim3(svd_threads), 0,
                     tall ? d.near : d.far, vt, order_there, tall ? plus_there : sign_there);
}

/* a in f64, scaled. */
template <typename T>
fl_status wide_copy(const fl_context *context, const fl_buffer &a, int scale, bool transpose, strided<double> *copy)
{
    double *data;
    SVD_TRY(scratch(context, a.shape[0] * a.shape[1], &data));
    const strided<const T> from = matrix_of<const T>(a);
    *copy = transpose ? packed(data, a.shape[1], a.shape[0]) : packed(data, a.shape[0], a.shape[1]);
    return copy_scaled(context, transpose ? transposed(from) : from, *copy, scale);
}

/* The near vectors: eigenvectors, those of the k largest values first. false: the solver gave up. */
fl_status eigenvectors(const fl_context *context, const strided<double> &a, int64_t k, strided<double> *near,
                       bool *done)
{
    const bool tall = a.rows >= a.columns;
    const int64_t p = std::min(a.rows, a.columns);
    double *gram, *values, *vectors;
    int *info, said = 0;
    SVD_TRY(scratch(context, p * p, &gram));
    SVD_TRY(scratch(context, p, &values));
    SVD_TRY(scratch(context, 1, &info));
    SVD_TRY(scratch(context, k * p, &vectors));
    const strided<const double> left = read_only(tall ? transposed(a) : a);
    SVD_TRY(multiply(context, left, transposed(left), packed(gram, p, p)));
    SVD_TRY(hip_solver_eigen(context, p, gram, values, info));
    SVD_TRY(to_host(context, &said, info, 1));
    *done = said == 0;
    *near = packed(vectors, k, p);
    const strided<const double> last_first = {gram + (p - 1) * p, -p, 1, k, p}; /* the library's columns are our rows */
    return copy_scaled(context, last_first, *near, 0);
}

/* The far vectors from the near ones, with the values: far' = q of near a' (a tall), or of near a. */
fl_status far_vectors(const fl_context *context, const strided<double> &a, decomposition *d)
{
    const bool tall = a.rows >= a.columns;
    const int64_t k = d->near.rows, q = std::max(a.rows, a.columns);
    double *far, *tau, *diagonal;
    SVD_TRY(scratch(context, k * q, &far));
    SVD_TRY(scratch(context, k, &tau));
    SVD_TRY(scratch(context, k, &diagonal));
    d->far = read_only(packed(far, k, q));
    d->values.resize((size_t)k);
    SVD_TRY(multiply(context, d->near, read_only(tall ? transposed(a) : a), packed(far, k, q)));
    SVD_TRY(hip_solver_qr(context, q, k, far, tau));
    const strided<const double> of_r = {far, 0, q + 1, 1, k};
    SVD_TRY(copy_scaled(context, of_r, packed(diagonal, 1, k), 0));
    SVD_TRY(hip_solver_form_q(context, q, k, far, tau));
    return to_host(context, d->values.data(), diagonal, k);
}

/* The solver's own decomposition, in f64. A tall matrix that is column-major is what it takes: a itself where a is wide
 * and row-major. */
template <typename T>
fl_status by_solver(const fl_context *context, const fl_svd_args *args, int scale, bool fast, decomposition *d,
                    bool *done)
{
    const bool tall = args->a.shape[0] >= args->a.shape[1];
    const int64_t p = args->a.shape[tall], q = args->a.shape[!tall], k = args->s.shape[0];
    strided<double> a;
    double *far, *near, *values, doubt = 0;
    int *info, said = 0;
    SVD_TRY(wide_copy<T>(context, args->a, scale, tall, &a));
    SVD_TRY(scratch(context, q * p, &far));
    SVD_TRY(scratch(context, p * p, &near));
    SVD_TRY(scratch(context, p, &values));
    SVD_TRY(scratch(context, 1, &info));
    SVD_TRY(hip_solver_svd(context, fast, q, p, a.data, values, far, near, info, &doubt));
    SVD_TRY(to_host(context, &said, info, 1));
    d->values.resize((size_t)p);
    SVD_TRY(to_host(context, d->values.data(), values, p));
    d->far = read_only(packed(far, k, q));
    d->near = {near, fast ? p : 1, fast ? 1 : p, k, p};
    *done = said == 0 && (!fast || doubt <= 4 * DBL_EPSILON * d->values[0]);
    d->values.resize((size_t)k);
    return FL_OK;
}

/* Polar decompositions say when they are in doubt, as of some matrices that are not of full rank. */
template <typename T>
fl_status by_solver_surely(const fl_context *context, const fl_svd_args *args, int scale, decomposition *d)
{
    bool done = false;
    if (hip_solver_has_fast())
        SVD_TRY(by_solver<T>(context, args, scale, true, d, &done));
    if (!done)
        SVD_TRY(by_solver<T>(context, args, scale, false, d, &done));
    return done ? FL_OK
                : context->host->error(FL_E_DEVICE, "svd: the decomposition on %s device %d did not converge",
                                       gpu_vendor, hip_device_of(context)->number);
}

template <typename T>
fl_status decompose(const fl_context *context, const fl_svd_args *args, int scale, decomposition *d)
{
    bool done = false;
    if (sizeof(T) == sizeof(float)) {
        strided<double> a, near;
        SVD_TRY(wide_copy<T>(context, args->a, scale, false, &a));
        SVD_TRY(eigenvectors(context, a, args->s.shape[0], &near, &done));
        d->near = read_only(near);
        if (done)
            return far_vectors(context, a, d);
    }
    return by_solver_surely<T>(context, args, scale, d);
}

/* What comes back from the device is read by the host until the stream is done. */
template <typename T>
fl_status run_library(const fl_context *context, const fl_svd_args *args)
{
    int scale;
    decomposition d;
    SVD_TRY(find_scale<T>(context, args->a, &scale));
    SVD_TRY(decompose<T>(context, args, scale, &d));
    return put<T>(context, args, d, scale);
}

/* -------------------------------------------------------------------------------------------------------- host ---- */

/* A packed matrix of a buffer's shape in host memory. */
template <typename T>
fl_buffer on_host(const fl_buffer &b, T *data)
{
    fl_buffer h = b;
    h.data = data;
    h.stride[h.ndim - 1] = 1;
    if (h.ndim == 2)
        h.stride[0] = h.shape[1];
    return h;
}

template <typename T>
fl_status fetch(const fl_context *context, const fl_buffer &h, const fl_buffer &b)
{
    const size_t width = (size_t)b.shape[1] * sizeof(T);
    return copy_and_wait(context, h.data, width, b.data, (size_t)b.stride[0] * sizeof(T), width, (size_t)b.shape[0],
                         hipMemcpyDeviceToHost);
}

template <typename T>
fl_status send(const fl_context *context, const fl_buffer &b, const fl_buffer &h)
{
    const size_t rows = b.ndim == 2 ? (size_t)b.shape[0] : 1, width = (size_t)b.shape[b.ndim - 1] * sizeof(T);
    const size_t pitch = b.ndim == 2 ? (size_t)b.stride[0] * sizeof(T) : width;
    return copy_and_wait(context, b.data, pitch, h.data, width, width, rows, hipMemcpyHostToDevice);
}

struct freed {
    void operator()(void *memory) const
    {
        std::free(memory);
    }
};

/* a to the host, what host_svd makes of it, and the results back. */
template <typename T>
fl_status run_host(const fl_context *context, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], k = args->s.shape[0];
    const std::unique_ptr<void, freed> memory(std::malloc((size_t)(m * n + k * (m + n + 1)) * sizeof(T)));
    T *data = static_cast<T *>(memory.get());
    if (!data)
        return context->host->error(FL_E_MEMORY, "svd: out of memory: the matrix on the host");
    const fl_svd_args host = {on_host(args->a, data), on_host(args->u, data + m * n),
                              on_host(args->s, data + m * n + k * (m + n)), on_host(args->vt, data + m * n + k * m),
                              args->seed};
    SVD_TRY(fetch<T>(context, host.a, args->a));
    SVD_TRY(host_svd(context->host, &host));
    SVD_TRY(send<T>(context, args->u, host.u));
    SVD_TRY(send<T>(context, args->s, host.s));
    return send<T>(context, args->vt, host.vt);
}

/* -------------------------------------------------------------------------------------------------------- auto ---- */

template <typename T>
fl_status run_exact(const fl_context *context, const fl_svd_args *args)
{
    return hip_solver_loads() ? run_library<T>(context, args) : run_host<T>(context, args);
}

const char *chosen(const fl_context *, const void *, fl_launch *)
{
    return hip_solver_loads() ? "library" : "host";
}

/* -------------------------------------------------------------------------------------------------- randomized ---- */

/* Makes the packed rows orthonormal: Householder's QR, whose q is orthonormal whatever the rows are; or the host does.
 */
template <typename T>
fl_status orthonormalize(const fl_context *context, const strided<T> &rows)
{
    const int64_t count = rows.rows * rows.columns;
    if (hip_solver_loads()) {
        T *tau;
        SVD_TRY(scratch(context, rows.rows, &tau));
        SVD_TRY(hip_solver_qr(context, rows.columns, rows.rows, rows.data, tau));
        return hip_solver_form_q(context, rows.columns, rows.rows, rows.data, tau);
    }
    const std::unique_ptr<void, freed> memory(std::malloc((size_t)count * sizeof(T)));
    T *data = static_cast<T *>(memory.get());
    if (!data)
        return context->host->error(FL_E_MEMORY, "svd: out of memory: the sketch on the host");
    SVD_TRY(to_host(context, data, rows.data, count));
    host_orthonormalize(sizeof(T) == sizeof(float) ? FL_F32 : FL_F64, data, rows.rows, rows.columns);
    return to_device(context, rows.data, data, count);
}

/* q = an orthonormal basis of nearly the range of a, as rows; x: room for as many rows of a's width. */
template <typename T>
fl_status find_range(const fl_context *context, const strided<const T> &a, uint64_t seed, const strided<T> &x,
                     const strided<T> &q)
{
    const int64_t numbers = x.rows * x.columns;
    SVD_TRY(hip_queue(context, gaussian_kernel<T>, blocks_for(numbers), dim3(svd_threads), 0, x.data, numbers, seed));
    SVD_TRY(multiply(context, read_only(x), transposed(a), q));
    SVD_TRY(orthonormalize(context, q));
    for (int power = 0; power < SVD_POWERS; power++) {
        SVD_TRY(multiply(context, read_only(q), a, x));
        SVD_TRY(orthonormalize(context, x));
        SVD_TRY(multiply(context, read_only(x), transposed(a), q));
        SVD_TRY(orthonormalize(context, q));
    }
    return FL_OK;
}

fl_buffer buffer_of(const fl_buffer &like, void *data, int64_t rows, int64_t columns)
{
    fl_buffer b = like;
    b.data = data;
    b.ndim = 2;
    b.shape[0] = rows;
    b.shape[1] = b.stride[0] = columns;
    b.stride[1] = 1;
    return b;
}

/* Algorithms 4.4 and 5.1 of Halko, Martinsson and Tropp: the decomposition of what is left of a in a basis of nearly
 * its range. Numbers far from 1 are scaled first, so that no product of them overflows. */
template <typename T>
fl_status run_randomized(const fl_context *context, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], k = args->s.shape[0], l = svd_sketch(args);
    strided<const T> a = matrix_of<const T>(args->a);
    T *x, *q, *w, *s, *scaled;
    int scale;
    SVD_TRY(find_scale<T>(context, args->a, &scale));
    scale = scale < -8 || scale > 8 ? scale : 0;
    if (scale != 0) {
        SVD_TRY(scratch(context, m * n, &scaled));
        SVD_TRY(copy_scaled(context, a, packed(scaled, m, n), scale));
        a = packed<const T>(scaled, m, n);
    }
    SVD_TRY(scratch(context, l * n, &x));
    SVD_TRY(scratch(context, l * m, &q));
    SVD_TRY(scratch(context, l * k, &w));
    SVD_TRY(scratch(context, k, &s));
    SVD_TRY(find_range(context, a, args->seed, packed(x, l, n), packed(q, l, m)));
    SVD_TRY(multiply(context, read_only(packed(q, l, m)), a, packed(x, l, n)));
    fl_svd_args rest = {buffer_of(args->a, x, l, n), buffer_of(args->u, w, l, k), args->s, args->vt, args->seed};
    rest.s.data = s;
    SVD_TRY(run_exact<T>(context, &rest));
    SVD_TRY(copy_scaled(context, packed<const T>(s, 1, k), packed(static_cast<T *>(args->s.data), 1, k), -scale));
    return multiply(context, transposed(read_only(packed(q, l, m))), read_only(packed(w, l, k)), matrix_of<T>(args->u));
}

/* -------------------------------------------------------------------------------------------------- plans, rows ----
 */

double size_of(const fl_svd_args *args)
{
    return args->a.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

/* A QR factorization with its q, of m x n; a symmetric eigenproblem with its vectors; a decomposition: Golub and Van
 * Loan, "Matrix computations", 4th ed., sections 5.2, 8.3 and 8.6. */
double qr_flops(double m, double n)
{
    return 4 * (m * n * n - n * n * n / 3);
}

double library_flops(const fl_svd_args *args, double m, double n, double k)
{
    const double p = std::min(m, n), q = std::max(m, n);
    if (args->a.dtype == FL_F32)
        return 2 * q * p * p + 9 * p * p * p + 2 * q * p * k + qr_flops(q, k);
    return 6 * q * p * p + 20 * p * p * p;
}

/* The libraries choose their blocks; the bytes are at least those of an operand for each multiply-add. */
void tell(const fl_svd_args *args, double flops, fl_launch *launch)
{
    std::fill_n(launch->block, 3, 0);
    launch->flops = flops;
    launch->bytes_requested = flops / 2 * size_of(args);
}

void plan_exact(void *, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1];
    tell(args, library_flops(args, m, n, (double)args->s.shape[0]), launch);
}

void plan_randomized(void *, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1], k = (double)args->s.shape[0];
    const double l = (double)svd_sketch(args);
    const double products = 2 * (SVD_POWERS + 1) * 2 * m * n * l;
    const double orthonormal = SVD_POWERS * (qr_flops(m, l) + qr_flops(n, l)) + qr_flops(m, l);
    tell(args, products + orthonormal + library_flops(args, l, n, k) + 2 * m * l * k, launch);
}

/* fl_row.run: one of the above, in the dtype computed in. */
template <fl_status (*in_f32)(const fl_context *, const fl_svd_args *),
          fl_status (*in_f64)(const fl_context *, const fl_svd_args *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    try {
        return (args->a.dtype == FL_F32 ? in_f32 : in_f64)(context, args);
    } catch (const std::bad_alloc &) {
        return context->host->error(FL_E_MEMORY, "svd: out of memory: singular values on the host");
    }
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_SVD, "auto", dtypes, "library where it loads, else host", plan_exact,
     run<run_exact<float>, run_exact<double>>, chosen},
    {FL_OP_SVD, "host", dtypes,
     "not the GPU's work: copied to the host, decomposed there by LAPACK (or Jacobi), and back", plan_exact,
     run<run_host<float>, run_host<double>>, nullptr},
    {FL_OP_SVD, "randomized", dtypes,
     "of a random sketch of the range: nearly the leading ones, in a fraction of the time", plan_randomized,
     run<run_randomized<float>, run_randomized<double>>, nullptr},
};

const fl_row library_rows[] = {
    {FL_OP_SVD, "library", dtypes,
     "by cuSOLVER or rocSOLVER: f32 by eigenvectors in f64 and QR, f64 by a polar decomposition or bidiagonals",
     plan_exact, run<run_library<float>, run_library<double>>, nullptr},
};

} // namespace

hip_rows hip_svd_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}

hip_rows hip_svd_library_rows()
{
    return {library_rows, sizeof library_rows / sizeof library_rows[0]};
}
