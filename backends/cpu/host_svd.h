/* SPDX-License-Identifier: MIT
 *
 * host_svd.h - decompositions on the host for a GPU without a solver. All arrays are in host memory.
 */
#ifndef FLYNN_CPU_HOST_SVD_H
#define FLYNN_CPU_HOST_SVD_H

#include <flynn/plugin.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FL_OP_SVD by LAPACK, or without one by Jacobi rotations, on all cores that this process may use. */
fl_status host_svd(const fl_host *host, const fl_svd_args *args);

/* The variant `single`: host_svd of a matrix in f64, computed in f32. host_svd_single_pays returns whether it is faster
 * than host_svd, which it is not without LAPACK. */
fl_status host_svd_single(const fl_host *host, const fl_svd_args *args);
bool host_svd_single_pays(const fl_svd_args *args);

/* Makes `count` packed rows of `width` elements orthonormal: f32 or f64. */
void host_orthonormalize(fl_dtype dtype, void *rows, int64_t count, int64_t width);

#ifdef __cplusplus
}
#endif

#endif
