/* SPDX-License-Identifier: MIT */
#include "factors.h"
#include "reconstruct.h"

#include "run/reference.h"
#include "support/memory.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_STEPS = 6 };

compare_result batch_check_product(const host_array *u, const host_array *s, const host_array *vt, const host_array *y,
                                   uint64_t seed)
{
    reconstruct_oracle *oracle = reconstruct_oracle_create(u, s, vt, s->shape[0], CHECK_SAMPLED, seed);
    char method[96];
    compare_result found = reconstruct_oracle_check(oracle, y, "auto", method, sizeof method);

    reconstruct_oracle_free(oracle);
    return found;
}

void batch_check_samples(const host_array *u, const host_array *s, const host_array *vt, const void *y, int samples,
                         uint64_t seed, compare_result *found)
{
    const host_array result = {u->dtype, 2, {u->shape[0], vt->shape[1], 1, 1}, (void *)y};
    random_state random = random_start(seed);

    for (int n = 0; n < samples; n++)
        reconstruct_compare_element(u, s, vt, s->shape[0], &result, random_below(&random, host_array_size(&result)),
                                    found);
}

/* out = matrix x, or matrix' x. */
static void times(const host_array *matrix, bool transposed, const double *x, double *out)
{
    const int64_t rows = matrix->shape[0], columns = matrix->shape[1];
    const float *a = matrix->data;

    memset(out, 0, (size_t)(transposed ? columns : rows) * sizeof *out);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[transposed ? j : i] += a[i * columns + j] * x[transposed ? i : j];
}

static double length_of(const double *x, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Each of `count` values is as expected, to a bound. */
static void expect(compare_result *found, const double *values, const double *expected, int64_t count, double bound)
{
    for (int64_t i = 0; i < count; i++)
        compare_add(found, i, values[i], expected[i], bound);
}

/* The square root of the length of (a - y)' (a - y) x over that of x, after some steps: at most the largest singular
 * value of a - y, and close to it. */
static double largest_left(const host_array *a, const host_array *y, uint64_t seed)
{
    const int64_t rows = a->shape[0], columns = a->shape[1];
    double *x = memory_zeroed((size_t)(3 * columns + 2 * rows), sizeof *x), *next = x + columns,
           *y_next = next + columns, *ax = y_next + columns, *yx = ax + rows, found = 0;
    random_state random = random_start(seed);

    random_signs(&random, x, columns);
    for (int step = 0; step < POWER_STEPS; step++) {
        const double length = length_of(x, columns);
        if (!(length > 0)) /* nothing is left, or it is not finite: that is found elsewhere */
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
    return found;
}

compare_result batch_check_factors(const host_array *a, const host_array *u, const host_array *s, const host_array *vt,
                                   const host_array *y, bool exact, uint64_t seed)
{
    const int64_t m = a->shape[0], n = a->shape[1], k = s->shape[0], most = int64_larger(m, n);
    const float *values = s->data;
    const double unit = (16 + 4 * sqrt((double)most)) * unit_roundoff(FL_F32), k_units = (double)k * unit;
    double *z = memory_zeroed((size_t)(2 * k + m + n + 2 * most), sizeof *z), *sz = z + k, *uz = sz + k, *vz = uz + m,
           *got = vz + n, *wanted = got + most, sum = 0;
    compare_result found = compare_start();
    random_state random = random_start(seed);

    random_signs(&random, z, k);
    for (int64_t p = 0; p < k; p++) {
        sz[p] = z[p] * values[p];
        sum += values[p];
        compare_add(&found, p, values[p], fmin(fmax(values[p], 0), p > 0 ? values[p - 1] : (double)INFINITY), 0);
    }
    times(u, false, z, uz);
    times(vt, true, z, vz);
    times(u, true, uz, got);
    expect(&found, got, z, k, k_units);
    times(vt, false, vz, got);
    expect(&found, got, z, k, k_units);
    times(a, true, uz, got);
    times(vt, true, sz, wanted);
    expect(&found, got, wanted, n, k_units * values[0]);
    if (exact) {
        times(a, false, vz, got);
        times(u, false, sz, wanted);
        expect(&found, got, wanted, m, k_units * values[0]);
        const double left = largest_left(a, y, seed);
        compare_add(&found, 0, left, fmin(left, values[k - 1]),
                    2 * unit * values[0] + (double)(k + 4) * unit_roundoff(FL_F32) * sum);
    }
    free(z);
    return found;
}
