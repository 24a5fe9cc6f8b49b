/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 0, 1, 2 ... as i32, in that shape. */
static fl_array *counting(fl_device *device, int ndim, const int64_t *shape)
{
    size_t size = 1;
    for (int d = 0; d < ndim; d++)
        size *= (size_t)shape[d];
    int32_t *numbers = malloc(size * sizeof *numbers);
    for (size_t i = 0; i < size; i++)
        numbers[i] = (int32_t)i;
    fl_array *array = NULL;
    must(fl_array_from_host(device, FL_I32, ndim, shape, numbers, &array));
    free(numbers);
    return array;
}

static void expect_numbers(const fl_array *array, size_t count, const int32_t *wanted, const char *what)
{
    int32_t got[64];
    cr_assert(fl_array_size(array) == (int64_t)count, "%s: %lld elements", what, (long long)fl_array_size(array));
    must(fl_array_to_host(array, got));
    for (size_t i = 0; i < count; i++)
        cr_expect(got[i] == wanted[i], "%s: element %zu is %d, expected %d", what, i, got[i], wanted[i]);
}

ON_EVERY_BACKEND(array, what_it_is)
{
    fl_device *device = open_device(on->resource);
    for (int dtype = 0; dtype < FL_DTYPE_COUNT; dtype++)
        for (int ndim = 1; ndim <= FL_MAX_DIMS; ndim++) {
            const int64_t shape[FL_MAX_DIMS] = {2, 3, 5, 7};
            fl_array *array = NULL;
            must(fl_array_create(device, (fl_dtype)dtype, ndim, shape, &array));
            int64_t size = 1;
            for (int d = 0; d < FL_MAX_DIMS; d++) {
                cr_expect(fl_array_shape(array, d) == (d < ndim ? shape[d] : 1));
                size *= d < ndim ? shape[d] : 1;
            }
            cr_expect(fl_array_device(array) == device && fl_array_dtype(array) == (fl_dtype)dtype);
            cr_expect(fl_array_ndim(array) == ndim && fl_array_size(array) == size);
            cr_expect(fl_array_data(array) != NULL);
            fl_array_free(array);
        }
    fl_device_close(device);
}

