/* SPDX-License-Identifier: MIT
 *
 * svd.c - dist_cases: svd, of matrices whose singular values and vectors are known.
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

/* The i-th element of the j-th of n orthonormal vectors: those of the discrete cosine transform. */
static double cosine(int64_t n, int64_t j, int64_t i)
{
    return sqrt((j > 0 ? 2.0 : 1.0) / (double)n) * cos(acos(-1) * ((double)i + 0.5) * (double)j / (double)n);
}

/* A matrix of known singular values, times `scale`. */
struct spectrum {
    const char *name;
    int64_t m, n, k;
    int rank;      /* singular values that are not 0 */
    double factor; /* of each to the one before */
    double scale;
};

static double singular_value(const struct spectrum *a, int64_t j)
{
    return j < a->rank && j < a->m && j < a->n ? a->scale * pow(a->factor, (double)j) : 0;
}

static double number(fl_dtype dtype, const char *data, int64_t i)
{
    return dtype == FL_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Are the sums over all ranks' rows of x[i, c] y[i, d] as expected[c, d], within the bound? */
static bool are_products(fl_dtype dtype, int64_t rows, const char *x, int64_t width, const char *y, int64_t other,
                         const double *expected, double bound)
{
    double *sums = calloc((size_t)(width * other), sizeof *sums);
    bool right;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < width; c++)
            for (int64_t d = 0; d < other; d++)
                sums[c * other + d] += number(dtype, x, i * width + c) * number(dtype, y, i * other + d);
    right = fl_group_reduce(group, sums, (int32_t)(width * other), FL_F64, FL_SUM) == FL_OK;
    for (int64_t i = 0; i < width * other && right; i++)
        right = fabs(sums[i] - expected[i]) <= bound;
    free(sums);
    return right;
}

/* u'u = 1, a'u = (s vt)', vt vt' = 1, the values of s: the factors are those of the matrix, whose rows are all ranks'.
 */
static bool are_factors(const struct spectrum *a, fl_dtype dtype, int64_t rows, const char *const *data)
{
    const double unit = dtype == FL_F32 ? 0x1p-23 : 0x1p-52;
    const double e = (16 + 4 * sqrt((double)(a->m > a->n ? a->m : a->n))) * unit;
    double *one = calloc((size_t)(a->k * a->k), sizeof *one), *pairs = calloc((size_t)(a->n * a->k), sizeof *pairs);
    bool right = true, rest;

    for (int64_t j = 0; j < a->k; j++) {
        const double value = number(dtype, data[2], j);
        one[j * a->k + j] = 1;
        right = right && fabs(value - singular_value(a, j)) <= e * a->scale;
        for (int64_t i = 0; i < a->n; i++)
            pairs[i * a->k + j] = value * number(dtype, data[3], j * a->n + i);
        for (int64_t c = 0; c < a->k; c++) {
            double sum = 0;
            for (int64_t i = 0; i < a->n; i++)
                sum += number(dtype, data[3], j * a->n + i) * number(dtype, data[3], c * a->n + i);
            right = right && fabs(sum - (j == c)) <= e;
        }
    }
    rest = are_products(dtype, rows, data[1], a->k, data[1], a->k, one, e);
    rest = are_products(dtype, rows, data[0], a->n, data[1], a->k, pairs, e * a->scale) && rest;
    free(one);
    free(pairs);
    return right && rest;
}

