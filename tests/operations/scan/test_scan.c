/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};
static const fl_reduction reductions[] = {FL_SUM, FL_MAXIMUM};

/* How a scan is called. */
struct how {
    fl_reduction reduction;
    bool exclusive, in_place;
    fl_run run;
};

/* ------------------------------------------------------------------------------------------- what is right ---- */

/* By the definition: integers and maxima exactly, sums of floats in long double with what it loses, and flynn.h's
 * bound. */
struct scanned {
    fl_dtype dtype;
    int64_t length;
    void *exact;      /* integers and maxima */
    long double *sum; /* sums of floats */
    long double *magnitude;
};

static struct scanned scanned_create(const struct matrix *in, const struct how *how)
{
    struct scanned s = {fl_reduce_dtype(in->dtype, how->reduction), in->shape[1], NULL, NULL, NULL};
    const size_t room = (size_t)s.length + 1;
    s.exact = calloc(room, sizeof(double));
    s.sum = calloc(room, sizeof *s.sum);
    s.magnitude = calloc(room, sizeof *s.magnitude);
    return s;
}

static void scanned_free(struct scanned *s)
{
    free(s->exact);
    free(s->sum);
    free(s->magnitude);
}

static void sum_floats(struct scanned *s, const struct matrix *in, bool exclusive)
{
    long double sum = 0, lost = 0, magnitude = 0;
    for (int64_t i = 0; i < s->length; i++) {
        const long double x = exclusive && i == 0 ? 0 : (long double)matrix_get(in, 0, i - exclusive);
        const long double next = sum + x, of_x = next - sum;
        const long double error = (sum - (next - of_x)) + (x - of_x);
        lost += isfinite(next) ? error : 0;
        sum = next;
        magnitude += isfinite(x) ? fabsl(x) : 0;
        s->sum[i] = isfinite(sum) ? sum + lost : sum;
        s->magnitude[i] = magnitude;
    }
}

#define SCAN_EXACTLY(from, to, lowest, put) \
    do { \
        const from *x = in->data; \
        to *out = s->exact, all = lowest; \
        for (int64_t i = 0; i < s->length; i++) { \
            const to before = all, element = (to)x[i]; \
            all = put; \
            out[i] = exclusive ? before : all; \
        } \
    } while (0)
#define LARGER(from, lowest) \
    SCAN_EXACTLY(from, from, lowest, isnan((double)before) || before >= element ? before : element)

static void scan_exactly(struct scanned *s, const struct matrix *in, fl_reduction reduction, bool exclusive)
{
    if (reduction == FL_SUM) {
        switch (in->dtype) {
        case FL_U8: SCAN_EXACTLY(uint8_t, uint64_t, 0, before + element); break;
        case FL_I32: SCAN_EXACTLY(int32_t, uint64_t, 0, before + element); break;
        default: SCAN_EXACTLY(uint64_t, uint64_t, 0, before + element); break;
        }
        return;
    }
    switch (in->dtype) {
    case FL_U8: LARGER(uint8_t, 0); break;
    case FL_I32: LARGER(int32_t, INT32_MIN); break;
    case FL_I64: LARGER(int64_t, INT64_MIN); break;
    case FL_F32: LARGER(float, -HUGE_VALF); break;
    default: LARGER(double, -HUGE_VAL); break;
    }
}

static struct scanned expected_scan(const struct matrix *in, const struct how *how)
{
    struct scanned s = scanned_create(in, how);
    if (how->reduction == FL_SUM && fl_dtype_is_float(in->dtype))
        sum_floats(&s, in, how->exclusive);
    else
        scan_exactly(&s, in, how->reduction, how->exclusive);
    return s;
}

/* The bound of one loop, or, of every variant but a CPU's naive, that of trees. */
static bool is_near_sum(const struct scanned *s, int64_t i, long double got, bool loop)
{
    const long double unit = s->dtype == FL_F32 ? 0x1p-24L : 0x1p-53L, terms = (long double)(i + 1);
    const long double error = fabsl(got - s->sum[i]), allowed = unit * s->magnitude[i];
    if (isnan(s->sum[i]))
        return isnan(got);
    /* Most elements pass here, without a square root. */
    if (got == s->sum[i] || error <= (terms < 160 ? terms : 160) * allowed)
        return true;
    const long double tree = 2 * sqrtl(terms) + 160, factor = loop || terms < tree ? terms : tree;
    return error <= factor * allowed;
}