/* Bytes of addresses that the process has. */
static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* 4 GiB, of which each array is freed before the next is made. (The address sanitizer keeps some of them.) */
ON_EVERY_BACKEND(array, memory_is_given_back)
{
    fl_device *device = open_device(on->resource);
    const int64_t bytes = 1 << 26;
    const size_t before = address_space();
    for (int i = 0; i < 64; i++) {
        fl_array *array;
        must(fl_array_create(device, FL_U8, 1, &bytes, &array));
        fl_array_free(array);
    }
    const size_t after = address_space();
    cr_expect(after < before + (UINT64_C(1) << 31), "%s: %zu bytes more", on->resource, after - before);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, there_and_back)
{
    fl_device *device = open_device(on->resource);
    for (int dtype = 0; dtype < FL_DTYPE_COUNT; dtype++) {
        struct matrix sent = matrix_random((fl_dtype)dtype, 33, 17, 1), got = matrix_create((fl_dtype)dtype, 33, 17);
        fl_array *array = array_from(device, &sent);
        must(fl_array_to_host(array, got.data));
        cr_expect(memcmp(sent.data, got.data, 33 * 17 * fl_dtype_size((fl_dtype)dtype)) == 0, "%s %s", on->resource,
                  fl_dtype_name((fl_dtype)dtype));
        fl_array_free(array);
        matrix_free(&sent);
        matrix_free(&got);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, views)
{
    fl_device *device = open_device(on->resource);
    fl_array *cube = counting(device, 3, (int64_t[]){3, 4, 5}), *part, *inner, *row;
    must(fl_array_view(cube, (int64_t[]){1, 1, 2}, (int64_t[]){2, 2, 3}, &part));
    must(fl_array_view(part, (int64_t[]){1, 0, 1}, (int64_t[]){1, 2, 2}, &inner));
    must(fl_array_view(cube, (int64_t[]){0, 0, 0}, (int64_t[]){1, 1, 5}, &row));
    fl_array_free(cube); /* its views keep it alive */
    expect_numbers(part, 12, (int32_t[]){27, 28, 29, 32, 33, 34, 47, 48, 49, 52, 53, 54}, on->resource);
    expect_numbers(inner, 4, (int32_t[]){48, 49, 53, 54}, on->resource);
    expect_numbers(row, 5, (int32_t[]){0, 1, 2, 3, 4}, on->resource);
    fl_array_free(part);
    expect_numbers(inner, 4, (int32_t[]){48, 49, 53, 54}, on->resource);
    free_arrays(inner, row);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, views_of_four_dimensions)
{
    fl_device *device = open_device(on->resource);
    fl_array *whole = counting(device, 4, (int64_t[]){2, 3, 2, 4}), *view;
    must(fl_array_view(whole, (int64_t[]){0, 1, 0, 1}, (int64_t[]){2, 2, 1, 2}, &view));
    expect_numbers(view, 8, (int32_t[]){9, 10, 17, 18, 33, 34, 41, 42}, on->resource);
    const int32_t numbers[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    must(fl_array_write(view, numbers, NULL));
    must(fl_device_wait(device));
    int32_t all[48];
    must(fl_array_to_host(whole, all));
    for (int i = 0, next = 0; i < 48; i++) {
        bool inside = i % 4 >= 1 && i % 4 <= 2 && i / 4 % 2 == 0 && i / 8 % 3 >= 1;
        cr_expect(all[i] == (inside ? numbers[next] : i), "%s: element %d is %d", on->resource, i, all[i]);
        next += inside;
    }
    free_arrays(view, whole);
    fl_device_close(device);
}

/* Every view of a small array, its dimensions packed together or not, read against the definition. */
ON_EVERY_BACKEND(array, every_view)
{
    enum { A = 2, B = 3, C = 2, D = 3 };
    fl_device *device = open_device(on->resource);
    fl_array *whole = counting(device, 4, (int64_t[]){A, B, C, D});
    for (int64_t code = 0; code < 3 * 6 * 3 * 6; code++) {
        static const int64_t spans[][2] = {{0, 1}, {1, 1}, {0, 2}, {2, 1}, {1, 2}, {0, 3}}; /* of 2: three, of 3: all */
        const int64_t *of[] = {spans[code % 3], spans[code / 3 % 6], spans[code / 18 % 3], spans[code / 54]};
        int64_t start[4], shape[4];
        int32_t wanted[64];
        size_t count = 0;
        fl_array *view;
        for (int d = 0; d < 4; d++) {
            start[d] = of[d][0];
            shape[d] = of[d][1];
        }
        for (int64_t i = 0; i < A * B * C * D; i++) {
            const int64_t at[] = {i / (B * C * D), i / (C * D) % B, i / D % C, i % D};
            bool inside = true;
            for (int d = 0; d < 4; d++)
                inside = inside && at[d] >= start[d] && at[d] < start[d] + shape[d];
            if (inside)
                wanted[count++] = (int32_t)i;
        }
        must(fl_array_view(whole, start, shape, &view));
        expect_numbers(view, count, wanted, on->resource);
        fl_array_free(view);
    }
    fl_array_free(whole);
    fl_device_close(device);
}

/* The left and the right half of a matrix interleave, row by row, without a common element; the upper and the lower do
 * not. */
ON_EVERY_BACKEND(array, views_that_interleave)
{
    fl_device *device = open_device(on->resource);
    fl_array *whole = counting(device, 2, (int64_t[]){6, 8}), *left, *right, *upper, *lower, *column;
    must(fl_array_view(whole, (int64_t[]){0, 0}, (int64_t[]){6, 4}, &left));
    must(fl_array_view(whole, (int64_t[]){0, 4}, (int64_t[]){6, 4}, &right));
    must(fl_array_view(whole, (int64_t[]){0, 0}, (int64_t[]){3, 8}, &upper));
    must(fl_array_view(whole, (int64_t[]){3, 0}, (int64_t[]){3, 8}, &lower));
    must(fl_array_view(whole, (int64_t[]){0, 1}, (int64_t[]){6, 4}, &column));
    expect_argument_error(fl_increment(device, left, right, NULL),
                          "out shares memory with in, or lies between its elements");
    expect_argument_error(fl_maximum(device, right, left, column, NULL), "lies between its elements");
    expect_status(FL_E_ARGUMENT, fl_maximum(device, left, right, left, NULL)); /* in place for one input alone */
    must(fl_increment(device, left, left, NULL));
    must(fl_increment(device, upper, lower, NULL));
    int32_t got[48];
    must(fl_array_to_host(whole, got));
    for (int i = 0; i < 48; i++) {
        int above = i % 24;
        cr_expect(got[i] == above + (above % 8 < 4) + i / 24, "%s: element %d is %d", on->resource, i, got[i]);
    }
    free_arrays(whole, left, right, upper, lower, column);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, views_out_of_range)
{
    static const int64_t wrong[][4] = {
        {0, 0, 4, 5},  {0, 0, 3, 6},  {1, 0, 3, 5},         {0, 2, 3, 4},         {-1, 0, 2, 2},
        {0, -1, 2, 2}, {0, 0, -1, 2}, {INT64_MAX, 0, 2, 2}, {1, 1, INT64_MAX, 2},
    };
    fl_device *device = open_device(on->resource);
    fl_array *array = counting(device, 2, (int64_t[]){3, 5}), *view = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_status(FL_E_ARGUMENT, fl_array_view(array, wrong[i], wrong[i] + 2, &view));
        cr_expect(view == NULL);
    }
    must(fl_array_view(array, (int64_t[]){3, 5}, (int64_t[]){0, 0}, &view));
    cr_expect(fl_array_size(view) == 0);
    free_arrays(view, array);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, without_elements)
{
    fl_device *device = open_device(on->resource);
    fl_array *array = NULL, *copy = NULL;
    char nothing = 'x';
    must(fl_array_create(device, FL_F64, 3, (int64_t[]){4, 0, 3}, &array));
    cr_expect(fl_array_size(array) == 0 && fl_array_shape(array, 1) == 0);
    must(fl_array_write(array, &nothing, NULL));
    must(fl_array_to_host(array, &nothing));
    must(fl_array_to_device(array, device, &copy));
    cr_expect(fl_array_size(copy) == 0 && nothing == 'x');
    free_arrays(copy, array);
    must(fl_array_from_host(device, FL_U8, 1, (int64_t[]){0}, NULL, &array));
    fl_array_free(array);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, wrong_shapes)
{
    static const struct {
        int ndim;
        int64_t shape[FL_MAX_DIMS];
    } wrong[] = {
        {2, {-1, 3}},
        {2, {3, -1}},
        {-1, {3}},
        {5, {1, 1, 1, 1}},
        {2, {INT64_MAX, 2}},
        {3, {1ll << 31, 1ll << 31, 4}},
        {4, {1ll << 20, 1ll << 20, 1ll << 20, 1ll << 20}},
        {1, {INT64_MAX}},
        {2, {INT64_MAX / 4, 1}},
    };
    fl_device *device = open_device(on->resource);
    fl_array *array = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_status(FL_E_ARGUMENT, fl_array_create(device, FL_F64, wrong[i].ndim, wrong[i].shape, &array));
        cr_expect(array == NULL, "%s: case %zu left an array", on->resource, i);
    }
    expect_status(FL_E_ARGUMENT, fl_array_create(device, (fl_dtype)9, 1, (int64_t[]){3}, &array));
    expect_status(FL_E_ARGUMENT, fl_array_create(device, FL_F64, 1, NULL, &array));
    expect_status(FL_E_ARGUMENT, fl_array_create(device, FL_F64, 1, (int64_t[]){3}, NULL));
    expect_status(FL_E_ARGUMENT, fl_array_create(NULL, FL_F64, 1, (int64_t[]){3}, &array));
    expect_status(FL_E_ARGUMENT, fl_array_from_host(device, FL_F64, 1, (int64_t[]){3}, NULL, &array));
    fl_device_close(device);
}

