/* SPDX-License-Identifier: MIT
 *
 * test_transpose.c - the last two dimensions exchanged, bit for bit: against NumPy's results and the definition.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};

/* Where the input begins in a larger array, and how much longer its rows are: none, so that they are packed; whole
 * vectors of 16 bytes; or no such number. */
static const struct layout {
    int64_t lead, gap;
} layouts[] = {{0, 0}, {16, 16}, {3, 2}, {0, 5}, {1, 0}};

struct stack {
    fl_dtype dtype;
    int ndim;
    int64_t shape[FL_MAX_DIMS];
};

static int64_t size_of(const struct stack *s)
{
    int64_t size = 1;
    for (int d = 0; d < s->ndim; d++)
        size *= s->shape[d];
    return size;
}

static struct stack transposed(struct stack s)
{
    const int64_t height = s.shape[s.ndim - 2];
    s.shape[s.ndim - 2] = s.shape[s.ndim - 1];
    s.shape[s.ndim - 1] = height;
    return s;
}

/* Any bits: what is moved is not looked at. */
static char *bits_of(const struct stack *s, uint64_t seed)
{
    const size_t bytes = (size_t)size_of(s) * fl_dtype_size(s->dtype);
    char *data = malloc(bytes + 8);
    for (size_t at = 0; at < bytes; at += 8) {
        const uint64_t bits = random_bits(&seed);
        memcpy(data + at, &bits, 8);
    }
    return data;
}

/* By the definition. */
static char *expected_of(const struct stack *s, const char *in)
{
    const size_t size = fl_dtype_size(s->dtype);
    const int64_t height = s->shape[s->ndim - 2], width = s->shape[s->ndim - 1];
    char *out = malloc((size_t)size_of(s) * size + 1);
    for (int64_t first = 0; first < size_of(s); first += height * width)
        for (int64_t i = 0; i < height; i++)
            for (int64_t j = 0; j < width; j++)
                memcpy(out + (size_t)(first + j * height + i) * size, in + (size_t)(first + i * width + j) * size,
                       size);
    return out;
}

/* The data on a device, in such a layout. */
static fl_array *view_of(fl_device *device, const struct stack *s, const char *data, const struct layout *l)
{
    fl_array *whole, *view;
    int64_t shape[FL_MAX_DIMS], start[FL_MAX_DIMS] = {0};
    const size_t size = fl_dtype_size(s->dtype);
    const int last = s->ndim - 1;
    memcpy(shape, s->shape, sizeof shape);
    shape[last] += l->lead + l->gap;
    start[last] = l->lead;
    const int64_t rows = s->shape[last] ? size_of(s) / s->shape[last] : 0;
    char *all = malloc((size_t)(rows * shape[last]) * size + 1);
    memset(all, 0x5A, (size_t)(rows * shape[last]) * size);
    for (int64_t row = 0; row < rows; row++)
        memcpy(all + (size_t)(row * shape[last] + l->lead) * size, data + (size_t)(row * s->shape[last]) * size,
               (size_t)s->shape[last] * size);
    must(fl_array_from_host(device, s->dtype, s->ndim, shape, all, &whole));
    must(fl_array_view(whole, start, s->shape, &view));
    fl_array_free(whole);
    free(all);
    return view;
}

/* With guards around the output, whose rows have gaps of twice `margin`. */
static void check_against(fl_device *device, const struct stack *s, const char *data, const char *expected,
                          const struct layout *l, int64_t margin, const fl_run *run)
{
    char what[200];
    const struct stack t = transposed(*s);
    const size_t bytes = (size_t)size_of(s) * fl_dtype_size(s->dtype);
    snprintf(what, sizeof what, "%s %s %s, %lld x %lld x %lld, lead %lld, gap %lld, margin %lld, block %d",
             fl_device_describe(device)->resource, run && run->variant ? run->variant : "auto", fl_dtype_name(s->dtype),
             (long long)(s->ndim > 2 ? s->shape[s->ndim - 3] : 1), (long long)s->shape[s->ndim - 2],
             (long long)s->shape[s->ndim - 1], (long long)l->lead, (long long)l->gap, (long long)margin,
             run ? run->block[0] : 0);
    fl_array *in = view_of(device, s, data, l);
    struct guarded out = guarded_create(device, s->dtype, s->ndim, t.shape, margin);
    char *got = malloc(bytes + 1);
    must(fl_transpose(device, in, out.out, run));
    guarded_copy(&out, got, what);
    size_t at = 0;
    while (at < bytes && got[at] == expected[at])
        at++;
    cr_assert(at == bytes, "%s: element %zu is another one", what, at / fl_dtype_size(s->dtype));
    free(got);
    guarded_free(&out);
    fl_array_free(in);
}

/* Every variant. */
static void check_variants(fl_device *device, const struct stack *s, uint64_t seed, const struct layout *l,
                           int64_t margin)
{
    if (is_left_out(5))
        return;
    char *data = bits_of(s, seed), *expected = expected_of(s, data);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "transpose", s->dtype, v)) != NULL; v++)
        check_against(device, s, data, expected, l, margin, &(fl_run){.variant = variant});
    free(data);
    free(expected);
}

