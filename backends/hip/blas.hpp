/* SPDX-License-Identifier: MIT
 *
 * blas.hpp - products by the vendor's BLAS.
 */
#ifndef FLYNN_HIP_BLAS_HPP
#define FLYNN_HIP_BLAS_HPP

#include "device.hpp"

#include "../product.h"

/* Whether there is a library to load, else what that costs and what would mend it. Loads nothing. */
bool hip_blas_available(char *why, size_t size);

/* Operations from which on a product by the library pays: below it our own kernels are as fast, or its first call,
 * which takes a tenth of a second, costs more than it gains. */
double hip_blas_worth(fl_dtype dtype);

/* Whether it can be loaded, too; does so. */
bool hip_blas_loads();

/* Queues the product in the context's stream. The first call of a process loads the library, that of a device makes
 * its handle: FL_E_UNAVAILABLE when that fails. */
fl_status hip_blas_multiply(const fl_context *context, const blas_product &product);

/* Lets the device's handle go. */
void hip_blas_close(hip_device *device);

#endif
