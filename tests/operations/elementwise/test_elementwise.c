/* SPDX-License-Identifier: MIT
 *
 * test_elementwise.c - increment, sqrt, maximum and log_of_sum: every variant on every backend, against NumPy (see
 * make_golden.py) and against the definition.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef fl_status (*unary)(fl_device *, const fl_array *, fl_array *, const fl_run *);
typedef fl_status (*binary)(fl_device *, const fl_array *, const fl_array *, fl_array *, const fl_run *);

/* The operations; `least_ulp` units in the last place may separate a result from the rounded true one. */
static const struct operation {
    const char *name;
    unary one;
    binary two;
    bool integers;
    int ulps;
} operations[] = {
    {"increment", fl_increment, NULL, true, 0},
    {"sqrt", fl_sqrt, NULL, false, 0},
    {"maximum", NULL, fl_maximum, true, 0},
    {"log_of_sum", NULL, fl_log_of_sum, false, 4},
};
static const fl_dtype numbers[] = {FL_F32, FL_F64, FL_I32, FL_I64};

static fl_status call(const struct operation *o, fl_device *device, const fl_array *x, const fl_array *y, fl_array *out,
                      const fl_run *run)
{
    return o->one ? o->one(device, x, out, run) : o->two(device, x, y, out, run);
}

/* ------------------------------------------------------------------------------------------- what is expected ---- */

/* One element of any dtype; i64 apart, since a double does not hold it. */
struct number {
    fl_dtype dtype;
    int64_t integer;
    double real;
};

static struct number element(fl_dtype dtype, const void *data, int64_t i)
{
    struct number n = {.dtype = dtype};
    switch (dtype) {
    case FL_U8: n.integer = ((const uint8_t *)data)[i]; break;
    case FL_I32: n.integer = ((const int32_t *)data)[i]; break;
    case FL_I64: n.integer = ((const int64_t *)data)[i]; break;
    case FL_F32: n.real = ((const float *)data)[i]; return n;
    default: n.real = ((const double *)data)[i]; return n;
    }
    n.real = (double)n.integer;
    return n;
}

/* The distance from |x| to the next number of that dtype. */
static double ulp(fl_dtype dtype, double x)
{
    if (dtype == FL_F32)
        return (double)nextafterf((float)fabs(x), INFINITY) - fabs((double)(float)x);
    return nextafter(fabs(x), (double)INFINITY) - fabs(x);
}

/* Written so that a NaN on one side fails. -0 is 0. */
static bool is_right(fl_dtype dtype, struct number got, struct number wanted, int ulps)
{
    if (dtype == FL_I32 || dtype == FL_I64)
        return got.integer == wanted.integer;
    if (isnan(wanted.real))
        return isnan(got.real);
    if (isinf(wanted.real) || ulps == 0)
        return got.real == wanted.real;
    return fabs(got.real - wanted.real) <= ulps * ulp(dtype, wanted.real);
}

static void expect_elements(fl_dtype dtype, const void *got, const void *wanted, int64_t count, int ulps,
                            const char *what)
{
    for (int64_t i = 0; i < count; i++) {
        struct number g = element(dtype, got, i), w = element(dtype, wanted, i);
        if (!is_right(dtype, g, w, ulps)) /* Criterion reports each assertion */
            cr_assert(false, "%s: element %lld: expected %.17g, got %.17g", what, (long long)i, w.real, g.real);
    }
}

/* ------------------------------------------------------------------------------------------------ special values ----
 */

static struct matrix golden(const char *name)
{
    return matrix_golden("elementwise", name);
}

static fl_array *vector_from(fl_device *device, const struct matrix *m)
{
    fl_array *array;
    must(fl_array_from_host(device, m->dtype, 1, (int64_t[]){m->shape[0] * m->shape[1]}, m->data, &array));
    return array;
}