ON_EVERY_BACKEND(transpose, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        char name[32];
        const char *variant;
        snprintf(name, sizeof name, "%s.in", fl_dtype_name(dtypes[d]));
        struct matrix in = matrix_golden("transpose", name);
        snprintf(name, sizeof name, "%s.out", fl_dtype_name(dtypes[d]));
        struct matrix out = matrix_golden("transpose", name);
        const struct stack s = {dtypes[d], 3, {2, in.shape[0] / 2, in.shape[1]}};
        cr_assert(in.dtype == dtypes[d] && in.shape[0] == 74 && in.shape[1] == 21 && out.shape[1] == 37);
        for (size_t v = 0; (variant = variant_of(device, "transpose", dtypes[d], v)) != NULL; v++)
            check_against(device, &s, in.data, out.data, &layouts[0], 1, &(fl_run){.variant = variant});
        matrix_free(&in);
        matrix_free(&out);
    }
    fl_device_close(device);
}

/* Around vectors and packs (2, 4, 16 elements), tiles (32, 64, 128) and a thread's share. */
ON_EVERY_BACKEND(transpose, sizes)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(sizes); j++) {
            const size_t turn = 3 * i + j;
            const struct stack s = {dtypes[turn % COUNT(dtypes)], 2, {sizes[i], sizes[j]}};
            if (is_slow(device) && (i + j) % 3 != 0)
                continue;
            check_variants(device, &s, turn, &layouts[(i + 2 * j) % COUNT(layouts)], turn % 4 == 0 ? 16 : turn % 3);
        }
    fl_device_close(device);
}

/* Each dtype in each layout: packs of 16 bytes are aligned in both arrays, in one of them, or in none. */
ON_EVERY_BACKEND(transpose, layouts)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t l = 0; l < COUNT(layouts); l++)
            for (int64_t margin = 0; margin < 2; margin++) {
                const struct stack even = {dtypes[d], 2, {160, 144}}, odd = {dtypes[d], 2, {131, 149}};
                check_variants(device, &even, d, &layouts[l], 16 * margin);
                check_variants(device, &odd, d, &layouts[l], margin);
            }
    fl_device_close(device);
}

/* Both dimensions of a batch, with gaps in each array; matrices of one element, of one row, and smaller than a tile. */
ON_EVERY_BACKEND(transpose, batches)
{
    static const struct stack stacks[] = {{FL_F32, 4, {3, 5, 33, 17}}, {FL_F64, 3, {7, 65, 40}},
                                          {FL_U8, 4, {2, 3, 129, 70}}, {FL_I32, 3, {1000, 1, 1}},
                                          {FL_I64, 4, {2, 300, 1, 5}}, {FL_U8, 3, {777, 3, 1}},
                                          {FL_F32, 4, {9, 1, 8, 8}},   {FL_F32, 4, {1, 1, 64, 64}}};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(stacks); s++)
        for (size_t l = 0; l < 3; l++)
            check_variants(device, &stacks[s], s, &layouts[l], (int64_t)(l % 2));
    fl_device_close(device);
}

/* Few long rows, and many short ones: on a GPU more than a grid has blocks along y. */
ON_EVERY_BACKEND(transpose, thin)
{
    fl_device *device = open_device(on->resource);
    const int64_t length = is_gpu(device) && !is_slow(device) ? 70001 : 3001;
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int64_t edge = 1; edge < 20; edge += d % 2 + 2) {
            const struct stack wide = {dtypes[d], 2, {edge, length}}, tall = {dtypes[d], 2, {length, edge}};
            check_variants(device, &wide, d, &layouts[edge % 3], edge % 2);
            check_variants(device, &tall, d, &layouts[edge % 3], edge % 2);
        }
    fl_device_close(device);
}

/* Large enough for several threads, and on a CPU for stores past the caches: a dtype of each size, since bits are
 * moved. */
ON_EVERY_BACKEND(transpose, large)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < 3 && !is_small_test(); d++) {
        const int64_t bytes = is_slow(device) ? 1 << 20 : 35 << 20, size = (int64_t)fl_dtype_size(dtypes[d]);
        const int64_t width = is_slow(device) ? 500 + (int64_t)d : 4000 + 7 * (int64_t)d;
        const struct stack s = {dtypes[d], 2, {bytes / size / width, width}};
        check_variants(device, &s, d, &layouts[0], d % 2);
    }
    fl_device_close(device);
}

