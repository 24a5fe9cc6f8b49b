/* SPDX-License-Identifier: MIT
 *
 * test_merge.c - merging sorted arrays, against NumPy's results and the definition: the merged elements are exact, bit
 * for bit, since of equal ones those of the first array come first.
 */
#include "sort_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *merged_of(const struct numbers *x, const struct numbers *y)
{
    const size_t size = fl_dtype_size(x->dtype);
    char *out = malloc((size_t)(x->n + y->n) * size + 1);
    for (int64_t i = 0, j = 0; i + j < x->n + y->n;) {
        const bool second = j < y->n && (i == x->n || numbers_precede(x->dtype, numbers_at(y, j), numbers_at(x, i)));
        memcpy(out + (size_t)(i + j) * size, second ? numbers_at(y, j) : numbers_at(x, i), size);
        i += !second;
        j += second;
    }
    return out;
}

static void check_merge(fl_device *device, const struct numbers *x, const struct numbers *y, const fl_run *run)
{
    const int64_t n = x->n + y->n;
    const size_t bytes = (size_t)n * fl_dtype_size(x->dtype);
    char what[128];
    snprintf(what, sizeof what, "%s %s, %lld and %lld elements, block %d", fl_device_describe(device)->resource,
             fl_dtype_name(x->dtype), (long long)x->n, (long long)y->n, run ? run->block[0] : 0);
    fl_array *a = numbers_on(device, x), *b = numbers_on(device, y);
    struct guarded out = guarded_create(device, x->dtype, 1, &n, 3);
    void *expected = merged_of(x, y), *got = malloc(bytes + 1);
    must(fl_merge(device, a, b, out.out, run));
    guarded_copy(&out, got, what);
    cr_assert(memcmp(got, expected, bytes) == 0, "%s: other elements than expected", what);
    free(expected);
    free(got);
    guarded_free(&out);
    free_arrays(a, b);
}

/* Around what a thread (15 and 7 elements), a tile (256 times that) and a share of threads are made of. */
ON_EVERY_BACKEND(merge, sizes)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 15, 16, 255, 1791, 1792, 1793, 3839, 3840, 3841, 50021};
    fl_device *device = open_device(on->resource);
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(sizes); j++) {
            const fl_dtype dtype = sort_dtypes[(i + j) % 4];
            const enum kind kind = (enum kind)((i + 2 * j) % ASCENDING);
            struct numbers x = numbers_sorted(dtype, sizes[i], kind, seed++);
            struct numbers y = numbers_sorted(dtype, sizes[j], i % 3 == 0 ? SPECIAL : kind, seed++);
            check_merge(device, &x, &y, NULL);
            numbers_free(&x);
            numbers_free(&y);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(merge, one_before_the_other)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        struct numbers all = numbers_sorted(sort_dtypes[d], 20000, ANY_BITS, d);
        struct numbers low = {all.dtype, 7000, all.data}, high = {all.dtype, 13000, (void *)numbers_at(&all, 7000)};
        check_merge(device, &low, &high, NULL);
        check_merge(device, &high, &low, NULL);
        numbers_free(&all);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(merge, blocks)
{
    static const int blocks[][3] = {{1, 0, 0}, {31, 0, 0}, {7, 3, 1}, {256, 1, 1}, {1, 1, 64}, {1024, 0, 0}, {4, 5, 6}};
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < 2 && is_gpu(device); d++)
        for (size_t b = 0; b < COUNT(blocks); b++) {
            struct numbers x = numbers_sorted(sort_dtypes[d], 9001, ANY_BITS, b);
            struct numbers y = numbers_sorted(sort_dtypes[d], 4003, SPECIAL, b);
            check_merge(device, &x, &y, &(fl_run){.block = {blocks[b][0], blocks[b][1], blocks[b][2]}});
            numbers_free(&x);
            numbers_free(&y);
        }
    fl_device_close(device);
}

