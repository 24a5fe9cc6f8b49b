/* SPDX-License-Identifier: MIT
 *
 * lapack.h - the singular value decomposition by a LAPACK of this machine: OpenBLAS has one, or any other that the
 * loader knows.
 */
#ifndef FLYNN_CPU_LAPACK_H
#define FLYNN_CPU_LAPACK_H

#include <flynn/plugin.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a LAPACK is here, else what that costs and what would mend it. */
bool cpu_lapack_available(char *why, size_t size);

/* FL_OP_SVD in host memory, by divide and conquer (gesdd), on so many threads. cpu_lapack_available was true. */
fl_status cpu_lapack_svd(const fl_host *host, int threads, const fl_svd_args *args);

#ifdef __cplusplus
}
#endif

#endif
