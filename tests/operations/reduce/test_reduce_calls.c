/* SPDX-License-Identifier: MIT
 *
 * test_reduce_calls.c - how reduce and dot are called: many floats, no elements, timing, wrong arguments.
 */
#include "harness.h"

#include <math.h>
#include <string.h>

/* A sum of floats stays within a bound that one accumulator exceeds: of 2^24 ones no float gets beyond. */
ON_EVERY_BACKEND(reduce_calls, more_than_a_float_counts)
{
    fl_device *device = open_device(on->resource);
    const int64_t n = is_slow(device) ? 1 << 18 : (1 << 24) + (1 << 16), one = 1;
    struct matrix x = matrix_create(FL_F32, 1, n);
    const double value = is_slow(device) ? 0.1f : 1;
    for (int64_t i = 0; i < n; i++)
        matrix_set(&x, 0, i, value);
    fl_array *in = array_from(device, &x), *out;
    must(fl_array_create(device, FL_F32, 1, &one, &out));
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reduce", FL_F32, v)) != NULL; v++) {
        float got;
        if (strcmp(variant, "library") == 0)
            continue;
        must(fl_reduce(device, in, FL_SUM, FL_ALL_AXES, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, &got));
        const double error = fabs((double)got - value * (double)n) / (value * (double)n);
        if (strcmp(variant, "naive") == 0)
            cr_expect(is_slow(device) || got == 0x1p24f, "%s: %.9g", on->resource, (double)got);
        else
            cr_expect(error <= (log2((double)n) + 40) * 0x1p-24, "%s %s: %.9g", on->resource, variant, (double)got);
    }
    free_arrays(in, out);
    matrix_free(&x);
    fl_device_close(device);
}

/* The sum of no elements is 0; their extreme is an error. */
ON_EVERY_BACKEND(reduce_calls, empty)
{
    fl_device *device = open_device(on->resource);
    const int64_t none = 0, one = 1, five = 5;
    fl_array *in, *flat, *out, *row, *nothing;
    float got = 7;
    must(fl_array_create(device, FL_F32, 1, &none, &in));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 5}, &flat));
    must(fl_array_from_host(device, FL_F32, 1, &one, &got, &out));
    must(fl_array_create(device, FL_F32, 1, &five, &row));
    must(fl_array_create(device, FL_F32, 1, &none, &nothing));
    must(fl_reduce(device, in, FL_SUM, FL_ALL_AXES, out, NULL));
    must(fl_array_to_host(out, &got));
    cr_expect(got == 0);
    must(fl_dot(device, in, in, 0, out, NULL));
    must(fl_reduce(device, flat, FL_SUM, 0, row, NULL));
    float sums[5] = {1, 1, 1, 1, 1};
    must(fl_array_to_host(row, sums));
    for (int i = 0; i < 5; i++)
        cr_expect(sums[i] == 0);
    must(fl_reduce(device, flat, FL_MAXIMUM, 1, nothing, NULL));
    expect_argument_error(fl_reduce(device, in, FL_MINIMUM, 0, out, NULL), "no elements along the axis");
    expect_argument_error(fl_reduce(device, flat, FL_MAXIMUM, 0, row, NULL), "at least one for maximum");
    free_arrays(in, flat, out, row, nothing);
    fl_device_close(device);
}

ON_EVERY_BACKEND(reduce_calls, timing)
{
    fl_device *device = open_device(on->resource);
    const int64_t columns = 100;
    struct matrix x = matrix_random(FL_F32, 100, columns, 1);
    fl_array *in = array_from(device, &x), *out;
    must(fl_array_create(device, FL_F32, 1, &columns, &out));
    const char *variant;
    for (size_t v = 1; (variant = variant_of(device, "reduce", FL_F32, v)) != NULL; v++) {
        fl_timing timing;
        if (strcmp(variant, "library") == 0)
            continue;
        must(fl_reduce(device, in, FL_SUM, 0, out, &(fl_run){.variant = variant, .timing = &timing}));
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0, "%s %s", on->resource, variant);
        cr_expect(timing.flops == 10000, "%s %s: %g additions", on->resource, variant, timing.flops);
        cr_expect(timing.bytes == 4 * 10100, "%s %s: %g bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s", on->resource, variant);
    }
    free_arrays(in, out);
    matrix_free(&x);
    fl_device_close(device);
}

ON_EVERY_BACKEND(reduce_calls, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t length = 100, one = 1, two = 2;
    fl_array *in, *square, *ints, *foreign, *wide, *part;
    struct guarded out = guarded_create(device, FL_F32, 1, &one, 1), pair = guarded_create(device, FL_F32, 1, &two, 1);
    must(fl_array_create(device, FL_F32, 1, &length, &in));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){10, 10}, &square));
    must(fl_array_create(device, FL_I32, 1, &length, &ints));
    must(fl_array_create(other, FL_F32, 1, &length, &foreign));
    must(fl_array_create(device, FL_I64, 1, &one, &wide));
    must(fl_array_view(in, (int64_t[]){5}, &one, &part));
    expect_argument_error(fl_reduce(NULL, in, FL_SUM, 0, out.out, NULL), "device");
    expect_argument_error(fl_reduce(device, NULL, FL_SUM, 0, out.out, NULL), "in is NULL");
    expect_argument_error(fl_reduce(device, in, FL_SUM, 0, NULL, NULL), "out is NULL");
    expect_argument_error(fl_reduce(device, in, (fl_reduction)5, 0, out.out, NULL), "reduction is 5");
    expect_argument_error(fl_reduce(device, in, FL_SUM, 1, out.out, NULL), "axis is 1; expected 0");
    expect_argument_error(fl_reduce(device, square, FL_SUM, 2, out.out, NULL), "expected 0 to 1");
    expect_argument_error(fl_reduce(device, square, FL_SUM, -2, out.out, NULL), "axis is -2");
    expect_argument_error(fl_reduce(device, in, FL_SUM, 0, pair.out, NULL), "out");
    expect_argument_error(fl_reduce(device, ints, FL_SUM, 0, out.out, NULL), "expected i64 or f64");
    expect_argument_error(fl_reduce(device, in, FL_SUM, 0, wide, NULL), "expected f32 or f64");
    expect_argument_error(fl_reduce(device, in, FL_ARGMIN, 0, out.out, NULL), "expected i64");
    expect_argument_error(fl_reduce(device, in, FL_SUM, 0, part, NULL), "shares memory");
    expect_argument_error(fl_dot(device, in, NULL, 0, out.out, NULL), "y is NULL");
    expect_argument_error(fl_dot(device, in, ints, 0, out.out, NULL), "y");
    expect_argument_error(fl_dot(device, in, square, 0, out.out, NULL), "y");
    expect_argument_error(fl_dot(device, in, in, 0, part, NULL), "shares memory");
    expect_status(FL_E_WRONG_DEVICE, fl_reduce(device, foreign, FL_SUM, 0, out.out, NULL));
    expect_status(FL_E_UNKNOWN, fl_reduce(device, in, FL_SUM, 0, out.out, &(fl_run){.variant = "naiv"}));
    expect_error_says("naive");
    if (is_gpu(device))
        expect_status(FL_E_LIMIT, fl_reduce(device, in, FL_SUM, 0, out.out,
                                            &(fl_run){.variant = "naive", .block = {1 << 30, 1 << 30, 1}}));
    expect_untouched(&out, on->resource);
    expect_untouched(&pair, on->resource);
    free_arrays(in, square, ints, foreign, wide, part);
    guarded_free(&out);
    guarded_free(&pair);
    fl_device_close(device);
    fl_device_close(other);
}
