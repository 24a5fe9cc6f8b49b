/* SPDX-License-Identifier: MIT */
#include "harness.h"

static const fl_dtype floats[] = {FL_F32, FL_F64};

ON_EVERY_BACKEND(convert, every_dtype)
{
    static const double values[] = {0, 1, 2, 7, 200};
    fl_device *device = open_device(on->resource);
    for (int from = 0; from < FL_DTYPE_COUNT; from++)
        for (size_t to = 0; to < COUNT(floats); to++) {
            struct matrix in = matrix_create((fl_dtype)from, 7, 9);
            for (int64_t i = 0; i < 7 * 9; i++)
                matrix_set(&in, 0, i, values[i % 5]);
            fl_array *a = array_inside(device, &in);
            struct guarded guarded = guarded_create(device, floats[to], 2, in.shape, 4);
            must(fl_convert(device, a, guarded.out, NULL));
            struct matrix got = guarded_read(&guarded, on->resource);
            for (int64_t i = 0; i < 7 * 9; i++)
                cr_expect(matrix_get(&got, 0, i) == values[i % 5], "%s: %s to %s: element %lld", on->resource,
                          fl_dtype_name((fl_dtype)from), fl_dtype_name(floats[to]), (long long)i);
            guarded_free(&guarded);
            fl_array_free(a);
            matrix_free(&in);
            matrix_free(&got);
        }
    fl_device_close(device);
}

/* Integers to i64, no digit lost; not from floats. */
ON_EVERY_BACKEND(convert, to_i64)
{
    static const fl_dtype integers[] = {FL_U8, FL_I32, FL_I64};
    static const uint8_t u8[] = {0, 1, 255};
    static const int32_t i32[] = {INT32_MIN, -1, INT32_MAX};
    static const int64_t i64[] = {INT64_MIN, (INT64_C(1) << 53) + 1, INT64_MAX};
    static const void *const values[] = {u8, i32, i64};
    fl_device *device = open_device(on->resource);
    fl_array *out, *f64;
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){3}, &out));
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){3}, &f64));
    for (size_t t = 0; t < COUNT(integers); t++) {
        fl_array *in;
        int64_t got[3];
        must(fl_array_from_host(device, integers[t], 1, (int64_t[]){3}, values[t], &in));
        must(fl_convert(device, in, out, NULL));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < 3; i++)
            cr_expect(got[i] == (t == 0   ? u8[i]
                                 : t == 1 ? i32[i]
                                          : i64[i]),
                      "%s: %s: element %d is %lld", on->resource, fl_dtype_name(integers[t]), i, (long long)got[i]);
        fl_array_free(in);
    }
    expect_argument_error(fl_convert(device, f64, out, NULL), "i64 from integers");
    free_arrays(out, f64);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convert, wrong_arguments)
{
    fl_device *device = open_device(on->resource);
    fl_array *in, *same, *other, *bytes;
    must(fl_array_create(device, FL_I32, 2, (int64_t[]){3, 4}, &in));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){3, 4}, &same));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){4, 3}, &other));
    must(fl_array_create(device, FL_U8, 2, (int64_t[]){3, 4}, &bytes));
    expect_status(FL_E_ARGUMENT, fl_convert(device, in, other, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, in, bytes, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, NULL, same, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, same, same, NULL));
    free_arrays(in, same, other, bytes);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convert, timing)
{
    fl_device *device = open_device(on->resource);
    fl_timing timing;
    fl_array *in, *out;
    must(fl_array_create(device, FL_U8, 1, (int64_t[]){1000}, &in));
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){1000}, &out));
    must(fl_convert(device, in, out, &(fl_run){.timing = &timing}));
    cr_expect(timing.bytes == 1000 * (1 + 8) && timing.kernel_s > 0, "%s: %g bytes", on->resource, timing.bytes);
    free_arrays(in, out);
    fl_device_close(device);
}
