/* SPDX-License-Identifier: MIT
 *
 * test_allclose.c - np.allclose's rules, element by element against np.isclose (see elementwise/make_golden.py), and
 * the report of the worst element.
 */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tolerance {
    double relative, absolute;
    bool equal_nan;
} tolerances[] = {{1e-5, 1e-8, false}, {1e-5, 1e-8, true}, {0, 0, false}, {0.1, 0, false}, {0, 0.25, true}};
static const fl_dtype floats[] = {FL_F32, FL_F64};

static fl_closeness compare(fl_device *device, const fl_array *a, const fl_array *b, const struct tolerance *t,
                            const char *variant)
{
    fl_closeness found = {.differing = -9};
    must(fl_allclose(device, a, b, t->relative, t->absolute, t->equal_nan, &found, &(fl_run){.variant = variant}));
    cr_assert(found.close == (found.differing == 0) && (found.worst_index < 0) == found.close,
              "%s: close %d, %lld differ, worst %lld", variant, found.close, (long long)found.differing,
              (long long)found.worst_index);
    return found;
}

/* -------------------------------------------------------------------------------------------------- NumPy's rules ----
 */

static struct matrix golden(fl_dtype dtype, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "%s.%s", fl_dtype_name(dtype), what);
    return matrix_golden("allclose", path);
}

/* How many of the first n elements differ, by halving: the verdict on each pair without a call for each. */
static void check_part(fl_device *device, const fl_array *a, const fl_array *b, const struct tolerance *t,
                       const char *variant, const uint8_t *close, int64_t from, int64_t count)
{
    fl_array *part_a, *part_b;
    int64_t differing = 0, all = 0;
    must(fl_array_view(a, &from, &count, &part_a));
    must(fl_array_view(b, &from, &count, &part_b));
    for (int64_t i = 0; i < count; i++)
        differing += !close[from + i];
    all = compare(device, part_a, part_b, t, variant).differing;
    cr_assert(all == differing, "%s %s: elements %lld to %lld: %lld differ, expected %lld (rtol %g, atol %g)",
              fl_device_describe(device)->resource, variant, (long long)from, (long long)(from + count), (long long)all,
              (long long)differing, t->relative, t->absolute);
    free_arrays(part_a, part_b);
}

ON_EVERY_BACKEND(allclose, numpy)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(floats); d++) {
        struct matrix a = golden(floats[d], "a"), b = golden(floats[d], "b"), close = golden(floats[d], "close");
        int64_t count = a.shape[1];
        fl_array *on_a, *on_b;
        const char *variant;
        must(fl_array_from_host(device, floats[d], 1, &count, a.data, &on_a));
        must(fl_array_from_host(device, floats[d], 1, &count, b.data, &on_b));
        cr_assert(close.shape[0] == COUNT(tolerances) && close.shape[1] == count && count > 1000);
        for (size_t i = 0; (variant = variant_of(device, "allclose", floats[d], i)) != NULL; i++)
            for (size_t t = 0; t < COUNT(tolerances); t++)
                for (int64_t from = 0; from < count; from += 3)
                    check_part(device, on_a, on_b, &tolerances[t], variant,
                               (const uint8_t *)close.data + (int64_t)t * count, from, from + 3 < count ? 3 : 1);
        free_arrays(on_a, on_b);
        matrix_free(&a);
        matrix_free(&b);
        matrix_free(&close);
    }
    fl_device_close(device);
}

/* The tolerance is relative to b: 100 and 110 are close to a tenth of 110, not of 100. */
ON_EVERY_BACKEND(allclose, relative_to_the_second)
{
    fl_device *device = open_device(on->resource);
    fl_array *low, *high;
    const struct tolerance t = {0.095, 0, false};
    must(fl_array_from_host(device, FL_F64, 1, (int64_t[]){1}, (double[]){100}, &low));
    must(fl_array_from_host(device, FL_F64, 1, (int64_t[]){1}, (double[]){110}, &high));
    cr_expect(compare(device, low, high, &t, "auto").close, "%s", on->resource);
    fl_closeness found = compare(device, high, low, &t, "auto");
    cr_expect(!found.close && fabs(found.worst_excess - 10 / 9.5) < 1e-12, "%s: %g", on->resource, found.worst_excess);
    free_arrays(low, high);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- the report ----
 */

/* Random arrays that differ in a few places, the worst of which is known; strided and packed, many sizes. */
static void check_worst(fl_device *device, const char *variant, fl_dtype dtype, int ndim, const int64_t *shape,
                        int64_t margin, uint64_t seed)
{
    const struct tolerance t = {0, 1, false};
    struct guarded a = guarded_create(device, dtype, ndim, shape, margin);
    struct guarded b = guarded_create(device, dtype, ndim, shape, margin ? margin + 1 : 0);
    int64_t count = fl_array_size(a.out), worst = -1;
    char *zeros = calloc((size_t)count, fl_dtype_size(dtype)), *values = calloc((size_t)count, fl_dtype_size(dtype));
    int64_t differing = 0, largest = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = random_between(&seed, 0, 60) < 3 ? random_between(&seed, 1, 5) * (seed % 2 ? 1 : -1) : 0;
        if (dtype == FL_F32)
            ((float *)values)[i] = (float)value;
        else
            ((double *)values)[i] = (double)value;
        differing += llabs(value) > 1;
        if (llabs(value) > 1 && llabs(value) > largest) {
            largest = llabs(value);
            worst = i;
        }
    }
    must(fl_array_write(a.out, values, NULL));
    must(fl_array_write(b.out, zeros, NULL));
    must(fl_device_wait(device));
    fl_closeness found = compare(device, a.out, b.out, &t, variant);
    cr_assert(found.differing == differing && found.worst_index == worst && found.worst_excess == (double)largest,
              "%s %s %s of %lld: %lld differ, worst %lld by %g; expected %lld, %lld, %lld",
              fl_device_describe(device)->resource, variant, fl_dtype_name(dtype), (long long)count,
              (long long)found.differing, (long long)found.worst_index, found.worst_excess, (long long)differing,
              (long long)worst, (long long)largest);
    free(zeros);
    free(values);
    guarded_free(&a);
    guarded_free(&b);
}

