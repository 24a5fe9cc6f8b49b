/* SPDX-License-Identifier: MIT
 *
 * test_bounds.c - the error bounds of docs/accuracy.md, measured against long double (64 bits or more of precision, and
 * a range in which nothing here over- or underflows) over numbers chosen to hurt: for every variant on every backend.
 * Prints the largest part of each bound that was reached; above 1 the test fails. The bounds are from the analysis of
 * rounding errors (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002), not from this measurement.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype floats[] = {FL_F32, FL_F64};

static long double unit(fl_dtype dtype)
{
    return (dtype == FL_F32 ? (long double)FLT_EPSILON : (long double)DBL_EPSILON) / 2;
}

static long double largest(fl_dtype dtype)
{
    return dtype == FL_F32 ? (long double)FLT_MAX : (long double)DBL_MAX;
}

/* The smallest number above 0. */
static long double smallest(fl_dtype dtype)
{
    return dtype == FL_F32 ? 0x1p-149L : (long double)0x1p-1074;
}

/* ------------------------------------------------------------------------------------------------ measurement ---- */

/* The largest part of a bound that was reached, for each operation, variant and dtype. */
static struct measure {
    char what[64], where[128];
    double part;
} measures[128];
static size_t measure_count;

static void note(const fl_device *device, const char *operation, const char *variant, fl_dtype dtype, const char *input,
                 double part)
{
    char what[64];
    size_t i = 0;
    snprintf(what, sizeof what, "%s %s %s", operation, variant, fl_dtype_name(dtype));
    while (i < measure_count && strcmp(measures[i].what, what) != 0)
        i++;
    cr_assert(i < COUNT(measures));
    if (i == measure_count)
        strcpy(measures[measure_count++].what, what);
    if (part >= measures[i].part) {
        measures[i].part = part;
        snprintf(measures[i].where, sizeof measures[i].where, "%s, %s", fl_device_describe(device)->resource, input);
    }
}

/* Runs the test on every backend and reports. */
static void measure(void (*test)(const struct on *on), size_t least)
{
    for_every_backend("bounds", test);
    cr_expect(measure_count >= least, "only %zu variants", measure_count);
    for (size_t i = 0; i < measure_count; i++) {
        printf("%-28s %.3f of the bound (%s)\n", measures[i].what, measures[i].part, measures[i].where);
        cr_expect(measures[i].part <= 1, "%s: %.3f of the bound (%s)", measures[i].what, measures[i].part,
                  measures[i].where);
    }
    fflush(stdout);
}

/* A sum in long double, over absolute values too, and over those of the terms that are finite. */
struct exact {
    long double sum, magnitude, finite;
};

static void add_term(struct exact *e, long double term)
{
    e->sum += term;
    e->magnitude += fabsl(term);
    e->finite += isfinite(term) ? fabsl(term) : 0;
}

/* The part of `units` units of rounding of the magnitude, and of `tiny` smallest numbers, that the error is. Where the
 * magnitude is not below the largest number, a sum may overflow on its way. */
static double part_of(const struct exact *e, fl_dtype dtype, double units, long double tiny, double got)
{
    const long double bound = (long double)units * unit(dtype) * e->magnitude + tiny * smallest(dtype);
    const bool overflows = e->finite * (1 + (long double)units * unit(dtype)) >= largest(dtype);
    if (!isfinite(got) && overflows)
        return 0;
    if (!isfinite(e->sum) || !isfinite(got))
        return (isnan(e->sum) && isnan(got)) || (long double)got == e->sum ? 0 : (double)INFINITY;
    const long double error = fabsl((long double)got - e->sum);
    return error == 0 ? 0 : (double)(error / bound);
}

/* ----------------------------------------------------------------------------------------------------- numbers ---- */

enum kind { POSITIVE, CANCELLING, ALTERNATING, SUBNORMAL, MIXED, HUGE_ONES, TINY_ONES, OVERFLOWING, NOT_FINITE, KINDS };
static const char *const kind_names[] = {"positive",  "cancelling", "alternating", "subnormal", "mixed",
                                         "huge ones", "tiny ones",  "overflowing", "not finite"};