/* The result is not in order then, but no memory outside of the arrays is read or written. */
ON_EVERY_BACKEND(merge, inputs_that_are_not_in_order)
{
    const int64_t n = 9001, both = 2 * n;
    fl_device *device = open_device(on->resource);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct numbers x = numbers_create(FL_F32, n, (enum kind)kind, 1), y = numbers_create(FL_F32, n, PIPES, 2);
        fl_array *a = numbers_on(device, &x), *b = numbers_on(device, &y);
        struct guarded out = guarded_create(device, FL_F32, 1, &both, 3);
        float *got = malloc((size_t)both * sizeof *got);
        must(fl_merge(device, a, b, out.out, NULL));
        must(fl_merge(device, b, a, out.out, NULL));
        guarded_copy(&out, got, kind_names[kind]);
        free(got);
        guarded_free(&out);
        free_arrays(a, b);
        numbers_free(&x);
        numbers_free(&y);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(merge, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        struct matrix file[2];
        static const char *const names[] = {"numbers", "sorted"};
        for (size_t i = 0; i < COUNT(file); i++) {
            char name[32];
            snprintf(name, sizeof name, "%s.%s", fl_dtype_name(sort_dtypes[d]), names[i]);
            file[i] = matrix_golden("sort", name);
        }
        const int64_t n = file[0].shape[1], part = n / 3;
        const struct numbers values = {sort_dtypes[d], n, file[0].data}, sorted = {sort_dtypes[d], n, file[1].data};
        struct numbers x = {values.dtype, part, values.data},
                       y = {values.dtype, n - part, (void *)numbers_at(&values, part)};
        x.data = sorted_of(&x);
        y.data = sorted_of(&y);
        fl_array *a = numbers_on(device, &x), *b = numbers_on(device, &y), *out;
        struct numbers got = numbers_create(values.dtype, n, EQUAL, 0);
        must(fl_array_create(device, values.dtype, 1, &n, &out));
        must(fl_merge(device, a, b, out, NULL));
        must(fl_array_to_host(out, got.data));
        for (int64_t i = 0; i < n; i++)
            cr_assert(is_same(values.dtype, got.data, sorted.data, i), "%s: element %lld", fl_dtype_name(values.dtype),
                      (long long)i);
        for (size_t i = 0; i < COUNT(file); i++)
            matrix_free(&file[i]);
        free_arrays(a, b, out);
        numbers_free(&x);
        numbers_free(&y);
        numbers_free(&got);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(merge, bytes_requested)
{
    enum { FIRST = 1000, SECOND = 77 };
    fl_device *device = open_device(on->resource);
    const int64_t first = FIRST, second = SECOND, all = FIRST + SECOND;
    fl_array *x, *y, *merged;
    fl_timing timing;
    must(fl_array_from_host(device, FL_F32, 1, &first, (float[FIRST]){0}, &x));
    must(fl_array_from_host(device, FL_F32, 1, &second, (float[SECOND]){0}, &y));
    must(fl_array_create(device, FL_F32, 1, &all, &merged));
    must(fl_merge(device, x, y, merged, &(fl_run){.timing = &timing}));
    cr_expect(timing.bytes_requested >= 8.0 * (FIRST + SECOND), "%s: %g", on->resource, timing.bytes_requested);
    free_arrays(x, y, merged);
    fl_device_close(device);
}

ON_EVERY_BACKEND(merge, wrong_arguments)
{
    static const struct {
        fl_dtype x, y, out;
        int64_t length;
        const char *says;
    } wrong[] = {{FL_U8, FL_U8, FL_U8, 8, "x has dtype u8"},
                 {FL_F32, FL_F64, FL_F32, 8, "y has dtype f64; expected f32, x's dtype"},
                 {FL_F32, FL_F32, FL_F64, 8, "out"},
                 {FL_F32, FL_F32, FL_F32, 7, "out"}};
    fl_device *device = open_device(on->resource);
    const int64_t four = 4, eight = 8;
    fl_array *x, *y, *out;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        must(fl_array_create(device, wrong[i].x, 1, &four, &x));
        must(fl_array_create(device, wrong[i].y, 1, &four, &y));
        must(fl_array_create(device, wrong[i].out, 1, &wrong[i].length, &out));
        expect_argument_error(fl_merge(device, x, y, out, NULL), wrong[i].says);
        free_arrays(x, y, out);
    }
    must(fl_array_create(device, FL_F32, 1, &eight, &out));
    must(fl_array_view(out, (int64_t[]){2}, &four, &x));
    must(fl_array_create(device, FL_F32, 1, &four, &y));
    expect_argument_error(fl_merge(device, x, y, out, NULL), "shares memory");
    expect_argument_error(fl_merge(device, NULL, y, out, NULL), "x is NULL");
    free_arrays(x, y, out);
    fl_device_close(device);
}
