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

/* OpenBLAS, which has LAPACK too. */
#define CPU_OPENBLAS_FILES "libopenblasp.so.0 libopenblaso.so.0 libopenblas.so.0"

/* True if a BLAS is there; else `why` states the unavailable variants and the fix. Loads nothing. */
bool cpu_blas_found(char *why, size_t size);

/* fl_row.available of the rows that call it: loads it. */
fl_status cpu_blas_ready(void *device, char *why, size_t size);

/* The library, loaded, for its other functions (OpenBLAS also has LAPACK's); NULL: it cannot be. */
void *cpu_blas_library(void);

/* Called before and after calls of the library: between them an OpenBLAS computes on `threads` (other libraries choose
 * their own number). Several callers can be inside at once if each uses one thread and the library allows it (blas.c);
 * otherwise each waits for its turn, by the host's enter. FL_E_MEMORY: an OpenBLAS would not get its threads or
 * their memory; cpu_blas_end must not be called then. */
fl_status cpu_blas_begin(const fl_host *host, int threads);
void cpu_blas_end(const fl_host *host, int threads);

/* The product, on `threads`. Requires cpu_blas_ready. */
fl_status cpu_blas_multiply(const fl_host *host, int threads, const blas_product *product);

#ifdef __cplusplus
}
#endif

#endif
