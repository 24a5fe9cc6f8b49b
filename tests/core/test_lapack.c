/* SPDX-License-Identifier: MIT
 *
 * test_lapack.c - sizes that LAPACK's 32-bit integers cannot hold are refused before any memory is taken.
 */
#include "../../backends/cpu/lapack.h"

#include <criterion/criterion.h>
#include <limits.h>

static fl_status keep_status(fl_status status, const char *format, ...)
{
    (void)format;
    return status;
}

static fl_status decompose(int64_t rows, int64_t columns)
{
    const fl_host host = {.size = sizeof host, .error = keep_status};
    fl_svd_args args = {0};
    args.a = args.u = args.s = args.vt = (fl_buffer){.dtype = FL_F32, .ndim = 2};
    args.a.shape[0] = rows;
    args.a.shape[1] = columns;
    return cpu_lapack_svd(&host, 1, &args);
}

Test(lapack, too_large, .timeout = 60)
{
    cr_expect(decompose((int64_t)INT_MAX + 1, 1) == FL_E_LIMIT);
    cr_expect(decompose(1, (int64_t)INT_MAX + 1) == FL_E_LIMIT);
    cr_expect(decompose((int64_t)INT_MAX + 1, (int64_t)INT_MAX + 1) == FL_E_LIMIT);
}
