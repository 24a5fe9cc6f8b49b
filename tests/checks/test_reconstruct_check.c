/* SPDX-License-Identifier: MIT
 *
 * Whether the check of `flynn reconstruct` finds one wrong element.
 */
#include "checks/reconstruct.h"

#include "harness.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { M = 130, N = 270, K = 40, RANK = 37, BATCH = 2 };

struct sample {
    host_array u, s, vt, y;
};

static host_array filled(fl_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    random_state random = random_start(seed);
    host_array array;
    problem why;
    cr_assert(host_array_create(&array, dtype, ndim, shape, "a test", &why));
    for (int64_t i = 0; i < host_array_size(&array); i++)
        host_array_set(&array, i, (double)(random_next(&random) >> 11) * 0x1p-52 - 1);
    return array;
}

/* The result as a device would give it: summed in the dtype itself. */
static void compute(struct sample *x)
{
    for (int64_t at = 0; at < host_array_size(&x->y); at++) {
        int64_t j = at % N, row = at / N, b = row / M;
        double sum = 0;
        for (int64_t p = 0; p < RANK; p++) {
            sum += host_array_get(&x->u, row * K + p) * host_array_get(&x->s, b * K + p) *
                   host_array_get(&x->vt, (b * K + p) * N + j);
            if (x->y.dtype == FL_F32)
                sum = (float)sum;
        }
        host_array_set(&x->y, at, sum);
    }
}

static struct sample sample_create(fl_dtype dtype)
{
    const int64_t u[] = {BATCH, M, K}, s[] = {BATCH, K}, vt[] = {BATCH, K, N}, y[] = {BATCH, M, N};
    struct sample x = {filled(dtype, 3, u, 1), filled(dtype, 2, s, 2), filled(dtype, 3, vt, 3), filled(dtype, 3, y, 4)};
    compute(&x);
    return x;
}

static void sample_free(struct sample *x)
{
    host_array_free(&x->u);
    host_array_free(&x->s);
    host_array_free(&x->vt);
    host_array_free(&x->y);
}

static compare_result held_against(const struct sample *x, check_choice choice)
{
    char method[96];
    reconstruct_oracle *oracle = reconstruct_oracle_create(&x->u, &x->s, &x->vt, RANK, choice, 5);
    compare_result found = reconstruct_oracle_check(oracle, &x->y, "naive", method, sizeof method);
    reconstruct_oracle_free(oracle);
    return found;
}

/* One element wrong by so much, in different places: found, and it is the one that is named. */
static void expect_found(struct sample *x, check_choice choice, double by)
{
    static const int64_t places[] = {0, 1, 63, 64, N - 1, N, 12345, M * N - 1, M * N, BATCH * M * N - 1};
    for (size_t i = 0; i < COUNT(places); i++) {
        double right = host_array_get(&x->y, places[i]);
        host_array_set(&x->y, places[i], right + by);
        compare_result found = held_against(x, choice);
        cr_expect(!found.ok && found.worst_index == places[i], "element %lld, wrong by %g: %s, worst %lld",
                  (long long)places[i], by, found.ok ? "ok" : "found", (long long)found.worst_index);
        host_array_set(&x->y, places[i], right);
    }
}

/* Sums over absolute values are about 37 / 8 here. Of neighbours' sums only an error above 64 bounds is detected. */
Test(reconstruct_check, finds_one_wrong_element, .timeout = 240)
{
    for (int d = 0; d < 2; d++) {
        const fl_dtype dtype = d ? FL_F64 : FL_F32;
        const double bound = 37.0 / 8 * (RANK + 4) * (d ? DBL_EPSILON : FLT_EPSILON);
        struct sample x = sample_create(dtype);
        cr_expect(held_against(&x, CHECK_FULL).ok);
        cr_expect(held_against(&x, CHECK_SAMPLED).ok);
        cr_expect(held_against(&x, CHECK_SAMPLED).compared == BATCH * M * N);
        expect_found(&x, CHECK_FULL, 3 * bound);
        expect_found(&x, CHECK_SAMPLED, 300 * bound);
        expect_found(&x, CHECK_SAMPLED, INFINITY);
        expect_found(&x, CHECK_SAMPLED, NAN);
        sample_free(&x);
    }
}

