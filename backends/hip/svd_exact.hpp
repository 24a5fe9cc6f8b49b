/* SPDX-License-Identifier: MIT
 *
 * svd_exact.hpp - the decomposition of a whole matrix in svd.hip.cpp: by the vendor's factorizations (solver.hpp),
 * which are combined so that it is as exact as the dtype, and fast, or by the host (host_svd.h).
 *
 * f32: the eigenvectors of the smaller of a'a and aa', in f64, are the near vectors; the QR factorization of their
 * product with a, by Cholesky's or by reflections, gives the far vectors, and the values on the diagonal of r. In f32
 * the squares in a'a would lose half the digits; f64 has twice as many, so the result is exact to the rounding of f32:
 * the error of an eigenvalue, and of a product of two vectors, is a few 1e-16 of the largest square; that of the
 * values, and of r beside its diagonal, is thus the root of that, a few 1e-8 of the largest value. This is several
 * times as fast as decompositions of a itself, in whose rotations or bidiagonalization a GPU mostly waits.
 *
 * f64: the solver's decomposition of a itself. The variant `single`, whose results are exact to f32's rounding alone:
 * that of f32, but without rounding a to f32, because it is computed in f64 anyway; the host computes in f32.
 *
 * A library's vectors are taken only if they are orthonormal, which two products show; else the next method computes
 * them, in the end the host. Matrices of low rank need it.
 */
#ifndef FLYNN_HIP_SVD_EXACT_HPP
#define FLYNN_HIP_SVD_EXACT_HPP

#include "solver.hpp"
#include "svd_matrices.hpp"

#include "../cpu/host_svd.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
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

/* Copies a to the host, decomposes it there and copies the results back. R: the dtype that is computed in. */
template <typename T, typename R = T>
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
    SVD_TRY((sizeof(R) < sizeof(T) ? host_svd_single : host_svd)(context->host, &host));
    SVD_TRY(send<T>(context, args->u, host.u));
    SVD_TRY(send<T>(context, args->s, host.s));
    return send<T>(context, args->vt, host.vt);
}

/* ------------------------------------------------------------------------------- orthonormal rows ---- */

/* Device memory of orthonormal_rows, for `count` rows of at most `longest` elements, for several calls. */
struct orthonormal_room {
    double *rows, *gram, *diagonal;
    int *info;
};

fl_status make_room(const fl_context *context, int64_t count, int64_t longest, orthonormal_room *room)
{
    SVD_TRY(scratch(context, count * longest, &room->rows));
    SVD_TRY(scratch(context, count * count, &room->gram));
    SVD_TRY(scratch(context, count, &room->diagonal));
    return scratch(context, 1, &room->info);
}

/* The limit of orthonormal_rows for results in R: a quarter of what docs/accuracy.md allows rows of this length. */
template <typename R>
double orthonormal_limit(int64_t length)
{
    return std::sqrt((double)length) * std::numeric_limits<R>::epsilon();
}

/* Makes `rows`, packed in room.rows, orthonormal: with rows rows' = l l' they become inv(l) rows, so that each combines
 * those up to it. This is several times as fast as Householder's reflections, in which a GPU mostly waits. Of rows that
 * nearly depend on each other rounding leaves the result less orthogonal; a second pass corrects that (Yamamoto,
 * Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm", ETNA 44, 2015). *done is
 * false if there is no BLAS, if a factorization failed, or if the products still differ by more than `limit` from the
 * identity; the rows are of no use then. lengths: the diagonal of l. Waits. */