/* In 0..1. */
static double fraction(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

static double number(fl_dtype dtype, enum kind kind, int64_t i, uint64_t *state)
{
    const int half = dtype == FL_F32 ? 60 : 500; /* the exponent of a number whose square fits */
    const double sign = random_bits(state) & 1 ? -1 : 1;
    switch (kind) {
    case POSITIVE: return 0.5 + fraction(state);
    case CANCELLING: return (i % 2 ? -1 : 1) * (0x1p10 + fraction(state) * 0x1p-12);
    case ALTERNATING: return i % 2 ? -1 : 1;
    case SUBNORMAL: return sign * ldexp(fraction(state), dtype == FL_F32 ? -126 : -1022);
    case MIXED: return sign * ldexp(0.5 + fraction(state), (int)random_between(state, -half, half));
    case HUGE_ONES: return sign * ldexp(0.5 + fraction(state), half);
    case TINY_ONES: return sign * ldexp(0.5 + fraction(state), dtype == FL_F32 ? -74 : -537);
    case OVERFLOWING: return sign * ldexp(0.5 + fraction(state), dtype == FL_F32 ? 63 : 511);
    default: break;
    }
    const int64_t which = random_between(state, 0, 60);
    return which == 0 ? (double)NAN : which == 1 ? (double)INFINITY : which == 2 ? -(double)INFINITY : fraction(state);
}

static struct matrix numbers(fl_dtype dtype, int64_t rows, int64_t columns, enum kind kind, uint64_t seed)
{
    struct matrix matrix = matrix_create(dtype, rows, columns);
    for (int64_t i = 0; i < rows * columns; i++)
        matrix_set(&matrix, 0, i, number(dtype, kind, i, &seed));
    return matrix;
}

/* ---------------------------------------------------------------------------------------------------- convolve ---- */

enum { KERNEL_ROWS = 4, KERNEL_COLUMNS = 5 };

/* Of rank one but for 15 of the 16 relative epsilons that `separable` accepts, all to the same side. */
static struct matrix nearly_rank_one(fl_dtype dtype, enum kind kind, uint64_t seed)
{
    struct matrix column = numbers(dtype, KERNEL_ROWS, 1, POSITIVE, seed);
    struct matrix row = numbers(dtype, 1, KERNEL_COLUMNS, kind, seed + 1);
    struct matrix kernel = matrix_create(dtype, KERNEL_ROWS, KERNEL_COLUMNS);
    for (int64_t p = 0; p < KERNEL_ROWS; p++)
        for (int64_t q = 0; q < KERNEL_COLUMNS; q++) {
            double product = matrix_get(&column, p, 0) * matrix_get(&row, 0, q);
            matrix_set(&kernel, p, q, product * (p > 0 && q > 0 ? 1 + 26 * (double)unit(dtype) : 1));
        }
    matrix_free(&column);
    matrix_free(&row);
    return kernel;
}

static struct exact convolution(const struct matrix *image, const struct matrix *kernel, int64_t i, int64_t j)
{
    struct exact e = {0, 0, 0};
    for (int64_t p = 0; p < kernel->shape[0]; p++)
        for (int64_t q = 0; q < kernel->shape[1]; q++) {
            const int64_t y = i - p, x = j - q;
            const bool inside = y >= 0 && y < image->shape[0] && x >= 0 && x < image->shape[1];
            add_term(&e, (long double)(inside ? matrix_get(image, y, x) : 0) * (long double)matrix_get(kernel, p, q));
        }
    return e;
}

/* The root of the sum of squares. */
static double norm(const struct matrix *x)
{
    double sum = 0;
    for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++)
        sum = hypot(sum, matrix_get(x, 0, i));
    return sum;
}

/* 20 (log2 N + 2) u |s| |k|, as flynn.h derives it, for N elements of a block or tile; `norms`: |s| |k|. */
static double part_of_fft(const struct exact *e, fl_dtype dtype, long double norms, double n, double got)
{
    struct exact whole = *e;
    whole.magnitude = norms;
    return part_of(&whole, dtype, 20 * (log2(n) + 2), 0, got);
}

static void measure_convolve(fl_device *device, const struct matrix *image, const struct matrix *kernel, bool with_fft,
                             const char *input)
{
    const fl_dtype dtype = image->dtype;
    const int64_t taps = kernel->shape[0] * kernel->shape[1];
    const char *variant;
    int64_t shape[2];
    must(fl_convolve_shape(image->shape, kernel->shape, FL_FULL, shape));
    struct matrix got = matrix_create(dtype, shape[0], shape[1]);
    fl_array *in = array_from(device, image), *weights = array_from(device, kernel), *out = array_from(device, &got);
    struct exact *exact = malloc((size_t)(shape[0] * shape[1]) * sizeof *exact);
    const long double norms = (long double)norm(image) * (long double)norm(kernel);
    for (int64_t at = 0; at < shape[0] * shape[1]; at++)
        exact[at] = convolution(image, kernel, at / shape[1], at % shape[1]);
    for (size_t v = 0; (variant = variant_of(device, "convolve", dtype, v)) != NULL; v++) {
        const bool fft = strcmp(variant, "fft") == 0;
        if (fft && !with_fft)
            continue;
        fl_status status = fl_convolve(device, in, weights, FL_FULL, out, &(fl_run){.variant = variant});
        status = status ? status : fl_device_wait(device);
        if (status == FL_E_ARGUMENT && strcmp(variant, "separable") == 0)
            continue; /* the kernel is not of rank one */
        cr_assert(status == FL_OK, "%s: %s", variant, fl_last_error());
        must(fl_array_to_host(out, got.data));
        for (int64_t at = 0; at < shape[0] * shape[1]; at++)
            note(device, "convolve", variant, dtype, input,
                 fft ? part_of_fft(&exact[at], dtype, norms, 512 * 512, matrix_get(&got, 0, at))
                     : part_of(&exact[at], dtype, (double)taps + 32, (long double)(2 * taps), matrix_get(&got, 0, at)));
    }
    free(exact);
    free_arrays(in, weights, out);
    matrix_free(&got);
}

