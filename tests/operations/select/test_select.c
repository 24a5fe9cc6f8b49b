/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};

/* What is behind the result, and in front of it, must stay as it was. */
enum { SPARE = 37, PATTERN = 0xA5 };

/* in[in != 0], by the definition; returns how many. NaN is not zero, -0 is. */
static int64_t expected_select(const struct matrix *in, unsigned char *out)
{
    const size_t size = fl_dtype_size(in->dtype);
    int64_t kept = 0;
    for (int64_t i = 0; i < in->shape[1]; i++)
        if (matrix_get(in, 0, i) != 0)
            memcpy(out + (size_t)kept++ * size, (const char *)in->data + (size_t)i * size, size);
    return kept;
}

/* The row on a device, as a view that begins in the middle of something larger, at no round address. */
static fl_array *vector_inside(fl_device *device, const struct matrix *row)
{
    fl_array *whole = NULL, *view = NULL;
    const size_t size = fl_dtype_size(row->dtype);
    char *bytes = malloc((size_t)(row->shape[1] + 4) * size);
    memset(bytes, 1, (size_t)(row->shape[1] + 4) * size);
    memcpy(bytes + 3 * size, row->data, (size_t)row->shape[1] * size);
    must(fl_array_from_host(device, row->dtype, 1, (int64_t[]){row->shape[1] + 4}, bytes, &whole));
    must(fl_array_view(whole, (int64_t[]){3}, &row->shape[1], &view));
    fl_array_free(whole);
    free(bytes);
    return view;
}

/* Selects with guards around the output and the count, and compares bit for bit. */
static void check_select(fl_device *device, const struct matrix *in, const void *expected, int64_t kept,
                         const fl_run *run)
{
    const int64_t length = in->shape[1], room = length + SPARE, one = 1;
    const size_t size = fl_dtype_size(in->dtype);
    char what[160];
    snprintf(what, sizeof what, "%s %s %s, %lld elements, block %d", fl_device_describe(device)->resource,
             run && run->variant ? run->variant : "auto", fl_dtype_name(in->dtype), (long long)length,
             run ? run->block[0] : 0);
    fl_array *a = vector_inside(device, in);
    struct guarded out = guarded_create(device, in->dtype, 1, &room, 3);
    struct guarded count = guarded_create(device, FL_I64, 1, &one, 1);
    must(fl_select(device, a, out.out, count.out, run));
    int64_t found = -1;
    unsigned char *got = malloc((size_t)room * size);
    guarded_copy(&count, &found, what);
    guarded_copy(&out, got, what);
    cr_assert(found == kept, "%s: expected %lld, got %lld", what, (long long)kept, (long long)found);
    cr_expect(memcmp(got, expected, (size_t)kept * size) == 0, "%s: other elements than expected", what);
    size_t end = (size_t)kept * size;
    while (end < (size_t)room * size && got[end] == PATTERN)
        end++;
    cr_assert(end == (size_t)room * size, "%s: wrote behind the result, at byte %zu of %zu", what, end,
              (size_t)kept * size);
    free(got);
    guarded_free(&out);
    guarded_free(&count);
    fl_array_free(a);
}

static void check_by_definition(fl_device *device, const struct matrix *in, const fl_run *run)
{
    unsigned char *expected = malloc((size_t)(in->shape[1] + 1) * fl_dtype_size(in->dtype));
    int64_t kept = expected_select(in, expected);
    check_select(device, in, expected, kept, run);
    free(expected);
}

ON_EVERY_BACKEND(select, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        char name[64];
        const char *variant;
        snprintf(name, sizeof name, "%s.in", fl_dtype_name(dtypes[d]));
        struct matrix in = matrix_golden("select", name);
        snprintf(name, sizeof name, "%s.out", fl_dtype_name(dtypes[d]));
        struct matrix out = matrix_golden("select", name);
        cr_assert(in.dtype == dtypes[d] && out.dtype == dtypes[d]);
        for (size_t i = 0; (variant = variant_of(device, "select", dtypes[d], i)) != NULL; i++)
            check_select(device, &in, out.data, out.shape[1], &(fl_run){.variant = variant});
        matrix_free(&in);
        matrix_free(&out);
    }
    fl_device_close(device);
}