static void multiply(host_array *array, double by)
{
    for (int64_t i = 0; i < host_array_size(array); i++)
        host_array_set(array, i, host_array_get(array, i) * by);
}

/* Where products underflow, each is off by up to half the smallest number. */
Test(reconstruct_check, products_that_underflow, .timeout = 240)
{
    const double smallest = FLT_TRUE_MIN;
    struct sample x = sample_create(FL_F32);
    multiply(&x.u, 1e-15);
    multiply(&x.s, 1e-15);
    multiply(&x.vt, 1e-14);
    compute(&x);
    cr_expect(held_against(&x, CHECK_FULL).ok);
    cr_expect(held_against(&x, CHECK_SAMPLED).ok);
    expect_found(&x, CHECK_FULL, 3 * (RANK + 4) * smallest);
    sample_free(&x);
}

/* Where the factors are not finite, neither are the sums: their elements are compared one by one. */
Test(reconstruct_check, infinities_and_nan, .timeout = 240)
{
    struct sample x = sample_create(FL_F32);
    host_array_set(&x.u, 5 * K + 3, INFINITY);
    host_array_set(&x.vt, 7 * N + 100, NAN);
    compute(&x);
    cr_expect(held_against(&x, CHECK_FULL).ok);
    cr_expect(held_against(&x, CHECK_SAMPLED).ok);
    const int64_t places[] = {5 * N + 17, 9 * N + 100, 9 * N + 101, 6 * N + 17};
    for (size_t i = 0; i < COUNT(places); i++) {
        double right = host_array_get(&x.y, places[i]);
        host_array_set(&x.y, places[i], isfinite(right) ? NAN : 1);
        compare_result found = held_against(&x, CHECK_SAMPLED);
        cr_expect(!found.ok && found.worst_index == places[i], "place %zu", i);
        host_array_set(&x.y, places[i], right);
    }
    sample_free(&x);
}

/* A result of u, s and vt of ones, `value` everywhere. */
static struct sample ones_create(int64_t rows, int64_t rank, int64_t columns, double value)
{
    struct sample x = {filled(FL_F32, 2, (int64_t[]){rows, rank}, 1), filled(FL_F32, 1, &rank, 2),
                       filled(FL_F32, 2, (int64_t[]){rank, columns}, 3),
                       filled(FL_F32, 2, (int64_t[]){rows, columns}, 4)};
    host_array *const arrays[] = {&x.u, &x.s, &x.vt, &x.y};
    for (size_t i = 0; i < COUNT(arrays); i++)
        for (int64_t at = 0; at < host_array_size(arrays[i]); at++)
            host_array_set(arrays[i], at, i < 3 ? 1 : value);
    return x;
}

/* The sums cost what u diag(s) times a 64th of vt costs, and one pass over vt. The elements that are compared one by
 * one cost at most 2^24 multiply-adds, or a 256th of the work, once where sums differ and once as samples, and one of
 * each run. */
