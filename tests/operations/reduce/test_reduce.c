/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};
static const char *const names[] = {"sum", "min", "max", "argmin", "argmax"};

/* A call: x is (outer, length, inner), of which `shape` leaves out what is 1. */
struct work {
    fl_dtype dtype, result;
    int64_t outer, length, inner;
    fl_reduction reduction;
    bool dot, all; /* all: FL_ALL_AXES, of the shape (outer, length, inner) */
};

static bool is_float(fl_dtype dtype)
{
    return fl_dtype_is_float(dtype);
}

/* ----------------------------------------------------------------------------------------------- expectation ---- */

/* An element, exactly: an i64 does not fit into a double. */
static long double value_of(const struct matrix *m, int64_t i)
{
    return m->dtype == FL_I64 ? (long double)((const int64_t *)m->data)[i] : (long double)matrix_get(m, 0, i);
}

static bool beats(long double b, long double a, fl_reduction reduction)
{
    const bool most = reduction == FL_MAXIMUM || reduction == FL_ARGMAX;
    return !isnan(a) && (isnan(b) || (most ? b > a : b < a));
}

/* What one result must be: `whole` for integers and places, else within `bound` of `value`. */
struct exact {
    uint64_t whole;
    long double value, bound;
};

static long double units_of(const struct work *w, const char *variant, int64_t length)
{
    const long double n = (long double)length, naive = n - 1, pairwise = log2l(n > 1 ? n : 1) + 40;
    const bool any_order = strcmp(variant, "naive") == 0 || strcmp(variant, "library") == 0;
    return (any_order ? naive : pairwise) + (w->dot ? 1 : 0);
}

/* flynn.h's definition of element (o, i) of the result. */
static struct exact expected_of(const struct work *w, const struct matrix *x, const struct matrix *y, int64_t o,
                                int64_t i, const char *variant)
{
    const int64_t length = w->all ? w->outer * w->length * w->inner : w->length, inner = w->all ? 1 : w->inner;
    struct exact e = {0, 0, 0};
    long double magnitude = 0, best = 0;
    for (int64_t p = 0; p < length; p++) {
        const int64_t at = (o * length + p) * inner + i;
        const long double a = value_of(x, at), b = w->dot ? value_of(y, at) : 1;
        if (w->reduction == FL_SUM) {
            if (!is_float(w->dtype))
                e.whole += (uint64_t)(int64_t)a * (uint64_t)(int64_t)b;
            e.value += a * b;
            magnitude += fabsl(a * b);
        } else if (p == 0 || beats(a, best, w->reduction)) {
            best = a;
            e.whole = w->reduction == FL_ARGMIN || w->reduction == FL_ARGMAX ? (uint64_t)p : (uint64_t)(int64_t)0;
        }
    }
    if (w->reduction == FL_MINIMUM || w->reduction == FL_MAXIMUM) {
        e.value = best;
        e.whole = is_float(w->dtype) ? 0 : (uint64_t)(int64_t)best;
    }
    if (w->reduction == FL_SUM)
        e.bound = units_of(w, variant, length) * (w->result == FL_F32 ? FLT_EPSILON : DBL_EPSILON) / 2 * magnitude;
    return e;
}

static bool is_right(const struct work *w, const struct exact *e, const void *got, int64_t i)
{
    long double value = 0;
    switch (w->result) {
    case FL_U8: return ((const uint8_t *)got)[i] == (uint8_t)e->whole;
    case FL_I32: return ((const int32_t *)got)[i] == (int32_t)(int64_t)e->whole;
    case FL_I64: return (uint64_t)((const int64_t *)got)[i] == e->whole;
    case FL_F32: value = ((const float *)got)[i]; break;
    case FL_F64: value = ((const double *)got)[i]; break;
    }
    if (isnan(e->value) || isinf(e->value))
        return isnan(e->value) ? isnan(value) : value == e->value;
    return fabsl(value - e->value) <= e->bound;
}

/* ----------------------------------------------------------------------------------------------------- calls ---- */

static int shape_of(const struct work *w, int64_t *shape, int *axis)
{
    const int64_t all[] = {w->outer, w->length, w->inner};
    int ndim = 0;
    *axis = 0;
    for (int d = 0; d < 3; d++) {
        if (d == 1)
            *axis = ndim;
        if (d == 1 || all[d] != 1)
            shape[ndim++] = all[d];
    }
    if (w->all)
        *axis = FL_ALL_AXES;
    return ndim;
}

