/* SPDX-License-Identifier: MIT
 *
 * blas.hpp - products by the vendor's BLAS.
 */
#ifndef FLYNN_HIP_BLAS_HPP
#define FLYNN_HIP_BLAS_HPP

#include "device.hpp"

#include "../shared/product.h"

/* True if the library is there; else `why` states the unavailable variants and the cure. Loads nothing. */
bool hip_blas_found(char *why, size_t size);

/* fl_row.available of the rows that call it: loads it. */
fl_status hip_blas_ready(void *device, char *why, size_t size);

/* The number of operations above which the library is worthwhile: below it our own kernels are as fast, or the
 * library's first call, a tenth of a second, costs more than it saves. */
double hip_blas_worth(fl_dtype dtype);

/* Loads the library; false if that fails. */
bool hip_blas_loads();

/* Queues the product in the context's stream. The first call of a process loads the library, the first one of a device
 * creates its handle: FL_E_UNAVAILABLE if that fails. */
fl_status hip_blas_multiply(const fl_context *context, const blas_product &product);

/* Queues rows = inv(l) rows: packed rows of `length` elements, l the lower triangle of the `count` x `count` matrix.
 * Otherwise as hip_blas_multiply; the emulation has none: FL_E_UNAVAILABLE. */
fl_status hip_blas_solve(const fl_context *context, int64_t count, int64_t length, const double *l, double *rows);

/* Destroys the device's handle. */
void hip_blas_close(hip_device *device);

#endif