static void try_svd(fl_device *device, fl_dtype dtype, const struct spectrum *a, bool twice)
{
    const int64_t item = (int64_t)fl_dtype_size(dtype);
    int64_t first, rows;
    fl_array *arrays[4] = {NULL};
    char *data[4];
    bool right = true;

    fl_group_share(group, a->m, rank, &first, &rows);
    const int64_t shapes[][2] = {{rows, a->n}, {rows, a->k}, {a->k, 1}, {a->k, a->n}};
    for (int i = 0; i < 4; i++)
        data[i] = calloc((size_t)(shapes[i][0] * shapes[i][1] * item) + 1, 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < a->n; c++) {
            double sum = 0;
            for (int64_t j = 0; j < a->rank && j < a->m && j < a->n; j++)
                sum += singular_value(a, j) * cosine(a->m, j, first + i) * cosine(a->n, j, c);
            put(data[0], dtype, i * a->n + c, sum);
        }
    right = fl_array_from_host(device, dtype, 2, shapes[0], data[0], &arrays[0]) == FL_OK;
    for (int i = 1; i < 4; i++)
        right = fl_array_create(device, dtype, i == 2 ? 1 : 2, shapes[i], &arrays[i]) == FL_OK && right;
    right = fl_group_svd(group, device, arrays[0], 7, arrays[1], arrays[2], arrays[3], NULL, NULL) == FL_OK && right;
    for (int i = 1; i < 4; i++)
        right = fl_array_to_host(arrays[i], data[i]) == FL_OK && right;
    right = are_factors(a, dtype, rows, (const char *const *)data) && right;
    check(right, a->name, fl_dtype_name(dtype), a->m * 1000 + a->n);
    if (twice) {
        char *again = malloc((size_t)(rows * a->k * item) + 1);
        fl_group_timing timing = {0};
        if (rank == size - 1) /* late */
            thrd_sleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        const bool same = fl_group_svd(group, device, arrays[0], 7, arrays[1], arrays[2], arrays[3],
                                       &(fl_run){.variant = "randomized"}, &timing) == FL_OK &&
                          fl_array_to_host(arrays[1], again) == FL_OK;
        check(rank == size - 1 || timing.wait_s > 1e-3, "the others wait for rank", a->name, size - 1);
        check(rank > 0 || size == 1 || timing.stage_s > 0, "what rank 0 computes with", a->name, size);
        check(same && memcmp(again, data[1], (size_t)(rows * a->k * item)) == 0, a->name,
              "is another one the second time", a->m * 1000 + a->n);
        free(again);
    }
    for (int i = 0; i < 4; i++) {
        fl_array_free(arrays[i]);
        free(data[i]);
    }
}

/* A wrong share, matrix or variant is refused on all ranks. */
static void refuse_svds(fl_device *device)
{
    int64_t first, rows;
    float *data;
    fl_array *a, *u, *s, *vt;
    bool there;

    fl_group_share(group, 20, rank, &first, &rows);
    data = calloc((size_t)rows * 6, sizeof *data);
    if (rank == size - 1)
        data[3] = NAN;
    there = fl_array_from_host(device, FL_F32, 2, (int64_t[]){rows, 6}, data, &a) == FL_OK;
    there = fl_array_create(device, FL_F32, 2, (int64_t[]){rows, 2}, &u) == FL_OK && there;
    there = fl_array_create(device, FL_F32, 1, (int64_t[]){2}, &s) == FL_OK && there;
    there = fl_array_create(device, FL_F32, 2, (int64_t[]){2, 6}, &vt) == FL_OK && there;
    check(there && fl_group_svd(group, device, a, 1, u, s, vt, NULL, NULL) == FL_E_ARGUMENT &&
              strstr(fl_last_error(), "not finite"),
          "fl_group_svd", "NaN on rank", size - 1);
    check(size == 1 ||
              fl_group_svd(group, device, a, 1, u, s, vt, &(fl_run){.variant = "jacobi"}, NULL) == FL_E_UNSUPPORTED,
          "fl_group_svd", "another variant", 0);
    check(size == 1 || fl_group_svd(group, device, rank == 0 ? u : a, 1, u, s, vt, NULL, NULL) == FL_E_ARGUMENT,
          "fl_group_svd", "another width on rank", 0);
    fl_array_free(a);
    fl_array_free(u);
    fl_array_free(s);
    fl_array_free(vt);
    free(data);
}

/* Tall, wide, fewer rows than ranks or than vectors, values that are equal, 0 or many orders apart. */
void try_svds(const char *resource)
{
    static const struct spectrum all[] = {
        {"one element", 1, 1, 1, 1, 1, 3},
        {"two rows", 2, 3, 2, 2, 0.5, 1},
        {"three rows", 3, 40, 1, 3, 0.01, 1},
        {"square", 64, 48, 6, 48, 0.3, 10},
        {"all values", 90, 12, 12, 12, 0.5, 1},
        {"wide", 12, 90, 4, 12, 0.5, 1},
        {"tall", 301, 40, 7, 40, 0.2, 1e-3},
        {"equal values", 50, 30, 5, 30, 1, 1},
        {"rank three", 70, 60, 9, 3, 0.9, 1},
        {"zeros", 33, 31, 4, 0, 1, 1},
        {"constant, wide", 16, 130, 16, 1, 1, 3},
        {"constant, tall", 64, 26, 26, 1, 1, 3},
        {"rank two", 36, 24, 24, 2, 0.5, 1},
        {"rank two of few rows", 5, 33, 5, 2, 0.5, 1},
        {"large numbers", 80, 44, 5, 44, 0.1, 1e180},
        {"small numbers", 80, 44, 5, 44, 0.1, 1e-18},
    };
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        try_svd(device, i % 2 ? FL_F32 : FL_F64, &all[i], i == 3);
    refuse_svds(device);
    fl_device_close(device);
}
