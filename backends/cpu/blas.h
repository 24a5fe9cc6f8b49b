/* SPDX-License-Identifier: MIT
 *
 * blas.h - products by a BLAS of this machine: OpenBLAS, or any other that the loader knows.
 */
#ifndef FLYNN_CPU_BLAS_H
#define FLYNN_CPU_BLAS_H

#include "../shared/product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if a BLAS was found; else `why` states the unavailable variants and the cure. */
bool cpu_blas_available(char *why, size_t size);

/* The library, for its other functions (OpenBLAS also has LAPACK's); NULL: none was found. */
void *cpu_blas_library(void);

/* Called before and after calls of the library: between them an OpenBLAS computes on `threads` (other libraries choose
 * their own number). Several callers can be inside at once if each uses one thread and the library allows it (blas.c);
 * otherwise each waits for its turn, by the host's enter. */
void cpu_blas_begin(const fl_host *host, int threads);
void cpu_blas_end(const fl_host *host);

/* The product, on `threads`. Requires cpu_blas_available. */
fl_status cpu_blas_multiply(const fl_host *host, int threads, const blas_product *product);

#ifdef __cplusplus
}
#endif

#endif