static void convolve_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    char input[96];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int a = 0; a < KINDS; a++)
            for (int b = 0; b < KINDS; b++) {
                struct matrix image = numbers(floats[d], 11, 29, (enum kind)a, 1);
                struct matrix kernel = numbers(floats[d], KERNEL_ROWS, KERNEL_COLUMNS, (enum kind)b, 2);
                struct matrix product = nearly_rank_one(floats[d], (enum kind)b, 3);
                snprintf(input, sizeof input, "%s * %s", kind_names[a], kind_names[b]);
                measure_convolve(device, &image, &kernel, a < SUBNORMAL && b < SUBNORMAL, input);
                snprintf(input, sizeof input, "%s * %s of rank one", kind_names[a], kind_names[b]);
                measure_convolve(device, &image, &product, a < SUBNORMAL && b < SUBNORMAL, input);
                matrix_free(&image);
                matrix_free(&kernel);
                matrix_free(&product);
            }
    fl_device_close(device);
}

Test(bounds, convolve, .timeout = 600)
{
    measure(convolve_on, 8);
}

/* -------------------------------------------------------------------------------------------------- convolve1d ---- */

static void measure_convolve1d(fl_device *device, const struct matrix *signal, const struct matrix *kernel,
                               bool with_fft, const char *input)
{
    const fl_dtype dtype = signal->dtype;
    const int64_t taps = kernel->shape[1], length = signal->shape[1] + taps - 1;
    const char *variant;
    struct matrix got = matrix_create(dtype, 1, length);
    fl_array *in, *weights, *out;
    must(fl_array_from_host(device, dtype, 1, &signal->shape[1], signal->data, &in));
    must(fl_array_from_host(device, dtype, 1, &taps, kernel->data, &weights));
    must(fl_array_create(device, dtype, 1, &length, &out));
    struct exact *exact = calloc((size_t)length, sizeof *exact);
    const long double norms = (long double)norm(signal) * (long double)norm(kernel);
    for (int64_t i = 0; i < length; i++)
        for (int64_t p = 0; p < taps; p++)
            if (i - p >= 0 && i - p < signal->shape[1])
                add_term(&exact[i], (long double)matrix_get(signal, 0, i - p) * (long double)matrix_get(kernel, 0, p));
    for (size_t v = 0; (variant = variant_of(device, "convolve1d", dtype, v)) != NULL; v++) {
        const bool fft = strcmp(variant, "fft") == 0;
        if (fft && !with_fft)
            continue;
        must(fl_convolve1d(device, in, weights, FL_FULL, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, got.data));
        for (int64_t i = 0; i < length; i++)
            note(device, "convolve1d", variant, dtype, input,
                 fft ? part_of_fft(&exact[i], dtype, norms, fmax(65536, 16 * (double)taps), matrix_get(&got, 0, i))
                     : part_of(&exact[i], dtype, (double)taps + 16, (long double)taps, matrix_get(&got, 0, i)));
    }
    free(exact);
    free_arrays(in, weights, out);
    matrix_free(&got);
}

static void convolve1d_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    char input[96];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int a = 0; a < KINDS; a++)
            for (int b = 0; b < KINDS; b++) {
                struct matrix signal = numbers(floats[d], 1, 611, (enum kind)a, 1);
                struct matrix kernel = numbers(floats[d], 1, 37, (enum kind)b, 2);
                snprintf(input, sizeof input, "%s * %s", kind_names[a], kind_names[b]);
                measure_convolve1d(device, &signal, &kernel, a < SUBNORMAL && b < SUBNORMAL, input);
                matrix_free(&signal);
                matrix_free(&kernel);
            }
    fl_device_close(device);
}

Test(bounds, convolve1d, .timeout = 600)
{
    measure(convolve1d_on, 6);
}

/* ------------------------------------------------------------------------------------------------- reconstruct ---- */