/* The elements as a view with gaps in each dimension, at no round address. */
static fl_array *view_inside(fl_device *device, const struct matrix *m, int ndim, const int64_t *shape)
{
    int64_t wide[FL_MAX_DIMS], start[FL_MAX_DIMS], size = 1;
    const size_t bytes = fl_dtype_size(m->dtype);
    fl_array *whole = NULL, *view = NULL;
    for (int d = 0; d < ndim; d++) {
        wide[d] = shape[d] + 3;
        start[d] = 1;
        size *= wide[d];
    }
    char *memory = malloc((size_t)size * bytes);
    memset(memory, 0x7f, (size_t)size * bytes);
    for (int64_t i = 0; i < m->shape[1]; i++) {
        int64_t rest = i, at = 0, stride = 1;
        for (int d = ndim - 1; d >= 0; d--) {
            at += (rest % shape[d] + 1) * stride;
            rest /= shape[d];
            stride *= wide[d];
        }
        memcpy(memory + (size_t)at * bytes, (const char *)m->data + (size_t)i * bytes, bytes);
    }
    must(fl_array_from_host(device, m->dtype, ndim, wide, memory, &whole));
    must(fl_array_view(whole, start, shape, &view));
    fl_array_free(whole);
    free(memory);
    return view;
}

static void check_call(fl_device *device, const struct work *w, const struct matrix *x, const struct matrix *y,
                       const fl_run *run)
{
    int64_t shape[3], results[3] = {1};
    int axis, ndim = shape_of(w, shape, &axis), out_ndim = 0;
    char what[200];
    for (int d = 0; d < ndim && axis != FL_ALL_AXES; d++)
        if (d != axis)
            results[out_ndim++] = shape[d];
    out_ndim = out_ndim ? out_ndim : 1;
    snprintf(what, sizeof what, "%s %s %s%s of %s to %s, %lldx%lldx%lld%s, block %d",
             fl_device_describe(device)->resource, run->variant, w->dot ? "dot " : "", names[w->reduction],
             fl_dtype_name(w->dtype), fl_dtype_name(w->result), (long long)w->outer, (long long)w->length,
             (long long)w->inner, w->all ? " in all" : "", run->block[0]);
    fl_array *a = view_inside(device, x, ndim, shape), *b = w->dot ? view_inside(device, y, ndim, shape) : NULL;
    struct guarded out = guarded_create(device, w->result, out_ndim, results, 1);
    const fl_status status =
        w->dot ? fl_dot(device, a, b, axis, out.out, run) : fl_reduce(device, a, w->reduction, axis, out.out, run);
    if (status == FL_E_UNSUPPORTED && strcmp(run->variant, "library") == 0) {
        expect_untouched(&out, what);
    } else {
        cr_assert(status == FL_OK, "%s: %s", what, fl_last_error());
        const int64_t count = w->all ? 1 : w->outer * w->inner, inner = w->all ? 1 : w->inner;
        void *got = malloc((size_t)count * sizeof(int64_t));
        guarded_copy(&out, got, what);
        for (int64_t i = 0; i < count; i++) {
            const struct exact e = expected_of(w, x, y, i / inner, i % inner, run->variant);
            if (!is_right(w, &e, got, i)) /* Criterion reports each assertion to another process */
                cr_assert(false, "%s: result %lld is wrong: expected %.20Lg (%llu) within %.3Lg", what, (long long)i,
                          e.value, (unsigned long long)e.whole, e.bound);
        }
        free(got);
    }
    fl_array_free(a);
    fl_array_free(b);
    guarded_free(&out);
}

/* Numbers of which some are equal, so that places differ from other places of the same extreme. */
static struct matrix numbers(const struct work *w, uint64_t seed)
{
    struct matrix m = matrix_create(w->dtype, 1, w->outer * w->length * w->inner);
    for (int64_t i = 0; i < m.shape[1]; i++) {
        const int64_t drawn = random_between(&seed, 0, 250);
        matrix_set(&m, 0, i, is_float(w->dtype) && seed % 3 ? (double)drawn / 7 - 17 : (double)(drawn / 5));
    }
    return m;
}

/* Each reduction in each variant, with sums of every dtype. */
static void check_all(fl_device *device, struct work w, const struct matrix *x, const struct matrix *y,
                      const int *block)
{
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reduce", w.dtype, v)) != NULL; v++) {
        fl_run run = {.variant = variant};
        if (block && strcmp(variant, "library") != 0)
            memcpy(run.block, block, sizeof run.block);
        w.dot = false;
        for (w.reduction = FL_SUM; w.reduction <= FL_ARGMAX; w.reduction++) {
            w.result = fl_reduce_dtype(w.dtype, w.reduction);
            check_call(device, &w, x, NULL, &run);
        }
        w.reduction = FL_SUM;
        for (int real = 0; real < 2; real++) {
            w.result = real ? FL_F64 : fl_reduce_dtype(w.dtype, FL_SUM);
            w.dot = true;
            check_call(device, &w, x, y, &run);
            w.dot = false;
            if (real)
                check_call(device, &w, x, NULL, &run);
        }
    }
}

