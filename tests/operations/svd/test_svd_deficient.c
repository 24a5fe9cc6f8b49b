/* SPDX-License-Identifier: MIT
 *
 * test_svd_deficient.c - the singular value decomposition of matrices without full rank: the vectors of singular values
 * that are zero, which the matrix does not determine, are orthonormal, too.
 */
#include "decomposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 130, LONGEST_OF_ALL = 4000, RANK = 2 };

/* The matrix x y' with x: m x 2 and y: n x 2, of small integers, over `divisor`. A vector of x or y: */
enum vector { NONE, ONES, RANDOM, FIRST, EVEN, ODD };
static const struct pattern {
    const char *name;
    enum vector x[RANK], y[RANK];
    double divisor;
} patterns[] = {
    {"constant", {ONES, NONE}, {ONES, NONE}, 1. / 3},
    {"zeros", {NONE, NONE}, {NONE, NONE}, 1},
    {"rank 1", {RANDOM, NONE}, {RANDOM, NONE}, 1},
    {"rank 2", {RANDOM, RANDOM}, {RANDOM, RANDOM}, 1},
    {"repeated rows", {EVEN, ODD}, {RANDOM, RANDOM}, 1},
    {"repeated columns", {RANDOM, RANDOM}, {EVEN, ODD}, 1},
    {"one row", {FIRST, NONE}, {RANDOM, NONE}, 1},
    {"one column", {RANDOM, NONE}, {FIRST, NONE}, 1},
    {"rank 2 but for rounding", {RANDOM, ONES}, {RANDOM, RANDOM}, 3},
    {"constant, huge", {ONES, NONE}, {ONES, NONE}, 0x1p-100},
    {"constant, tiny", {ONES, NONE}, {ONES, NONE}, 0x1p100},
};

static void fill_vector(enum vector kind, int64_t length, uint64_t seed, double *x)
{
    for (int64_t i = 0; i < length; i++)
        x[i] = kind == NONE     ? 0
               : kind == ONES   ? 1
               : kind == RANDOM ? (double)random_between(&seed, -9, 9)
               : kind == FIRST  ? i == 0
                                : i % 2 == (kind == ODD);
}

/* x' x for two vectors. Exact: sums of integers below 2^14. */
static void gram_of(double x[RANK][LONGEST_OF_ALL], int64_t length, long double gram[RANK][RANK])
{
    for (int p = 0; p < RANK; p++)
        for (int q = 0; q < RANK; q++) {
            gram[p][q] = 0;
            for (int64_t i = 0; i < length; i++)
                gram[p][q] += x[p][i] * x[q][i];
        }
}

/* Makes x y', and its singular values: the roots of the eigenvalues of (x'x)(y'y), whose trace and determinant are
 * integers, below 2^63 with all that they are computed from: exact in long double. */