enum { M = 9, N = 21, K = 23 };

/* Underflow: u s is off by half of the smallest number, which vt multiplies; so is the product, K times. A product u s
 * that overflows makes the sum do so, whatever vt; one that is 0 makes NaN of an infinity in vt. */
static struct exact reconstruction(const struct matrix *u, const struct matrix *s, const struct matrix *vt, int64_t i,
                                   int64_t j, long double *tiny)
{
    struct exact e = {0, 0, 0};
    *tiny = K;
    for (int64_t p = 0; p < K; p++) {
        const long double us = (long double)matrix_get(u, i, p) * (long double)matrix_get(s, 0, p);
        const long double v = matrix_get(vt, p, j);
        add_term(&e, us * v);
        *tiny += isfinite(v) ? fabsl(v) : 0;
        if ((isfinite(us) && fabsl(us) >= largest(u->dtype)) || (isinf(v) && fabsl(us) <= smallest(u->dtype)))
            e.finite = INFINITY;
    }
    return e;
}

static void measure_reconstruct(fl_device *device, const struct matrix *u, const struct matrix *s,
                                const struct matrix *vt, const char *input)
{
    const fl_dtype dtype = u->dtype;
    const char *variant;
    struct matrix got = matrix_create(dtype, M, N);
    fl_array *on_u = array_from(device, u), *on_vt = array_from(device, vt), *y = array_from(device, &got), *on_s;
    must(fl_array_from_host(device, dtype, 1, (int64_t[]){K}, s->data, &on_s));
    struct exact exact[M * N];
    long double tiny[M * N];
    for (int64_t at = 0; at < M * N; at++)
        exact[at] = reconstruction(u, s, vt, at / N, at % N, &tiny[at]);
    for (size_t v = 0; (variant = variant_of(device, "reconstruct", dtype, v)) != NULL; v++) {
        must(fl_reconstruct(device, on_u, on_s, on_vt, K, y, &(fl_run){.variant = variant}));
        must(fl_array_to_host(y, got.data));
        for (int64_t at = 0; at < M * N; at++)
            note(device, "reconstruct", variant, dtype, input,
                 part_of(&exact[at], dtype, K + 4, tiny[at], matrix_get(&got, 0, at)));
    }
    free_arrays(on_u, on_s, on_vt, y);
    matrix_free(&got);
}

static void reconstruct_on(const struct on *on)
{
    static const enum kind values[] = {POSITIVE, ALTERNATING, MIXED, SUBNORMAL};
    fl_device *device = open_device(on->resource);
    char input[96];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int a = 0; a < KINDS; a++)
            for (int b = 0; b < KINDS; b++)
                for (size_t c = 0; c < COUNT(values); c++) {
                    struct matrix u = numbers(floats[d], M, K, (enum kind)a, 1);
                    struct matrix s = numbers(floats[d], 1, K, values[c], 2);
                    struct matrix vt = numbers(floats[d], K, N, (enum kind)b, 3);
                    snprintf(input, sizeof input, "%s, %s, %s", kind_names[a], kind_names[values[c]], kind_names[b]);
                    measure_reconstruct(device, &u, &s, &vt, input);
                    matrix_free(&u);
                    matrix_free(&s);
                    matrix_free(&vt);
                }
    fl_device_close(device);
}

Test(bounds, reconstruct, .timeout = 600)
{
    measure(reconstruct_on, 8);
}

/* ------------------------------------------------------------------------------------------------------ matmul ---- */

/* b is stored transposed. Underflow: each product may be off by half of the smallest number. */
static void measure_matmul(fl_device *device, const struct matrix *a, const struct matrix *b, const char *input)
{
    const char *variant;
    struct matrix got = matrix_create(a->dtype, M, N);
    fl_array *on_a = array_from(device, a), *on_b = array_from(device, b), *c = array_from(device, &got);
    struct exact exact[M * N] = {{0}};
    for (int64_t at = 0; at < M * N; at++)
        for (int64_t p = 0; p < K; p++)
            add_term(&exact[at], (long double)matrix_get(a, at / N, p) * (long double)matrix_get(b, at % N, p));
    for (size_t v = 0; (variant = variant_of(device, "matmul", a->dtype, v)) != NULL; v++) {
        must(fl_matmul(device, on_a, false, on_b, true, c, &(fl_run){.variant = variant}));
        must(fl_array_to_host(c, got.data));
        for (int64_t at = 0; at < M * N; at++)
            note(device, "matmul", variant, a->dtype, input,
                 part_of(&exact[at], a->dtype, K + 1, K, matrix_get(&got, 0, at)));
    }
    free_arrays(on_a, on_b, c);
    matrix_free(&got);
}