fl_status orthonormal_rows(const fl_context *context, const orthonormal_room &room, double limit,
                           const strided<double> &rows, std::vector<double> *lengths, bool *done)
{
    const strided<double> gram = packed(room.gram, rows.rows, rows.rows);
    const strided<const double> diagonal = {gram.data, 0, gram.row + 1, 1, gram.rows};
    std::vector<double> of_pass((size_t)gram.rows);
    *done = false;
    lengths->assign((size_t)gram.rows, 1);
    if (!hip_blas_loads())
        return FL_OK;
    SVD_TRY(multiply(context, read_only(rows), transposed(read_only(rows)), gram));
    for (int pass = 0; pass < 2 && !*done; pass++) {
        int info;
        double off;
        SVD_TRY(hip_solver_cholesky(context, gram.rows, gram.data, room.info));
        SVD_TRY(copy_scaled(context, diagonal, packed(room.diagonal, 1, gram.rows), 0));
        SVD_TRY(hip_blas_solve(context, rows.rows, rows.columns, gram.data, rows.data));
        SVD_TRY(multiply(context, read_only(rows), transposed(read_only(rows)), gram));
        SVD_TRY(find_largest(context, read_only(gram), 1.0, &off));
        SVD_TRY(to_host(context, &info, room.info, 1));
        SVD_TRY(to_host(context, of_pass.data(), room.diagonal, gram.rows));
        if (info != 0)
            return FL_OK;
        for (size_t i = 0; i < lengths->size(); i++)
            (*lengths)[i] *= of_pass[i];
        *done = off <= limit;
    }
    return FL_OK;
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

/* Computes the far vectors and the values from the near vectors: far' = q of near a' (a tall), or of near a. They are
 * at right angles already, but for rounding against the largest value. */
fl_status far_vectors(const fl_context *context, const strided<double> &a, double limit, decomposition *d)
{
    const bool tall = a.rows >= a.columns;
    const int64_t k = d->near.rows, q = std::max(a.rows, a.columns);
    const strided<const double> across = read_only(tall ? transposed(a) : a);
    orthonormal_room room;
    bool done = false;
    SVD_TRY(make_room(context, k, q, &room));
    const strided<double> far = packed(room.rows, k, q);
    d->far = read_only(far);
    SVD_TRY(multiply(context, d->near, across, far));
    SVD_TRY(orthonormal_rows(context, room, limit, far, &d->values, &done));
    if (done)
        return FL_OK;
    double *tau;
    SVD_TRY(scratch(context, k, &tau));
    SVD_TRY(multiply(context, d->near, across, far));
    SVD_TRY(hip_solver_qr(context, q, k, far.data, tau));
    const strided<const double> of_r = {far.data, 0, q + 1, 1, k};
    SVD_TRY(copy_scaled(context, of_r, packed(room.diagonal, 1, k), 0));
    SVD_TRY(hip_solver_form_q(context, q, k, far.data, tau));
    return to_host(context, d->values.data(), room.diagonal, k);
}

/* Sets *done to false unless the vectors are orthonormal to the rounding of results in R (docs/accuracy.md), of which
 * two units are left for rounding the vectors to R. A solver may report success for others: cuSOLVER does for some
 * matrices of low rank. room: memory for k x k elements. Waits. */
template <typename R>
fl_status verify(const fl_context *context, const fl_svd_args *args, const decomposition &d, double *room, bool *done)
{
    const double unit = std::numeric_limits<R>::epsilon(),
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

/* T: the dtype of the arguments; R: the one to whose rounding the results are exact, here and below. */
template <typename T, typename R>
fl_status by_eigenvectors(const fl_context *context, const fl_svd_args *args, int scale, decomposition *d, bool *done)
{
    strided<double> a, near;
    SVD_TRY(wide_copy<T>(context, args->a, scale, false, &a));
    SVD_TRY(eigenvectors(context, a, args->s.shape[0], &near, done));
    d->near = read_only(near);
    if (!*done)
        return FL_OK;
    SVD_TRY(far_vectors(context, a, orthonormal_limit<R>(std::max(a.rows, a.columns)), d));
    return verify<R>(context, args, *d, a.data, done);
}

/* The solver's own decomposition, in f64. It takes a tall column-major matrix, which a wide row-major one is without a
 * change. A polar decomposition (`fast`) reports doubt, for example for some matrices without full rank. */
template <typename T, typename R>
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
    return verify<R>(context, args, *d, a.data, done);
}

/* Tries the solver's methods, the fastest one first, until one computes the vectors; if none does, the host computes
 * them. */
template <typename T, typename R = T>
fl_status run_library(const fl_context *context, const fl_svd_args *args)
{
    int scale;
    bool done = false;
    decomposition d;
    SVD_TRY(find_scale<T>(context, args->a, &scale));
    if (sizeof(R) == sizeof(float))
        SVD_TRY((by_eigenvectors<T, R>(context, args, scale, &d, &done)));
    if (!done && hip_solver_has_fast())
        SVD_TRY((by_solver<T, R>(context, args, scale, true, &d, &done)));
    if (!done)
        SVD_TRY((by_solver<T, R>(context, args, scale, false, &d, &done)));
    return done ? put<T>(context, args, d, scale) : run_host<T, R>(context, args);
}

/* -------------------------------------------------------------------------------------------------------- auto ---- */

template <typename T, typename R = T>
fl_status run_exact(const fl_context *context, const fl_svd_args *args)
{
    return hip_solver_loads() ? run_library<T, R>(context, args) : run_host<T, R>(context, args);
}

} // namespace

#endif
