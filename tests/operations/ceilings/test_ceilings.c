/* SPDX-License-Identifier: MIT
 *
 * test_ceilings.c - copy and multiply_add, which measure what a device can do: on every backend, in every variant.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 95, 96, 97, 255, 256, 257, 1000, 4097, 100003};

/* Bytes that depend on the seed alone. */
static void *random_bytes(size_t count, uint64_t seed)
{
    unsigned char *bytes = malloc(count + 1);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)random_bits(&seed);
    return bytes;
}

/* A copy of `size` elements that begins at element `start` of a larger array: of any alignment. */
static void check_copy(fl_device *device, const char *variant, fl_dtype dtype, int64_t size, int64_t start)
{
    size_t bytes = (size_t)size * fl_dtype_size(dtype), before = (size_t)start * fl_dtype_size(dtype);
    unsigned char *host = random_bytes(before + bytes, (uint64_t)size), *got = malloc(bytes + 1);
    char what[96];
    fl_array *whole, *in;
    snprintf(what, sizeof what, "%s %s %s from %lld, %lld elements", fl_device_describe(device)->resource, variant,
             fl_dtype_name(dtype), (long long)start, (long long)size);
    must(fl_array_from_host(device, dtype, 1, (int64_t[]){start + size}, host, &whole));
    must(fl_array_view(whole, &start, &size, &in));
    struct guarded guarded = guarded_create(device, dtype, 1, &size, start % 3);
    must(fl_copy_array(device, in, guarded.out, &(fl_run){.variant = variant}));
    must(fl_device_wait(device));
    guarded_copy(&guarded, got, what);
    cr_expect(memcmp(got, host + before, bytes) == 0, "%s: other bytes", what);
    guarded_free(&guarded);
    free_arrays(in, whole);
    free(host);
    free(got);
}

ON_EVERY_BACKEND(ceilings, copies)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    size_t checked = 0;
    for (fl_dtype dtype = FL_U8; dtype <= FL_F64; dtype++)
        for (size_t v = 0; (variant = variant_of(device, "copy", dtype, v)); v++)
            for (size_t i = 0; i < COUNT(sizes); i++, checked++)
                check_copy(device, variant, dtype, sizes[i], (int64_t)(i % 4));
    cr_expect(checked >= 2 * FL_DTYPE_COUNT * COUNT(sizes));
    fl_device_close(device);
}

static void check_steps(fl_device *device, const char *variant, fl_dtype dtype, int64_t size, int64_t steps)
{
    const double factor = -0.75, term = 0.4375, epsilon = dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON;
    struct matrix x = matrix_random(dtype, 1, size, (uint64_t)(size + steps));
    struct matrix got = matrix_create(dtype, 1, size);
    char what[96];
    fl_array *in;
    snprintf(what, sizeof what, "%s %s %s %lld elements, %lld steps", fl_device_describe(device)->resource, variant,
             fl_dtype_name(dtype), (long long)size, (long long)steps);
    must(fl_array_from_host(device, dtype, 1, &size, x.data, &in));
    struct guarded guarded = guarded_create(device, dtype, 1, &size, 1);
    must(fl_multiply_add(device, in, factor, term, steps, guarded.out, &(fl_run){.variant = variant}));
    must(fl_device_wait(device));
    guarded_copy(&guarded, got.data, what);
    must(fl_multiply_add(device, in, factor, term, steps, in, &(fl_run){.variant = variant})); /* in place */
    must(fl_array_to_host(in, x.data));
    struct matrix before = matrix_random(dtype, 1, size, (uint64_t)(size + steps));
    for (int64_t i = 0; i < size; i++) {
        long double expected = matrix_get(&before, 0, i);
        for (int64_t step = 0; step < steps; step++)
            expected = expected * factor + term;
        /* A step rounds twice, values of at most 1; what a step adds shrinks by the factor in the next ones, so that
         * the errors of all of them are below 2 * (epsilon / 2) / (1 - 0.75). */
        double bound = steps ? 4 * epsilon : 0;
        cr_expect(fabs(matrix_get(&got, 0, i) - (double)expected) <= bound, "%s: [%lld] is %.17g, expected %.17Lg",
                  what, (long long)i, matrix_get(&got, 0, i), expected);
        cr_expect(matrix_get(&x, 0, i) == matrix_get(&got, 0, i), "%s: another result in place", what);
    }
    guarded_free(&guarded);
    fl_array_free(in);
    matrix_free(&x);
    matrix_free(&before);
    matrix_free(&got);
}

