/* SPDX-License-Identifier: MIT
 *
 * test_grids.c - results that need more threads than a launch may have, in each variant: the threads then take several
 * elements, or there are several launches. For devices with a low limit: hip-cpu as it is built for the test `grids`,
 * and the emulated AMD GPU with AMD_EMULATOR_BLOCKS. The results are those of `serial`, bit for bit: they are of small
 * integers, whose sums are exact; but for an FFT, whose test is that of convolve1d.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { LOW = 1 << 16 }; /* threads: devices that allow more are left out */

static const fl_dtype dtypes[] = {FL_F32, FL_F64};

struct shape {
    int64_t rows, columns; /* rows = 1: a vector */
};

static fl_array *integers(fl_device *device, fl_dtype dtype, struct shape shape, uint64_t seed)
{
    const bool plane = shape.rows > 1;
    const int64_t count = shape.rows * shape.columns;
    struct matrix m = matrix_create(dtype, shape.rows, shape.columns);
    for (int64_t i = 0; i < count; i++)
        matrix_set(&m, 0, i, (double)random_between(&seed, -4, 4));
    fl_array *array;
    must(fl_array_from_host(device, dtype, plane ? 2 : 1, plane ? m.shape : &m.shape[1], m.data, &array));
    matrix_free(&m);
    return array;
}

/* A call with arrays that depend on dtype and shape alone. */
typedef fl_status operation(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run);

static fl_status increment(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1);
    const fl_status status = fl_increment(device, x, out, run);
    fl_array_free(x);
    return status;
}

/* Rows that lie apart: every second one of an array. */
static fl_status maximum_of_rows(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out,
                                 const fl_run *run)
{
    const struct shape wide = {shape.rows, shape.columns + 3};
    fl_array *x = integers(device, dtype, wide, 1), *y = integers(device, dtype, wide, 2), *left, *right;
    must(fl_array_view(x, (int64_t[]){0, 1}, (int64_t[]){shape.rows, shape.columns}, &left));
    must(fl_array_view(y, (int64_t[]){0, 2}, (int64_t[]){shape.rows, shape.columns}, &right));
    const fl_status status = fl_maximum(device, left, right, out, run);
    free_arrays(left, right, x, y);
    return status;
}

static fl_status convert(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype == FL_F32 ? FL_F64 : FL_F32, shape, 1);
    const fl_status status = fl_convert(device, x, out, run);
    fl_array_free(x);
    return status;
}

static fl_status copy(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1);
    const fl_status status = fl_copy_array(device, x, out, run);
    fl_array_free(x);
    return status;
}

static fl_status multiply_add(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1);
    const fl_status status = fl_multiply_add(device, x, 2, 1, 3, out, run);
    fl_array_free(x);
    return status;
}

static fl_status sort(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1);
    const fl_status status = fl_sort(device, x, out, run);
    fl_array_free(x);
    return status;
}

static fl_status scan(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1);
    const fl_status status = fl_scan(device, x, FL_SUM, false, out, run);
    fl_array_free(x);
    return status;
}

/* The sums of the columns. */
static fl_status reduce(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, (struct shape){5, shape.columns}, 1);
    const fl_status status = fl_reduce(device, x, FL_SUM, 0, out, run);
    fl_array_free(x);
    return status;
}

static fl_status transpose(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, (struct shape){shape.columns, shape.rows}, 1);
    const fl_status status = fl_transpose(device, x, out, run);
    fl_array_free(x);
    return status;
}

static fl_status convolve1d(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    fl_array *x = integers(device, dtype, shape, 1), *kernel = integers(device, dtype, (struct shape){1, 5}, 2);
    const fl_status status = fl_convolve1d(device, x, kernel, FL_SAME, out, run);
    free_arrays(kernel, x);
    return status;
}

/* A kernel of rank one, which all variants take. */
static fl_status convolve(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    struct matrix ones = matrix_create(dtype, 2, 3);
    for (int64_t i = 0; i < 2 * 3; i++)
        matrix_set(&ones, 0, i, i < 3 ? 1 : 2);
    fl_array *x = integers(device, dtype, shape, 1), *kernel = array_from(device, &ones);
    fl_status status = fl_convolve(device, x, kernel, FL_SAME, out, run);
    if (status == FL_OK)
        status = fl_device_wait(device);
    free_arrays(kernel, x);
    matrix_free(&ones);
    return status;
}