static void matmul_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    char input[64];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int i = 0; i < KINDS * KINDS; i++) {
            struct matrix a = numbers(floats[d], M, K, (enum kind)(i / KINDS), 1);
            struct matrix b = numbers(floats[d], N, K, (enum kind)(i % KINDS), 2);
            snprintf(input, sizeof input, "%s, %s", kind_names[i / KINDS], kind_names[i % KINDS]);
            measure_matmul(device, &a, &b, input);
            matrix_free(&a);
            matrix_free(&b);
        }
    fl_device_close(device);
}

Test(bounds, matmul, .timeout = 600)
{
    measure(matmul_on, 8);
}

/* ---------------------------------------------------------------------------------------------- reduce and scan ----
 */

enum { COLUMNS = 5, LONG = 1501, SCANNED = 20011 };

/* (n - 1) u of every order, (log2 n + 40) u of pairwise sums: of the rows, one after another, or of the columns; of
 * products one u more, and half of the smallest number for each. */
static void measure_reduce(fl_device *device, const struct matrix *x, const struct matrix *y, int axis, bool dot,
                           const char *input)
{
    const char *variant, *name = dot ? "dot" : "reduce";
    const int64_t n = x->shape[axis], results = x->shape[1 - axis];
    struct matrix got = matrix_create(x->dtype, 1, results);
    fl_array *on_x = array_from(device, x), *on_y = array_from(device, y), *out;
    must(fl_array_create(device, x->dtype, 1, &results, &out));
    struct exact exact[COLUMNS] = {{0}};
    for (int64_t r = 0; r < results; r++)
        for (int64_t p = 0; p < n; p++) {
            const int64_t i = axis == 0 ? p : r, j = axis == 0 ? r : p;
            add_term(&exact[r], (long double)matrix_get(x, i, j) * (dot ? (long double)matrix_get(y, i, j) : 1));
        }
    for (size_t v = 0; (variant = variant_of(device, "reduce", x->dtype, v)) != NULL; v++) {
        fl_timing timing;
        const fl_run run = {.variant = variant, .timing = &timing};
        const fl_status status =
            dot ? fl_dot(device, on_x, on_y, axis, out, &run) : fl_reduce(device, on_x, FL_SUM, axis, out, &run);
        if (status == FL_E_UNSUPPORTED && strcmp(variant, "library") == 0)
            continue;
        must(status);
        must(fl_array_to_host(out, got.data));
        const bool pairwise = strcmp(timing.variant, "naive") != 0 && strcmp(timing.variant, "library") != 0;
        for (int64_t r = 0; r < results; r++)
            note(device, name, variant, x->dtype, input,
                 part_of(&exact[r], x->dtype, (pairwise ? log2((double)n) + 40 : (double)(n - 1)) + dot, dot ? n : 0,
                         matrix_get(&got, 0, r)));
    }
    free_arrays(on_x, on_y, out);
    matrix_free(&got);
}

static void reduce_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    char input[64];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int axis = 0; axis < 2; axis++)
            for (int i = 0; i < KINDS * KINDS; i++) {
                const int64_t rows = axis == 0 ? LONG : COLUMNS, columns = axis == 0 ? COLUMNS : LONG;
                struct matrix x = numbers(floats[d], rows, columns, (enum kind)(i / KINDS), 1);
                struct matrix y = numbers(floats[d], rows, columns, (enum kind)(i % KINDS), 2);
                snprintf(input, sizeof input, "%s, %s, axis %d", kind_names[i / KINDS], kind_names[i % KINDS], axis);
                measure_reduce(device, &x, &y, axis, true, input);
                if (i % KINDS == 0)
                    measure_reduce(device, &x, &y, axis, false, input);
                matrix_free(&x);
                matrix_free(&y);
            }
    fl_device_close(device);
}

Test(bounds, reduce, .timeout = 600)
{
    measure(reduce_on, 12);
}

