/* SPDX-License-Identifier: MIT
 *
 * test_qr.c - the QR factorization: held against what it is, on the matrices of the singular value decomposition, whose
 * values by SciPy r must have, too.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A factorization on the host. */
struct factors {
    struct matrix qt, r;
};

static int64_t shorter(const struct matrix *a)
{
    return a->shape[0] < a->shape[1] ? a->shape[0] : a->shape[1];
}

static fl_dtype computed_in(const struct matrix *a)
{
    return a->dtype == FL_F32 ? FL_F32 : FL_F64;
}

/* As of test_svd.c: errors add up with the root of the longest dimension. */
static double rounding(const struct matrix *a)
{
    const double longest = (double)(a->shape[0] > a->shape[1] ? a->shape[0] : a->shape[1]);
    return (16 + 4 * sqrt(longest)) * (computed_in(a) == FL_F32 ? FLT_EPSILON : DBL_EPSILON);
}

/* On the device: views for one half of the shapes, and guards around the outputs. */
static struct factors factorize(fl_device *device, const struct matrix *a, const char *variant, const char *what)
{
    const fl_dtype dtype = computed_in(a);
    const int64_t m = a->shape[0], n = a->shape[1], k = shorter(a);
    const bool views = (m + n) % 2 == 0;
    fl_array *in = views ? array_inside(device, a) : array_from(device, a);
    struct guarded qt = guarded_create(device, dtype, 2, (int64_t[]){k, m}, views ? 3 : 0);
    struct guarded r = guarded_create(device, dtype, 2, (int64_t[]){k, n}, views ? 5 : 0);
    struct factors f;
    fl_status status = fl_qr(device, in, qt.out, r.out, &(fl_run){.variant = variant});
    status = status ? status : fl_device_wait(device);
    cr_assert(status == FL_OK, "%s: %s", what, fl_last_error());
    f.qt = guarded_read(&qt, what);
    f.r = guarded_read(&r, what);
    guarded_free(&qt);
    guarded_free(&r);
    fl_array_free(in);
    return f;
}

static double largest(const struct matrix *a)
{
    double most = 0;
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++)
            most = fmax(most, fabs(matrix_get(a, i, j)));
    return most > 0 ? most : 1;
}

/* The largest length of a column, by which errors of a and r are measured. */
static double longest_column(const struct matrix *a, double scale)
{
    double most = 0;
    for (int64_t j = 0; j < a->shape[1]; j++) {
        double norm = 0;
        for (int64_t i = 0; i < a->shape[0]; i++)
            norm = hypot(norm, matrix_get(a, i, j) / scale);
        most = fmax(most, norm);
    }
    return most > 0 ? most : 1;
}

static void expect_factors(const struct matrix *a, const struct factors *f, const char *what)
{
    const int64_t m = a->shape[0], n = a->shape[1], k = shorter(a);
    const double bound = rounding(a), scale = largest(a), column = longest_column(a, scale);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = i == j ? -1 : 0;
            for (int64_t p = 0; p < m; p++)
                sum += matrix_get(&f->qt, i, p) * matrix_get(&f->qt, j, p);
            cr_assert(fabs(sum) <= bound, "%s: rows %d and %d of qt: %g", what, (int)i, (int)j, sum);
            cr_assert(j == i || fabs(matrix_get(&f->r, i, j) / scale) <= bound * column,
                      "%s: r[%d, %d] is %g, below the diagonal", what, (int)i, (int)j, matrix_get(&f->r, i, j));
        }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double rest = matrix_get(a, i, j) / scale;
            for (int64_t p = 0; p < k; p++)
                rest -= matrix_get(&f->qt, p, i) * (matrix_get(&f->r, p, j) / scale);
            cr_assert(fabs(rest) <= bound * column, "%s: a - q r at [%d, %d]: %g", what, (int)i, (int)j, rest);
        }
}

