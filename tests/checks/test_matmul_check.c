/* SPDX-License-Identifier: MIT
 *
 * Whether the check of `flynn matmul` finds wrong elements, however the matrices are stored. That of floats is
 * reconstruct's (test_reconstruct_check.c), here without s.
 */
#include "checks/matmul.h"

#include "support/random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { M = 33, N = 130, K = 21, BATCH = 2 };

/* a and b as they are stored; a is one matrix for both b. */
struct sample {
    host_array a, b, c;
    bool transpose_a, transpose_b;
};

static host_array filled(fl_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    random_state random = random_start(seed);
    host_array array;
    problem why;
    cr_assert(host_array_create(&array, dtype, ndim, shape, "a test", &why));
    for (int64_t i = 0; i < host_array_size(&array); i++) {
        const uint64_t bits = random_next(&random);
        if (fl_dtype_is_float(dtype))
            host_array_set(&array, i, (double)(bits >> 11) * 0x1p-52 - 1);
        else
            memcpy((char *)array.data + i * (int64_t)fl_dtype_size(dtype), &bits, fl_dtype_size(dtype));
    }
    return array;
}

static uint64_t integer(const host_array *array, int64_t i)
{
    return array->dtype == FL_I32 ? (uint64_t)((int32_t *)array->data)[i] : (uint64_t)((int64_t *)array->data)[i];
}

/* The result as a device would give it. */
static void compute(struct sample *x)
{
    for (int64_t at = 0; at < host_array_size(&x->c); at++) {
        const int64_t n = at / (M * N), i = at / N % M, j = at % N;
        uint64_t wrapped = 0;
        double sum = 0;
        for (int64_t p = 0; p < K; p++) {
            const int64_t in_a = x->transpose_a ? p * M + i : i * K + p;
            const int64_t in_b = n * K * N + (x->transpose_b ? j * K + p : p * N + j);
            if (fl_dtype_is_float(x->c.dtype))
                sum += host_array_get(&x->a, in_a) * host_array_get(&x->b, in_b);
            else
                wrapped += integer(&x->a, in_a) * integer(&x->b, in_b);
        }
        if (fl_dtype_is_float(x->c.dtype))
            host_array_set(&x->c, at, sum);
        else
            memcpy((char *)x->c.data + at * (int64_t)fl_dtype_size(x->c.dtype), &wrapped, fl_dtype_size(x->c.dtype));
    }
}

static struct sample sample_create(fl_dtype dtype, int way)
{
    struct sample x = {.transpose_a = way % 2 == 1, .transpose_b = way / 2 == 1};
    const int64_t a[] = {x.transpose_a ? K : M, x.transpose_a ? M : K};
    const int64_t b[] = {BATCH, x.transpose_b ? N : K, x.transpose_b ? K : N}, c[] = {BATCH, M, N};
    x.a = filled(dtype, 2, a, 1);
    x.b = filled(dtype, 3, b, 2);
    x.c = filled(dtype, 3, c, 3);
    compute(&x);
    return x;
}

static void sample_free(struct sample *x)
{
    host_array_free(&x->a);
    host_array_free(&x->b);
    host_array_free(&x->c);
}

static compare_result held_against(const struct sample *x, check_choice choice, uint64_t seed)
{
    char method[96];
    matmul_oracle *oracle =
        matmul_oracle_create(&x->a, x->transpose_a, &x->b, x->transpose_b, x->c.dtype, choice, seed);
    compare_result found = matmul_oracle_check(oracle, &x->c, "naive", method, sizeof method);
    matmul_oracle_free(oracle);
    return found;
}

static const int64_t places[] = {0, 1, N - 1, N, 1234, M *N - 1, M *N, BATCH *M *N - 1};

/* Each bit of an integer: also of those that a double does not hold. */
Test(matmul_check, finds_one_wrong_integer, .timeout = 240)
{
    for (int d = 0; d < 2; d++)
        for (int way = 0; way < 4; way++) {
            struct sample x = sample_create(d ? FL_I64 : FL_I32, way);
            compare_result found = held_against(&x, CHECK_AUTO, 5);
            cr_expect(found.ok && found.compared == BATCH * M * N, "way %d: %lld wrong", way, (long long)found.failed);
            for (size_t i = 0; i < COUNT(places) * 4; i++) {
                const int64_t at = places[i / 4];
                const int bit = (const int[]){0, 1, d ? 40 : 20, d ? 63 : 31}[i % 4];
                char *byte = (char *)x.c.data + at * (d ? 8 : 4) + bit / 8; /* little-endian */
                *byte = (char)(*byte ^ 1 << bit % 8);
                found = held_against(&x, CHECK_AUTO, i);
                cr_expect(!found.ok && found.failed == 1 && found.worst_index == at,
                          "way %d, bit %d of element %lld: %lld wrong", way, bit, (long long)at,
                          (long long)found.failed);
                *byte = (char)(*byte ^ 1 << bit % 8);
            }
            sample_free(&x);
        }
}

/* The signs of two elements of a row: the vector of odd numbers alone would never see them. With 20 seeds the second
 * vector misses them all with a probability of 2^-20. */
Test(matmul_check, finds_two_wrong_signs, .timeout = 240)
{
    struct sample x = sample_create(FL_I32, 0);
    int seen = 0;
    ((uint32_t *)x.c.data)[3] ^= 1u << 31;
    ((uint32_t *)x.c.data)[77] ^= 1u << 31;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const compare_result found = held_against(&x, CHECK_AUTO, seed);
        cr_expect(found.ok || found.failed == 2);
        seen += !found.ok;
    }
    cr_expect(seen > 0 && seen < 20, "%d of 20", seen);
    sample_free(&x);
}

/* Sums over absolute values are about 21 / 4. Of neighbours' sums only an error above 64 bounds is
 * detected, in f64 also above the error of the expected sum. */
Test(matmul_check, finds_one_wrong_float, .timeout = 240)
{
    for (int d = 0; d < 2; d++)
        for (int way = 0; way < 4; way++) {
            struct sample x = sample_create(d ? FL_F64 : FL_F32, way);
            const double bound = 21.0 / 4 * (K + 1) * (d ? DBL_EPSILON : FLT_EPSILON);
            for (int sampled = 0; sampled < 2; sampled++) {
                const check_choice choice = sampled ? CHECK_SAMPLED : CHECK_FULL;
                cr_expect(held_against(&x, choice, 5).ok);
                for (size_t i = 0; i < COUNT(places); i++) {
                    const double right = host_array_get(&x.c, places[i]);
                    host_array_set(&x.c, places[i], right + (sampled ? 3000 : 3) * bound);
                    const compare_result found = held_against(&x, choice, 5);
                    cr_expect(!found.ok && found.worst_index == places[i],
                              "way %d, %s, sampled %d, element %lld: worst %lld", way, d ? "f64" : "f32", sampled,
                              (long long)places[i], (long long)found.worst_index);
                    host_array_set(&x.c, places[i], right);
                }
            }
            sample_free(&x);
        }
}