static void expect_scanned(const struct scanned *s, const struct how *how, const struct matrix *got, bool loop,
                           const char *what)
{
    const bool sums = how->reduction == FL_SUM && fl_dtype_is_float(s->dtype);
    const size_t size = fl_dtype_size(s->dtype);
    for (int64_t i = 0; i < s->length; i++) {
        const double value = matrix_get(got, 0, i);
        const void *exact = (const char *)s->exact + (size_t)i * size,
                   *bits = (const char *)got->data + (size_t)i * size;
        bool same = sums ? is_near_sum(s, i, (long double)value, loop) : memcmp(exact, bits, size) == 0;
        if (!sums && s->dtype == FL_F32)
            same = *(const float *)exact == *(const float *)bits || (isnan(*(const float *)exact) && isnan(value));
        if (!sums && s->dtype == FL_F64)
            same = *(const double *)exact == value || (isnan(*(const double *)exact) && isnan(value));
        if (!same) /* Criterion reports each assertion */
            cr_assert(false, "%s: element %lld is %.17g, expected %.17Lg", what, (long long)i, value,
                      sums ? s->sum[i] : 0);
    }
}

/* ------------------------------------------------------------------------------------------------ one call ---- */

/* The row on a device, as a view that begins `at` elements behind the start of something larger. */
static fl_array *vector_inside(fl_device *device, const struct matrix *row, int64_t at)
{
    fl_array *whole = NULL, *view = NULL;
    const size_t size = fl_dtype_size(row->dtype);
    char *bytes = malloc((size_t)(row->shape[1] + at + 1) * size);
    memset(bytes, 1, (size_t)(row->shape[1] + at + 1) * size);
    memcpy(bytes + (size_t)at * size, row->data, (size_t)row->shape[1] * size);
    must(fl_array_from_host(device, row->dtype, 1, (int64_t[]){row->shape[1] + at + 1}, bytes, &whole));
    must(fl_array_view(whole, (int64_t[]){at}, &row->shape[1], &view));
    fl_array_free(whole);
    free(bytes);
    return view;
}

static bool library_sums_floats(const struct how *how, fl_dtype dtype)
{
    return how->run.variant && strcmp(how->run.variant, "library") == 0 && how->reduction == FL_SUM &&
           fl_dtype_is_float(dtype);
}

/* Scans with guards round the output, and compares. `margin`: 4 elements before the arrays leave them where whole packs
 * can be loaded, 3 do not. */
static void check_with_margin(fl_device *device, const struct matrix *in, const struct how *how,
                              const struct scanned *s, int64_t margin)
{
    const int64_t length = in->shape[1];
    const char *variant = how->run.variant ? how->run.variant : "auto";
    const bool loop = strcmp(variant, "naive") == 0 && !is_gpu(device);
    char what[200];
    snprintf(what, sizeof what, "%s %s %s of %s, %lld elements, margin %lld, %s%s, block %d",
             fl_device_describe(device)->resource, variant, how->reduction == FL_SUM ? "sum" : "maximum",
             fl_dtype_name(in->dtype), (long long)length, (long long)margin, how->exclusive ? "exclusive" : "inclusive",
             how->in_place ? ", in place" : "", how->run.block[0]);
    struct guarded out = guarded_create(device, s->dtype, 1, &length, margin);
    fl_array *a = vector_inside(device, in, margin);
    if (how->in_place) {
        must(fl_copy_array(device, a, out.out, NULL));
        fl_array_free(a);
        a = out.out;
    }
    must(fl_scan(device, a, how->reduction, how->exclusive, out.out, &how->run));
    struct matrix got = matrix_create(s->dtype, 1, length);
    guarded_copy(&out, got.data, what);
    expect_scanned(s, how, &got, loop, what);
    matrix_free(&got);
    if (!how->in_place)
        fl_array_free(a);
    guarded_free(&out);
}