static void expect_cheap(const struct sample *x, bool right, const char *what)
{
    const int64_t rows = x->u.shape[0], rank = x->u.shape[1], columns = x->vt.shape[1], runs = (columns + 63) / 64;
    const double alone = fmax(fmax(0x1p24, (double)rows * (double)columns * (double)rank / 256), (double)rank);
    const double most = (double)rank * (double)(columns + 2 * rows * runs + 2 + 64) + 2 * alone;
    if (is_left_out(6))
        return;
    reconstruct_oracle *oracle = reconstruct_oracle_create(&x->u, &x->s, &x->vt, rank, CHECK_SAMPLED, 5);
    char method[96];
    compare_result found = reconstruct_oracle_check(oracle, &x->y, "naive", method, sizeof method);
    cr_expect(found.ok == right, "%s, %lldx%lldx%lld: %s", what, (long long)rows, (long long)rank, (long long)columns,
              found.ok ? "ok" : "wrong");
    cr_expect((double)reconstruct_oracle_work(oracle) <= most, "%s, %lldx%lldx%lld: %lld multiply-adds", what,
              (long long)rows, (long long)rank, (long long)columns, (long long)reconstruct_oracle_work(oracle));
    cr_expect(reconstruct_oracle_work(oracle) > rank * (columns + rows * runs), "%s: no element by itself", what);
    reconstruct_oracle_free(oracle);
}

Test(reconstruct_check, cost, .timeout = 240)
{
    static const int64_t shapes[][3] = {
        {300, 500, 300}, {16, 1 << 17, 16}, {1, 100000, 130}, {20000, 90, 1}, {1, 1, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const int64_t *n = shapes[i];
        struct sample x = ones_create(n[0], n[1], n[2], (double)n[1]);
        expect_cheap(&x, true, "right");
        for (int64_t at = 0; at < n[0] * n[2]; at++)
            host_array_set(&x.y, at, (double)n[1] * 2);
        expect_cheap(&x, false, "wrong everywhere");
        for (int64_t row = 0; row < n[0]; row++)
            host_array_set(&x.u, row * n[1], NAN);
        for (int64_t at = 0; at < n[0] * n[2]; at++)
            host_array_set(&x.y, at, NAN);
        expect_cheap(&x, true, "NaN everywhere");
        sample_free(&x);
    }
}

/* Rows of NaN use up what may be compared one by one; a wrong element in a row of numbers is found nevertheless. */
Test(reconstruct_check, wrong_element_after_nan, .timeout = 240)
{
    enum { ROWS = 200, TERMS = 1000, COLUMNS = 256 };
    struct sample x = ones_create(ROWS, TERMS, COLUMNS, NAN);
    for (int64_t row = 0; row < ROWS - 1; row++)
        host_array_set(&x.u, row * TERMS, NAN);
    for (int64_t j = 0; j < COLUMNS; j++)
        host_array_set(&x.y, (ROWS - 1) * COLUMNS + j, TERMS);
    expect_cheap(&x, true, "a row of numbers");
    for (int64_t j = 0; j < COLUMNS; j += 85) {
        host_array_set(&x.y, (ROWS - 1) * COLUMNS + j, 2 * TERMS);
        expect_cheap(&x, false, "a wrong number");
        host_array_set(&x.y, (ROWS - 1) * COLUMNS + j, TERMS);
    }
    sample_free(&x);
}

/* Finite sums whose bound overflows: each norm is finite, their product is not. Nothing may pass for that. */
Test(reconstruct_check, bounds_that_overflow, .timeout = 240)
{
    struct sample x = sample_create(FL_F64);
    for (int64_t i = 0; i < BATCH * M; i++)
        host_array_set(&x.u, i * K, 1e200);
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t j = 0; j < N; j++) {
            host_array_set(&x.vt, b * K * N + j, 0);
            host_array_set(&x.vt, (b * K + 1) * N + j, j % 2 ? 1e200 : -1e200);
        }
    compute(&x);
    cr_expect(held_against(&x, CHECK_FULL).ok);
    cr_expect(held_against(&x, CHECK_SAMPLED).ok);
    for (int64_t at = 100; at < BATCH * M * N; at += 7001) {
        const double right = host_array_get(&x.y, at);
        host_array_set(&x.y, at, 2 * right);
        cr_expect(!held_against(&x, CHECK_SAMPLED).ok, "element %lld", (long long)at);
        host_array_set(&x.y, at, right);
    }
    sample_free(&x);
}
