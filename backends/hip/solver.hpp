/* SPDX-License-Identifier: MIT
 *
 * solver.hpp - factorizations by the vendor's solver. Matrices are packed and column-major, as the libraries have them;
 * memory is the device's. All is queued in the context's stream, though the libraries may wait. FL_E_UNAVAILABLE when
 * the library, which the first call of a process loads, cannot be.
 */
#ifndef FLYNN_HIP_SOLVER_HPP
#define FLYNN_HIP_SOLVER_HPP

#include "device.hpp"

/* Whether there is a library to load, else what that costs and what would mend it. Loads nothing. */
bool hip_solver_available(char *why, size_t size);

/* Whether it loads, which it does at the first call. */
bool hip_solver_loads();

/* For the probe: the same, but for the emulation, which has none to miss: whether a LAPACK is here. */
bool hip_svd_library(char *why, size_t size);

/* Whether hip_solver_svd has a fast way. */
bool hip_solver_has_fast();

/* The eigenvalues, ascending, of the symmetric n x n matrix `a`, which its eigenvectors overwrite, as columns. `info`
 * is not 0 when that failed. */
fl_status hip_solver_eigen(const fl_context *context, int64_t n, double *a, double *values, int *info);

/* a (m x n, m >= n) = q r: r in the upper triangle, and what form_q makes q of, n columns, in place of it. */
fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, float *a, float *tau);
fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, double *a, double *tau);
fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, float *a, float *tau);
fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, double *a, double *tau);

/* a (m x n, m >= n, overwritten) = u diag(values) v': u is m x n; v is n x n, and transposed unless `fast`. `doubt`, on
 * the host, is how far the values of the fast way may be off; `info` is not 0 when it failed. */
fl_status hip_solver_svd(const fl_context *context, bool fast, int64_t m, int64_t n, double *a, double *values,
                         double *u, double *v, int *info, double *doubt);

/* Lets the device's handle go. */
void hip_solver_close(hip_device *device);

#endif
