/* SPDX-License-Identifier: MIT
 *
 * svd.hip.cpp - FL_OP_SVD on a GPU. The factorizations are the vendor's (solver.hpp) or the host's (host_svd.h); this
 * file combines them into decompositions that are as exact as the dtype, and fast.
 *
 * f32: the eigenvectors of the smaller of a'a and aa', in f64, are the near vectors; the QR factorization of their
 * product with a gives the far vectors, and the values on the diagonal of r. In f32 the squares in a'a would lose half
 * the digits; f64 has twice as many, so the result is exact to the rounding of f32: the error of an eigenvalue, and of
 * a product of two vectors, is a few 1e-16 of the largest square; that of the values, and of r beside its diagonal, is
 * thus the root of that, a few 1e-8 of the largest value. This is several times as fast as decompositions of a itself,
 * in whose rotations or bidiagonalization a GPU mostly waits.
 *
 * f64: the solver's decomposition of a itself.
 *
 * A library's vectors are taken only if they are orthonormal, which two products show; else the next method computes
 * them, in the end the host. Matrices of low rank need it.
 *
 * The rows wait, because the host determines the scale of a and the order of the values.
 */
#include "solver.hpp"
#include "svd_matrices.hpp"

#include "../cpu/host_svd.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

namespace
{

/* -------------------------------------------------------------------------------------------------------- host ---- */

/* A packed matrix in host memory, of the same shape as the buffer. */
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

/* Copies a to the host, decomposes it there and copies the results back. */
template <typename T>
fl_status run_host(const fl_context *context, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], k = args->s.shape[0];
    const std::unique_ptr<void, freed> memory(std::malloc((size_t)(m * n + k * (m + n + 1)) * sizeof(T)));
    T *data = static_cast<T *>(memory.get());
    if (!data)
        return context->host->error(FL_E_MEMORY, "svd: out of host memory for the matrix");
    const fl_svd_args host = {on_host(args->a, data), on_host(args->u, data + m * n),
                              on_host(args->s, data + m * n + k * (m + n)), on_host(args->vt, data + m * n + k * m),
                              args->seed};
    SVD_TRY(fetch<T>(context, host.a, args->a));
    SVD_TRY(host_svd(context->host, &host));
    SVD_TRY(send<T>(context, args->u, host.u));
    SVD_TRY(send<T>(context, args->s, host.s));
    return send<T>(context, args->vt, host.vt);
}

/* -------------------------------------------------------------------------------------- combining ---- */

/* Vectors as rows on the device, and their values, which are scaled. near: the vectors of the shorter dimension of a.
 */
struct decomposition {
    strided<const double> near, far;
    std::vector<double> values; /* k, in any order; a negative one belongs to the negative far vector */
};

/* Sorts the results and stores them in the outputs. Waits. */
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

/* Copies a to f64, scaled. */
template <typename T>
fl_status wide_copy(const fl_context *context, const fl_buffer &a, int scale, bool transpose, strided<double> *copy)
{
    double *data;
    SVD_TRY(scratch(context, a.shape[0] * a.shape[1], &data));
    const strided<const T> from = matrix_of<const T>(a);
    *copy = transpose ? packed(data, a.shape[1], a.shape[0]) : packed(data, a.shape[0], a.shape[1]);
    return copy_scaled(context, transpose ? transposed(from) : from, *copy, scale);
}

/* Computes the near vectors: the eigenvectors of the k largest values. *done is false if the solver failed. */
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
    const strided<const double> last_first = {gram + (p - 1) * p, -p, 1, k,
                                              p}; /* the library's columns are rows here */
    return copy_scaled(context, last_first, *near, 0);
}

/* Computes the far vectors and the values from the near vectors: far' = q of near a' (a tall), or of near a. */
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

/* Sets *done to false unless the vectors are orthonormal to the rounding of results in T (docs/accuracy.md), of which
 * two units are left for rounding the vectors to T. A solver may report success for others: cuSOLVER does for some
 * matrices of low rank. room: memory for k x k elements. Waits. */