/* Blocks that are not whole warps, of one thread, of all that can be, and in three dimensions. */
ON_EVERY_BACKEND(transpose, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {31, 0, 0},   {32, 8, 0},  {100, 0, 0},
                                    {512, 0, 0}, {1024, 0, 0}, {16, 16, 0}, {3, 5, 7}};
    fl_device *device = open_device(on->resource);
    for (size_t b = 0; b < COUNT(blocks) && is_gpu(device); b++)
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            const struct stack s = {dtypes[d], 3, {2, 133, 144}};
            if (is_left_out(5))
                continue;
            char *data = bits_of(&s, d), *expected = expected_of(&s, data);
            const char *variant;
            for (size_t v = 0; (variant = variant_of(device, "transpose", dtypes[d], v)) != NULL; v++) {
                fl_timing timing;
                check_against(device, &s, data, expected, &layouts[0], 0,
                              &(fl_run){.variant = variant,
                                        .block = {blocks[b][0], blocks[b][1], blocks[b][2]},
                                        .timing = &timing});
                for (int axis = 0; axis < 3; axis++)
                    cr_expect(timing.block[axis] == (blocks[b][axis] > 1 ? blocks[b][axis] : 1),
                              "%s: block %zu ran as %d", on->resource, b, timing.block[axis]);
            }
            free(data);
            free(expected);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(transpose, timing)
{
    fl_device *device = open_device(on->resource);
    const struct stack s = {FL_F32, 2, {150, 200}};
    char *data = bits_of(&s, 1), *expected = expected_of(&s, data);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "transpose", FL_F32, v)) != NULL; v++) {
        fl_timing timing;
        check_against(device, &s, data, expected, &layouts[0], 0, &(fl_run){.variant = variant, .timing = &timing});
        cr_expect(timing.kernel_s > 0 && timing.flops == 0);
        cr_expect(timing.bytes == 240000 && timing.bytes_requested == 240000, "%s %s: %g and %g bytes", on->resource,
                  variant, timing.bytes, timing.bytes_requested);
        if (strcmp(variant, "auto") == 0)
            cr_expect_str_eq(timing.variant, is_gpu(device) ? "padded" : "tiled");
    }
    if (is_gpu(device)) {
        const struct stack few = {FL_F32, 2, {2, 2000}};
        char *bits = bits_of(&few, 1), *wanted = expected_of(&few, bits);
        fl_timing timing;
        check_against(device, &few, bits, wanted, &layouts[0], 0, &(fl_run){.timing = &timing});
        cr_expect_str_eq(timing.variant, "linear");
        free(bits);
        free(wanted);
    }
    free(data);
    free(expected);
    fl_device_close(device);
}

ON_EVERY_BACKEND(transpose, without_elements)
{
    static const int64_t shapes[][3] = {{0, 5, 4}, {3, 0, 4}, {3, 5, 0}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const struct stack s = {FL_F64, 3, {shapes[i][0], shapes[i][1], shapes[i][2]}}, t = transposed(s);
        fl_array *in, *out;
        must(fl_array_create(device, FL_F64, 3, s.shape, &in));
        must(fl_array_create(device, FL_F64, 3, t.shape, &out));
        must(fl_transpose(device, in, out, NULL));
        free_arrays(in, out);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(transpose, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t shape[] = {4, 6}, swapped[] = {6, 4}, square[] = {5, 5}, line = 24, deep[] = {1, 6, 4};
    fl_array *in, *same, *wide, *edge, *vector, *three, *foreign;
    struct guarded out = guarded_create(device, FL_F32, 2, swapped, 1);
    must(fl_array_create(device, FL_F32, 2, shape, &in));
    must(fl_array_create(device, FL_F32, 2, shape, &same));
    must(fl_array_create(device, FL_F64, 2, swapped, &wide));
    must(fl_array_create(device, FL_F32, 2, square, &edge));
    must(fl_array_create(device, FL_F32, 1, &line, &vector));
    must(fl_array_create(device, FL_F32, 3, deep, &three));
    must(fl_array_create(other, FL_F32, 2, shape, &foreign));
    expect_argument_error(fl_transpose(NULL, in, out.out, NULL), "device");
    expect_argument_error(fl_transpose(device, NULL, out.out, NULL), "in is NULL");
    expect_argument_error(fl_transpose(device, in, NULL, NULL), "out is NULL");
    expect_argument_error(fl_transpose(device, vector, out.out, NULL), "1 dimension");
    expect_argument_error(fl_transpose(device, in, same, NULL), "out");
    expect_argument_error(fl_transpose(device, in, wide, NULL), "f64");
    expect_argument_error(fl_transpose(device, in, three, NULL), "out is 1x6x4; expected 6x4");
    expect_argument_error(fl_transpose(device, edge, edge, NULL), "shares memory");
    expect_status(FL_E_WRONG_DEVICE, fl_transpose(device, foreign, out.out, NULL));
    expect_status(FL_E_UNKNOWN, fl_transpose(device, in, out.out, &(fl_run){.variant = "tilled"}));
    expect_error_says("tiled");
    if (is_gpu(device)) {
        const int huge = 1 << 30;
        expect_status(FL_E_LIMIT, fl_transpose(device, in, out.out, &(fl_run){.block = {huge, huge, huge}}));
    }
    expect_untouched(&out, on->resource);
    free_arrays(in, same, wide, edge, vector, three, foreign);
    guarded_free(&out);
    fl_device_close(device);
    fl_device_close(other);
}
