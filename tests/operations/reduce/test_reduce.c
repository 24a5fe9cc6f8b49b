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

/* One result of every reduction, as flynn.h defines it: a sum and fl_dot's, the minimum and the maximum. */
struct exact {
    uint64_t whole[2]; /* the sums of integers, which wrap */
    long double sum[2], magnitude[2], extreme[2];
    int64_t place[2];
};

static int64_t results_of(const struct work *w)
{
    return w->all ? 1 : w->outer * w->inner;
}

/* A term; NaN and infinities are in no integer. */
static void add(struct exact *e, int dot, long double a, long double b, bool whole)
{
    e->whole[dot] += whole ? (uint64_t)(int64_t)a * (uint64_t)(int64_t)b : 0;
    e->sum[dot] += a * b;
    e->magnitude[dot] += fabsl(a * b);
}

/* Element (o, i) of the result. */
static struct exact exact_of(const struct work *w, const struct matrix *x, const struct matrix *y, int64_t o, int64_t i)
{
    const int64_t length = w->all ? w->outer * w->length * w->inner : w->length, inner = w->all ? 1 : w->inner;
    struct exact e = {.whole = {0}};
    for (int64_t p = 0; p < length; p++) {
        const int64_t at = (o * length + p) * inner + i;
        const long double a = value_of(x, at), b = value_of(y, at);
        add(&e, 0, a, 1, !is_float(w->dtype));
        add(&e, 1, a, b, !is_float(w->dtype));
        for (int most = 0; most < 2; most++)
            if (p == 0 || beats(a, e.extreme[most], most ? FL_MAXIMUM : FL_MINIMUM)) {
                e.extreme[most] = a;
                e.place[most] = p;
            }
    }
    return e;
}

