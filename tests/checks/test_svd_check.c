/* SPDX-License-Identifier: MIT
 *
 * Whether the check of `flynn svd` finds one wrong element, of any of the three factors.
 */
#include "checks/svd.h"

#include "support/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { M = 23, N = 17 };

struct sample {
    host_array a, factors[3];
    svd_oracle *oracle;
    const char *variant;
};

static host_array create(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array;
    problem why;
    cr_assert(host_array_create(&array, dtype, ndim, shape, "a test", &why));
    return array;
}

/* A matrix, whose elements are random or all the same, and its leading k values with their vectors, by the plainest
 * backend. */
static struct sample sample_create(fl_dtype dtype, int64_t k, const char *variant, bool constant)
{
    const int64_t a[] = {M, N}, u[] = {M, k}, vt[] = {k, N};
    struct sample x = {
        create(dtype, 2, a), {create(dtype, 2, u), create(dtype, 1, &k), create(dtype, 2, vt)}, NULL, variant};
    random_state random = random_start(5);
    fl_device *device;
    fl_array *in, *out[3];
    for (int64_t i = 0; i < M * N; i++)
        host_array_set(&x.a, i, constant ? 3 : (double)(random_next(&random) >> 11) * 0x1p-52 - 1);
    cr_assert(fl_device_open("serial", &device) == FL_OK, "%s", fl_last_error());
    cr_assert(fl_array_from_host(device, dtype, 2, a, x.a.data, &in) == FL_OK);
    for (int i = 0; i < 3; i++)
        cr_assert(fl_array_create(device, dtype, x.factors[i].ndim, x.factors[i].shape, &out[i]) == FL_OK);
    cr_assert(fl_svd(device, in, 1, out[0], out[1], out[2], &(fl_run){.variant = variant}) == FL_OK, "%s",
              fl_last_error());
    for (int i = 0; i < 3; i++) {
        cr_assert(fl_array_to_host(out[i], x.factors[i].data) == FL_OK);
        fl_array_free(out[i]);
    }
    fl_array_free(in);
    fl_device_close(device);
    x.oracle = svd_oracle_create(&x.a);
    return x;
}

static void sample_free(struct sample *x)
{
    svd_oracle_free(x->oracle);
    host_array_free(&x->a);
    for (int i = 0; i < 3; i++)
        host_array_free(&x->factors[i]);
}

static bool is_right(const struct sample *x)
{
    char method[96];
    return svd_oracle_check(x->oracle, x->factors, x->variant, method, sizeof method).ok;
}

/* Every element by itself, off by 100 bounds of an element of about 1, or not a number. */
static void check_all(fl_dtype dtype, int64_t k, const char *variant)
{
    struct sample x = sample_create(dtype, k, variant, false);
    const double off =
        100 * (16 + 4 * sqrt(M)) * (dtype == FL_F32 || strcmp(variant, "single") == 0 ? 0x1p-23 : 0x1p-52);
    cr_assert(is_right(&x), "rank %lld", (long long)k);
    for (int f = 0; f < 3; f++)
        for (int64_t i = 0; i < host_array_size(&x.factors[f]); i++) {
            const double value = host_array_get(&x.factors[f], i);
            const double wrong[] = {value + off, value - off, -value, 0, NAN, INFINITY};
            for (int w = 0; w < 6; w++) {
                host_array_set(&x.factors[f], i, wrong[w]);
                cr_expect(!is_right(&x) || fabs(wrong[w] - value) < off / 4,
                          "%s rank %lld: element %lld of factor %d: %g, not %g", fl_dtype_name(dtype), (long long)k,
                          (long long)i, f, wrong[w], value);
            }
            host_array_set(&x.factors[f], i, value);
        }
    cr_assert(is_right(&x));
    sample_free(&x);
}

Test(svd_check, one_wrong_element_of_f32)
{
    check_all(FL_F32, N, "auto");
    check_all(FL_F32, 3, "auto");
}

Test(svd_check, one_wrong_element_of_f64)
{
    check_all(FL_F64, N, "auto");
    check_all(FL_F64, 4, "auto");
}

Test(svd_check, one_wrong_element_of_f64_computed_in_f32)
{
    check_all(FL_F64, N, "single");
    check_all(FL_F64, 4, "single");
}

/* What is right of `single` is wrong of the others, and their result is right of it. */
Test(svd_check, single_is_held_to_f32)
{
    struct sample in_f32 = sample_create(FL_F64, 5, "single", false), exact = sample_create(FL_F64, 5, "auto", false);
    cr_expect(is_right(&in_f32) && is_right(&exact));
    in_f32.variant = "auto";
    exact.variant = "single";
    cr_expect(!is_right(&in_f32) && is_right(&exact));
    sample_free(&in_f32);
    sample_free(&exact);
}

Test(svd_check, one_wrong_element_of_a_sketch)
{
    check_all(FL_F32, 3, "randomized");
}

/* Copies vector i over vector j. of_u: of the columns of u; else of the rows of vt. */
static void repeat_vector(struct sample *x, bool of_u, int64_t i, int64_t j)
{
    host_array *vectors = &x->factors[of_u ? 0 : 2];
    const int64_t k = x->factors[1].shape[0];
    for (int64_t e = 0; e < (of_u ? M : N); e++)
        host_array_set(vectors, of_u ? e * k + j : j * N + e, host_array_get(vectors, of_u ? e * k + i : i * N + e));
}

/* The vectors of singular values that are zero do not matter to the product, and are checked all the same: one that is
 * the same as another one is found. */
Test(svd_check, a_repeated_vector_of_a_matrix_of_rank_one)
{
    for (int64_t k = 3; k <= N; k += N - 3)
        for (int kind = 0; kind < 4; kind++) {
            const bool of_u = kind % 2;
            for (int64_t j = 1; j < k; j++) {
                struct sample x = sample_create(FL_F64, k, kind / 2 ? "randomized" : "auto", true);
                cr_assert(is_right(&x), "rank %lld", (long long)k);
                repeat_vector(&x, of_u, j == 1 ? 0 : 1, j);
                cr_expect(!is_right(&x), "rank %lld: vector %lld of %s", (long long)k, (long long)j, of_u ? "u" : "vt");
                sample_free(&x);
            }
        }
}

/* Factors of another matrix are orthonormal, too. */
Test(svd_check, factors_of_another_matrix)
{
    struct sample x = sample_create(FL_F64, 5, "auto", false);
    host_array_set(&x.a, 40, host_array_get(&x.a, 40) + 0.01);
    svd_oracle *other = svd_oracle_create(&x.a);
    char method[96];
    cr_expect(!svd_oracle_check(other, x.factors, "library", method, sizeof method).ok);
    svd_oracle_free(other);
    sample_free(&x);
}

/* The largest value's vectors: their pair is furthest off, and the place is that of the wrong element. */
Test(svd_check, names_the_place)
{
    struct sample x = sample_create(FL_F64, 5, "auto", false);
    char method[96];
    for (int64_t i = 0; i < M; i++) {
        const double value = host_array_get(&x.factors[0], i * 5);
        host_array_set(&x.factors[0], i * 5, value + 1e-8);
        compare_result found = svd_oracle_check(x.oracle, x.factors, "library", method, sizeof method);
        cr_expect(!found.ok && (found.worst_index == i * 5 || fabs(value) > 0.4), "row %lld: the worst is %lld",
                  (long long)i, (long long)found.worst_index);
        host_array_set(&x.factors[0], i * 5, value);
    }
    sample_free(&x);
}
