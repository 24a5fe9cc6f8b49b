/* SPDX-License-Identifier: MIT
 *
 * Whether the check of `flynn reconstruct` finds one wrong element.
 */
#include "checks/reconstruct.h"

#include "support/random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
    compare_result found = reconstruct_oracle_check(oracle, &x->y, method, sizeof method);
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

/* Sums over absolute values are about 37 / 8 here. Of neighbours' sums only an error above 64 bounds is told apart. */
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