/* All of `a` with all of `b`: what stands in row i, column j of the golden file. */
static void all_pairs(const struct matrix *a, const struct matrix *b, struct matrix *x, struct matrix *y)
{
    int64_t rows = a->shape[1], columns = b->shape[1];
    size_t a_size = fl_dtype_size(a->dtype), b_size = fl_dtype_size(b->dtype);
    *x = matrix_create(a->dtype, rows, columns);
    *y = matrix_create(b->dtype, rows, columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        memcpy((char *)x->data + i * (int64_t)a_size, (char *)a->data + i / columns * (int64_t)a_size, a_size);
        memcpy((char *)y->data + i * (int64_t)b_size, (char *)b->data + i % columns * (int64_t)b_size, b_size);
    }
}

/* Every variant with these inputs, as vectors. */
static void check_golden(fl_device *device, const struct operation *o, const struct matrix *a, const struct matrix *b,
                         const struct matrix *wanted, int ulps)
{
    int64_t count = wanted->shape[0] * wanted->shape[1];
    fl_array *x = vector_from(device, a), *y = vector_from(device, b);
    struct matrix got = matrix_create(wanted->dtype, wanted->shape[0], wanted->shape[1]);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, o->name, wanted->dtype, i)) != NULL; i++) {
        char what[160];
        struct guarded out = guarded_create(device, wanted->dtype, 1, &count, 1);
        snprintf(what, sizeof what, "%s %s %s %s, %s", fl_device_describe(device)->resource, o->name, variant,
                 fl_dtype_name(a->dtype), fl_dtype_name(b->dtype));
        must(call(o, device, x, y, out.out, &(fl_run){.variant = variant}));
        guarded_copy(&out, got.data, what);
        expect_elements(wanted->dtype, got.data, wanted->data, count, ulps, what);
        guarded_free(&out);
    }
    matrix_free(&got);
    free_arrays(x, y);
}

/* NumPy's logarithms are in f64: rounded here to what is computed in. */
static struct matrix rounded(const struct matrix *m, fl_dtype dtype)
{
    struct matrix r = matrix_create(dtype, m->shape[0], m->shape[1]);
    for (int64_t i = 0; i < m->shape[0] * m->shape[1]; i++)
        matrix_set(&r, 0, i, matrix_get(m, 0, i));
    return r;
}