template <typename T>
fl_status verify(const fl_context *context, const fl_svd_args *args, const decomposition &d, double *room, bool *done)
{
    const double unit = std::numeric_limits<T>::epsilon(),
                 longest = (double)std::max(args->a.shape[0], args->a.shape[1]);
    for (const strided<const double> &rows : {d.near, d.far}) {
        const strided<double> gram = packed(room, rows.rows, rows.rows);
        double off;
        if (!*done)
            return FL_OK;
        SVD_TRY(multiply(context, rows, transposed(rows), gram));
        SVD_TRY(find_largest(context, read_only(gram), 1.0, &off));
        *done = off <= (14 + 4 * std::sqrt(longest)) * unit;
    }
    return FL_OK;
}

template <typename T>
fl_status by_eigenvectors(const fl_context *context, const fl_svd_args *args, int scale, decomposition *d, bool *done)
{
    strided<double> a, near;
    SVD_TRY(wide_copy<T>(context, args->a, scale, false, &a));
    SVD_TRY(eigenvectors(context, a, args->s.shape[0], &near, done));
    d->near = read_only(near);
    if (!*done)
        return FL_OK;
    SVD_TRY(far_vectors(context, a, d));
    return verify<T>(context, args, *d, a.data, done);
}

/* The solver's own decomposition, in f64. It takes a tall column-major matrix, which a wide row-major one is without a
 * change. A polar decomposition (`fast`) reports doubt, for example for some matrices without full rank. */
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
    return verify<T>(context, args, *d, a.data, done);
}

/* Tries the solver's methods, the fastest one first, until one computes the vectors; if none does, the host computes
 * them. */
template <typename T>
fl_status run_library(const fl_context *context, const fl_svd_args *args)
{
    int scale;
    bool done = false;
    decomposition d;
    SVD_TRY(find_scale<T>(context, args->a, &scale));
    if (sizeof(T) == sizeof(float))
        SVD_TRY(by_eigenvectors<T>(context, args, scale, &d, &done));
    if (!done && hip_solver_has_fast())
        SVD_TRY(by_solver<T>(context, args, scale, true, &d, &done));
    if (!done)
        SVD_TRY(by_solver<T>(context, args, scale, false, &d, &done));
    return done ? put<T>(context, args, d, scale) : run_host<T>(context, args);
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

/* Makes the packed rows orthonormal, by Householder's QR, whose q is orthonormal for any rows; without a solver on the
 * host. */
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
        return context->host->error(FL_E_MEMORY, "svd: out of host memory for the sketch");
    SVD_TRY(to_host(context, data, rows.data, count));
    host_orthonormalize(sizeof(T) == sizeof(float) ? FL_F32 : FL_F64, data, rows.rows, rows.columns);
    return to_device(context, rows.data, data, count);
}

/* q = an orthonormal basis, as rows, that nearly spans the range of a; x: memory for as many rows of a's width. */
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

/* Algorithms 4.4 and 5.1 of Halko, Martinsson and Tropp: the decomposition of a projected on a basis that nearly spans
 * its range. Elements far from 1 are scaled first, so that no product of them overflows. */
template <typename T>
fl_status run_randomized(const fl_context *context, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], k = args->s.shape[0], l = svd_sketch(args);
    strided<const T> a = matrix_of<const T>(args->a);
    T *x, *q, *w, *s, *scaled;
    int scale;
    if (l == std::min(m, n)) /* the basis would span all: projecting on it costs time and digits, and saves nothing */
        return run_exact<T>(context, args);
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

/* ---------------------------------------------------------------------------------------------------------- qr ---- */

/* q of the first k columns of a, scaled, and r = q' a. */
template <typename T>
fl_status factorize(const fl_context *context, const fl_qr_args *args)
{
    const int64_t k = args->qt.shape[0], m = args->qt.shape[1];
    const strided<const T> a = matrix_of<const T>(args->a), first = {a.data, a.row, a.column, m, k};
    T *q;
    int scale;
    SVD_TRY(find_scale<T>(context, args->a, &scale, "qr"));
    SVD_TRY(scratch(context, k * m, &q));
    SVD_TRY(copy_scaled(context, transposed(first), packed(q, k, m), scale));
    SVD_TRY(orthonormalize(context, packed(q, k, m)));
    SVD_TRY(copy_scaled(context, read_only(packed(q, k, m)), matrix_of<T>(args->qt), 0));
    return multiply(context, read_only(packed(q, k, m)), a, matrix_of<T>(args->r));
}