static bool is_close(const struct work *w, const struct exact *e, const char *variant, long double got)
{
    const bool sum = w->reduction == FL_SUM,
               any_order = strcmp(variant, "naive") == 0 || strcmp(variant, "library") == 0;
    const long double n = w->all ? (long double)(w->outer * w->length * w->inner) : (long double)w->length;
    const long double units = (any_order ? n - 1 : log2l(n > 1 ? n : 1) + 40) + (w->dot ? 1 : 0);
    const long double unit = (long double)(w->result == FL_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
    const long double wanted = sum ? e->sum[w->dot] : e->extreme[w->reduction == FL_MAXIMUM];
    if (isnan(wanted) || isinf(wanted))
        return isnan(wanted) ? isnan(got) : got == wanted;
    return fabsl(got - wanted) <= (sum ? units * unit * e->magnitude[w->dot] : 0);
}

static bool is_right(const struct work *w, const struct exact *e, const char *variant, const void *got, int64_t i)
{
    const bool most = w->reduction == FL_MAXIMUM || w->reduction == FL_ARGMAX;
    if (w->result == FL_F32 || w->result == FL_F64)
        return is_close(w, e, variant, w->result == FL_F32 ? ((const float *)got)[i] : ((const double *)got)[i]);
    const uint64_t wanted = w->reduction == FL_SUM ? e->whole[w->dot]
                            : w->reduction == FL_MINIMUM || w->reduction == FL_MAXIMUM
                                ? (uint64_t)(int64_t)e->extreme[most]
                                : (uint64_t)e->place[most];
    return w->result == FL_U8    ? ((const uint8_t *)got)[i] == (uint8_t)wanted
           : w->result == FL_I32 ? ((const int32_t *)got)[i] == (int32_t)(int64_t)wanted
                                 : ((const uint64_t *)got)[i] == wanted;
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
    const int64_t row = shape[ndim - 1];
    for (int64_t i = 0; i < m->shape[1]; i += row) {
        int64_t rest = i, at = 0, stride = 1;
        for (int d = ndim - 1; d >= 0; d--) {
            at += (rest % shape[d] + 1) * stride;
            rest /= shape[d];
            stride *= wide[d];
        }
        memcpy(memory + (size_t)at * bytes, (const char *)m->data + (size_t)i * bytes, (size_t)row * bytes);
    }
    must(fl_array_from_host(device, m->dtype, ndim, wide, memory, &whole));
    must(fl_array_view(whole, start, shape, &view));
    fl_array_free(whole);
    free(memory);
    return view;
}

/* The inputs and expected results that the calls of every variant and reduction share. */
struct shared {
    fl_array *x, *y;
    struct exact *exact;
};

static struct shared share(fl_device *device, const struct work *w, const struct matrix *x, const struct matrix *y)
{
    int64_t shape[3];
    int axis;
    const int ndim = shape_of(w, shape, &axis);
    const size_t bytes = (size_t)results_of(w) * sizeof(struct exact);
    struct shared s = {view_inside(device, x, ndim, shape), view_inside(device, y, ndim, shape), malloc(bytes)};
    const int64_t sizes[] = {w->outer, w->length, w->inner, w->all};
    const uint64_t key = hash_matrix(hash_matrix(hash_bytes(0, sizes, sizeof sizes), x), y);
    if (recall(key, s.exact, bytes)) /* A call on another backend computed them. */
        return s;
    for (int64_t i = 0; i < results_of(w); i++)
        s.exact[i] = exact_of(w, x, y, w->all ? 0 : i / w->inner, w->all ? 0 : i % w->inner);
    remember(key, s.exact, bytes);
    return s;
}

static void share_free(struct shared *s)
{
    free_arrays(s->x, s->y);
    free(s->exact);
}

static void check_call(fl_device *device, const struct work *w, const struct shared *s, const fl_run *run)
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
    struct guarded out = guarded_create(device, w->result, out_ndim, results, 1);
    const fl_status status = w->dot ? fl_dot(device, s->x, s->y, axis, out.out, run)
                                    : fl_reduce(device, s->x, w->reduction, axis, out.out, run);
    if (status == FL_E_UNSUPPORTED && strcmp(run->variant, "library") == 0) {
        expect_untouched(&out, what);
    } else {
        cr_assert(status == FL_OK, "%s: %s", what, fl_last_error());
        void *got = malloc((size_t)results_of(w) * sizeof(int64_t));
        guarded_copy(&out, got, what);
        for (int64_t i = 0; i < results_of(w); i++)
            if (!is_right(w, &s->exact[i], run->variant, got, i)) /* Criterion reports each assertion */
                cr_assert(false, "%s: result %lld is wrong: sums %.20Lg and %.20Lg, extremes %.20Lg and %.20Lg", what,
                          (long long)i, s->exact[i].sum[0], s->exact[i].sum[1], s->exact[i].extreme[0],
                          s->exact[i].extreme[1]);
        free(got);
    }
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
    if (is_left_out(5))
        return;
    struct shared shared = share(device, &w, x, y);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reduce", w.dtype, v)) != NULL; v++) {
        fl_run run = {.variant = variant};
        if (block && strcmp(variant, "library") != 0)
            memcpy(run.block, block, sizeof run.block);
        w.dot = false;
        for (w.reduction = FL_SUM; w.reduction <= FL_ARGMAX; w.reduction++) {
            w.result = fl_reduce_dtype(w.dtype, w.reduction);
            check_call(device, &w, &shared, &run);
        }
        w.reduction = FL_SUM;
        for (int real = 0; real < 2; real++) {
            w.result = real ? FL_F64 : fl_reduce_dtype(w.dtype, FL_SUM);
            w.dot = true;
            check_call(device, &w, &shared, &run);
            w.dot = false;
            if (real)
                check_call(device, &w, &shared, &run);
        }
    }
    share_free(&shared);
}

static struct work work_of(fl_dtype dtype, const int64_t *shape)
{
    return (struct work){dtype, dtype, shape[0], shape[1], shape[2], FL_SUM, false, false};
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
            const struct work w = work_of(dtypes[d], shapes[s]);
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
            struct work w = work_of(dtypes[d], shapes[s]);
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

/* Integers beyond 2^53 are summed exactly, and a sum beyond 2^63 wraps. */
ON_EVERY_BACKEND(reduce, wide_integers)
{
    fl_device *device = open_device(on->resource);
    struct work w = {FL_I64, FL_I64, 3, 1001, 1, FL_SUM, false, false};
    uint64_t seed = 5;
    struct matrix x = matrix_create(FL_I64, 1, 3003);
    for (int64_t i = 0; i < 3003; i++)
        ((int64_t *)x.data)[i] = (int64_t)(random_bits(&seed) | 1);
    struct shared shared = share(device, &w, &x, &x);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reduce", FL_I64, v)) != NULL; v++)
        for (w.reduction = FL_SUM; w.reduction <= FL_ARGMAX; w.reduction++)
            check_call(device, &w, &shared, &(fl_run){.variant = variant});
    share_free(&shared);
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
            const struct work w = work_of(dtypes[(b + s) % COUNT(dtypes)], shapes[s]);
            if (blocks[b][0] <= fl_device_describe(device)->max_threads_per_block)
                check_random(device, &w, blocks[b]);
        }
    fl_device_close(device);
}