ON_EVERY_BACKEND(elementwise, numpy_special_values)
{
    fl_device *device = open_device(on->resource);
    for (size_t o = 0; o < COUNT(operations); o++)
        for (size_t t = 0; t < COUNT(numbers); t++) {
            char name[40];
            fl_dtype out = operations[o].integers || numbers[t] == FL_F32 ? numbers[t] : FL_F64;
            snprintf(name, sizeof name, "%s.values", fl_dtype_name(numbers[t]));
            struct matrix values = golden(name), x = values, y = values, file, wanted;
            snprintf(name, sizeof name, "%s.%s", fl_dtype_name(numbers[t]), operations[o].name);
            file = golden(name);
            wanted = operations[o].ulps ? rounded(&file, out) : file;
            cr_assert(wanted.dtype == out, "%s", name);
            if (operations[o].two)
                all_pairs(&values, &values, &x, &y);
            check_golden(device, &operations[o], &x, &y, &wanted, operations[o].ulps);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(elementwise, numpy_two_dtypes)
{
    fl_device *device = open_device(on->resource);
    for (size_t a = 0; a < COUNT(numbers); a++)
        for (size_t b = 0; b < COUNT(numbers); b++) {
            if (a == b)
                continue;
            char name[40];
            snprintf(name, sizeof name, "%s.values", fl_dtype_name(numbers[a]));
            struct matrix one = golden(name), other, x, y;
            snprintf(name, sizeof name, "%s.values", fl_dtype_name(numbers[b]));
            other = golden(name);
            snprintf(name, sizeof name, "%s_%s.maximum", fl_dtype_name(numbers[a]), fl_dtype_name(numbers[b]));
            struct matrix wanted = golden(name);
            all_pairs(&one, &other, &x, &y);
            check_golden(device, &operations[2], &x, &y, &wanted, 0);
        }
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------ shapes, views ----
 */

/* An array of any shape with gaps between its rows (margin > 0) or none, and what it holds, packed. */
struct input {
    fl_dtype dtype;
    int64_t count;
    void *data;
    struct guarded on_device;
};

static void fill(fl_dtype dtype, void *data, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = random_bits(&seed);
        switch (dtype) {
        case FL_I32: ((int32_t *)data)[i] = (int32_t)bits; break;
        case FL_I64: ((int64_t *)data)[i] = (int64_t)bits; break;
        case FL_F32: ((float *)data)[i] = (float)(bits >> 40) * 0x1p-20f; break;
        default: ((double *)data)[i] = (double)(bits >> 11) * 0x1p-49; break;
        }
    }
}

static struct input input_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, int64_t margin,
                                 uint64_t seed)
{
    struct input input = {.dtype = dtype, .count = 1};
    for (int d = 0; d < ndim; d++)
        input.count *= shape[d];
    input.data = calloc((size_t)input.count + 1, fl_dtype_size(dtype));
    fill(dtype, input.data, input.count, seed);
    input.on_device = guarded_create(device, dtype, ndim, shape, margin);
    must(fl_array_write(input.on_device.out, input.data, NULL));
    return input;
}

static void input_free(struct input *input)
{
    free(input->data);
    guarded_free(&input->on_device);
}

/* The definition, for numbers that random inputs are made of: finite, not negative. */
static void define(const struct operation *o, const struct input *x, const struct input *y, void *out)
{
    for (int64_t i = 0; i < x->count; i++) {
        if (x->dtype == FL_I32) {
            int32_t a = ((int32_t *)x->data)[i], b = ((int32_t *)y->data)[i];
            ((int32_t *)out)[i] = o->one ? (int32_t)((uint32_t)a + 1) : a < b ? b : a;
        } else if (x->dtype == FL_I64) {
            int64_t a = ((int64_t *)x->data)[i], b = ((int64_t *)y->data)[i];
            ((int64_t *)out)[i] = o->one ? (int64_t)((uint64_t)a + 1) : a < b ? b : a;
        } else {
            double a = element(x->dtype, x->data, i).real, b = element(y->dtype, y->data, i).real;
            double sum = x->dtype == FL_F32 ? (float)((float)a + (float)b) : a + b;
            double value = o->one == fl_increment ? a + 1
                           : o->one == fl_sqrt    ? sqrt(a)
                           : o->two == fl_maximum ? fmax(a, b)
                                                  : (double)logl((long double)sum);
            if (x->dtype == FL_F32)
                ((float *)out)[i] = (float)value;
            else
                ((double *)out)[i] = value;
        }
    }
}

static void shape_words(char *text, size_t size, int ndim, const int64_t *shape)
{
    size_t used = 0;
    for (int d = 0; d < ndim; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? "x" : "", (long long)shape[d]);
}

/* One variant into a guarded output; `what` names the call. `out_margin` differs from the inputs' so that no two arrays
 * are alike. */
static void check_one(fl_device *device, const struct operation *o, const struct input *x, const struct input *y,
                      int ndim, const int64_t *shape, int64_t out_margin, const fl_run *run, const void *wanted)
{
    char what[200], words[100];
    struct guarded out = guarded_create(device, x->dtype, ndim, shape, out_margin);
    void *got = malloc((size_t)x->count * fl_dtype_size(x->dtype) + 1);
    shape_words(words, sizeof words, ndim, shape);
    snprintf(what, sizeof what, "%s %s %s %s %s margin %lld block %dx%dx%d", fl_device_describe(device)->resource,
             o->name, run->variant, fl_dtype_name(x->dtype), words, (long long)out_margin, run->block[0], run->block[1],
             run->block[2]);
    must(call(o, device, x->on_device.out, y->on_device.out, out.out, run));
    guarded_copy(&out, got, what);
    expect_elements(x->dtype, got, wanted, x->count, o->ulps, what);
    guarded_free(&out);
    free(got);
}

/* Every variant: inputs and output packed, all strided, and of three different strides, none of them aligned. */
static void check_shape(fl_device *device, const struct operation *o, fl_dtype dtype, int ndim, const int64_t *shape)
{
    static const int64_t margins[][3] = {{0, 0, 0}, {4, 4, 4}, {1, 2, 3}, {2, 1, 0}};
    const char *variant;
    for (size_t m = 0; m < COUNT(margins); m++) {
        struct input x = input_create(device, dtype, ndim, shape, margins[m][0], 1 + m);
        struct input y = input_create(device, dtype, ndim, shape, margins[m][1], 11 + m);
        void *wanted = malloc((size_t)x.count * fl_dtype_size(dtype) + 1);
        define(o, &x, &y, wanted);
        for (size_t i = 0; (variant = variant_of(device, o->name, dtype, i)) != NULL; i++)
            check_one(device, o, &x, &y, ndim, shape, margins[m][2], &(fl_run){.variant = variant}, wanted);
        input_free(&x);
        input_free(&y);
        free(wanted);
    }
}

static const struct shape {
    int ndim;
    int64_t shape[FL_MAX_DIMS];
} shapes[] = {
    {1, {1}},          {1, {31}},         {1, {32}},          {1, {33}},         {1, {255}},
    {1, {256}},        {1, {257}},        {1, {4099}},        {2, {7, 9}},       {2, {33, 65}},
    {2, {1, 17}},      {2, {17, 1}},      {2, {257, 31}},     {2, {3, 1000}},    {3, {3, 5, 7}},
    {3, {1, 1, 9}},    {3, {9, 1, 1}},    {3, {17, 2, 31}},   {3, {2, 3, 129}},  {3, {9, 10, 8}},
    {4, {2, 3, 5, 7}}, {4, {5, 1, 3, 1}}, {4, {1, 4, 1, 33}}, {4, {3, 2, 9, 5}}, {4, {2, 2, 2, 40}},
};

ON_EVERY_BACKEND(elementwise, shapes_and_views)
{
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t o = 0; o < COUNT(operations); o++) {
            fl_dtype dtype = numbers[(s + o) % (operations[o].integers ? 4 : 2)];
            check_shape(device, &operations[o], dtype, shapes[s].ndim, shapes[s].shape);
        }
    fl_device_close(device);
}

