/* SPDX-License-Identifier: MIT
 *
 * histogram.c - dist_cases: the counts of all ranks' elements, which each rank gets.
 */
#include "cases.h"

#include <stdlib.h>

/* The numbers 0 to n - 1, counted by their remainder: on each rank the counts of all. */
void try_histogram(fl_device *device, int64_t n, int64_t bins)
{
    int64_t first, share, *values, *counts = calloc((size_t)bins, sizeof *counts);
    fl_array *in = NULL, *out = NULL;
    bool right;

    fl_group_share(group, n, rank, &first, &share);
    values = calloc((size_t)share + 1, sizeof *values);
    for (int64_t i = 0; i < share; i++)
        values[i] = (first + i) % bins;
    right = fl_array_from_host(device, FL_I64, 1, &share, values, &in) == FL_OK &&
            fl_array_create(device, FL_I64, 1, &bins, &out) == FL_OK &&
            fl_group_histogram(group, device, in, 0, (double)bins, false, out, NULL, NULL) == FL_OK &&
            fl_array_to_host(out, counts) == FL_OK;
    for (int64_t b = 0; b < bins && right; b++)
        right = counts[b] == n / bins + (b < n % bins);
    check(right, "fl_group_histogram", "elements", n * 10000 + bins);
    fl_array_free(in);
    fl_array_free(out);
    free(values);
    free(counts);
}

void try_histograms(const char *resource)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 1001};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int64_t bins = 1; bins < 5000; bins *= 7)
            try_histogram(device, lengths[l], bins);
    fl_device_close(device);
}
