/* SPDX-License-Identifier: MIT
 *
 * test_reduce_check.c - the command's check of sums, extremes and places: what its bounds excuse, and what they do not.
 */
#include "checks/reduce.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

enum { MANY = 1 << 20 };

static host_array vector(fl_dtype dtype, int64_t count, void *data)
{
    return (host_array){dtype, 1, {count, 1, 1, 1}, data};
}

static bool is_right(const host_array *x, const host_array *y, fl_reduction reduction, bool naive, fl_dtype dtype,
                     void *result)
{
    const host_array one = vector(dtype, 1, result);

    return reduce_compare(&(reduce_work){x, y, reduction, FL_ALL_AXES, naive}, &one).ok;
}

/* The sum of 2^20 ones may be off by (log2 n + 41) u n = 3.8, and that of one loop by n u n = 65536. */
Test(reduce_check, a_loop_may_be_further_off_than_pairs)
{
    static float ones[MANY];
    const host_array x = vector(FL_F32, MANY, ones);
    static const struct {
        float off;
        bool of_pairs, of_a_loop;
    } cases[] = {{0, true, true}, {3.75F, true, true}, {4, false, true}, {65536, false, true}, {65537, false, false}};

    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        float sum = MANY + cases[c].off;
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &sum) == cases[c].of_pairs, "pairs: %g",
                  (double)cases[c].off);
        cr_expect(is_right(&x, NULL, FL_SUM, true, FL_F32, &sum) == cases[c].of_a_loop, "loop: %g",
                  (double)cases[c].off);
    }
}

/* Of three numbers (2 + 1) u * 3, whatever the variant, and of their products one u * 3 more: the last bit of 3 is 4 u.
 */
Test(reduce_check, few_numbers)
{
    float ones[] = {1, 1, 1};
    const host_array x = vector(FL_F32, 3, ones);

    for (int bits = 0; bits < 5; bits++) {
        float sum = 3 + (float)bits * 2 * FLT_EPSILON;
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &sum) == (bits <= 2), "sum, %d bits", bits);
        cr_expect(is_right(&x, &x, FL_SUM, false, FL_F32, &sum) == (bits <= 3), "dot, %d bits", bits);
    }
}

/* Products that underflow are off by up to half the smallest number, ω, each: here to 0. Sums of such numbers are
 * exact. */
Test(reduce_check, products_that_underflow)
{
    float numbers[64], right = 0, wrong = 130 * FLT_TRUE_MIN;
    const host_array x = vector(FL_F32, 64, numbers);

    for (int i = 0; i < 64; i++)
        numbers[i] = 0x1.fp-76F; /* the square is 0.47 ω, the sum of 64 of them 30 ω */
    cr_expect(is_right(&x, &x, FL_SUM, false, FL_F32, &right));
    cr_expect(!is_right(&x, &x, FL_SUM, false, FL_F32, &wrong));
    for (int i = 0; i < 64; i++)
        numbers[i] = FLT_TRUE_MIN;
    cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F32, &right));
}

/* A sum in long double alone loses the ones. */
Test(reduce_check, the_expected_sum_is_exact)
{
    double numbers[] = {1, 0x1p70, 1, -0x1p70, 0x1p-40};
    double sum = 2 + 0x1p-40;
    const host_array x = vector(FL_F64, 5, numbers);
    const host_array result = vector(FL_F64, 1, &sum);
    const compare_result found = reduce_compare(&(reduce_work){&x, NULL, FL_SUM, FL_ALL_AXES, false}, &result);

    cr_expect(found.ok && found.max_abs == 0, "off by %g", found.max_abs);
}

Test(reduce_check, extremes_and_their_places)
{
    float numbers[] = {2, 9, -4, 9, -4};
    float most = 9, least = -4, nan = NAN;
    int64_t first_most = 1, first_least = 2, next = 3;
    const host_array x = vector(FL_F32, 5, numbers);

    cr_expect(is_right(&x, NULL, FL_MAXIMUM, false, FL_F32, &most) &&
              !is_right(&x, NULL, FL_MAXIMUM, false, FL_F32, &least));
    cr_expect(is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &least) &&
              !is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &most));
    cr_expect(is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &first_most) &&
              !is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &next));
    cr_expect(is_right(&x, NULL, FL_ARGMIN, false, FL_I64, &first_least));
    numbers[3] = NAN;
    cr_expect(is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &nan) &&
              !is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &least));
    cr_expect(is_right(&x, NULL, FL_ARGMIN, false, FL_I64, &next) &&
              is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &next));
}

/* Integers wrap, and are wrong where they differ beyond the digits of a double. */
Test(reduce_check, integers)
{
    int64_t numbers[] = {INT64_MAX, 2, INT64_C(1) << 60}, sum = (int64_t)((uint64_t)1 << 60 | (uint64_t)1 << 63) + 1;
    int64_t most = INT64_MAX;
    const host_array x = vector(FL_I64, 3, numbers);

    cr_expect(is_right(&x, NULL, FL_SUM, false, FL_I64, &sum));
    cr_expect(is_right(&x, NULL, FL_MAXIMUM, false, FL_I64, &most));
    sum--;
    most--;
    cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_I64, &sum));
    cr_expect(!is_right(&x, NULL, FL_MAXIMUM, false, FL_I64, &most));
}

/* 0 1 2 / 3 4 5: a wrong sum is reported at its place. */
Test(reduce_check, along_an_axis)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    int64_t columns[] = {3, 5, 7}, rows[] = {3, 12};
    const host_array x = {FL_I32, 2, {2, 3, 1, 1}, numbers}, of_columns = vector(FL_I64, 3, columns),
                     of_rows = vector(FL_I64, 2, rows);
    compare_result found;

    cr_expect(reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 0, false}, &of_columns).ok);
    cr_expect(reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 1, false}, &of_rows).ok);
    columns[1]++;
    found = reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 0, false}, &of_columns);
    cr_expect(!found.ok && found.failed == 1 && found.worst_index == 1 && found.compared == 3);
}