ON_EVERY_BACKEND(allclose, worst_element)
{
    static const struct {
        int ndim;
        int64_t shape[FL_MAX_DIMS];
    } shapes[] = {
        {1, {1}},       {1, {31}},      {1, {32}},         {1, {33}},          {1, {255}},    {1, {256}},
        {1, {257}},     {1, {4097}},    {1, {100003}},     {2, {7, 9}},        {2, {65, 33}}, {2, {1, 17}},
        {3, {3, 5, 7}}, {3, {9, 1, 1}}, {4, {2, 3, 5, 7}}, {4, {3, 1, 40, 9}},
    };
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t i = 0; (variant = variant_of(device, "allclose", floats[s % 2], i)) != NULL; i++)
            for (int64_t margin = 0; margin < 2; margin++)
                check_worst(device, variant, floats[s % 2], shapes[s].ndim, shapes[s].shape, margin, s + 100);
    fl_device_close(device);
}

/* What is not finite is infinitely far off; of equals the first is reported. */
ON_EVERY_BACKEND(allclose, not_finite)
{
    static const float inf = INFINITY, nan = NAN;
    const float a[] = {1, inf, nan, -inf, nan, 5}, b[] = {1, inf, nan, inf, 3, 9};
    const struct tolerance plain = {1e-5, 1e-8, false}, with_nan = {1e-5, 1e-8, true}, endless = {0, INFINITY, true};
    fl_device *device = open_device(on->resource);
    fl_array *on_a, *on_b;
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){6}, a, &on_a));
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){6}, b, &on_b));
    fl_closeness found = compare(device, on_a, on_b, &plain, "auto");
    cr_expect(found.differing == 4 && found.worst_index == 2 && isinf(found.worst_excess), "%s: %lld, %lld",
              on->resource, (long long)found.differing, (long long)found.worst_index);
    found = compare(device, on_a, on_b, &with_nan, "auto");
    cr_expect(found.differing == 3 && found.worst_index == 3 && isinf(found.worst_excess), "%s: %lld, %lld, %g",
              on->resource, (long long)found.differing, (long long)found.worst_index, found.worst_excess);
    found = compare(device, on_a, on_b, &endless, "auto");
    cr_expect(found.differing == 2 && found.worst_index == 3 && isinf(found.worst_excess), "%s: %lld, %lld, %g",
              on->resource, (long long)found.differing, (long long)found.worst_index, found.worst_excess);
    free_arrays(on_a, on_b);
    fl_device_close(device);
}

/* infinity * 0 is NaN, which bounds nothing: beside a zero only an equal number is close. */
ON_EVERY_BACKEND(allclose, infinite_relative)
{
    static const double inf = INFINITY, a[] = {0, 0.5, 3, -0.0, inf, inf, 7, 1}, b[] = {0, 0, 5, 0, inf, 2, inf, 1e308};
    const struct tolerance t = {INFINITY, 0, false};
    fl_device *device = open_device(on->resource);
    const char *variant;
    fl_array *on_a, *on_b;
    must(fl_array_from_host(device, FL_F64, 1, (int64_t[]){COUNT(a)}, a, &on_a));
    must(fl_array_from_host(device, FL_F64, 1, (int64_t[]){COUNT(b)}, b, &on_b));
    for (size_t i = 0; (variant = variant_of(device, "allclose", FL_F64, i)) != NULL; i++) {
        fl_closeness found = compare(device, on_a, on_b, &t, variant);
        cr_expect(found.differing == 3 && found.worst_index == 1 && isinf(found.worst_excess), "%s %s: %lld, %lld, %g",
                  on->resource, variant, (long long)found.differing, (long long)found.worst_index, found.worst_excess);
    }
    free_arrays(on_a, on_b);
    fl_device_close(device);
}

