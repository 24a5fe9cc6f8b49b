/* SPDX-License-Identifier: MIT
 *
 * test_search_sorted.c - where values belong in a sorted array: against numpy.searchsorted's results, and against a
 * loop that walks along both arrays when the values are sorted, too.
 */
#include "sort_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By a walk along both. */
static int64_t *walked_places(const struct numbers *sorted, const struct numbers *ascending)
{
    int64_t *places = malloc((size_t)(ascending->n + 1) * sizeof *places), place = 0;
    for (int64_t i = 0; i < ascending->n; i++) {
        while (place < sorted->n && numbers_precede(sorted->dtype, numbers_at(sorted, place), numbers_at(ascending, i)))
            place++;
        places[i] = place;
    }
    return places;
}

/* The values as they are, or, from the middle, in steps over the whole: so that neighbours are far apart. */
static void check_search(fl_device *device, const struct numbers *sorted, const struct numbers *values,
                         const int64_t *expected, const fl_run *run)
{
    char what[160];
    snprintf(what, sizeof what, "%s %s %s, %lld values in %lld, block %d", fl_device_describe(device)->resource,
             run && run->variant ? run->variant : "auto", fl_dtype_name(values->dtype), (long long)values->n,
             (long long)sorted->n, run ? run->block[0] : 0);
    fl_array *a = numbers_on(device, sorted), *b = numbers_on(device, values);
    struct guarded out = guarded_create(device, FL_I64, 1, &values->n, 3);
    int64_t *got = malloc((size_t)(values->n + 1) * sizeof *got);
    must(fl_search_sorted(device, a, b, out.out, run));
    guarded_copy(&out, got, what);
    for (int64_t i = 0; i < values->n; i++)
        cr_assert(got[i] == expected[i], "%s: value %lld belongs at %lld, got %lld", what, (long long)i,
                  (long long)expected[i], (long long)got[i]);
    free(got);
    guarded_free(&out);
    free_arrays(a, b);
}

/* Every variant, and ascending values in another order, too. */
static void check_variants(fl_device *device, const struct numbers *sorted, const struct numbers *ascending)
{
    const size_t size = fl_dtype_size(sorted->dtype);
    const int64_t n = ascending->n, step = n % 7 == 0 ? 1 : 7;
    int64_t *places = walked_places(sorted, ascending), *mixed = malloc((size_t)(n + 1) * sizeof *mixed);
    struct numbers other = {ascending->dtype, n, malloc((size_t)n * size + 1)};
    const char *variant;
    for (int64_t i = 0, from = n / 2; i < n; i++, from = (from + step) % n) {
        memcpy((char *)other.data + (size_t)i * size, numbers_at(ascending, from), size);
        mixed[i] = places[from];
    }
    for (size_t v = 0; (variant = variant_of(device, "search_sorted", sorted->dtype, v)) != NULL; v++) {
        check_search(device, sorted, ascending, places, &(fl_run){.variant = variant});
        check_search(device, sorted, &other, mixed, &(fl_run){.variant = variant});
    }
    free(places);
    free(mixed);
    numbers_free(&other);
}

ON_EVERY_BACKEND(search_sorted, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        struct matrix file[3];
        static const char *const names[] = {"numbers", "sorted", "places"};
        const char *variant;
        for (size_t i = 0; i < COUNT(file); i++) {
            char name[32];
            snprintf(name, sizeof name, "%s.%s", fl_dtype_name(sort_dtypes[d]), names[i]);
            file[i] = matrix_golden("sort", name);
        }
        const int64_t n = file[0].shape[1];
        const struct numbers values = {sort_dtypes[d], n, file[0].data}, sorted = {sort_dtypes[d], n, file[1].data};
        for (size_t v = 0; (variant = variant_of(device, "search_sorted", sort_dtypes[d], v)) != NULL; v++)
            check_search(device, &sorted, &values, file[2].data, &(fl_run){.variant = variant});
        for (size_t i = 0; i < COUNT(file); i++)
            matrix_free(&file[i]);
    }
    fl_device_close(device);
}