/* `zeros` of 8 elements are 0, on average. */
static struct matrix sprinkled(fl_dtype dtype, int64_t length, int zeros, uint64_t seed)
{
    struct matrix m = matrix_create(dtype, 1, length);
    for (int64_t i = 0; i < length; i++)
        matrix_set(&m, 0, i, random_between(&seed, 0, 7) < zeros ? 0 : (double)random_between(&seed, 1, 120));
    return m;
}

/* Around what warps, blocks, tiles (128 threads x 8), pieces (16 KiB) and shares of threads are made of. */
ON_EVERY_BACKEND(select, sizes)
{
    static const int64_t sizes[] = {0,   1,   2,   3,    7,    31,   32,   33,   63,    64,    65,
                                    127, 128, 129, 1023, 1024, 1025, 4095, 4097, 16383, 16385, 70001};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        static const int zeros[] = {0, 4, 7, 8};
        for (size_t z = 0; z < COUNT(zeros); z++) {
            fl_dtype dtype = dtypes[(s + z) % COUNT(dtypes)];
            struct matrix in = sprinkled(dtype, sizes[s], zeros[z], s * 8 + z);
            for (size_t i = 0; (variant = variant_of(device, "select", dtype, i)) != NULL; i++)
                check_by_definition(device, &in, &(fl_run){.variant = variant});
            matrix_free(&in);
        }
    }
    fl_device_close(device);
}

/* Long enough that several threads share the work, and that a block has several tiles. */
ON_EVERY_BACKEND(select, large)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct matrix in = sprinkled(dtypes[d], is_slow(device) ? 300007 : 1000003, 5, d);
        for (size_t i = 0; (variant = variant_of(device, "select", dtypes[d], i)) != NULL; i++)
            check_by_definition(device, &in, &(fl_run){.variant = variant});
        matrix_free(&in);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(select, one_element_alone)
{
    static const int64_t places[] = {0, 1, 1023, 1024, 5000};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t k = 0; k < COUNT(places); k++) {
        struct matrix in = sprinkled(FL_F32, 5001, 8, 0);
        matrix_set(&in, 0, places[k], NAN);
        for (size_t i = 0; (variant = variant_of(device, "select", FL_F32, i)) != NULL; i++)
            check_by_definition(device, &in, &(fl_run){.variant = variant});
        matrix_free(&in);
    }
    fl_device_close(device);
}

/* Blocks that are not whole warps, of one thread, of all that can be, and in three dimensions. */
ON_EVERY_BACKEND(select, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},  {2, 0, 0},   {31, 0, 0},  {33, 0, 0},  {64, 0, 0},
                                    {96, 0, 0}, {100, 0, 0}, {512, 0, 0}, {16, 16, 0}, {3, 5, 7}};
    fl_device *device = open_device(on->resource);
    if (!is_gpu(device)) { /* blocks are a GPU's */
        fl_device_close(device);
        return;
    }
    for (size_t b = 0; b < COUNT(blocks); b++)
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            fl_timing timing;
            fl_run run = {.variant = "scan", .block = {blocks[b][0], blocks[b][1], blocks[b][2]}, .timing = &timing};
            struct matrix in = sprinkled(dtypes[d], 20011, 3, b);
            check_by_definition(device, &in, &run);
            for (int axis = 0; axis < 3; axis++)
                cr_expect(timing.block[axis] == (blocks[b][axis] > 1 ? blocks[b][axis] : 1), "%s: block %zu ran as %d",
                          on->resource, b, timing.block[axis]);
            matrix_free(&in);
        }
    struct matrix in = sprinkled(FL_F64, 20011, 3, 1);
    check_by_definition(device, &in,
                        &(fl_run){.variant = "scan", .block = {fl_device_describe(device)->max_threads_per_block}});
    matrix_free(&in);
    fl_device_close(device);
}