/* A pebibyte: more than any device has, less than overflows. */
ON_EVERY_BACKEND(array, out_of_memory)
{
    fl_device *device = open_device(on->resource);
    fl_array *array = NULL;
    expect_status(FL_E_MEMORY, fl_array_create(device, FL_F64, 2, (int64_t[]){1 << 23, 1 << 24}, &array));
    cr_expect(array == NULL);
    array = counting(device, 1, (int64_t[]){4});
    expect_numbers(array, 4, (int32_t[]){0, 1, 2, 3}, "after running out of memory");
    fl_array_free(array);
    fl_device_close(device);
}

ON_EVERY_BACKEND(array, pinned_memory)
{
    fl_device *device = open_device(on->resource);
    int32_t *pinned = NULL;
    must(fl_host_alloc(device, 64 * sizeof *pinned, (void **)&pinned));
    cr_expect((uintptr_t)pinned % 64 == 0, "%s: not aligned to a cache line", on->resource);
    fl_array *array = counting(device, 1, (int64_t[]){64});
    fl_stream *stream;
    must(fl_stream_create(device, &stream));
    must(fl_array_read(array, pinned, stream));
    must(fl_stream_wait(stream));
    for (int i = 0; i < 64; i++)
        cr_expect(pinned[i] == i);
    for (int i = 0; i < 64; i++)
        pinned[i] = -i;
    must(fl_array_write(array, pinned, stream));
    must(fl_stream_wait(stream));
    int32_t got[64];
    must(fl_array_to_host(array, got));
    cr_expect(got[63] == -63 && got[1] == -1);
    fl_host_free(device, pinned);
    fl_host_free(device, NULL);
    fl_stream_free(stream);
    fl_array_free(array);
    fl_device_close(device);
}

