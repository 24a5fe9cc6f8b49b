/* SPDX-License-Identifier: MIT
 *
 * reduce.c - dist_cases: sums, extremes and their places of all ranks' elements, which each rank gets.
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

enum { RESULTS = FL_ARGMAX + 2, DOT = FL_ARGMAX + 1 };

/* Whole numbers, of which each extreme comes several times, whose sums are exact; NaN at some places. */
static double number_of(int64_t i, int64_t n, bool nan)
{
    return nan && i >= n / 3 && i % 5 == 0 ? (double)NAN : (double)((i * 7 + 3) % 11);
}

/* The result of one process with all n numbers. */
static double found_of(int reduction, int64_t n, bool nan)
{
    const bool most = reduction == FL_MAXIMUM || reduction == FL_ARGMAX;
    double sum = 0, best = 0;
    int64_t place = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = number_of(i, n, nan);
        sum += reduction == DOT ? a * a : a;
        if (i == 0 || (!isnan(best) && (isnan(a) || (most ? a > best : a < best)))) {
            best = a;
            place = i;
        }
    }
    return reduction == FL_SUM || reduction == DOT            ? sum
           : reduction == FL_ARGMIN || reduction == FL_ARGMAX ? (double)place
                                                              : best;
}

static double read_as(fl_dtype dtype, const void *at)
{
    switch (dtype) {
    case FL_U8: return *(const uint8_t *)at;
    case FL_I32: return *(const int32_t *)at;
    case FL_I64: return (double)*(const int64_t *)at;
    case FL_F32: return (double)*(const float *)at;
    default: return *(const double *)at;
    }
}

/* An extreme of no elements is an error on every rank. */
void try_reduce(fl_device *device, fl_dtype dtype, int64_t n)
{
    const bool nan = fl_dtype_is_float(dtype) && n % 2 != 0;
    int64_t first, share;
    void *data;
    fl_array *x = NULL;
    bool right;

    fl_group_share(group, n, rank, &first, &share);
    data = calloc((size_t)share + 1, sizeof(int64_t));
    for (int64_t i = 0; i < share && dtype != FL_I64; i++)
        put(data, dtype, i, number_of(first + i, n, nan));
    for (int64_t i = 0; i < share && dtype == FL_I64; i++) /* put would multiply them */
        ((int64_t *)data)[i] = (int64_t)number_of(first + i, n, nan);
    right = fl_array_from_host(device, dtype, 1, &share, data, &x) == FL_OK;
    for (int r = 0; r < RESULTS && right; r++) {
        const fl_reduction reduction = r == DOT ? FL_SUM : (fl_reduction)r;
        const fl_dtype result = fl_reduce_dtype(dtype, reduction);
        const double wanted = found_of(r, n, nan);
        int64_t bits = -1;
        const fl_status status =
            fl_group_reduce_array(group, device, x, r == DOT ? x : NULL, reduction, result, &bits, NULL, NULL);
        if (n == 0 && reduction != FL_SUM) {
            check(status == FL_E_ARGUMENT, "fl_group_reduce_array", "of nothing", r);
        } else {
            const double got = read_as(result, &bits);
            check(status == FL_OK && (got == wanted || (isnan(got) && isnan(wanted))), "fl_group_reduce_array",
                  fl_dtype_name(dtype), n * 10 + r);
        }
    }
    check(right, "fl_group_reduce_array", "elements", n);
    fl_array_free(x);
    free(data);
}

void try_reduces(const char *resource)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 1001, 4000};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (int d = 0; d < FL_DTYPE_COUNT; d++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            try_reduce(device, (fl_dtype)d, lengths[l]);
    fl_device_close(device);
}
