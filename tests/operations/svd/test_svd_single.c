/* SPDX-License-Identifier: MIT
 *
 * test_svd_single.c - the variant `single`, which decomposes f64 in f32: within its own bound for any scale and range
 * of the elements, of spectra that are known; what it refuses. test_svd.c and test_svd_deficient.c run it on SciPy's
 * matrices and on those without full rank.
 */
#include "decomposition.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_run single = {.variant = "single"};

/* The largest part of the bound that any error was since the last report, and where. */
static double largest_part;
static char largest_where[160];

static void note(double part, const char *what)
{
    if (part <= largest_part)
        return;
    largest_part = part;
    snprintf(largest_where, sizeof largest_where, "%s", what);
}

static void report(const char *of)
{
    printf("single, %s: %.3f of the bound (%s)\n", of, largest_part, largest_where);
    fflush(stdout);
    largest_part = 0;
}

/* Decomposes it whole and in part. */
static void check(fl_device *device, const struct matrix *a, const struct matrix *values, const char *name)
{
    const int64_t least = shorter(a), parts[] = {least, (least + 2) / 3};
    char what[160];
    for (size_t i = 0; i < COUNT(parts) && (i == 0 || parts[i] < least); i++) {
        snprintf(what, sizeof what, "%s: %s, %lldx%lld, %lld vectors", fl_device_describe(device)->resource, name,
                 (long long)a->shape[0], (long long)a->shape[1], (long long)parts[i]);
        struct factors f = decompose(device, a, parts[i], 0, &single, what);
        note(expect_decomposition(a, &f, values, "single", what), what);
        factors_free(&f);
    }
}

/* -------------------------------------------------------------------------------------------- known spectra ---- */

/* x = (1 - 2 v v' / v'v) x from the left, or x (1 - ...), for a random v: a reflection, which keeps singular values. In
 * long double, so that the matrix has its spectrum to the rounding of f64. */
static void reflect(long double *x, int64_t rows, int64_t columns, bool from_left, uint64_t seed)
{
    const int64_t length = from_left ? rows : columns, count = from_left ? columns : rows;
    const int64_t along = from_left ? columns : 1, across = from_left ? 1 : columns;
    struct matrix v = matrix_random(FL_F64, 1, length, seed);
    long double square = 0;
    for (int64_t i = 0; i < length; i++)
        square += (long double)matrix_get(&v, 0, i) * matrix_get(&v, 0, i);
    for (int64_t c = 0; c < count; c++) {
        long double dot = 0;
        for (int64_t i = 0; i < length; i++)
            dot += matrix_get(&v, 0, i) * x[c * across + i * along];
        for (int64_t i = 0; i < length; i++)
            x[c * across + i * along] -= 2 * dot / square * matrix_get(&v, 0, i);
    }
    matrix_free(&v);
}

/* What the i-th of n singular values is, descending from 1. */
static double value_of(const char *spectrum, int64_t i, int64_t n)
{
    if (strcmp(spectrum, "even") == 0)
        return 1 - (double)i / (double)n;
    if (strcmp(spectrum, "clustered at 1 and 1/2") == 0) /* closer than units of rounding of f32 */
        return (i < n / 2 ? 1 : 0.5) - (double)i * 1e-10;
    if (strcmp(spectrum, "all but one alike") == 0)
        return i == 0 ? 1 : 1e-3;
    if (strcmp(spectrum, "rank 2") == 0)
        return i == 0 ? 1 : i == 1 ? 0.25 : 0;
    return pow(10, -(double)(3 * i)); /* far below the smallest number of f32 */
}

static void check_spectrum(fl_device *device, const char *spectrum, int64_t rows, int64_t columns, int exponent)
{
    struct matrix a = matrix_create(FL_F64, rows, columns), values = matrix_create(FL_F64, 1, shorter(&a));
    long double *x = calloc((size_t)(rows * columns), sizeof *x);
    cr_assert(x, "out of memory");
    for (int64_t i = 0; i < shorter(&a); i++) {
        matrix_set(&values, 0, i, ldexp(value_of(spectrum, i, shorter(&a)), exponent));
        x[i * columns + i] = ldexpl(value_of(spectrum, i, shorter(&a)), exponent);
    }
    for (uint64_t seed = 1; seed <= 3; seed++) {
        reflect(x, rows, columns, true, 2 * seed);
        reflect(x, rows, columns, false, 2 * seed + 1);
    }
    for (int64_t i = 0; i < rows * columns; i++)
        matrix_set(&a, 0, i, (double)x[i]);
    check(device, &a, &values, spectrum);
    free(x);
    matrix_free(&a);
    matrix_free(&values);
}

