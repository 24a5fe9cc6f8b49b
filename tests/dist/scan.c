/* SPDX-License-Identifier: MIT
 *
 * scan.c - dist_cases: running sums and maxima, of which each rank gets its share.
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

/* Small whole numbers, some below zero where the dtype has them, whose sums are exact; a NaN past two thirds. */
static double number_of(fl_dtype dtype, int64_t i, int64_t n)
{
    const double value = (double)((i * 7 + 3) % 11);

    if (fl_dtype_is_float(dtype) && n % 2 != 0 && i == 2 * n / 3)
        return (double)NAN;
    return dtype == FL_U8 ? value : value - 4;
}

static double put_together(fl_reduction reduction, double a, double b)
{
    if (reduction == FL_SUM)
        return a + b;
    return isnan(a) || b <= a ? a : b;
}

static double lowest_of(fl_dtype dtype)
{
    switch (dtype) {
    case FL_U8: return 0;
    case FL_I32: return INT32_MIN;
    case FL_I64: return (double)INT64_MIN;
    default: return -HUGE_VAL;
    }
}

static double read_as(fl_dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case FL_U8: return ((const uint8_t *)data)[i];
    case FL_I32: return ((const int32_t *)data)[i];
    case FL_I64: return (double)((const int64_t *)data)[i];
    case FL_F32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}

/* Compares this rank's part, from `first` on, with one loop over all n numbers. */
static bool is_right(const fl_array *out, fl_dtype dtype, fl_reduction reduction, bool exclusive, int64_t first,
                     int64_t n)
{
    const int64_t share = fl_array_size(out);
    void *data = calloc((size_t)share + 1, sizeof(int64_t));
    double running = reduction == FL_SUM ? 0 : lowest_of(dtype);
    bool right = fl_array_to_host(out, data) == FL_OK;

    for (int64_t i = 0; i < first + share && right; i++) {
        const double before = running;
        running = put_together(reduction, running, number_of(dtype, i, n));
        const double wanted = exclusive ? before : running;
        if (i >= first) {
            const double got = read_as(fl_array_dtype(out), data, i - first);
            right = got == wanted || (isnan(got) && isnan(wanted));
        }
    }
    free(data);
    return right;
}

/* `first` and `share`: the numbers of this rank. In place, too, where the dtype lets it. */
static void try_part(fl_device *device, fl_dtype dtype, int64_t first, int64_t share, int64_t n)
{
    void *data = calloc((size_t)share + 1, sizeof(int64_t));
    fl_array *in = NULL, *out;

    for (int64_t i = 0; i < share && dtype != FL_I64; i++)
        put(data, dtype, i, number_of(dtype, first + i, n));
    for (int64_t i = 0; i < share && dtype == FL_I64; i++) /* put would multiply them */
        ((int64_t *)data)[i] = (int64_t)number_of(dtype, first + i, n);
    for (int way = 0; way < 8; way++) {
        const fl_reduction reduction = way & 1 ? FL_MAXIMUM : FL_SUM;
        const fl_dtype result = fl_reduce_dtype(dtype, reduction);
        const bool exclusive = way & 2, in_place = way & 4 && result == dtype;
        fl_group_timing timing;
        bool right = fl_array_from_host(device, dtype, 1, &share, data, &in) == FL_OK;
        out = in;
        if (!in_place)
            right = right && fl_array_create(device, result, 1, &share, &out) == FL_OK;
        const double start = seconds();
        right = right && fl_group_scan(group, device, in, reduction, exclusive, out, NULL, &timing) == FL_OK;
        right = right && are_parts_of(&timing, seconds() - start);
        check(right && is_right(out, dtype, reduction, exclusive, first, n), "fl_group_scan", fl_dtype_name(dtype),
              n * 10 + way);
        if (!in_place)
            fl_array_free(out);
        fl_array_free(in);
    }
    free(data);
}

void try_scan(fl_device *device, fl_dtype dtype, int64_t n)
{
    int64_t first, share;

    fl_group_share(group, n, rank, &first, &share);
    try_part(device, dtype, first, share, n);
}

/* The last rank's out is too long, all have one of another dtype, or a reduction that no scan has. */
static void try_wrong(fl_device *device)
{
    const int64_t four = 4, other = rank == size - 1 ? 5 : 4;
    fl_array *in = NULL, *out = NULL, *wrong = NULL;

    check(fl_array_create(device, FL_I32, 1, &four, &in) == FL_OK &&
              fl_array_create(device, FL_I64, 1, &other, &out) == FL_OK &&
              fl_array_create(device, FL_F32, 1, &four, &wrong) == FL_OK,
          "arrays", "", 0);
    check(fl_group_scan(group, device, in, FL_SUM, false, out, NULL, NULL) == FL_E_ARGUMENT, "fl_group_scan",
          "to another length on rank", size - 1);
    check(fl_group_scan(group, device, in, FL_SUM, true, wrong, NULL, NULL) == FL_E_ARGUMENT, "fl_group_scan",
          "to another dtype", FL_F32);
    check(fl_group_scan(group, device, in, FL_MINIMUM, false, in, NULL, NULL) == FL_E_ARGUMENT, "fl_group_scan",
          "by reduction", FL_MINIMUM);
    fl_array_free(in);
    fl_array_free(out);
    fl_array_free(wrong);
}

void try_scans(const char *resource)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 1001, 4000};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    try_wrong(device);
    for (int d = 0; d < FL_DTYPE_COUNT; d++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            try_scan(device, (fl_dtype)d, lengths[l]);
        /* Five numbers on each odd rank, and none on the others. */
        try_part(device, (fl_dtype)d, rank / 2 * 5, rank % 2 * 5, size / 2 * 5);
    }
    fl_device_close(device);
}