/* (i + 1) u, and of trees (2 (i + 1)^(1/2) + 160) u. */
static void measure_scan(fl_device *device, const struct matrix *x, bool exclusive, const char *input)
{
    const char *variant;
    const int64_t n = x->shape[1];
    const bool on_cpu = strcmp(fl_device_describe(device)->family, "cpu") == 0;
    struct matrix got = matrix_create(x->dtype, 1, n);
    fl_array *in, *out;
    must(fl_array_from_host(device, x->dtype, 1, &n, x->data, &in));
    must(fl_array_create(device, x->dtype, 1, &n, &out));
    for (size_t v = 0; (variant = variant_of(device, "scan", x->dtype, v)) != NULL; v++) {
        fl_timing timing;
        struct exact e = {0, 0, 0};
        double most = 0;
        const fl_status status =
            fl_scan(device, in, FL_SUM, exclusive, out, &(fl_run){.variant = variant, .timing = &timing});
        if (status == FL_E_UNSUPPORTED && strcmp(variant, "library") == 0)
            continue;
        must(status);
        must(fl_array_to_host(out, got.data));
        const bool loop = on_cpu && strcmp(timing.variant, "naive") == 0;
        for (int64_t i = 0; i < n; i++) {
            const double terms = (double)(exclusive ? i : i + 1), trees = 2 * sqrt(terms) + 160;
            if (!exclusive || i > 0)
                add_term(&e, (long double)matrix_get(x, 0, exclusive ? i - 1 : i));
            most = fmax(most, part_of(&e, x->dtype, loop || terms < trees ? terms : trees, 0, matrix_get(&got, 0, i)));
        }
        note(device, "scan", variant, x->dtype, input, most);
    }
    free_arrays(in, out);
    matrix_free(&got);
}

static void scan_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    char input[64];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int i = 0; i < 2 * KINDS; i++) {
            struct matrix x = numbers(floats[d], 1, SCANNED, (enum kind)(i / 2), 1);
            snprintf(input, sizeof input, "%s%s", kind_names[i / 2], i % 2 ? ", exclusive" : "");
            measure_scan(device, &x, i % 2 != 0, input);
            matrix_free(&x);
        }
    fl_device_close(device);
}

Test(bounds, scan, .timeout = 600)
{
    measure(scan_on, 6);
}

/* ------------------------------------------------------------------------------------------------- log_of_sum ---- */

/* A unit in the last place of a number of the dtype. */
static long double last_place(fl_dtype dtype, long double x)
{
    int exponent;
    frexpl(x, &exponent);
    return fmaxl(ldexpl(unit(dtype), exponent), smallest(dtype));
}

static void log_of_sum_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int a = 0; a < KINDS; a++)
            for (int b = 0; b < KINDS; b++) {
                struct matrix x = numbers(floats[d], 41, 17, (enum kind)a, 1);
                struct matrix y = numbers(floats[d], 41, 17, (enum kind)b, 2);
                struct matrix got = matrix_create(floats[d], 41, 17);
                for (int64_t i = 0; i < 30; i++) { /* sums beside 1, whose logarithm is nearly 0 */
                    matrix_set(&x, 0, i, 1);
                    matrix_set(&y, 0, i, (double)(i - 15) * (double)unit(floats[d]));
                }
                fl_array *on_x = array_from(device, &x), *on_y = array_from(device, &y),
                         *out = array_from(device, &got);
                char input[96];
                snprintf(input, sizeof input, "%s + %s", kind_names[a], kind_names[b]);
                for (size_t v = 0; (variant = variant_of(device, "log_of_sum", floats[d], v)) != NULL; v++) {
                    must(fl_log_of_sum(device, on_x, on_y, out, &(fl_run){.variant = variant}));
                    must(fl_array_to_host(out, got.data));
                    for (int64_t i = 0; i < 41 * 17; i++) {
                        const double p = matrix_get(&x, 0, i), q = matrix_get(&y, 0, i), z = matrix_get(&got, 0, i);
                        const long double sum = floats[d] == FL_F32 ? (double)((float)p + (float)q) : p + q;
                        const long double wanted = logl(sum);
                        const long double off = fabsl(z - wanted) / (4 * last_place(floats[d], wanted));
                        note(device, "log_of_sum", variant, floats[d], input,
                             isfinite(wanted)                                     ? (double)off
                             : (isnan(wanted) && isnan(z)) || z == (double)wanted ? 0
                                                                                  : (double)INFINITY);
                    }
                }
                free_arrays(on_x, on_y, out);
                matrix_free(&x);
                matrix_free(&y);
                matrix_free(&got);
            }
    fl_device_close(device);
}

Test(bounds, log_of_sum, .timeout = 600)
{
    measure(log_of_sum_on, 4);
}

/* --------------------------------------------------------------------------------------------------------- svd ---- */

enum { A_ROWS = 24, A_COLUMNS = 15 };

/* One-sided rotations (Hestenes, "Inversion of matrices by biorthogonalization", 1958) in long double: the singular
 * values, descending, of a matrix divided by `scale`. */