/* r has the singular values of a, which SciPy computed. */
static void expect_values(fl_device *device, const struct factors *f, const struct matrix *values, double bound,
                          const char *what)
{
    const int64_t k = f->r.shape[0];
    struct matrix s = matrix_create(f->r.dtype, 1, k);
    fl_array *r = array_from(device, &f->r), *u, *found, *vt;
    must(fl_array_create(device, s.dtype, 2, (int64_t[]){k, k}, &u));
    must(fl_array_create(device, s.dtype, 1, &k, &found));
    must(fl_array_create(device, s.dtype, 2, (int64_t[]){k, f->r.shape[1]}, &vt));
    must(fl_svd(device, r, 1, u, found, vt, NULL));
    must(fl_array_to_host(found, s.data));
    for (int64_t j = 0; j < k; j++)
        cr_assert(fabs(matrix_get(&s, 0, j) - matrix_get(values, 0, j)) <= bound * matrix_get(values, 0, 0),
                  "%s: singular value %d of r is %.17g, expected %.17g", what, (int)j, matrix_get(&s, 0, j),
                  matrix_get(values, 0, j));
    free_arrays(r, u, found, vt);
    matrix_free(&s);
}

static void factors_free(struct factors *f)
{
    matrix_free(&f->qt);
    matrix_free(&f->r);
}

/* Tall, wide, square, of rank three, all ones, a column of zeros, elements near the largest and the smallest number. */
ON_EVERY_BACKEND(qr, is_what_scipy_finds)
{
    static const char *const names[] = {"tall_f32",     "square_f64", "wide_f64",     "rank_3_f32", "rank_3_f64",
                                        "ones_f32",     "zeros",      "zero_columns", "huge_f64",   "hugest_f64",
                                        "tiniest_f64",  "tiny_f64",   "column_f32",   "row",        "one",
                                        "identity_f32", "integers",   "repeated",     "graded"};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(names); i++) {
        char name[64];
        const char *variant;
        snprintf(name, sizeof name, "%s.a", names[i]);
        struct matrix a = matrix_golden("svd", name), values;
        snprintf(name, sizeof name, "%s.s", names[i]);
        values = matrix_golden("svd", name);
        for (size_t v = 0; (variant = variant_of(device, "qr", computed_in(&a), v)) != NULL; v++) {
            struct factors f = factorize(device, &a, variant, names[i]);
            expect_factors(&a, &f, names[i]);
            expect_values(device, &f, &values, 4 * rounding(&a), names[i]);
            factors_free(&f);
        }
        matrix_free(&a);
        matrix_free(&values);
    }
    fl_device_close(device);
}

/* Columns that depend on others, each of which q needs another direction for; more threads than columns. */
ON_EVERY_BACKEND(qr, dependent_columns)
{
    static const int64_t shapes[][2] = {{1, 1}, {2, 5}, {5, 2}, {9, 9}, {40, 23}, {23, 40}, {300, 7}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int dtype = 0; dtype < 2; dtype++) {
            struct matrix a = matrix_random(dtype ? FL_F64 : FL_F32, shapes[i][0], shapes[i][1], i + 1);
            for (int64_t row = 0; row < shapes[i][0]; row++)
                for (int64_t c = 0; c < shapes[i][1]; c++)
                    if (c % 3 == 1) /* twice the one before; or zeros */
                        matrix_set(&a, row, c, c % 2 ? 2 * matrix_get(&a, row, c - 1) : 0);
            struct factors f = factorize(device, &a, NULL, on->resource);
            expect_factors(&a, &f, on->resource);
            factors_free(&f);
            matrix_free(&a);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(qr, wrong_arguments)
{
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, 6, 4, 1);
    fl_array *in = array_from(device, &a), *qt, *r, *none, *empty;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){4, 6}, &qt));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){4, 4}, &r));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 4}, &none));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 0}, &empty));
    must(fl_qr(device, none, empty, none, NULL));
    expect_status(FL_E_ARGUMENT, fl_qr(NULL, in, qt, r, NULL));
    expect_argument_error(fl_qr(device, NULL, qt, r, NULL), "a");
    expect_argument_error(fl_qr(device, in, r, r, NULL), "qt");
    expect_argument_error(fl_qr(device, in, qt, qt, NULL), "r is 4x6");
    expect_argument_error(fl_qr(device, r, r, r, NULL), "qt");
    expect_status(FL_E_UNKNOWN, fl_qr(device, in, qt, r, &(fl_run){.variant = "householder"}));
    matrix_set(&a, 5, 3, INFINITY);
    must(fl_array_write(in, a.data, NULL));
    expect_argument_error(fl_qr(device, in, qt, r, NULL), "qr: an element of a is not finite");
    free_arrays(in, qt, r, none, empty);
    matrix_free(&a);
    fl_device_close(device);
}