fl_status run_qr(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_qr_args *args = static_cast<const fl_qr_args *>(arguments);
    return args->a.dtype == FL_F32 ? factorize<float>(context, args) : factorize<double>(context, args);
}

/* -------------------------------------------------------------------------------------------------- plans, rows ----
 */

double size_of(const fl_buffer &a)
{
    return a.dtype == FL_F32 ? sizeof(float) : sizeof(double);
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

/* The libraries choose their blocks; the bytes are at least one operand per multiply-add. */
void fill_launch(const fl_buffer &a, double flops, fl_launch *launch)
{
    std::fill_n(launch->block, 3, 0);
    launch->flops = flops;
    launch->bytes_requested = flops / 2 * size_of(a);
}

void plan_exact(void *, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1];
    fill_launch(args->a, library_flops(args, m, n, (double)args->s.shape[0]), launch);
}

void plan_randomized(void *device, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    if (svd_sketch(args) == std::min(args->a.shape[0], args->a.shape[1]))
        return plan_exact(device, arguments, launch);
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1], k = (double)args->s.shape[0];
    const double l = (double)svd_sketch(args);
    const double products = 2 * (SVD_POWERS + 1) * 2 * m * n * l;
    const double orthonormal = SVD_POWERS * (qr_flops(m, l) + qr_flops(n, l)) + qr_flops(m, l);
    fill_launch(args->a, products + orthonormal + library_flops(args, l, n, k) + 2 * m * l * k, launch);
}

void plan_qr(void *, const void *arguments, fl_launch *launch)
{
    const fl_qr_args *args = static_cast<const fl_qr_args *>(arguments);
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1], k = (double)args->qt.shape[0];
    fill_launch(args->a, qr_flops(m, k) + 2 * m * n * k, launch);
}

double bound_randomized(void *device, const void *args)
{
    return svd_sketch_bound(static_cast<hip_device *>(device)->host, static_cast<const fl_svd_args *>(args));
}

/* fl_row.run: one of the functions above, in f32 or f64. */
template <fl_status (*in_f32)(const fl_context *, const fl_svd_args *),
          fl_status (*in_f64)(const fl_context *, const fl_svd_args *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    try {
        return (args->a.dtype == FL_F32 ? in_f32 : in_f64)(context, args);
    } catch (const std::bad_alloc &) {
        return context->host->error(FL_E_MEMORY, "svd: out of host memory for the singular values");
    }
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_SVD, "auto", dtypes, "library if it loads, else host", plan_exact, run<run_exact<float>, run_exact<double>>,
     chosen, false, nullptr, nullptr},
    {FL_OP_QR, "naive", dtypes,
     "Householder's reflections by cuSOLVER or rocSOLVER; without them modified Gram-Schmidt on the host", plan_qr,
     run_qr, nullptr, false, nullptr, nullptr},
    {FL_OP_SVD, "host", dtypes,
     "copies the matrix to the host, decomposes it there by LAPACK (or Jacobi), and copies back", plan_exact,
     run<run_host<float>, run_host<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_SVD, "randomized", dtypes,
     "decomposes a random sketch of the range: approximate leading values in a fraction of the time", plan_randomized,
     run<run_randomized<float>, run_randomized<double>>, nullptr, true, nullptr, bound_randomized},
#if !defined(GPU_EMULATION) /* the emulation has no solver */
    {FL_OP_SVD, "library", dtypes,
     "by cuSOLVER or rocSOLVER: f32 by eigenvectors in f64 and QR, f64 by a polar decomposition or bidiagonals",
     plan_exact, run<run_library<float>, run_library<double>>, nullptr, false, hip_solver_ready, nullptr},
#endif
};

} // namespace

hip_rows hip_svd_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