/* Around batches (32), samples (4096, at least 4 apart), trees (8192 elements of 4 bytes) and powers of two. */
ON_EVERY_BACKEND(search_sorted, sizes)
{
    static const int64_t sorted_sizes[] = {1,    2,    3,    4,    5,     31,    1023,  1024,
                                           1025, 4097, 8191, 8193, 12289, 16384, 16385, 50021};
    static const int64_t value_sizes[] = {1, 2, 31, 33, 1000, 4095, 4096, 9001};
    fl_device *device = open_device(on->resource);
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT(sorted_sizes); i++)
        for (size_t j = 0; j < COUNT(value_sizes); j++) {
            const fl_dtype dtype = sort_dtypes[(i + j) % 4];
            const enum kind kind = (enum kind)((i + 2 * j) % ASCENDING);
            if (is_slow(device) && (i + j) % 2 == 1)
                continue;
            struct numbers sorted = numbers_sorted(dtype, sorted_sizes[i], kind, seed++);
            struct numbers values = numbers_sorted(dtype, value_sizes[j], i % 3 == 0 ? SPECIAL : kind, seed++);
            check_variants(device, &sorted, &values);
            numbers_free(&sorted);
            numbers_free(&values);
        }
    fl_device_close(device);
}

/* Enough keys that auto takes another variant and several threads share them. */
ON_EVERY_BACKEND(search_sorted, many)
{
    fl_device *device = open_device(on->resource);
    struct numbers sorted = numbers_sorted(FL_F32, 100003, ANY_BITS, 1);
    struct numbers values = numbers_sorted(FL_F32, is_small_test() ? 5000 : 70001, ANY_BITS, 2);
    check_variants(device, &sorted, &values);
    numbers_free(&sorted);
    numbers_free(&values);
    fl_device_close(device);
}

/* Each element of a sorted array without equal ones belongs at its own place, and so does what is between it and the
 * one before. */
ON_EVERY_BACKEND(search_sorted, elements_themselves)
{
    const int64_t sizes[] = {1, 100, 8192, 16387};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const int64_t n = sizes[s];
        struct numbers even = numbers_create(FL_I32, n, EQUAL, 0), odd = numbers_create(FL_I32, n, EQUAL, 0);
        int64_t *places = malloc((size_t)n * sizeof *places);
        const char *variant;
        for (int64_t i = 0; i < n; i++) {
            ((int32_t *)even.data)[i] = (int32_t)(2 * i);
            ((int32_t *)odd.data)[i] = (int32_t)(2 * i - 1);
            places[i] = i;
        }
        for (size_t v = 0; (variant = variant_of(device, "search_sorted", FL_I32, v)) != NULL; v++) {
            check_search(device, &even, &even, places, &(fl_run){.variant = variant});
            check_search(device, &even, &odd, places, &(fl_run){.variant = variant});
        }
        free(places);
        numbers_free(&even);
        numbers_free(&odd);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(search_sorted, in_nothing)
{
    fl_device *device = open_device(on->resource);
    struct numbers none = numbers_create(FL_I64, 0, UNIFORM, 1), some = numbers_create(FL_I64, 77, UNIFORM, 2);
    const int64_t zeros[77] = {0};
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "search_sorted", FL_I64, v)) != NULL; v++) {
        check_search(device, &none, &some, zeros, &(fl_run){.variant = variant});
        check_search(device, &some, &none, zeros, &(fl_run){.variant = variant});
    }
    numbers_free(&none);
    numbers_free(&some);
    fl_device_close(device);
}

ON_EVERY_BACKEND(search_sorted, blocks)
{
    static const int blocks[][3] = {{1, 0, 0}, {33, 0, 0}, {7, 3, 1}, {1, 1, 64}, {1024, 0, 0}, {4, 5, 6}};
    fl_device *device = open_device(on->resource);
    struct numbers sorted = numbers_sorted(FL_F64, 9001, SPECIAL, 1), values = numbers_sorted(FL_F64, 4003, UNIFORM, 2);
    int64_t *places = walked_places(&sorted, &values);
    const char *variant;
    for (size_t v = 0; is_gpu(device) && (variant = variant_of(device, "search_sorted", FL_F64, v)) != NULL; v++)
        for (size_t b = 0; b < COUNT(blocks); b++)
            check_search(device, &sorted, &values, places,
                         &(fl_run){.variant = variant, .block = {blocks[b][0], blocks[b][1], blocks[b][2]}});
    free(places);
    numbers_free(&sorted);
    numbers_free(&values);
    fl_device_close(device);
}

