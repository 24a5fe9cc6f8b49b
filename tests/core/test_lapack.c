/* SPDX-License-Identifier: MIT
 *
 * test_lapack.c - sizes that the 32-bit integers of LAPACK and BLAS cannot hold are refused before any memory is taken.
 */
#include "../../backends/cpu/lapack.h"
#include "../../backends/shared/product.h"

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

Test(lapack, products_that_a_blas_can_count)
{
    const blas_product most = {.m = INT32_MAX,
                               .n = INT32_MAX,
                               .k = INT32_MAX,
                               .a_stride = INT32_MAX,
                               .b_stride = INT32_MAX,
                               .c_stride = INT32_MAX,
                               .batch = INT32_MAX};
    cr_expect(blas_can_count(&most));
    for (int i = 0; i < 7; i++) {
        blas_product p = most;
        int64_t *const sizes[] = {&p.m, &p.n, &p.k, &p.a_stride, &p.b_stride, &p.c_stride, &p.batch};
        *sizes[i] += 1;
        cr_expect(!blas_can_count(&p), "size %d", i);
    }
}