static struct matrix make_matrix(const struct pattern *pattern, fl_dtype dtype, int64_t m, int64_t n,
                                 struct matrix *values)
{
    struct matrix a = matrix_create(dtype, m, n);
    double x[RANK][LONGEST_OF_ALL], y[RANK][LONGEST_OF_ALL];
    long double of_x[RANK][RANK], of_y[RANK][RANK], trace = 0;
    for (int r = 0; r < RANK; r++) {
        fill_vector(pattern->x[r], m, (uint64_t)(2 * r), x[r]);
        fill_vector(pattern->y[r], n, (uint64_t)(2 * r + 1), y[r]);
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            matrix_set(&a, i, j, (x[0][i] * y[0][j] + x[1][i] * y[1][j]) / pattern->divisor);
    gram_of(x, m, of_x);
    gram_of(y, n, of_y);
    for (int p = 0; p < RANK; p++)
        for (int q = 0; q < RANK; q++)
            trace += of_x[p][q] * of_y[q][p];
    const long double determinant = (of_x[0][0] * of_x[1][1] - of_x[0][1] * of_x[0][1]) *
                                    (of_y[0][0] * of_y[1][1] - of_y[0][1] * of_y[0][1]),
                      first = (trace + sqrtl(trace * trace - 4 * determinant)) / 2;
    *values = matrix_create(FL_F64, 1, shorter(&a)); /* zeros */
    matrix_set(values, 0, 0, (double)(sqrtl(first) / pattern->divisor));
    if (values->shape[1] > 1 && determinant > 0)
        matrix_set(values, 0, 1, (double)(sqrtl(determinant / first) / pattern->divisor));
    return a;
}

/* Decomposes by every variant, or by one, whole; by the sketch also in part. */
static void check_pattern(fl_device *device, const struct pattern *pattern, fl_dtype dtype, int64_t m, int64_t n,
                          const char *only)
{
    if (is_left_out(4))
        return;
    struct matrix values, a = make_matrix(pattern, dtype, m, n, &values);
    const int64_t least = shorter(&a), part = (least + 2) / 3;
    const char *variant;
    char what[160];
    for (size_t i = 1; (variant = variant_of(device, "svd", dtype, i)) != NULL; i++) {
        const bool randomized = strcmp(variant, "randomized") == 0;
        if (only && strcmp(variant, only) != 0)
            continue;
        for (int whole = 1; whole >= (randomized && part >= RANK ? 0 : 1); whole--) {
            const int64_t k = whole ? least : part;
            snprintf(what, sizeof what, "%s %s %s: %s, %lldx%lld, %lld vectors", fl_device_describe(device)->resource,
                     variant, fl_dtype_name(dtype), pattern->name, (long long)m, (long long)n, (long long)k);
            struct factors f = decompose(device, &a, k, 7, &(fl_run){.variant = variant}, what);
            expect_decomposition(&a, &f, &values, variant, what);
            factors_free(&f);
        }
    }
    matrix_free(&a);
    matrix_free(&values);
}

static void check_shape(fl_device *device, int64_t m, int64_t n, size_t first, size_t step)
{
    for (size_t i = first; i < COUNT(patterns); i += step)
        for (int f64 = 0; f64 < 2; f64++)
            check_pattern(device, &patterns[i], f64 ? FL_F64 : FL_F32, m, n, NULL);
}

/* Shapes whose vectors were not orthogonal once, by Jacobi's rotations or by cuSOLVER, and small ones: a constant, and
 * one of the other patterns each. */
ON_EVERY_BACKEND(svd_deficient, shapes)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 2},   {2, 1},   {2, 2},   {3, 2},    {5, 33},
                                        {9, 9}, {16, 13}, {24, 36}, {26, 64}, {64, 26},  {33, 33},
                                        {7, 1}, {32, 31}, {64, 65}, {64, 64}, {16, 130}, {114, 64}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        check_shape(device, shapes[i][0], shapes[i][1], 0, COUNT(patterns));
        check_shape(device, shapes[i][0], shapes[i][1], 1 + i % (COUNT(patterns) - 1), COUNT(patterns));
    }
    fl_device_close(device);
}

/* Every pattern in one shape that is tall and one that is wide. */
ON_EVERY_BACKEND(svd_deficient, patterns)
{
    fl_device *device = open_device(on->resource);
    check_shape(device, 40, 23, 0, 1);
    check_shape(device, 19, 31, 0, 1);
    fl_device_close(device);
}

/* Sums of thousands of equal squares: their errors do not cancel, and lengths would be off by them. By the rotations:
 * LAPACK's vectors are further off for such matrices (docs/accuracy.md). */
ON_EVERY_BACKEND(svd_deficient, long_vectors)
{
    static const int64_t shapes[][2] = {{LONGEST_OF_ALL, 8}, {8, LONGEST_OF_ALL}, {1000, 30}, {512, 200}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int f64 = 0; f64 < 2; f64++)
            check_pattern(device, &patterns[0], f64 ? FL_F64 : FL_F32, shapes[i][0], shapes[i][1], "jacobi");
    fl_device_close(device);
}

/* All shapes of FLYNN_TEST_ROWS rows and 1 to 130 columns (`make check-deep` takes 1 to 130 rows): a constant, and in
 * turn one of the other patterns. */
ON_EVERY_BACKEND(svd_deficient, all_widths)
{
    const char *rows = getenv("FLYNN_TEST_ROWS");
    const int64_t m = rows ? strtol(rows, NULL, 10) : 3, most = !rows && is_small_test() ? 10 : LONGEST;
    cr_assert(m >= 1 && m <= LONGEST, "FLYNN_TEST_ROWS is '%s'; expected 1 to %d", rows, LONGEST);
    fl_device *device = open_device(on->resource);
    for (int64_t n = 1; n <= most; n++) {
        check_shape(device, m, n, 0, COUNT(patterns));
        check_shape(device, m, n, 1 + (size_t)(m * 3 + n) % (COUNT(patterns) - 1), COUNT(patterns));
    }
    fl_device_close(device);
}