/* From each backend to each other, views too. */
ON_EVERY_BACKEND(array, copies_between_devices)
{
    fl_device *device = open_device(on->resource);
    const struct on *all;
    const size_t count = every_backend(&all);
    for (size_t i = 0; i < count; i++) {
        fl_device *other = open_device(all[i].resource);
        fl_array *array = counting(device, 2, (int64_t[]){4, 6}), *view, *copy, *again;
        must(fl_array_view(array, (int64_t[]){1, 2}, (int64_t[]){2, 3}, &view));
        must(fl_array_to_device(view, other, &copy));
        must(fl_array_to_device(copy, device, &again));
        cr_expect(fl_array_device(copy) == other && fl_array_device(again) == device);
        cr_expect(fl_array_dtype(copy) == FL_I32 && fl_array_shape(copy, 0) == 2 && fl_array_shape(copy, 1) == 3);
        free_arrays(view, array);
        expect_numbers(copy, 6, (int32_t[]){8, 9, 10, 14, 15, 16}, fl_device_describe(other)->resource);
        expect_numbers(again, 6, (int32_t[]){8, 9, 10, 14, 15, 16}, on->resource);
        free_arrays(copy, again);
        fl_device_close(other);
    }
    fl_device_close(device);
}

/* What the course's pupils meet: an array of one device given to another. */
ON_EVERY_BACKEND(array, on_the_wrong_device)
{
    fl_device *device = open_device(on->resource), *other = open_device(on->resource);
    const char *resource = fl_device_describe(other)->resource;
    fl_array *image = counting(device, 2, (int64_t[]){4, 6}), *kernel = counting(other, 2, (int64_t[]){2, 2}), *out;
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){4, 6}, &out));
    expect_status(FL_E_WRONG_DEVICE, fl_convolve(device, image, kernel, FL_SAME, out, NULL));
    expect_error_says("kernel");
    expect_error_says(resource);
    expect_error_says("fl_array_to_device");
    fl_array *moved;
    must(fl_array_to_device(kernel, device, &moved));
    must(fl_convolve(device, image, moved, FL_SAME, out, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_convolve(other, image, kernel, FL_SAME, out, NULL));
    expect_error_says("image");
    fl_array *arrays[] = {image, kernel, moved, out};
    for (size_t i = 0; i < 4; i++)
        fl_array_free(arrays[i]);
    fl_device_close(device);
    fl_device_close(other);
}

