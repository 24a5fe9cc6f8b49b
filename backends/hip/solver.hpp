/* SPDX-License-Identifier: MIT
 *
 * solver.hpp - factorizations by the vendor's solver. Matrices are packed and column-major, as the libraries need them,
 * in device memory. All work is queued in the context's stream, though the libraries may wait. The first call of a
 * process loads the library: FL_E_UNAVAILABLE if that fails.
 */
#ifndef FLYNN_HIP_SOLVER_HPP
#define FLYNN_HIP_SOLVER_HPP

#include "device.hpp"

/* fl_row.available of the rows that call it: loads the library. */
fl_status hip_solver_ready(void *device, char *why, size_t size);

/* Loads the library at the first call; false if that fails. */
bool hip_solver_loads();

/* Returns whether the library exists, or for the emulation, which has no solver, a LAPACK; else `why` states the
 * unavailable variants and the fix. Loads nothing. */
bool hip_solver_found(char *why, size_t size);

/* Returns whether hip_solver_svd takes `fast`. */
bool hip_solver_has_fast();

/* The eigenvalues, ascending, of the symmetric n x n matrix `a`. The eigenvectors overwrite `a`, as columns. `info` is
 * not 0 if it failed. */
fl_status hip_solver_eigen(const fl_context *context, int64_t n, double *a, double *values, int *info);

/* The symmetric n x n matrix `a` = l l', by Cholesky: l overwrites the lower triangle of its rows, and the elements
 * above it are undefined. `info` is not 0 if rounding leaves a pivot of `a` that is not positive. */
fl_status hip_solver_cholesky(const fl_context *context, int64_t n, double *a, int *info);

/* a (m x n, m >= n) = q r: leaves r in the upper triangle and the reflectors, from which form_q forms the n columns of
 * q.
 */
fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, float *a, float *tau);
fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, double *a, double *tau);
fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, float *a, float *tau);
fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, double *a, double *tau);

/* a (m x n, m >= n, overwritten) = u diag(values) v': u is m x n; v is n x n, transposed unless `fast`. `doubt`, on the
 * host, bounds the error of the values if `fast`; `info` is not 0 if it failed. */
fl_status hip_solver_svd(const fl_context *context, bool fast, int64_t m, int64_t n, double *a, double *values,
                         double *u, double *v, int *info, double *doubt);

/* Destroys the device's handle. */
void hip_solver_close(hip_device *device);

#endif