static void singular_values(const struct matrix *a, long double scale, long double *values)
{
    long double x[A_COLUMNS][A_ROWS];
    for (int j = 0; j < A_COLUMNS; j++)
        for (int i = 0; i < A_ROWS; i++)
            x[j][i] = (long double)matrix_get(a, i, j) / scale;
    for (int sweep = 0; sweep < 40; sweep++)
        for (int p = 0; p < A_COLUMNS; p++)
            for (int q = p + 1; q < A_COLUMNS; q++) {
                long double pp = 0, qq = 0, pq = 0;
                for (int i = 0; i < A_ROWS; i++)
                    pp += x[p][i] * x[p][i], qq += x[q][i] * x[q][i], pq += x[p][i] * x[q][i];
                if (fabsl(pq) <= 1e-25L * sqrtl(pp * qq))
                    continue;
                const long double zeta = (qq - pp) / (2 * pq),
                                  t = (zeta < 0 ? -1 : 1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta)),
                                  c = 1 / sqrtl(1 + t * t), s = c * t;
                for (int i = 0; i < A_ROWS; i++) {
                    const long double of_p = x[p][i], of_q = x[q][i];
                    x[p][i] = c * of_p - s * of_q;
                    x[q][i] = s * of_p + c * of_q;
                }
            }
    for (int j = 0; j < A_COLUMNS; j++) {
        long double square = 0;
        for (int i = 0; i < A_ROWS; i++)
            square += x[j][i] * x[j][i];
        int at = j;
        for (; at > 0 && values[at - 1] < sqrtl(square); at--)
            values[at] = values[at - 1];
        values[at] = sqrtl(square);
    }
}

/* Random; of rank 1 but for rounding; graded; its columns nearly equal; the same times powers of two, almost too large
 * or too small. */
static struct matrix hostile_matrix(fl_dtype dtype, int which, char *text, size_t size)
{
    static const char *const names[] = {"random", "nearly of rank 1", "graded", "columns nearly equal"};
    static const char *const scales[] = {"", ", huge", ", tiny", ", subnormal"};
    const int exponents[2][4] = {{0, 110, -110, -140}, {0, 1000, -1000, -1060}};
    struct matrix a = matrix_create(dtype, A_ROWS, A_COLUMNS);
    uint64_t state = (uint64_t)which;
    snprintf(text, size, "%s%s", names[which % 4], scales[which / 4]);
    for (int i = 0; i < A_ROWS; i++)
        for (int j = 0; j < A_COLUMNS; j++) {
            const double r = 2 * fraction(&state) - 1;
            const double value = which % 4 == 0   ? r
                                 : which % 4 == 1 ? (i + 1.0) * (j - 7.5) * (1 + r * 4 * (double)unit(dtype)) / 64
                                 : which % 4 == 2 ? r * ldexp(1, -3 * i - 2 * j)
                                                  : (i % 2 ? -1 : 1) * (0.5 + r * sqrt((double)unit(dtype)));
            matrix_set(&a, i, j, ldexp(value, exponents[dtype == FL_F64][which / 4]));
        }
    return a;
}

/* The largest part of the bounds: of the values, of orthonormality, and of a' u = v s and a v = u s. Values and
 * products are also off by the smallest numbers that their dtype has, and in the variant `single` by the rounding of
 * the matrix to f32. */
static double part_of_svd(const struct matrix *a, const struct matrix *u, const struct matrix *s,
                          const struct matrix *vt, const long double *exact, long double scale, bool single)
{
    const long double g = (16 + 4 * sqrtl(A_ROWS)) * 2 * unit(single ? FL_F32 : a->dtype), first = exact[0];
    long double part = 0, norm = 0;
    for (int j = 0; j < A_COLUMNS; j++)
        norm = hypotl(norm, exact[j]);
    const long double tiny = 4 * smallest(a->dtype) / scale + (single ? unit(FL_F32) * norm : 0);
    for (int j = 0; j < A_COLUMNS; j++) {
        const long double value = (long double)matrix_get(s, 0, j) / scale;
        long double off = fabsl(value - exact[j]) / (g * first + tiny);
        for (int k = 0; k <= j; k++) {
            long double of_u = k == j ? -1 : 0, of_v = of_u;
            for (int i = 0; i < A_ROWS; i++)
                of_u += (long double)matrix_get(u, i, j) * matrix_get(u, i, k);
            for (int i = 0; i < A_COLUMNS; i++)
                of_v += (long double)matrix_get(vt, j, i) * matrix_get(vt, k, i);
            off = fmaxl(off, fmaxl(fabsl(of_u), fabsl(of_v)) / g);
        }
        for (int i = 0; i < A_COLUMNS; i++) {
            long double rest = -value * matrix_get(vt, j, i);
            for (int k = 0; k < A_ROWS; k++)
                rest += (long double)matrix_get(a, k, i) / scale * matrix_get(u, k, j);
            off = fmaxl(off, fabsl(rest) / (g * first + tiny));
        }
        for (int i = 0; i < A_ROWS; i++) {
            long double rest = -value * matrix_get(u, i, j);
            for (int k = 0; k < A_COLUMNS; k++)
                rest += (long double)matrix_get(a, i, k) / scale * matrix_get(vt, j, k);
            off = fmaxl(off, fabsl(rest) / (g * first + tiny));
        }
        if (isnan(off))
            return (double)INFINITY;
        part = fmaxl(part, off);
    }
    return (double)part;
}