ON_EVERY_BACKEND(select, timing)
{
    fl_device *device = open_device(on->resource);
    struct matrix in = sprinkled(FL_I32, 10000, 4, 5);
    unsigned char *expected = malloc(10000 * sizeof(int32_t));
    const double kept = (double)expected_select(&in, expected);
    const char *variant;
    for (size_t i = 1; (variant = variant_of(device, "select", FL_I32, i)) != NULL; i++) {
        fl_timing timing;
        check_select(device, &in, expected, (int64_t)kept, &(fl_run){.variant = variant, .timing = &timing});
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0 && timing.flops == 0);
        cr_expect(timing.bytes == 4 * (10000 + kept) + 8, "%s %s: %g bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        if (is_gpu(device) && strcmp(variant, "scan") == 0)
            cr_expect(timing.block[0] == 128 && timing.grid[0] == 10 && timing.shared_bytes > 0);
    }
    free(expected);
    matrix_free(&in);
    fl_device_close(device);
}

/* The count may lie in neither array. */
ON_EVERY_BACKEND(select, overlapping_count)
{
    fl_device *device = open_device(on->resource);
    fl_array *in, *out, *of_in, *of_out;
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){10}, &in));
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){10}, &out));
    must(fl_array_view(in, (int64_t[]){9}, (int64_t[]){1}, &of_in));
    must(fl_array_view(out, (int64_t[]){0}, (int64_t[]){1}, &of_out));
    expect_argument_error(fl_select(device, in, out, of_in, NULL), "count");
    expect_argument_error(fl_select(device, in, out, of_out, NULL), "count");
    free_arrays(in, out, of_in, of_out);
    fl_device_close(device);
}

ON_EVERY_BACKEND(select, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t one = 1, two = 2, length = 100, less = 99;
    const int32_t value = 5;
    fl_array *in, *shorter, *wide, *square, *count, *pair, *narrow, *foreign;
    struct guarded out = guarded_create(device, FL_F32, 1, &length, 1);
    must(fl_array_create(device, FL_F32, 1, &length, &in));
    must(fl_array_create(device, FL_F32, 1, &less, &shorter));
    must(fl_array_create(device, FL_F64, 1, &length, &wide));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){10, 10}, &square));
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_array_create(device, FL_I64, 1, &two, &pair));
    must(fl_array_from_host(device, FL_I32, 1, &one, &value, &narrow));
    must(fl_array_create(other, FL_F32, 1, &length, &foreign));
    expect_argument_error(fl_select(NULL, in, out.out, count, NULL), "device");
    expect_argument_error(fl_select(device, NULL, out.out, count, NULL), "in is NULL");
    expect_argument_error(fl_select(device, in, NULL, count, NULL), "out is NULL");
    expect_argument_error(fl_select(device, in, out.out, NULL, NULL), "count is NULL");
    expect_argument_error(fl_select(device, square, out.out, count, NULL), "2 dimensions");
    expect_argument_error(fl_select(device, in, square, count, NULL), "out has 2 dimensions");
    expect_argument_error(fl_select(device, in, shorter, count, NULL), "at least 100");
    expect_argument_error(fl_select(device, in, wide, count, NULL), "f64");
    expect_argument_error(fl_select(device, in, out.out, pair, NULL), "count");
    expect_argument_error(fl_select(device, in, out.out, narrow, NULL), "i64");
    expect_argument_error(fl_select(device, in, in, count, NULL), "shares memory");
    expect_status(FL_E_WRONG_DEVICE, fl_select(device, foreign, out.out, count, NULL));
    expect_error_says("fl_array_to_device(in");
    expect_status(FL_E_UNKNOWN, fl_select(device, in, out.out, count, &(fl_run){.variant = "scam"}));
    expect_error_says("scan");
    expect_status(FL_E_ARGUMENT, fl_select(device, in, out.out, count, &(fl_run){.variant = "scan", .block = {-1}}));
    if (is_gpu(device)) {
        int huge = 1 << 30;
        expect_status(FL_E_LIMIT,
                      fl_select(device, in, out.out, count, &(fl_run){.variant = "scan", .block = {huge, huge, huge}}));
    }
    expect_untouched(&out, on->resource);
    free_arrays(in, shorter, wide, square, count, pair, narrow, foreign);
    guarded_free(&out);
    fl_device_close(device);
    fl_device_close(other);
}