ON_EVERY_BACKEND(ceilings, multiplies_and_adds)
{
    static const fl_dtype dtypes[] = {FL_F32, FL_F64};
    fl_device *device = open_device(on->resource);
    const char *variant;
    size_t checked = 0;
    for (int d = 0; d < 2; d++)
        for (size_t v = 0; (variant = variant_of(device, "multiply_add", dtypes[d], v)); v++)
            for (size_t i = 0; i < COUNT(sizes) - 1; i++, checked++)
                check_steps(device, variant, dtypes[d], sizes[i], (int64_t)(i % 3 * 5));
    cr_expect(checked >= 4 * (COUNT(sizes) - 1));
    fl_device_close(device);
}

/* A GPU's blocks are those asked for, or of 256 threads. */
ON_EVERY_BACKEND(ceilings, blocks)
{
    static const int asked[] = {0, 1, 33, 1024};
    fl_device *device = open_device(on->resource);
    fl_array *in, *out;
    const char *variant;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){5000}, &in));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){5000}, &out));
    for (size_t v = 0; (variant = variant_of(device, "multiply_add", FL_F32, v)) && is_gpu(device); v++)
        for (size_t i = 0; i < COUNT(asked); i++) {
            fl_timing t = {0};
            const fl_run run = {.variant = variant, .block = {asked[i]}, .timing = &t};
            const int64_t block = asked[i] ? asked[i] : 256;
            must(fl_multiply_add(device, in, 2, 1, 3, out, &run));
            const int64_t each = strcmp(t.variant, "register") == 0 ? 8 : 1;
            cr_expect(t.block[0] == block && t.block[1] == 1 && t.block[2] == 1,
                      "%s %s: asked for %d threads, ran %dx%dx%d", on->resource, variant, asked[i], t.block[0],
                      t.block[1], t.block[2]);
            cr_expect(t.grid[0] <= (5000 + block * each - 1) / (block * each) && t.grid[1] == 1 && t.grid[2] == 1,
                      "%s %s: %lld blocks of %d", on->resource, variant, (long long)t.grid[0], t.block[0]);
        }
    free_arrays(in, out);
    fl_device_close(device);
}

ON_EVERY_BACKEND(ceilings, without_elements_and_refusals)
{
    fl_device *device = open_device(on->resource);
    fl_array *none, *none_too, *a, *b, *ints, *ints_too;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){0}, &none));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){0}, &none_too));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){10}, &a));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){11}, &b));
    must(fl_array_create(device, FL_I32, 1, (int64_t[]){10}, &ints));
    must(fl_array_create(device, FL_I32, 1, (int64_t[]){10}, &ints_too));
    must(fl_copy_array(device, none, none_too, NULL));
    must(fl_multiply_add(device, none, 1, 1, 5, none_too, NULL));
    expect_argument_error(fl_copy_array(device, a, b, NULL), "out is 11; expected 10");
    expect_argument_error(fl_copy_array(device, a, a, NULL), "shares memory");
    expect_status(FL_E_ARGUMENT, fl_copy_array(device, NULL, a, NULL));
    expect_status(FL_E_ARGUMENT, fl_copy_array(device, ints, a, NULL));
    expect_argument_error(fl_multiply_add(device, ints, 1, 1, 5, ints_too, NULL), "expected f32 or f64");
    expect_argument_error(fl_multiply_add(device, a, 1, 1, -1, a, NULL), "steps is -1");
    expect_status(FL_E_UNKNOWN, fl_copy_array(device, ints, ints_too, &(fl_run){.variant = "libary"}));
    expect_error_says("library");
    free_arrays(none, none_too, a, b, ints, ints_too);
    fl_device_close(device);
}