/* More elements than the blocks of a grid-stride loop have threads, or than a thread of a CPU takes at a time. */
ON_EVERY_BACKEND(elementwise, many_elements)
{
    /* The last one's results are past the caches of a processor. */
    static const struct shape large[] = {{1, {1000003}}, {2, {1009, 211}}, {3, {61, 67, 59}}, {1, {8400007}}};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(large) - is_slow(device); s++) {
        const struct operation *o = &operations[s == 0 ? 2 : s % 3];
        struct input x = input_create(device, FL_F32, large[s].ndim, large[s].shape, (int64_t)s, 5);
        struct input y = input_create(device, FL_F32, large[s].ndim, large[s].shape, (int64_t)s, 6);
        void *wanted = malloc((size_t)x.count * sizeof(float));
        const char *variant;
        define(o, &x, &y, wanted);
        for (size_t i = 1; (variant = variant_of(device, o->name, FL_F32, i)) != NULL; i++)
            check_one(device, o, &x, &y, large[s].ndim, large[s].shape, 1, &(fl_run){.variant = variant}, wanted);
        input_free(&x);
        input_free(&y);
        free(wanted);
    }
    fl_device_close(device);
}

/* A grid that would need more blocks along y and z than a GPU has: they are taken again and again. */
ON_EVERY_BACKEND(elementwise, more_planes_than_blocks)
{
    static const struct shape tall[] = {{3, {70001, 1, 2}}, {3, {2, 70001, 1}}, {2, {140003, 1}}};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(tall); s++) {
        struct input x = input_create(device, FL_I32, tall[s].ndim, tall[s].shape, 1, s);
        void *wanted = malloc((size_t)x.count * sizeof(int32_t));
        const char *variant;
        define(&operations[0], &x, &x, wanted);
        for (size_t i = 1; (variant = variant_of(device, "increment", FL_I32, i)) != NULL; i++)
            if (strstr(variant, "-2d") || strstr(variant, "-3d") || strcmp(variant, "uncoalesced") == 0)
                check_one(device, &operations[0], &x, &x, tall[s].ndim, tall[s].shape, 1,
                          &(fl_run){.variant = variant, .block = {32, 1, 1}}, wanted);
        input_free(&x);
        free(wanted);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(elementwise, no_elements)
{
    fl_device *device = open_device(on->resource);
    for (size_t o = 0; o < COUNT(operations); o++)
        for (int ndim = 1; ndim <= 3; ndim++) {
            fl_array *x, *out;
            fl_timing timing = {.kernel_s = -1};
            must(fl_array_create(device, FL_F32, ndim, (int64_t[]){0, 5, 0}, &x));
            must(fl_array_create(device, FL_F32, ndim, (int64_t[]){0, 5, 0}, &out));
            must(call(&operations[o], device, x, x, out, NULL));
            must(call(&operations[o], device, x, x, x, &(fl_run){.timing = &timing}));
            cr_expect(timing.kernel_s == 0 && timing.bytes == 0 && timing.variant, "%s", on->resource);
            free_arrays(x, out);
        }
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------------------- blocks ----
 */

ON_EVERY_BACKEND(elementwise, odd_blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {33, 0, 0}, {1024, 0, 0}, {7, 5, 3}, {8, 8, 8},
                                    {16, 16, 1}, {1, 1, 64}, {1, 64, 2},   {1, 1, 1}, {128, 8, 1}};
    static const struct shape some[] = {{1, {700}}, {2, {23, 19}}, {3, {5, 9, 11}}, {4, {2, 3, 5, 9}}};
    fl_device *device = open_device(on->resource);
    const struct operation *o = &operations[2];
    for (size_t s = 0; s < COUNT(some); s++) {
        struct input x = input_create(device, FL_F64, some[s].ndim, some[s].shape, (int64_t)(s % 2), 1);
        struct input y = input_create(device, FL_F64, some[s].ndim, some[s].shape, (int64_t)(s % 2), 2);
        void *wanted = malloc((size_t)x.count * sizeof(double));
        const char *variant;
        define(o, &x, &y, wanted);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (size_t i = 0; (variant = variant_of(device, o->name, FL_F64, i)) != NULL; i++) {
                fl_timing timing = {0};
                fl_run run = {.variant = variant, .timing = &timing};
                memcpy(run.block, blocks[b], sizeof run.block);
                check_one(device, o, &x, &y, some[s].ndim, some[s].shape, 0, &run, wanted);
                for (int d = 0; is_gpu(device) && d < 3; d++)
                    cr_expect(timing.block[d] == (blocks[b][d] ? blocks[b][d] : 1) && timing.grid[d] > 0,
                              "%s %s: asked for %dx%dx%d, ran %dx%dx%d", on->resource, variant, blocks[b][0],
                              blocks[b][1], blocks[b][2], timing.block[0], timing.block[1], timing.block[2]);
            }
        input_free(&x);
        input_free(&y);
        free(wanted);
    }
    fl_device_close(device);
}

/* Without a request: lines, or planes for an array of one or two dimensions and cubes for one of three. */
ON_EVERY_BACKEND(elementwise, usual_blocks)
{
    static const struct shape some[] = {{2, {40, 50}}, {3, {10, 20, 30}}};
    fl_device *device = open_device(on->resource);
    const struct operation *o = &operations[0];
    for (size_t s = 0; is_gpu(device) && s < COUNT(some); s++) {
        struct input x = input_create(device, FL_F32, some[s].ndim, some[s].shape, 0, 1);
        struct guarded out = guarded_create(device, FL_F32, some[s].ndim, some[s].shape, 0);
        const char *variant;
        for (size_t i = 0; (variant = variant_of(device, o->name, FL_F32, i)) != NULL; i++) {
            fl_timing t = {0};
            must(call(o, device, x.on_device.out, NULL, out.out, &(fl_run){.variant = variant, .timing = &t}));
            const bool box = strstr("naive-2d naive-3d uncoalesced", t.variant) && strcmp(t.variant, "naive") != 0;
            const bool cube = box && some[s].ndim == 3 && strcmp(t.variant, "naive-2d") != 0;
            const int line = strcmp(t.variant, "grid-stride") == 0 ? 512 : 256;
            cr_expect(t.block[0] == (cube  ? 8
                                     : box ? 16
                                           : line) &&
                          t.block[1] == (cube  ? 8
                                         : box ? 16
                                               : 1) &&
                          t.block[2] == (cube ? 8 : 1),
                      "%s %s: %dx%dx%d threads for %d dimensions", on->resource, variant, t.block[0], t.block[1],
                      t.block[2], some[s].ndim);
        }
        guarded_free(&out);
        input_free(&x);
    }
    fl_device_close(device);
}

/* The message names the limit; nothing is written. */
static void expect_limit(fl_device *device, const char *variant, int x, int y, int z, int64_t limit)
{
    char number[24];
    fl_run run = {.variant = variant, .block = {x, y, z}};
    struct guarded out = guarded_create(device, FL_F32, 1, (int64_t[]){100}, 0);
    snprintf(number, sizeof number, "%lld", (long long)limit);
    expect_status(FL_E_LIMIT, fl_increment(device, out.out, out.out, &run));
    expect_error_says(number);
    expect_untouched(&out, variant);
    guarded_free(&out);
}

ON_EVERY_BACKEND(elementwise, block_beyond_the_limits)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    const char *variant;
    for (size_t i = 0; is_gpu(device) && (variant = variant_of(device, "increment", FL_F32, i)) != NULL; i++) {
        expect_limit(device, variant, info->max_threads_per_block + 1, 0, 0, info->max_threads_per_block);
        expect_limit(device, variant, 8, 8, info->max_threads_per_block / 64 + 1, info->max_threads_per_block);
        expect_limit(device, variant, 1, 1, info->max_block[2] + 1, info->max_block[2]);
        expect_limit(device, variant, 1 << 22, 1 << 21, 1, info->max_threads_per_block);
    }
    fl_array *x;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){9}, &x));
    expect_argument_error(fl_increment(device, x, x, &(fl_run){.block = {8, -1, 0}}), "-1");
    fl_array_free(x);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------ in place, overlap
 * ---- */

