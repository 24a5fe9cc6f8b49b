/* SPDX-License-Identifier: MIT
 *
 * lapack.h - the singular value decomposition by an installed LAPACK: OpenBLAS's, or any other that the loader finds.
 */
#ifndef FLYNN_CPU_LAPACK_H
#define FLYNN_CPU_LAPACK_H

#include <flynn/plugin.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether a LAPACK exists; else `why` states the variants that need it and the fix. Loads nothing. */
bool cpu_lapack_found(char *why, size_t size);

/* fl_row.available of the rows that call it: loads it. */
fl_status cpu_lapack_ready(void *device, char *why, size_t size);

/* FL_OP_SVD in host memory, by divide and conquer (gesdd), on `threads`. Requires cpu_lapack_ready. */
fl_status cpu_lapack_svd(const fl_host *host, int threads, const fl_svd_args *args);

#ifdef __cplusplus
}
#endif

#endif