static void check_scan(fl_device *device, const struct matrix *in, const struct how *how)
{
    if (library_sums_floats(how, in->dtype) ||
        (how->in_place && (in->shape[1] == 0 || fl_reduce_dtype(in->dtype, how->reduction) != in->dtype)))
        return;
    struct scanned s = expected_scan(in, how);
    check_with_margin(device, in, how, &s, 4);
    check_with_margin(device, in, how, &s, 3);
    scanned_free(&s);
}

/* Every variant, or those of a GPU with a block. */
static void check_every_variant(fl_device *device, const struct matrix *in, const struct how *how)
{
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "scan", in->dtype, i)) != NULL; i++) {
        struct how with = *how;
        with.run.variant = variant;
        if (!is_left_out(5))
            check_scan(device, in, &with);
    }
}

/* -------------------------------------------------------------------------------------------------- tests ---- */

ON_EVERY_BACKEND(scan, golden_files)
{
    static const char *const names[] = {"u8", "i32", "i64", "f32", "f64", "special"};
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(names); d++)
        for (size_t r = 0; r < COUNT(reductions); r++) {
            char name[64];
            const char *variant;
            snprintf(name, sizeof name, "%s.in", names[d]);
            struct matrix in = matrix_golden("scan", name);
            snprintf(name, sizeof name, "%s.%s", names[d], r == 0 ? "sum" : "maximum");
            struct matrix expected = matrix_golden("scan", name), got = matrix_golden("scan", name);
            for (size_t i = 0; (variant = variant_of(device, "scan", in.dtype, i)) != NULL; i++) {
                const struct how how = {reductions[r], false, false, {.variant = variant}};
                fl_array *a, *out;
                if (library_sums_floats(&how, in.dtype))
                    continue;
                must(fl_array_from_host(device, in.dtype, 1, &in.shape[1], in.data, &a));
                must(fl_array_create(device, expected.dtype, 1, &in.shape[1], &out));
                must(fl_scan(device, a, reductions[r], false, out, &how.run));
                must(fl_array_to_host(out, got.data));
                for (int64_t k = 0; k < in.shape[1]; k++) {
                    const double wanted = matrix_get(&expected, 0, k), value = matrix_get(&got, 0, k);
                    cr_assert(value == wanted || (isnan(value) && isnan(wanted)),
                              "%s %s %s: element %lld is %.17g, NumPy's %.17g", on->resource, variant, name,
                              (long long)k, value, wanted);
                }
                free_arrays(a, out);
            }
            matrix_free(&in);
            matrix_free(&expected);
            matrix_free(&got);
        }
    fl_device_close(device);
}

/* Around what vectors, warps, tiles (256 threads x 16 or 8), trees, chunks and groups are made of. */
ON_EVERY_BACKEND(scan, sizes)
{
    static const int64_t sizes[] = {0,    1,    2,    3,    4,    5,     7,     8,     15,    16,
                                    17,   31,   32,   33,   63,   64,    65,    127,   129,   255,
                                    256,  257,  511,  513,  1023, 1024,  1025,  2047,  2048,  2049,
                                    4095, 4096, 4097, 8191, 8193, 16385, 65535, 65536, 65537, 70001};
    fl_device *device = open_device(on->resource);
    for (size_t n = 0; n < COUNT(sizes); n++)
        for (size_t r = 0; r < COUNT(reductions); r++)
            for (size_t d = n < 12 ? 0 : n % COUNT(dtypes); d < COUNT(dtypes); d += n < 12 ? 1 : COUNT(dtypes)) {
                struct matrix in = matrix_random(dtypes[d], 1, sizes[n], n * 8 + r);
                check_every_variant(device, &in, &(struct how){reductions[r], n % 2 == 0, false, {0}});
                check_every_variant(device, &in, &(struct how){reductions[r], n % 2 == 1, n % 3 > 0, {0}});
                matrix_free(&in);
            }
    fl_device_close(device);
}

/* Long enough that several threads share the work, and that there are groups of tiles. */
ON_EVERY_BACKEND(scan, large)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t r = 0; r < COUNT(reductions); r++) {
            struct matrix in = matrix_random(dtypes[d], 1, is_slow(device) ? 150001 : 600011, d);
            check_every_variant(device, &in, &(struct how){reductions[r], d % 2 == r, r == 1, {0}});
            matrix_free(&in);
        }
    fl_device_close(device);
}