ON_EVERY_BACKEND(elementwise, in_place)
{
    static const struct shape some[] = {{1, {1003}}, {2, {33, 7}}, {3, {3, 5, 9}}};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(some); s++)
        for (size_t o = 0; o < COUNT(operations); o++) {
            const char *variant;
            for (size_t i = 0; (variant = variant_of(device, operations[o].name, FL_F64, i)) != NULL; i++)
                for (int second = 0; second < (operations[o].two ? 2 : 1); second++) {
                    struct input x = input_create(device, FL_F64, some[s].ndim, some[s].shape, 1, 3);
                    struct input y = input_create(device, FL_F64, some[s].ndim, some[s].shape, 1, 4);
                    struct input *out = second ? &y : &x;
                    double *wanted = malloc((size_t)x.count * sizeof *wanted);
                    define(&operations[o], &x, &y, wanted);
                    must(call(&operations[o], device, x.on_device.out, y.on_device.out, out->on_device.out,
                              &(fl_run){.variant = variant}));
                    guarded_copy(&out->on_device, out->data, variant);
                    expect_elements(FL_F64, out->data, wanted, x.count, operations[o].ulps, variant);
                    free(wanted);
                    input_free(&x);
                    input_free(&y);
                }
        }
    fl_device_close(device);
}