static fl_status reconstruct(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    const int64_t rank = 3;
    fl_array *u = integers(device, dtype, (struct shape){shape.rows, rank}, 1);
    fl_array *s = integers(device, dtype, (struct shape){1, rank}, 2);
    fl_array *vt = integers(device, dtype, (struct shape){rank, shape.columns}, 3);
    const fl_status status = fl_reconstruct(device, u, s, vt, rank, out, run);
    free_arrays(u, s, vt);
    return status;
}

static fl_status matmul(fl_device *device, fl_dtype dtype, struct shape shape, fl_array *out, const fl_run *run)
{
    const int64_t terms = 3;
    fl_array *a = integers(device, dtype, (struct shape){terms, shape.rows}, 1);
    fl_array *b = integers(device, dtype, (struct shape){shape.columns, terms}, 2);
    const fl_status status = fl_matmul(device, a, true, b, true, out, run);
    free_arrays(a, b);
    return status;
}

/* The output's elements, packed, to be freed; NULL if the variant is not available. */
static void *result_of(fl_device *device, operation *call, fl_dtype dtype, struct shape shape, const fl_run *run)
{
    const int64_t both[2] = {shape.rows, shape.columns};
    const bool plane = shape.rows > 1;
    fl_array *out;
    void *bytes = malloc((size_t)(shape.rows * shape.columns) * fl_dtype_size(dtype));
    must(fl_array_create(device, dtype, plane ? 2 : 1, plane ? both : &both[1], &out));
    const fl_status status = call(device, dtype, shape, out, run);
    if (status == FL_E_UNAVAILABLE || status == FL_E_UNSUPPORTED) { /* a library's sums of floats, or of columns */
        free(bytes);
        bytes = NULL;
    } else {
        must(status);
        must(fl_array_to_host(out, bytes));
    }
    fl_array_free(out);
    return bytes;
}

static int64_t threads_along(const fl_device_info *info, int d, int block)
{
    int64_t blocks = info->max_grid[d];
    if (info->max_grid_threads[d] > 0 && info->max_grid_threads[d] / block < blocks)
        blocks = info->max_grid_threads[d] / block;
    return blocks * block;
}

static void check_shape(fl_device *device, fl_device *serial, const char *name, operation *call, fl_dtype dtype,
                        struct shape shape, const int *block)
{
    const fl_device_info *info = fl_device_describe(device);
    const char *variant;
    void *expected = result_of(serial, call, dtype, shape, NULL);
    for (size_t i = 0; (variant = variant_of(device, name, dtype, i)); i++) {
        if (strncmp(variant, "fft", 3) == 0)
            continue;
        fl_timing timing = {0};
        const fl_run run = {.variant = variant, .block = {block[0], block[1], block[2]}, .timing = &timing};
        void *got = result_of(device, call, dtype, shape, &run);
        if (!got)
            continue;
        cr_expect(memcmp(got, expected, (size_t)(shape.rows * shape.columns) * fl_dtype_size(dtype)) == 0,
                  "%s %s %s: %lld x %lld in blocks of %dx%dx%d differs", name, variant, fl_dtype_name(dtype),
                  (long long)shape.rows, (long long)shape.columns, block[0], block[1], block[2]);
        for (int d = 0; d < 3; d++)
            cr_expect(timing.grid[d] * timing.block[d] <= threads_along(info, d, timing.block[d] ? timing.block[d] : 1),
                      "%s %s: %lld blocks of %d", name, variant, (long long)timing.grid[d], timing.block[d]);
        free(got);
    }
    free(expected);
}

/* Around once and twice what the grid's threads take at `each` elements a thread. */
static void check_vectors(fl_device *device, fl_device *serial, const char *name, operation *call, int width, int each)
{
    const int block[3] = {width, 1, 1};
    const int64_t threads = threads_along(fl_device_describe(device), 0, width);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int64_t times = 1; times <= 2; times++)
            for (int64_t more = -1; more <= 1; more++)
                check_shape(device, serial, name, call, dtypes[d], (struct shape){1, times * each * threads + more},
                            block);
}

