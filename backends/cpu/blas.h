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

/* Whether a BLAS is here, else what that costs and what would mend it. */
bool cpu_blas_available(char *why, size_t size);

/* The library, for its other functions (OpenBLAS has LAPACK's, too); NULL: none is here. */
void *cpu_blas_library(void);

/* Around calls of the library: what it computes in between, it computes on so many threads, where it is an OpenBLAS
 * (others have a number of threads that is not ours to set). Several threads of the caller are in between at once
 * where each wants one thread and the library allows it (blas.c); else each waits for its turn, by the host's enter. */
void cpu_blas_begin(const fl_host *host, int threads);
void cpu_blas_end(const fl_host *host);

/* The product, on so many threads. cpu_blas_available was true. */
fl_status cpu_blas_multiply(const fl_host *host, int threads, const blas_product *product);

#ifdef __cplusplus
}
#endif

#endif