/* The course's increment: twice from ones is 3. One array may be both inputs. */
ON_EVERY_BACKEND(elementwise, again_and_with_itself)
{
    fl_device *device = open_device(on->resource);
    double ones[300], got[300];
    fl_array *a, *out;
    for (int i = 0; i < 300; i++)
        ones[i] = 1;
    must(fl_array_from_host(device, FL_F64, 1, (int64_t[]){300}, ones, &a));
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){300}, &out));
    must(fl_increment(device, a, a, NULL));
    must(fl_increment(device, a, a, NULL));
    must(fl_array_to_host(a, got));
    for (int i = 0; i < 300; i++)
        cr_assert(got[i] == 3, "%s: %g", on->resource, got[i]);
    must(fl_log_of_sum(device, a, a, out, NULL));
    must(fl_maximum(device, a, a, a, NULL));
    must(fl_array_to_host(out, got));
    cr_expect(fabs(got[299] - log(6)) <= 4 * ulp(FL_F64, log(6)), "%s: %.17g", on->resource, got[299]);
    free_arrays(a, out);
    fl_device_close(device);
}

ON_EVERY_BACKEND(elementwise, overlap_is_refused)
{
    fl_device *device = open_device(on->resource);
    struct guarded whole = guarded_create(device, FL_F32, 2, (int64_t[]){20, 12}, 0);
    fl_array *a, *shifted, *narrow, *apart;
    must(fl_array_view(whole.out, (int64_t[]){0, 0}, (int64_t[]){8, 8}, &a));
    must(fl_array_view(whole.out, (int64_t[]){0, 1}, (int64_t[]){8, 8}, &shifted));
    must(fl_array_view(whole.out, (int64_t[]){7, 0}, (int64_t[]){8, 8}, &narrow));
    must(fl_array_view(whole.out, (int64_t[]){8, 0}, (int64_t[]){8, 8}, &apart));
    for (size_t o = 0; o < COUNT(operations); o++) {
        expect_argument_error(call(&operations[o], device, a, apart, shifted, NULL), "shares memory");
        expect_status(FL_E_ARGUMENT, call(&operations[o], device, a, apart, narrow, NULL));
    }
    expect_argument_error(fl_maximum(device, apart, a, shifted, NULL), "y");
    expect_untouched(&whole, on->resource);
    must(fl_increment(device, a, apart, NULL));
    free_arrays(a, shifted, narrow, apart);
    guarded_free(&whole);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------ dtypes, arguments
 * ---- */

/* u8 where it is taken; a sum of integers is one of their values in f64. */
ON_EVERY_BACKEND(elementwise, integers_into_f64)
{
    fl_device *device = open_device(on->resource);
    uint8_t bytes[] = {0, 1, 2, 200, 255};
    int64_t longs[] = {0, 5, 1, INT64_C(1) << 60, -7};
    double got[5];
    fl_array *u8, *i64, *f64, *f32;
    must(fl_array_from_host(device, FL_U8, 1, (int64_t[]){5}, bytes, &u8));
    must(fl_array_from_host(device, FL_I64, 1, (int64_t[]){5}, longs, &i64));
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){5}, &f64));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){5}, &f32));
    must(fl_sqrt(device, u8, f64, NULL));
    must(fl_array_to_host(f64, got));
    for (int i = 0; i < 5; i++)
        cr_expect(got[i] == sqrt(bytes[i]), "%s: sqrt(%d) = %.17g", on->resource, bytes[i], got[i]);
    must(fl_log_of_sum(device, u8, i64, f64, NULL));
    must(fl_array_to_host(f64, got));
    for (int i = 0; i < 5; i++) {
        double wanted = log((double)bytes[i] + (double)longs[i]);
        cr_expect(got[i] == wanted || fabs(got[i] - wanted) <= 4 * ulp(FL_F64, wanted), "%s: element %d: %.17g",
                  on->resource, i, got[i]);
    }
    expect_argument_error(fl_increment(device, u8, u8, NULL), "u8");
    expect_argument_error(fl_maximum(device, i64, u8, i64, NULL), "y has dtype u8");
    expect_argument_error(fl_sqrt(device, f64, f32, NULL), "f64");
    expect_argument_error(fl_maximum(device, f32, i64, i64, NULL), "out");
    free_arrays(u8, i64, f64, f32);
    fl_device_close(device);
}

