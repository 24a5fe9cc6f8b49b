/* SPDX-License-Identifier: MIT
 *
 * svd.hip.cpp - FL_OP_SVD and FL_OP_QR on a GPU: the randomized decomposition, QR, and the rows. The decomposition of a
 * whole matrix is in svd_exact.hpp. The rows wait, because the host determines the scale of a and the order of the
 * values.
 */
#include "svd_exact.hpp"

#include "../shared/svd_single.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

namespace
{

/* -------------------------------------------------------------------------------------------------- randomized ---- */

/* Makes the packed rows orthonormal: by orthonormal_rows, else by Householder's QR, whose q is orthonormal for any
 * rows; without a solver on the host. */
template <typename T>
fl_status orthonormalize(const fl_context *context, const orthonormal_room &room, const strided<T> &rows)
{
    const int64_t count = rows.rows * rows.columns;
    if (hip_solver_loads()) {
        const strided<double> wide = packed(room.rows, rows.rows, rows.columns);
        std::vector<double> lengths;
        bool done;
        T *tau;
        SVD_TRY(copy_scaled(context, read_only(rows), wide, 0));
        SVD_TRY(orthonormal_rows(context, room, orthonormal_limit<T>(rows.columns), wide, &lengths, &done));
        if (done)
            return copy_scaled(context, read_only(wide), rows, 0);
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
    orthonormal_room room = {};
    if (hip_solver_loads())
        SVD_TRY(make_room(context, x.rows, std::max(a.rows, a.columns), &room));
    SVD_TRY(hip_queue(context, gaussian_kernel<T>, blocks_for(numbers), dim3(svd_threads), 0, x.data, numbers, seed));
    SVD_TRY(multiply(context, read_only(x), transposed(a), q));
    SVD_TRY(orthonormalize(context, room, q));
    for (int power = 0; power < SVD_POWERS; power++) {
        SVD_TRY(multiply(context, read_only(q), a, x));
        SVD_TRY(orthonormalize(context, room, x));
        SVD_TRY(multiply(context, read_only(x), transposed(a), q));
        SVD_TRY(orthonormalize(context, room, q));
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
    orthonormal_room room = {};
    T *q;
    int scale;
    SVD_TRY(find_scale<T>(context, args->a, &scale, "qr"));
    SVD_TRY(scratch(context, k * m, &q));
    if (hip_solver_loads())
        SVD_TRY(make_room(context, k, m, &room));
    SVD_TRY(copy_scaled(context, transposed(first), packed(q, k, m), scale));
    SVD_TRY(orthonormalize(context, room, packed(q, k, m)));
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

/* `single` works in f64, with the operations of f32. */
void plan_single(void *, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    fl_svd_args in_f32 = *args;
    in_f32.a.dtype = FL_F32;
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1];
    fill_launch(args->a, library_flops(&in_f32, m, n, (double)args->s.shape[0]), launch);
}

double bound_single(void *device, const void *args)
{
    return svd_single_bound(static_cast<hip_device *>(device)->host, static_cast<const fl_svd_args *>(args));
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

constexpr auto run_exactly = run<run_exact<float>, run_exact<double>>;
constexpr auto run_single = run<run_exact<float>, run_exact<double, float>>; /* f64 alone */

/* Returns whether `auto` takes `single`: of a solver always, because its eigenvectors are faster than a decomposition
 * of a itself. */
bool takes_single(const fl_context *context, const void *arguments, double tolerance)
{
    const fl_svd_args *args = static_cast<const fl_svd_args *>(arguments);
    return tolerance > 0 && args->a.dtype == FL_F64 && bound_single(context->device, args) <= tolerance &&
           (hip_solver_loads() || host_svd_single_pays(args));
}

fl_status run_automatic(const fl_context *context, const void *args, const fl_launch *launch)
{
    return (takes_single(context, args, launch->tolerance) ? run_single : run_exactly)(context, args, launch);
}

const char *chosen(const fl_context *context, const void *args, fl_launch *launch)
{
    if (!takes_single(context, args, launch->tolerance))
        return hip_solver_loads() ? "library" : "host";
    plan_single(context->device, args, launch);
    return "single";
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_SVD, "auto", dtypes, "library if it loads, else host; of f64 single, with a tolerance", plan_exact,
     run_automatic, chosen, false, nullptr, nullptr},
    {FL_OP_QR, "naive", dtypes,
     "Cholesky's factorization of a'a, or reflections, by cuSOLVER or rocSOLVER; without them Gram-Schmidt on the host",
     plan_qr, run_qr, nullptr, false, nullptr, nullptr},
    {FL_OP_SVD, "host", dtypes,
     "copies the matrix to the host, decomposes it there by LAPACK (or Jacobi), and copies back", plan_exact,
     run<run_host<float>, run_host<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_SVD, "single", 1u << FL_F64,
     "as f32, by library if it loads, else host: values and vectors are exact to f32's rounding", plan_single,
     run_single, nullptr, true, nullptr, bound_single},
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