static void check_random(fl_device *device, const struct work *w, const int *block)
{
    struct matrix x = numbers(w, 3), y = numbers(w, 8);
    check_all(device, *w, &x, &y, block);
    matrix_free(&x);
    matrix_free(&y);
}

/* ----------------------------------------------------------------------------------------------------- tests ---- */

ON_EVERY_BACKEND(reduce, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        char name[64];
        const char *variant;
        snprintf(name, sizeof name, "%s-x", fl_dtype_name(dtypes[d]));
        struct matrix x = matrix_golden("reduce", name);
        fl_array *in = array_from(device, &x);
        for (int axis = 0; axis < 2; axis++)
            for (int r = 0; r < 5; r++) {
                snprintf(name, sizeof name, "%s-%s-%d", fl_dtype_name(dtypes[d]), names[r], axis);
                struct matrix expected = matrix_golden("reduce", name);
                struct matrix got = matrix_create(expected.dtype, 1, expected.shape[1]);
                for (size_t v = 0; (variant = variant_of(device, "reduce", dtypes[d], v)) != NULL; v++) {
                    fl_array *out;
                    must(fl_array_create(device, expected.dtype, 1, &expected.shape[1], &out));
                    const fl_status status =
                        fl_reduce(device, in, (fl_reduction)r, axis, out, &(fl_run){.variant = variant});
                    if (status == FL_OK)
                        must(fl_array_to_host(out, got.data));
                    else
                        cr_assert(status == FL_E_UNSUPPORTED && strcmp(variant, "library") == 0, "%s", fl_last_error());
                    for (int64_t i = 0; i < expected.shape[1] && status == FL_OK; i++) {
                        const double a = matrix_get(&got, 0, i), b = matrix_get(&expected, 0, i);
                        const double bound = r == 0 && is_float(dtypes[d]) ? 1e-13 : 0;
                        if (!(fabs(a - b) <= bound || a == b || (isnan(a) && isnan(b))))
                            cr_assert(false, "%s %s %s: [%lld] is %.17g, not %.17g", on->resource, variant, name,
                                      (long long)i, a, b);
                    }
                    fl_array_free(out);
                }
                matrix_free(&got);
                matrix_free(&expected);
            }
        fl_array_free(in);
        matrix_free(&x);
    }
    fl_device_close(device);
}

/* Around what vectors, warps, blocks, groups and blocks of rows, and chunks of columns are made of. */
ON_EVERY_BACKEND(reduce, shapes)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},    {1, 2, 1},    {1, 3, 1},    {1, 31, 1},  {1, 33, 1},    {1, 63, 1},   {1, 64, 1},
        {1, 65, 1},   {1, 255, 1},  {1, 257, 1},  {1, 511, 1}, {1, 512, 1},   {1, 513, 1},  {1, 1025, 1},
        {1, 4097, 1}, {1, 9001, 1}, {5, 1, 1},    {3, 17, 1},  {67, 129, 1},  {300, 7, 1},  {9, 2051, 1},
        {1, 1, 5},    {1, 9, 2},    {1, 700, 3},  {1, 65, 64}, {1, 129, 65},  {1, 8, 511},  {1, 7, 513},
        {1, 73, 520}, {2, 3, 5},    {4, 130, 31}, {7, 1, 9},   {2, 66, 1030}, {1, 513, 63}, {3, 1000, 7},
    };
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t d = s % 2; d < COUNT(dtypes); d += 2) {
            const struct work w = {dtypes[d],    dtypes[d], shapes[s][0], shapes[s][1],
                                   shapes[s][2], FL_SUM,    false,        false};
            check_random(device, &w, NULL);
        }
    fl_device_close(device);
}

/* Long enough that several threads or blocks share a row, a column and all elements. */
ON_EVERY_BACKEND(reduce, large)
{
    static const int64_t shapes[][3] = {{1, 400003, 1}, {3, 140001, 1}, {1, 30011, 13}, {2, 300, 700}, {40, 20, 500}};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            if (is_slow(device) && (s + d) % 3 != 0)
                continue;
            struct work w = {dtypes[d], dtypes[d], shapes[s][0], shapes[s][1], shapes[s][2], FL_SUM, false, false};
            check_random(device, &w, NULL);
            w.all = true;
            if (s == 3)
                check_random(device, &w, NULL);
        }
    fl_device_close(device);
}