ON_EVERY_BACKEND(elementwise, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    fl_array *a, *longer, *flat, *foreign;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){3, 4}, &a));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){3, 5}, &longer));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){12}, &flat));
    must(fl_array_create(other, FL_F32, 2, (int64_t[]){3, 4}, &foreign));
    for (size_t o = 0; o < COUNT(operations); o++) {
        const struct operation *op = &operations[o];
        expect_argument_error(call(op, NULL, a, a, a, NULL), "device");
        expect_argument_error(call(op, device, NULL, a, a, NULL), op->one ? "in is NULL" : "x is NULL");
        expect_argument_error(call(op, device, a, a, NULL, NULL), "out is NULL");
        expect_argument_error(call(op, device, a, a, longer, NULL), "3x5");
        expect_status(FL_E_ARGUMENT, call(op, device, a, a, flat, NULL));
        expect_status(FL_E_WRONG_DEVICE, call(op, device, a, a, foreign, NULL));
        expect_error_says("fl_array_to_device(out");
        expect_status(FL_E_UNKNOWN, call(op, device, a, a, a, &(fl_run){.variant = "navie"}));
        expect_error_says("naive");
        if (op->one)
            continue;
        expect_argument_error(call(op, device, a, NULL, a, NULL), "y is NULL");
        expect_argument_error(call(op, device, a, longer, a, NULL), "y is 3x5");
    }
    free_arrays(a, longer, flat, foreign);
    fl_device_close(device);
    fl_device_close(other);
}