/* Tall, wide, square, odd, of one row or column; of about 1, and near the largest and the smallest numbers. */
ON_EVERY_BACKEND(svd_single, has_known_spectra)
{
    static const char *const spectra[] = {"even", "clustered at 1 and 1/2", "all but one alike", "rank 2", "graded"};
    static const int64_t shapes[][2] = {{1, 1}, {1, 7}, {9, 1}, {2, 3}, {33, 33}, {51, 17}, {19, 64}, {70, 65}};
    static const int exponents[] = {0, 1020, -1020, -1040};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(spectra); s++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            for (size_t e = 0; e < COUNT(exponents); e++)
                if (!is_left_out(4) && (e == 0 || s == i % COUNT(spectra)))
                    check_spectrum(device, spectra[s], shapes[i][0], shapes[i][1], exponents[e]);
    fl_device_close(device);
    report("known spectra");
}

/* Larger ones, in which LAPACK works in blocks and on several threads. */
ON_EVERY_BACKEND(svd_single, of_large_matrices)
{
    fl_device *device = open_device(on->resource);
    if (!is_slow(device)) {
        check_spectrum(device, "even", 200, 150, 0);
        check_spectrum(device, "clustered at 1 and 1/2", 120, 260, 0);
    }
    fl_device_close(device);
    report("large matrices");
}

/* -------------------------------------------------------------------------------------------------- scales ---- */

/* Matrices of SciPy's times powers of two: the values are the same times these, while they are normal. */
ON_EVERY_BACKEND(svd_single, of_any_scale)
{
    static const char *const names[] = {"square_f64", "tall_f64", "wide_f64", "graded", "rank_3_f64"};
    static const int exponents[] = {-1021, -1000, -900, -149, -127, 127, 128, 900, 1017};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t e = 0; e < COUNT(exponents); e++) {
            char name[64];
            if (is_left_out(4))
                continue;
            snprintf(name, sizeof name, "%s.a", names[i]);
            struct matrix a = matrix_golden("svd", name), exact;
            snprintf(name, sizeof name, "%s.s", names[i]);
            exact = matrix_golden("svd", name);
            for (int64_t x = 0; x < a.shape[0] * a.shape[1]; x++)
                matrix_set(&a, 0, x, ldexp(matrix_get(&a, 0, x), exponents[e]));
            for (int64_t x = 0; x < exact.shape[1]; x++)
                matrix_set(&exact, 0, x, ldexp(matrix_get(&exact, 0, x), exponents[e]));
            snprintf(name, sizeof name, "%s times 2^%d", names[i], exponents[e]);
            check(device, &a, &exact, name);
            matrix_free(&a);
            matrix_free(&exact);
        }
    fl_device_close(device);
    report("scales");
}

/* Columns of 1, 2^-70, 2^-160 and 2^-1070, of which the last ones underflow in f32, and a zero one: orthogonal, so that
 * their lengths are the values. */
ON_EVERY_BACKEND(svd_single, of_elements_that_underflow)
{
    static const int exponents[] = {-1070, 0, -70, -160};
    fl_device *device = open_device(on->resource);
    for (int transposed = 0; transposed < 2; transposed++) {
        struct matrix a = transposed ? matrix_create(FL_F64, 5, 8) : matrix_create(FL_F64, 8, 5),
                      values = matrix_create(FL_F64, 1, 5);
        for (int j = 0; j < 4; j++)
            for (int i = 2 * j; i < 2 * j + 2; i++)
                matrix_set(&a, transposed ? j : i, transposed ? i : j, ldexp(3, exponents[j]));
        for (int j = 0; j < 4; j++)
            matrix_set(&values, 0, j, ldexp(3 * sqrt(2), exponents[(j + 1) % 4]));
        check(device, &a, &values, "columns of many scales");
        matrix_free(&a);
        matrix_free(&values);
    }
    fl_device_close(device);
}