ON_EVERY_BACKEND(array, outlives_its_device)
{
    fl_device *device = open_device(on->resource);
    fl_array *array = counting(device, 2, (int64_t[]){2, 3}), *view;
    must(fl_array_view(array, (int64_t[]){1, 0}, (int64_t[]){1, 3}, &view));
    fl_stream *stream;
    fl_event *event;
    must(fl_stream_create(device, &stream));
    must(fl_event_create(device, &event));
    fl_device_close(device);
    expect_numbers(array, 6, (int32_t[]){0, 1, 2, 3, 4, 5}, on->resource);
    fl_array_free(array);
    expect_numbers(view, 3, (int32_t[]){3, 4, 5}, on->resource);
    fl_event_free(event);
    fl_stream_free(stream);
    fl_array_free(view);
}

Test(array, freeing_null)
{
    fl_array_free(NULL);
    fl_stream_free(NULL);
    fl_event_free(NULL);
    fl_device_close(NULL);
}

Test(array, dtypes)
{
    static const char *const names[FL_DTYPE_COUNT] = {"u8", "i32", "i64", "f32", "f64"};
    static const size_t sizes[FL_DTYPE_COUNT] = {1, 4, 8, 4, 8};
    fl_dtype dtype;
    for (int i = 0; i < FL_DTYPE_COUNT; i++) {
        cr_expect_str_eq(fl_dtype_name((fl_dtype)i), names[i]);
        cr_expect(fl_dtype_size((fl_dtype)i) == sizes[i]);
        must(fl_dtype_parse(names[i], &dtype));
        cr_expect(dtype == (fl_dtype)i);
    }
    cr_expect_str_eq(fl_dtype_name((fl_dtype)17), "?");
    cr_expect(fl_dtype_size((fl_dtype)-1) == 0);
    expect_status(FL_E_UNKNOWN, fl_dtype_parse("float32", &dtype));
    expect_error_says("f32");
    expect_status(FL_E_UNKNOWN, fl_dtype_parse("", &dtype));
}

Test(array, result_dtypes)
{
    static const struct {
        fl_dtype inputs[3], of_floats, of_any;
        int count;
    } cases[] = {
        {{FL_F32}, FL_F32, FL_F32, 1},
        {{FL_F64}, FL_F64, FL_F64, 1},
        {{FL_I32}, FL_F64, FL_I32, 1},
        {{FL_F32, FL_F32}, FL_F32, FL_F32, 2},
        {{FL_F32, FL_F64}, FL_F64, FL_F64, 2},
        {{FL_I32, FL_F32}, FL_F64, FL_F64, 2},
        {{FL_I64, FL_I32}, FL_F64, FL_I64, 2},
        {{FL_U8, FL_U8, FL_U8}, FL_F64, FL_U8, 3},
        {{FL_F32, FL_F32, FL_F32}, FL_F32, FL_F32, 3},
        {{FL_F32, FL_F32, FL_I32}, FL_F64, FL_F64, 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(fl_dtype_float_result(cases[i].inputs, cases[i].count) == cases[i].of_floats, "case %zu", i);
        cr_expect(fl_dtype_result(cases[i].inputs, cases[i].count) == cases[i].of_any, "case %zu", i);
    }
    for (int i = 0; i < FL_DTYPE_COUNT; i++)
        cr_expect(fl_dtype_is_float((fl_dtype)i) == (i == FL_F32 || i == FL_F64));
}