ON_EVERY_BACKEND(allclose, blocks)
{
    static const int blocks[][3] = {{1, 0, 0}, {33, 0, 0}, {7, 5, 3}, {1024, 0, 0}, {16, 16, 1}, {1, 1, 64}};
    fl_device *device = open_device(on->resource);
    float zeros[700] = {0}, values[700] = {[250] = 3, [251] = -3, [699] = 2};
    fl_array *a, *b;
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){700}, values, &a));
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){700}, zeros, &b));
    for (size_t i = 0; i < COUNT(blocks); i++) {
        fl_closeness found;
        fl_timing timing = {.kernel_s = -1};
        fl_run run = {.timing = &timing};
        memcpy(run.block, blocks[i], sizeof run.block);
        must(fl_allclose(device, a, b, 0, 1, false, &found, &run));
        cr_expect(found.differing == 3 && found.worst_index == 250 && found.worst_excess == 3, "%s: block %d",
                  on->resource, blocks[i][0]);
        cr_expect(timing.kernel_s > 0 && timing.bytes >= 5600 && timing.bytes_requested == 5600 && timing.flops > 0,
                  "%s", on->resource);
    }
    fl_closeness found = {.differing = -9};
    if (is_gpu(device)) {
        expect_status(FL_E_LIMIT, fl_allclose(device, a, b, 0, 1, false, &found, &(fl_run){.block = {1025, 1, 1}}));
        expect_error_says("1024");
        expect_status(FL_E_LIMIT,
                      fl_allclose(device, a, b, 0, 1, false, &found, &(fl_run){.block = {1 << 22, 1 << 21, 1 << 21}}));
    }
    cr_expect(found.differing == -9, "%s: a failed call wrote", on->resource);
    free_arrays(a, b);
    fl_device_close(device);
}

/* ----------------------------------------------------------------------------------------------- dtypes, arguments
 * ---- */

ON_EVERY_BACKEND(allclose, any_two_dtypes)
{
    fl_device *device = open_device(on->resource);
    for (int x = 0; x < FL_DTYPE_COUNT; x++)
        for (int y = 0; y < FL_DTYPE_COUNT; y++) {
            struct matrix a = matrix_create((fl_dtype)x, 3, 5), b = matrix_create((fl_dtype)y, 3, 5);
            for (int i = 0; i < 15; i++) {
                matrix_set(&a, 0, i, i + 1);
                matrix_set(&b, 0, i, i == 11 ? 100 : i + 1);
            }
            fl_array *on_a = array_from(device, &a), *on_b = array_inside(device, &b);
            fl_closeness found;
            must(fl_allclose(device, on_a, on_b, 1e-5, 1e-8, false, &found, NULL));
            cr_expect(!found.close && found.differing == 1 && found.worst_index == 11, "%s: %s with %s: %lld",
                      on->resource, fl_dtype_name((fl_dtype)x), fl_dtype_name((fl_dtype)y),
                      (long long)found.worst_index);
            free_arrays(on_a, on_b);
            matrix_free(&a);
            matrix_free(&b);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(allclose, no_elements)
{
    fl_device *device = open_device(on->resource);
    fl_closeness found = {.differing = -9};
    fl_timing timing = {.kernel_s = -1};
    fl_array *a;
    must(fl_array_create(device, FL_I32, 2, (int64_t[]){3, 0}, &a));
    must(fl_allclose(device, a, a, 0, 0, false, &found, &(fl_run){.timing = &timing}));
    cr_expect(found.close && found.differing == 0 && found.worst_index == -1 && found.worst_excess == 0, "%s",
              on->resource);
    cr_expect(timing.kernel_s == 0 && timing.variant, "%s", on->resource);
    fl_array_free(a);
    fl_device_close(device);
}

ON_EVERY_BACKEND(allclose, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    fl_closeness found;
    fl_array *a, *b, *foreign;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){3, 4}, &a));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){12}, &b));
    must(fl_array_create(other, FL_F32, 2, (int64_t[]){3, 4}, &foreign));
    expect_argument_error(fl_allclose(NULL, a, a, 0, 0, false, &found, NULL), "device");
    expect_argument_error(fl_allclose(device, NULL, a, 0, 0, false, &found, NULL), "a is NULL");
    expect_argument_error(fl_allclose(device, a, NULL, 0, 0, false, &found, NULL), "b is NULL");
    expect_argument_error(fl_allclose(device, a, a, 0, 0, false, NULL, NULL), "found");
    expect_argument_error(fl_allclose(device, a, b, 0, 0, false, &found, NULL), "b is 12; expected 3x4");
    expect_argument_error(fl_allclose(device, a, a, -1, 0, false, &found, NULL), "relative is -1");
    expect_argument_error(fl_allclose(device, a, a, 0, (double)NAN, false, &found, NULL), "absolute");
    expect_status(FL_E_WRONG_DEVICE, fl_allclose(device, a, foreign, 0, 0, false, &found, NULL));
    expect_error_says("fl_array_to_device(b");
    expect_status(FL_E_UNKNOWN, fl_allclose(device, a, a, 0, 0, false, &found, &(fl_run){.variant = "navie"}));
    free_arrays(a, b, foreign);
    fl_device_close(device);
    fl_device_close(other);
}