static void check_planes(fl_device *device, fl_device *serial, const char *name, operation *call, const int *block,
                         int across, int down)
{
    const fl_device_info *info = fl_device_describe(device);
    const int64_t wide = across * threads_along(info, 0, block[0]), high = down * threads_along(info, 1, block[1]);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int64_t more = -1; more <= 1; more++) {
            check_shape(device, serial, name, call, dtypes[d], (struct shape){3, wide + more}, block);
            check_shape(device, serial, name, call, dtypes[d], (struct shape){3, 2 * wide + more}, block);
            check_shape(device, serial, name, call, dtypes[d], (struct shape){high + more, 3}, block);
        }
}

static bool is_low(const fl_device_info *info)
{
    return info->max_grid_threads[0] > 0 && threads_along(info, 0, 32) <= LOW;
}

ON_EVERY_BACKEND(grids, results_beyond_the_grid)
{
    static const int none[3] = {0}, wide[3] = {8, 2, 1}, cube[3] = {2, 4, 2};
    fl_device *device = open_device(on->resource);
    if (is_gpu(device) && is_low(fl_device_describe(device))) {
        fl_device *serial = open_device("serial");
        check_vectors(device, serial, "increment", increment, 32, 1);
        check_vectors(device, serial, "increment", increment, 32, 4);
        check_planes(device, serial, "increment", increment, cube, 1, 1);
        check_planes(device, serial, "maximum", maximum_of_rows, wide, 1, 1);
        check_vectors(device, serial, "convert", convert, 32, 1);
        check_vectors(device, serial, "copy", copy, 1, 4);
        check_vectors(device, serial, "multiply_add", multiply_add, 32, 1);
        check_vectors(device, serial, "multiply_add", multiply_add, 8, 8);
        check_vectors(device, serial, "convolve1d", convolve1d, 32, 1);
        check_vectors(device, serial, "convolve1d", convolve1d, 8, 7);
        check_vectors(device, serial, "sort", sort, 32, 16);
        check_vectors(device, serial, "scan", scan, 32, 1);
        check_vectors(device, serial, "scan", scan, 64, 16);
        check_vectors(device, serial, "reduce", reduce, 32, 1);
        check_vectors(device, serial, "reduce", reduce, 32, 4);
        check_planes(device, serial, "transpose", transpose, wide, 1, 1);
        /* Tiles of bitonic have 8192 elements, whatever the block. */
        check_shape(device, serial, "sort", sort, FL_F32,
                    (struct shape){1, threads_along(fl_device_describe(device), 0, 512) / 512 * 8192 + 1},
                    (int[]){512, 1, 1});
        check_planes(device, serial, "convolve", convolve, wide, 1, 1);
        check_planes(device, serial, "reconstruct", reconstruct, wide, 4, 1);
        check_shape(device, serial, "reconstruct", reconstruct, FL_F32, (struct shape){3, 2 * LOW}, none);
        check_planes(device, serial, "matmul", matmul, wide, 4, 1);
        check_shape(device, serial, "matmul", matmul, FL_F32, (struct shape){3, 2 * LOW}, none);
        fl_device_close(serial);
    }
    fl_device_close(device);
}

/* The limit is reported, and reached by a grid of a variant's own choice: HIP's, where the device has it. */
ON_EVERY_BACKEND(grids, limits_are_told)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    for (int d = 0; d < 3; d++) {
        cr_expect(info->max_grid_threads[d] >= 0);
        if (strcmp(info->backend, "hip-nvidia") == 0 || strcmp(info->family, "cpu") == 0)
            cr_expect(info->max_grid_threads[d] == 0, "%s has no such limit", on->resource);
        else
            cr_expect(info->max_grid_threads[d] > 0 && info->max_grid_threads[d] < INT64_C(1) << 32, "%s",
                      on->resource);
    }
    fl_device_close(device);
}
