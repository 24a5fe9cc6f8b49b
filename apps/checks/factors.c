/* SPDX-License-Identifier: MIT */
#include "factors.h"
#include "reconstruct.h"

#include "harness/reference.h"
#include "support/memory.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { POWER_STEPS = 6 };

compare_result batch_check_product(const host_array *u, const host_array *s, const host_array *vt, const host_array *y,
                                   uint64_t seed)
{
    reconstruct_oracle *oracle = reconstruct_oracle_create(u, s, vt, s->shape[0], CHECK_SAMPLED, seed);
    char method[96];
    compare_result found = reconstruct_oracle_check(oracle, y, method, sizeof method);

    reconstruct_oracle_free(oracle);
    return found;
}

void batch_check_samples(const host_array *u, const host_array *s, const host_array *vt, const void *y, int samples,
                         uint64_t seed, compare_result *found)
{
    const int64_t rows = u->shape[0], rank = s->shape[0], columns = vt->shape[1];
    const host_array result = {u->dtype, 2, {rows, columns, 1, 1}, (void *)y};
    random_state random = random_start(seed);

    for (int n = 0; n < samples; n++) {
        const int64_t i = random_below(&random, rows), j = random_below(&random, columns);
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; p < rank; p++) {
            const double term =
                host_array_get(u, i * rank + p) * host_array_get(s, p) * host_array_get(vt, p * columns + j);
            sum += term;
            magnitude += fabs(term);
        }
        compare_add(found, i * columns + j, host_array_get(&result, i * columns + j), sum,
                    (double)(rank + 4) * (unit_roundoff(u->dtype) + DBL_EPSILON) * magnitude);
    }
}

/* ------------------------------------------------------------------------------------------- the factors ---- */

/* out = matrix x, or matrix' x. */
static void times(const host_array *matrix, bool transposed, const double *x, double *out)
{
    const int64_t rows = matrix->shape[0], columns = matrix->shape[1];
    const float *a = matrix->data;

    for (int64_t i = 0; i < (transposed ? columns : rows); i++)
        out[i] = 0;
    for (int64_t i = 0; i < rows; i++) {
        const float *row = a + i * columns;
        double sum = 0;
        for (int64_t j = 0; j < columns && transposed; j++)
            out[j] += row[j] * x[i];
        for (int64_t j = 0; j < columns && !transposed; j++)
            sum += row[j] * x[j];
        if (!transposed)
            out[i] = sum;
    }
}

static double length_of(const double *x, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static double sum_of(const host_array *s)
{
    double sum = 0;

    for (int64_t p = 0; p < s->shape[0]; p++)
        sum += ((const float *)s->data)[p];
    return sum;
}

/* Each of `count` values is as expected, to a bound. */
static void expect(compare_result *found, const double *values, const double *expected, int64_t count, double bound)
{
    for (int64_t i = 0; i < count; i++)
        compare_add(found, i, values[i], expected[i], bound);
}

static void check_values(const host_array *s, double bound, compare_result *found)
{
    const float *values = s->data;

    for (int64_t p = 0; p < s->shape[0]; p++) {
        const double above = p > 0 ? values[p - 1] : INFINITY;
        compare_add(found, p, values[p], fmin(fmax(values[p], 0), above), bound);
    }
}

/* The length of (a - y)' (a - y) x over that of x, to the root, after some steps: at most the largest singular value of
 * a - y, and near to it. */
static double largest_left(const host_array *a, const host_array *y, uint64_t seed)
{
    const int64_t rows = a->shape[0], columns = a->shape[1];
    double *x = memory_zeroed((size_t)(columns), sizeof(double)), *ax = memory_zeroed((size_t)(rows), sizeof(double)),
           *yx = memory_zeroed((size_t)(rows), sizeof(double)),
           *next = memory_zeroed((size_t)(columns), sizeof(double)),
           *y_next = memory_zeroed((size_t)(columns), sizeof(double)), found = 0;
    random_state random = random_start(seed);

    for (int64_t j = 0; j < columns; j++)
        x[j] = random_below(&random, 2) ? 1 : -1;
    for (int step = 0; step < POWER_STEPS; step++) {
        const double length = length_of(x, columns);
        if (!(length > 0)) /* nothing is left, or it is not finite, which is found elsewhere */
            break;
        for (int64_t j = 0; j < columns; j++)
            x[j] /= length;
        times(a, false, x, ax);
        times(y, false, x, yx);
        for (int64_t i = 0; i < rows; i++)
            ax[i] -= yx[i];
        times(a, true, ax, next);
        times(y, true, ax, y_next);
        for (int64_t j = 0; j < columns; j++)
            x[j] = next[j] - y_next[j];
        found = sqrt(length_of(x, columns));
    }
    free(x);
    free(ax);
    free(yx);
    free(next);
    free(y_next);
    return found;
}

compare_result batch_check_factors(const host_array *a, const host_array *u, const host_array *s, const host_array *vt,
                                   const host_array *y, bool exact, uint64_t seed)
{
    const int64_t m = a->shape[0], n = a->shape[1], k = s->shape[0], most = m > n ? m : n;
    const double unit = (16 + 4 * sqrt((double)most)) * unit_roundoff(FL_F32), first = ((const float *)s->data)[0],
                 last = ((const float *)s->data)[k - 1];
    double *z = memory_zeroed((size_t)(k), sizeof(double)), *sz = memory_zeroed((size_t)(k), sizeof(double)),
           *uz = memory_zeroed((size_t)(m), sizeof(double)), *vz = memory_zeroed((size_t)(n), sizeof(double)),
           *got = memory_zeroed((size_t)(most), sizeof(double)),
           *wanted = memory_zeroed((size_t)(most), sizeof(double)), left;
    compare_result found = compare_start();
    random_state random = random_start(seed);

    for (int64_t p = 0; p < k; p++) {
        z[p] = random_below(&random, 2) ? 1 : -1;
        sz[p] = z[p] * ((const float *)s->data)[p];
    }
    check_values(s, 0, &found);
    times(u, false, z, uz);
    times(vt, true, z, vz);
    times(u, true, uz, got);
    expect(&found, got, z, k, (double)k * unit);
    times(vt, false, vz, got);
    expect(&found, got, z, k, (double)k * unit);
    times(a, true, uz, got);
    times(vt, true, sz, wanted);
    expect(&found, got, wanted, n, (double)k * unit * first);
    if (exact) {
        times(a, false, vz, got);
        times(u, false, sz, wanted);
        expect(&found, got, wanted, m, (double)k * unit * first);
        left = largest_left(a, y, seed);
        compare_add(&found, 0, left, fmin(left, last),
                    2 * unit * first + (double)(k + 4) * unit_roundoff(FL_F32) * sum_of(s));
    }
    free(z);
    free(sz);
    free(uz);
    free(vz);
    free(got);
    free(wanted);
    return found;
}