/* The result is open then, but no memory outside of the arrays is read or written. */
ON_EVERY_BACKEND(search_sorted, in_what_is_not_in_order)
{
    const int64_t n = 20011;
    fl_device *device = open_device(on->resource);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct numbers x = numbers_create(FL_F32, n, (enum kind)kind, 1), y = numbers_create(FL_F32, n, ANY_BITS, 2);
        fl_array *a = numbers_on(device, &x), *b = numbers_on(device, &y);
        struct guarded out = guarded_create(device, FL_I64, 1, &n, 3);
        int64_t *got = malloc((size_t)n * sizeof *got);
        const char *variant;
        for (size_t v = 0; (variant = variant_of(device, "search_sorted", FL_F32, v)) != NULL; v++) {
            must(fl_search_sorted(device, a, b, out.out, &(fl_run){.variant = variant}));
            guarded_copy(&out, got, kind_names[kind]);
            for (int64_t i = 0; i < n; i++)
                cr_assert(got[i] >= 0 && got[i] <= n, "%s %s: %lld", variant, kind_names[kind], (long long)got[i]);
        }
        free(got);
        guarded_free(&out);
        free_arrays(a, b);
        numbers_free(&x);
        numbers_free(&y);
    }
    fl_device_close(device);
}

/* A search reads an element for each halving of what it searches, and the value. */
ON_EVERY_BACKEND(search_sorted, timing)
{
    enum { SORTED = 1000, VALUES = 77, STEPS = 11 };
    fl_device *device = open_device(on->resource);
    const int64_t sorted_count = SORTED, count = VALUES;
    fl_array *sorted, *values, *places;
    fl_timing timing;
    const char *variant;
    must(fl_array_from_host(device, FL_F32, 1, &sorted_count, (float[SORTED]){0}, &sorted));
    must(fl_array_from_host(device, FL_F32, 1, &count, (float[VALUES]){0}, &values));
    must(fl_array_create(device, FL_I64, 1, &count, &places));
    for (size_t v = 0; (variant = variant_of(device, "search_sorted", FL_F32, v)) != NULL; v++) {
        must(fl_search_sorted(device, sorted, values, places, &(fl_run){.variant = variant, .timing = &timing}));
        cr_expect(timing.bytes_requested >= (4.0 * 3 + 8) * VALUES, "%s %s: %g", on->resource, variant,
                  timing.bytes_requested);
        if (strcmp(variant, "naive") == 0)
            cr_expect(timing.bytes_requested == (4.0 * STEPS + 8) * VALUES, "%s: %g", on->resource,
                      timing.bytes_requested);
        if (strcmp(variant, "auto") == 0)
            cr_expect_str_eq(timing.variant, is_gpu(device) ? "naive" : "batched");
    }
    free_arrays(sorted, values, places);
    fl_device_close(device);
}

ON_EVERY_BACKEND(search_sorted, wrong_arguments)
{
    static const struct {
        fl_dtype sorted, values, out;
        int64_t length;
        const char *says;
    } wrong[] = {{FL_U8, FL_U8, FL_I64, 4, "sorted has dtype u8"},
                 {FL_F32, FL_F64, FL_I64, 4, "values has dtype f64; expected f32, sorted's dtype"},
                 {FL_F32, FL_F32, FL_I32, 4, "out"},
                 {FL_F32, FL_F32, FL_I64, 5, "out"}};
    fl_device *device = open_device(on->resource);
    const int64_t four = 4;
    fl_array *sorted, *values, *out;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        must(fl_array_create(device, wrong[i].sorted, 1, &four, &sorted));
        must(fl_array_create(device, wrong[i].values, 1, &four, &values));
        must(fl_array_create(device, wrong[i].out, 1, &wrong[i].length, &out));
        expect_argument_error(fl_search_sorted(device, sorted, values, out, NULL), wrong[i].says);
        free_arrays(sorted, values, out);
    }
    must(fl_array_create(device, FL_I64, 1, &four, &sorted));
    must(fl_array_create(device, FL_I64, 1, &four, &out));
    expect_argument_error(fl_search_sorted(device, sorted, out, out, NULL), "shares memory");
    expect_argument_error(fl_search_sorted(device, sorted, NULL, out, NULL), "values is NULL");
    free_arrays(sorted, out);
    fl_device_close(device);
}