ON_EVERY_BACKEND(elementwise, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    for (size_t o = 0; o < COUNT(operations); o++) {
        struct input x = input_create(device, FL_F32, 2, (int64_t[]){40, 50}, 0, 1);
        struct guarded out = guarded_create(device, FL_F32, 2, (int64_t[]){40, 50}, 0);
        double arrays = operations[o].one ? 2 : 3;
        const char *variant;
        for (size_t i = 0; (variant = variant_of(device, operations[o].name, FL_F32, i)) != NULL; i++) {
            fl_timing t = {.kernel_s = -1};
            fl_run run = {.variant = variant, .timing = &t};
            must(call(&operations[o], device, x.on_device.out, x.on_device.out, out.out, &run));
            cr_expect(t.kernel_s > 0 && t.kernel_s < 10, "%s %s: %g s", on->resource, variant, t.kernel_s);
            cr_expect(t.bytes == arrays * 8000 && t.bytes_requested == arrays * 8000, "%s %s: %g and %g bytes",
                      on->resource, variant, t.bytes, t.bytes_requested);
            cr_expect(t.flops == (operations[o].two == fl_log_of_sum ? 4000 : 2000), "%s %s %s: %g operations",
                      on->resource, operations[o].name, variant, t.flops);
            cr_expect(i == 0 || strcmp(t.variant, variant) == 0, "%s %s: ran %s", on->resource, variant, t.variant);
            int64_t threads = t.grid[0] * t.grid[1] * t.grid[2] * t.block[0] * t.block[1] * t.block[2];
            cr_expect(is_gpu(device) ? threads >= 500 : threads == 0, "%s %s: %lld threads", on->resource, variant,
                      (long long)threads);
        }
        guarded_free(&out);
        input_free(&x);
    }
    fl_device_close(device);
}