/* Rounding errors that all point the same way: one loop loses a hundredth of the sum, and a tree may not. */
ON_EVERY_BACKEND(scan, errors_of_one_sign)
{
    fl_device *device = open_device(on->resource);
    struct matrix in = matrix_create(FL_F32, 1, is_slow(device) ? 150001 : 1000003);
    for (int64_t i = 0; i < in.shape[1]; i++)
        matrix_set(&in, 0, i, 0.1);
    check_every_variant(device, &in, &(struct how){FL_SUM, false, false, {0}});
    matrix_free(&in);
    fl_device_close(device);
}

/* NaN and infinities show in every later sum, and in no earlier one. */
ON_EVERY_BACKEND(scan, special_values)
{
    static const int64_t places[] = {0, 1, 15, 16, 255, 256, 2047, 2048, 4096, 9000};
    fl_device *device = open_device(on->resource);
    for (size_t p = 0; p < COUNT(places); p++)
        for (int kind = 0; kind < 3; kind++)
            for (size_t r = 0; r < COUNT(reductions); r++) {
                struct matrix in = matrix_random(p % 2 ? FL_F32 : FL_F64, 1, 9001, p);
                matrix_set(&in, 0, places[p], kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY);
                if (kind == 1 && places[p] + 100 < 9001)
                    matrix_set(&in, 0, places[p] + 100, -INFINITY);
                check_every_variant(device, &in, &(struct how){reductions[r], p % 3 == 0, p % 5 == 0, {0}});
                matrix_free(&in);
            }
    fl_device_close(device);
}

static struct matrix with_limits(fl_dtype dtype, int64_t length)
{
    struct matrix in = matrix_create(dtype, 1, length);
    for (int64_t i = 0; i < length; i++)
        switch (dtype) {
        case FL_U8: ((uint8_t *)in.data)[i] = UINT8_MAX; break;
        case FL_I32: ((int32_t *)in.data)[i] = i % 7 == 3 ? INT32_MIN : i < 5 ? INT32_MIN : INT32_MAX; break;
        default: ((int64_t *)in.data)[i] = i % 7 == 3 ? INT64_MIN : i < 5 ? INT64_MIN : INT64_MAX; break;
        }
    return in;
}

ON_EVERY_BACKEND(scan, integers_at_their_limits)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < 3; d++)
        for (size_t r = 0; r < COUNT(reductions); r++)
            for (int exclusive = 0; exclusive < 2; exclusive++) {
                struct matrix in = with_limits(dtypes[d], 5003);
                check_every_variant(device, &in, &(struct how){reductions[r], exclusive, exclusive, {0}});
                matrix_free(&in);
            }
    fl_device_close(device);
}

/* Blocks that are not whole warps, of one thread, of all that can be, and in three dimensions. Blocks of one thread
 * have tiles so small that there are several fields of 1024 of them. */
ON_EVERY_BACKEND(scan, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {2, 0, 0},   {31, 0, 0},  {33, 0, 0}, {64, 0, 0},  {96, 0, 0},
                                    {100, 0, 0}, {512, 0, 0}, {16, 16, 0}, {3, 5, 7},  {1024, 0, 0}};
    static const char *const variants[] = {"look-back", "block", "naive"};
    fl_device *device = open_device(on->resource);
    if (!is_gpu(device)) { /* blocks are a GPU's */
        fl_device_close(device);
        return;
    }
    for (size_t b = 0; b < COUNT(blocks); b++)
        for (size_t v = 0; v < COUNT(variants); v++)
            for (size_t d = 0; d < COUNT(dtypes); d++) {
                if (is_left_out(8) ||
                    (is_small_test() && (b + v + d) % 3)) /* a small test has one or two dtypes for each */
                    continue;
                fl_timing timing;
                const struct how how = {
                    reductions[(b + d) % 2],
                    b % 2,
                    b % 3 == 0,
                    {.variant = variants[v], .block = {blocks[b][0], blocks[b][1], blocks[b][2]}, .timing = &timing}};
                struct matrix in = matrix_random(dtypes[d], 1,
                                                 b == 0                     ? 40009
                                                 : b < 6 && is_small_test() ? 5003
                                                                            : 20011,
                                                 b);
                timing.block[0] = 0;
                check_scan(device, &in, &how);
                for (int axis = 0; axis < 3 && timing.block[0] != 0; axis++)
                    cr_expect(timing.block[axis] == (blocks[b][axis] > 1 ? blocks[b][axis] : 1),
                              "%s: block %zu ran as %d", on->resource, b, timing.block[axis]);
                matrix_free(&in);
            }
    fl_device_close(device);
}

