/* SPDX-License-Identifier: MIT
 *
 * test_sort.c - sort on every backend, in every variant, in place and not: against numpy.sort, against the C library's
 * qsort in NumPy's order, and bit for bit a permutation of the input. How it is called is in test_sort_calls.c.
 */
#include "sort_numbers.h"

#include <stdio.h>
#include <string.h>

/* Sorts by every variant, in turn into another array and in place, both views into larger ones with guards around
 * them; `turn` says which begins. */
static void check_variants(fl_device *device, const struct numbers *input, size_t turn, const char *what)
{
    struct sorted expected = sorted_of(input);
    const char *variant;

    for (size_t i = 0; (variant = variant_of(device, "sort", input->dtype, i)) != NULL; i++)
        check_sort(device, input, &expected, (i + turn) % 2 == 0, &(fl_run){.variant = variant}, what);
    sorted_free(&expected);
}

ON_EVERY_BACKEND(sort, golden_files, .timeout = 240)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        char name[64];
        snprintf(name, sizeof name, "sort_%s.numbers", fl_dtype_name(sort_dtypes[d]));
        struct matrix input = matrix_golden(name);
        snprintf(name, sizeof name, "sort_%s.sorted", fl_dtype_name(sort_dtypes[d]));
        struct matrix golden = matrix_golden(name);
        struct numbers numbers = {sort_dtypes[d], input.shape[1], input.data};
        struct sorted expected = sorted_of(&numbers);
        cr_assert(input.dtype == sort_dtypes[d] && golden.shape[1] == numbers.n);
        for (int64_t i = 0; i < numbers.n; i++)
            cr_assert(is_same(numbers.dtype, expected.values, golden.data, i), "%s: NumPy differs at %lld", name,
                      (long long)i);
        for (size_t turn = 0; turn < 2; turn++)
            check_variants(device, &numbers, turn, "golden");
        sorted_free(&expected);
        matrix_free(&input);
        matrix_free(&golden);
    }
    fl_device_close(device);
}

/* One below, at and one above what blocks, tiles and parts of threads are made of. */
ON_EVERY_BACKEND(sort, sizes, .timeout = 300)
{
    static const int64_t sizes[] = {0,    1,    2,    3,    4,    5,    7,    8,    9,    15,    16,   17,
                                    31,   32,   33,   63,   64,   65,   255,  256,  257,  1023,  1024, 1025,
                                    2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16385};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
            struct numbers input = numbers_create(sort_dtypes[d], sizes[s], ANY_BITS, s);
            check_variants(device, &input, s + d, "sizes");
            numbers_free(&input);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort, large, .timeout = 300)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        struct numbers input = numbers_create(sort_dtypes[d], 100003, ANY_BITS, d);
        check_variants(device, &input, d, "large");
        numbers_free(&input);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort, patterns, .timeout = 300)
{
    static const int64_t sizes[] = {100, 20011};
    fl_device *device = open_device(on->resource);
    for (enum kind kind = SPECIAL; kind < KINDS; kind++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
                struct numbers input = numbers_create(sort_dtypes[d], sizes[s], kind, s);
                check_variants(device, &input, s + d, kind_names[kind]);
                numbers_free(&input);
            }
    fl_device_close(device);
}

/* A few NaN with a sign among many numbers, and none, and nothing else: what a library leaves in front. */
ON_EVERY_BACKEND(sort, signed_nan, .timeout = 120)
{
    static const int64_t counts[] = {0, 1, 2, 499, 500, 999, 1000};
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(counts); c++) {
        struct numbers input = numbers_create(FL_F32, 1000, UNIFORM, c);
        for (int64_t i = 0; i < counts[c]; i++)
            ((uint32_t *)input.data)[i * 389 % 1000] =
                0xffc00000u + (uint32_t)i; /* 389 and 1000 have no common factor */
        check_variants(device, &input, c, "NaN with a sign");
        numbers_free(&input);
    }
    fl_device_close(device);
}