static void svd_on(const struct on *on)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    char input[96];
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int which = 0; which < 16; which++) {
            const int64_t k = A_COLUMNS;
            struct matrix a = hostile_matrix(floats[d], which, input, sizeof input);
            long double scale = 0, exact[A_COLUMNS];
            for (int64_t i = 0; i < A_ROWS * A_COLUMNS; i++)
                scale = fmaxl(scale, fabsl((long double)matrix_get(&a, 0, i)));
            singular_values(&a, scale, exact);
            struct matrix u = matrix_create(floats[d], A_ROWS, k), s = matrix_create(floats[d], 1, k),
                          vt = matrix_create(floats[d], k, A_COLUMNS);
            fl_array *on_a = array_from(device, &a), *on_u = array_from(device, &u), *on_vt = array_from(device, &vt),
                     *on_s;
            must(fl_array_create(device, floats[d], 1, &k, &on_s));
            for (size_t v = 0; (variant = variant_of(device, "svd", floats[d], v)) != NULL; v++) {
                must(fl_svd(device, on_a, 7, on_u, on_s, on_vt, &(fl_run){.variant = variant}));
                must(fl_array_to_host(on_u, u.data));
                must(fl_array_to_host(on_s, s.data));
                must(fl_array_to_host(on_vt, vt.data));
                note(device, "svd", variant, floats[d], input,
                     part_of_svd(&a, &u, &s, &vt, exact, scale, strcmp(variant, "single") == 0));
            }
            free_arrays(on_a, on_u, on_s, on_vt);
            matrix_free(&a);
            matrix_free(&u);
            matrix_free(&s);
            matrix_free(&vt);
        }
    fl_device_close(device);
}

Test(bounds, svd, .timeout = 600)
{
    measure(svd_on, 7);
}

/* --------------------------------------------------------------------------------------------------------- exact ----
 */

/* Whether both are NaN, or the same number of the same sign. */
static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* One operation of IEEE 754 on the dtype: its result is the exact one, rounded once. */
static double one_operation(const char *operation, fl_dtype dtype, double x, double y)
{
    if (strcmp(operation, "increment") == 0)
        return dtype == FL_F32 ? (double)((float)x + 1) : x + 1;
    if (strcmp(operation, "sqrt") == 0)
        return dtype == FL_F32 ? (double)sqrtf((float)x) : sqrt(x);
    return isnan(x) || isnan(y) ? (double)NAN : x > y ? x : y;
}

static fl_status call_exact(const char *operation, fl_device *device, const fl_array *x, const fl_array *y,
                            fl_array *out, const fl_run *run)
{
    return strcmp(operation, "increment") == 0 ? fl_increment(device, x, out, run)
           : strcmp(operation, "sqrt") == 0    ? fl_sqrt(device, x, out, run)
                                               : fl_maximum(device, x, y, out, run);
}

static void exact_on(const struct on *on)
{
    static const char *const operations[] = {"increment", "sqrt", "maximum"};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int a = 0; a < KINDS; a++) {
            struct matrix x = numbers(floats[d], 41, 17, (enum kind)a, 1);
            struct matrix y = numbers(floats[d], 41, 17, (enum kind)a, 2), got = matrix_create(floats[d], 41, 17);
            fl_array *on_x = array_from(device, &x), *on_y = array_from(device, &y), *out = array_from(device, &got);
            for (size_t o = 0; o < COUNT(operations); o++)
                for (size_t v = 0; (variant = variant_of(device, operations[o], floats[d], v)) != NULL; v++) {
                    must(call_exact(operations[o], device, on_x, on_y, out, &(fl_run){.variant = variant}));
                    must(fl_array_to_host(out, got.data));
                    for (int64_t i = 0; i < 41 * 17; i++)
                        note(device, operations[o], variant, floats[d], kind_names[a],
                             same_number(
                                 matrix_get(&got, 0, i),
                                 one_operation(operations[o], floats[d], matrix_get(&x, 0, i), matrix_get(&y, 0, i)))
                                 ? 0
                                 : (double)INFINITY);
                }
            free_arrays(on_x, on_y, out);
            matrix_free(&x);
            matrix_free(&y);
            matrix_free(&got);
        }
    fl_device_close(device);
}

Test(bounds, exact, .timeout = 600)
{
    measure(exact_on, 12);
}