/* Powers of two among the subnormal numbers, one in each row and column, of any sign: the values are these, exactly. */
ON_EVERY_BACKEND(svd_single, of_subnormal_numbers)
{
    enum { EDGE = 40 };
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_create(FL_F64, EDGE + 3, EDGE), values = matrix_create(FL_F64, 1, EDGE);
    for (int i = 0; i < EDGE; i++) {
        matrix_set(&a, (7 * i + 3) % EDGE + 3, i, ldexp(i % 3 ? 1 : -1, -1074 + i));
        matrix_set(&values, 0, EDGE - 1 - i, ldexp(1, -1074 + i));
    }
    check(device, &a, &values, "subnormal numbers");
    matrix_free(&a);
    matrix_free(&values);
    fl_device_close(device);
}

/* Integers are converted to f64 first. */
ON_EVERY_BACKEND(svd_single, of_integers)
{
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_golden("svd", "integers.a"), values = matrix_golden("svd", "integers.s");
    cr_assert(a.dtype == FL_I32);
    check(device, &a, &values, "integers");
    matrix_free(&a);
    matrix_free(&values);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------- what it refuses ---- */

/* The same outcome as of the other variants. */
ON_EVERY_BACKEND(svd_single, not_finite)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    const int64_t k = 4;
    fl_device *device = open_device(on->resource);
    struct guarded u = guarded_create(device, FL_F64, 2, (int64_t[]){6, k}, 3);
    struct guarded s = guarded_create(device, FL_F64, 1, &k, 1);
    struct guarded vt = guarded_create(device, FL_F64, 2, (int64_t[]){k, 8}, 2);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct matrix a = matrix_random(FL_F64, 6, 8, 2);
        matrix_set(&a, 5, 7, wrong[i]);
        fl_array *in = array_inside(device, &a);
        fl_status status = fl_svd(device, in, 1, u.out, s.out, vt.out, &single);
        status = status ? status : fl_device_wait(device);
        expect_argument_error(status, "finite");
        expect_untouched(&u, on->resource);
        expect_untouched(&s, on->resource);
        expect_untouched(&vt, on->resource);
        fl_array_free(in);
        matrix_free(&a);
    }
    guarded_free(&u);
    guarded_free(&s);
    guarded_free(&vt);
    fl_device_close(device);
}

/* f32 has no variant in less; a tolerance below the bound is refused with the bound. */
ON_EVERY_BACKEND(svd_single, refuses_f32_and_small_tolerances)
{
    fl_device *device = open_device(on->resource);
    for (int d = 0; d < 2; d++) {
        const fl_dtype dtype = d ? FL_F64 : FL_F32;
        struct matrix a = matrix_random(dtype, 36, 16, 1);
        fl_array *in = array_from(device, &a), *u, *s, *vt;
        fl_timing timing = {0};
        fl_run run = {.variant = "single", .tolerance = 1e-6, .timing = &timing};
        must(fl_array_create(device, dtype, 2, (int64_t[]){36, 16}, &u));
        must(fl_array_create(device, dtype, 1, (int64_t[]){16}, &s));
        must(fl_array_create(device, dtype, 2, (int64_t[]){16, 16}, &vt));
        if (dtype == FL_F32) {
            expect_status(FL_E_UNSUPPORTED, fl_svd(device, in, 1, u, s, vt, &single));
            expect_error_says("does not compute in f32");
        } else {
            const double bound = (32 + 8 * sqrt(36) + 1) * 0x1p-24;
            expect_argument_error(fl_svd(device, in, 1, u, s, vt, &run), "a tolerance of 1e-06 is less than single on");
            expect_error_says("reaches here in f64; expected at least 4.9e-06");
            run.tolerance = bound * (1 - 1e-9);
            expect_status(FL_E_ARGUMENT, fl_svd(device, in, 1, u, s, vt, &run));
            run.tolerance = bound;
            must(fl_svd(device, in, 1, u, s, vt, &run));
            cr_expect(strcmp(timing.variant, "single") == 0 && fabs(timing.bound / bound - 1) < 1e-12, "%s: %s, %g",
                      on->resource, timing.variant, timing.bound);
        }
        free_arrays(in, u, s, vt);
        matrix_free(&a);
    }
    fl_device_close(device);
}