/* Where there is a library, it scans what does not depend on the order, unless a block is asked for. */
ON_EVERY_BACKEND(scan, what_auto_takes)
{
    static const struct {
        fl_dtype dtype;
        fl_reduction reduction;
        int64_t n;
        int32_t block;
        const char *variant;
    } cases[] = {
        {FL_I32, FL_SUM, 40009, 0, "library"},     {FL_U8, FL_SUM, 40009, 0, "library"},
        {FL_F32, FL_MAXIMUM, 40009, 0, "library"}, {FL_F32, FL_SUM, 40009, 0, "look-back"},
        {FL_F64, FL_SUM, 40009, 0, "look-back"},   {FL_I32, FL_SUM, 5003, 0, "look-back"},
        {FL_I64, FL_SUM, 40009, 128, "look-back"},
    };
    fl_device *device = open_device(on->resource);
    const char *variant;
    bool library = false;
    for (size_t i = 0; (variant = variant_of(device, "scan", FL_I32, i)) != NULL; i++)
        library |= strcmp(variant, "library") == 0;
    for (size_t c = 0; library && c < COUNT(cases); c++) {
        fl_timing timing;
        struct matrix in = matrix_random(cases[c].dtype, 1, cases[c].n, 6);
        check_scan(device, &in,
                   &(struct how){cases[c].reduction, false, false, {.block = {cases[c].block}, .timing = &timing}});
        cr_expect(timing.variant && strcmp(timing.variant, cases[c].variant) == 0, "%s, case %zu: ran '%s'",
                  on->resource, c, timing.variant);
        cr_expect(cases[c].block == 0 || timing.block[0] == cases[c].block);
        matrix_free(&in);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(scan, timing)
{
    fl_device *device = open_device(on->resource);
    struct matrix in = matrix_random(FL_I32, 1, 10000, 5);
    const char *variant;
    for (size_t i = 1; (variant = variant_of(device, "scan", FL_I32, i)) != NULL; i++) {
        fl_timing timing;
        check_scan(device, &in, &(struct how){FL_SUM, false, false, {.variant = variant, .timing = &timing}});
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0 && timing.flops == 0);
        cr_expect(timing.bytes == 12 * 10000, "%s %s: %g bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        if (is_gpu(device) &&
            strcmp(variant, "naive") == 0) /* 14 passes: 2 + 4 + ... + 8192 elements are not added to */
            cr_expect(timing.bytes_requested == 10000 * (2 * 4 + 8) - 4 + 13 * 10000 * 24 - 8 * (16384 - 2),
                      "%s naive: %g bytes requested", on->resource, timing.bytes_requested);
        check_scan(device, &in, &(struct how){FL_MAXIMUM, false, true, {.variant = variant, .timing = &timing}});
        cr_expect(timing.bytes == 8 * 10000);
    }
    matrix_free(&in);
    in = matrix_random(FL_F32, 1, 10000, 5);
    fl_timing timing;
    check_scan(device, &in, &(struct how){FL_SUM, false, false, {.timing = &timing}});
    cr_expect(timing.flops == 10000, "%s: %g operations", on->resource, timing.flops);
    matrix_free(&in);
    fl_device_close(device);
}

/* A second run gives the same bits, whichever tile is done first. */
ON_EVERY_BACKEND(scan, same_bits)
{
    fl_device *device = open_device(on->resource);
    struct matrix in = matrix_random(FL_F32, 1, is_slow(device) ? 150001 : 400009, 11);
    const char *variant;
    fl_array *a, *out;
    const int64_t length = in.shape[1];
    float *first = malloc((size_t)length * sizeof *first), *again = malloc((size_t)length * sizeof *again);
    must(fl_array_from_host(device, FL_F32, 1, &length, in.data, &a));
    must(fl_array_create(device, FL_F32, 1, &length, &out));
    for (size_t i = 0; (variant = variant_of(device, "scan", FL_F32, i)) != NULL; i++)
        for (int run = 0; run < 5 && strcmp(variant, "library") != 0; run++) {
            must(fl_scan(device, a, FL_SUM, false, out, &(fl_run){.variant = variant}));
            must(fl_array_to_host(out, run == 0 ? first : again));
            cr_expect(run == 0 || memcmp(first, again, (size_t)length * sizeof *first) == 0,
                      "%s %s: other bits in run %d", on->resource, variant, run);
        }
    free(first);
    free(again);
    free_arrays(a, out);
    matrix_free(&in);
    fl_device_close(device);
}

ON_EVERY_BACKEND(scan, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t length = 100, less = 99;
    fl_array *in, *shorter, *wide, *square, *foreign, *numbers, *begin, *end;
    struct guarded out = guarded_create(device, FL_F32, 1, &length, 1);
    must(fl_array_create(device, FL_F32, 1, &length, &in));
    must(fl_array_create(device, FL_F32, 1, &less, &shorter));
    must(fl_array_create(device, FL_F64, 1, &length, &wide));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){10, 10}, &square));
    must(fl_array_create(device, FL_I32, 1, &length, &numbers));
    must(fl_array_create(other, FL_F32, 1, &length, &foreign));
    must(fl_array_view(in, (int64_t[]){0}, &less, &begin));
    must(fl_array_view(in, (int64_t[]){1}, &less, &end));
    expect_argument_error(fl_scan(NULL, in, FL_SUM, false, out.out, NULL), "device");
    expect_argument_error(fl_scan(device, NULL, FL_SUM, false, out.out, NULL), "in is NULL");
    expect_argument_error(fl_scan(device, in, FL_SUM, false, NULL, NULL), "out is NULL");
    expect_argument_error(fl_scan(device, square, FL_SUM, false, out.out, NULL), "2 dimensions");
    expect_argument_error(fl_scan(device, in, FL_SUM, false, square, NULL), "out");
    expect_argument_error(fl_scan(device, in, FL_SUM, false, shorter, NULL), "out");
    expect_argument_error(fl_scan(device, in, FL_SUM, false, wide, NULL), "f64");
    expect_argument_error(fl_scan(device, numbers, FL_SUM, false, numbers, NULL), "i64");
    expect_argument_error(fl_scan(device, begin, FL_SUM, false, end, NULL), "shares memory");
    expect_argument_error(fl_scan(device, in, FL_MINIMUM, false, out.out, NULL), "FL_MAXIMUM");
    expect_argument_error(fl_scan(device, in, FL_ARGMAX, false, out.out, NULL), "FL_MAXIMUM");
    expect_argument_error(fl_scan(device, in, (fl_reduction)77, false, out.out, NULL), "77");
    expect_status(FL_E_WRONG_DEVICE, fl_scan(device, foreign, FL_SUM, false, out.out, NULL));
    expect_error_says("fl_array_to_device(in");
    expect_status(FL_E_UNKNOWN, fl_scan(device, in, FL_SUM, false, out.out, &(fl_run){.variant = "naif"}));
    expect_error_says("naive");
    expect_status(FL_E_ARGUMENT,
                  fl_scan(device, in, FL_SUM, false, out.out, &(fl_run){.variant = "naive", .block = {-1}}));
    if (is_gpu(device)) {
        int huge = 1 << 30;
        expect_status(FL_E_LIMIT, fl_scan(device, in, FL_SUM, false, out.out,
                                          &(fl_run){.variant = "look-back", .block = {huge, huge, huge}}));
    }
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "scan", FL_F32, i)) != NULL; i++)
        if (strcmp(variant, "library") == 0) {
            expect_status(FL_E_UNSUPPORTED, fl_scan(device, in, FL_SUM, false, out.out, &(fl_run){.variant = variant}));
            expect_error_says("look-back");
        }
    expect_untouched(&out, on->resource);
    free_arrays(in, shorter, wide, square, numbers, foreign, begin, end);
    guarded_free(&out);
    fl_device_close(device);
    fl_device_close(other);
}