/* NaN, infinities, zeros of both signs and equal extremes at each place of a row, in front, behind and alone. */
ON_EVERY_BACKEND(reduce, special_values)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY, -0.0, 40, -40};
    static const int64_t places[] = {0, 1, 7, 8, 63, 64, 511, 512, 1500, 4094, 4095};
    fl_device *device = open_device(on->resource);
    for (size_t d = 3; d < COUNT(dtypes); d++)
        for (size_t k = 0; k < COUNT(places); k++)
            for (size_t a = 0; a < COUNT(specials); a++) {
                const size_t b = (a + k) % COUNT(specials);
                struct work w = {dtypes[d], dtypes[d], 1, 4096, 1, FL_SUM, false, false};
                if (k % 2) {
                    w.length = 1365;
                    w.inner = 3;
                }
                if (is_slow(device) && (a + k) % 3 != 0)
                    continue;
                struct matrix x = numbers(&w, k), y = numbers(&w, a);
                matrix_set(&x, 0, places[k] % x.shape[1], specials[a]);
                matrix_set(&x, 0, places[(k + 3) % COUNT(places)] % x.shape[1], specials[b]);
                check_all(device, w, &x, &y, NULL);
                matrix_free(&x);
                matrix_free(&y);
            }
    fl_device_close(device);
}

/* Nothing but the worst value there is: what a variant starts with must not win. */
ON_EVERY_BACKEND(reduce, one_value)
{
    static const double values[][5] = {{0, INT32_MIN, -0x1p63, -INFINITY, -INFINITY},
                                       {255, INT32_MAX, 0x1.fffffffffffffp62, INFINITY, INFINITY},
                                       {1, -1, -1, NAN, NAN}};
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t k = 0; k < COUNT(values); k++)
            for (int wide = 0; wide < 2; wide++) {
                const struct work w = {dtypes[d], dtypes[d], 1, 1301, wide ? 5 : 1, FL_SUM, false, false};
                struct matrix x = matrix_create(dtypes[d], 1, w.length * w.inner);
                for (int64_t i = 0; i < x.shape[1]; i++)
                    matrix_set(&x, 0, i, values[k][d]);
                check_all(device, w, &x, &x, NULL);
                matrix_free(&x);
            }
    fl_device_close(device);
}

/* Of integers beyond 2^53 each bit counts, and a sum beyond 2^63 wraps. */
ON_EVERY_BACKEND(reduce, wide_integers)
{
    fl_device *device = open_device(on->resource);
    struct work w = {FL_I64, FL_I64, 3, 1001, 1, FL_SUM, false, false};
    uint64_t seed = 5;
    struct matrix x = matrix_create(FL_I64, 1, 3003);
    for (int64_t i = 0; i < 3003; i++)
        ((int64_t *)x.data)[i] = (int64_t)(random_bits(&seed) | 1);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reduce", FL_I64, v)) != NULL; v++)
        for (w.reduction = FL_SUM; w.reduction <= FL_ARGMAX; w.reduction++)
            check_call(device, &w, &x, NULL, &(fl_run){.variant = variant});
    matrix_free(&x);
    fl_device_close(device);
}

/* Blocks that are not whole warps, of one thread, of all that can be, and in three dimensions. */
ON_EVERY_BACKEND(reduce, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {2, 0, 0}, {33, 0, 0},  {100, 0, 0},
                                    {512, 0, 0}, {3, 5, 7}, {1024, 0, 0}};
    static const int64_t shapes[][3] = {{1, 20011, 1}, {70, 300, 1}, {1, 900, 21}, {1, 300, 70}};
    fl_device *device = open_device(on->resource);
    for (size_t b = 0; b < COUNT(blocks) && is_gpu(device); b++)
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const fl_dtype dtype = dtypes[(b + s) % COUNT(dtypes)];
            const struct work w = {dtype, dtype, shapes[s][0], shapes[s][1], shapes[s][2], FL_SUM, false, false};
            if (blocks[b][0] <= fl_device_describe(device)->max_threads_per_block)
                check_random(device, &w, blocks[b]);
        }
    fl_device_close(device);
}

/* A sum of floats stays within a bound that one accumulator exceeds: of 2^24 ones no float gets beyond. */
ON_EVERY_BACKEND(reduce, more_than_a_float_counts)
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

/* Of no elements a sum is 0, an extreme an error. */
ON_EVERY_BACKEND(reduce, empty)
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

ON_EVERY_BACKEND(reduce, timing)
{
    fl_device *device = open_device(on->resource);
    struct work w = {FL_F32, FL_F32, 1, 100, 100, FL_SUM, false, false};
    struct matrix x = numbers(&w, 1);
    const char *variant;
    for (size_t v = 1; (variant = variant_of(device, "reduce", FL_F32, v)) != NULL; v++) {
        fl_timing timing;
        if (strcmp(variant, "library") == 0)
            continue;
        check_call(device, &w, &x, NULL, &(fl_run){.variant = variant, .timing = &timing});
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0 && timing.flops == 10000);
        cr_expect(timing.bytes == 4 * 10100, "%s %s: %g bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s", on->resource, variant);
    }
    matrix_free(&x);
    fl_device_close(device);
}

ON_EVERY_BACKEND(reduce, wrong_arguments)
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
