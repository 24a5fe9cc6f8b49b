/* SPDX-License-Identifier: MIT
 *
 * test_scan_check.c - the command's check of running sums and maxima: what its bounds excuse, and what they do not.
 */
#include "checks/scan.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

enum { MANY = 100000 };

static host_array vector(fl_dtype dtype, int64_t count, void *data)
{
    return (host_array){dtype, 1, {count, 1, 1, 1}, data};
}

static compare_result compare(fl_dtype from, void *in, fl_dtype to, void *out, int64_t count, fl_reduction reduction,
                              bool exclusive, bool sequential)
{
    const host_array input = vector(from, count, in), result = vector(to, count, out);

    return scan_compare(&result, &input, reduction, exclusive, sequential);
}

/* Of 10,000 ones the last sum may be off by (2 * 100 + 160) u * 10,000 = 0.21 in a tree, and by 5.96 in one loop. */
Test(scan_check, a_loop_may_be_further_off_than_a_tree)
{
    enum { N = 10000 };
    static float ones[N], sums[N];
    static const struct {
        float off;
        bool in_a_tree, in_a_loop;
    } cases[] = {{0, true, true}, {0.2F, true, true}, {0.23F, false, true}, {5.9F, false, true}, {6.1F, false, false}};

    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        sums[i] = (float)(i + 1);
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sums[N - 1] = N + cases[c].off;
        cr_expect(compare(FL_F32, ones, FL_F32, sums, N, FL_SUM, false, false).ok == cases[c].in_a_tree, "tree: %g",
                  (double)cases[c].off);
        cr_expect(compare(FL_F32, ones, FL_F32, sums, N, FL_SUM, false, true).ok == cases[c].in_a_loop, "loop: %g",
                  (double)cases[c].off);
    }
    sums[N - 1] = N;
    sums[0] = 1 + 2 * FLT_EPSILON; /* the sum of one element */
    const compare_result found = compare(FL_F32, ones, FL_F32, sums, N, FL_SUM, false, false);
    cr_expect(!found.ok && found.failed == 1 && found.worst_index == 0 && found.compared == N);
}

/* A sum in f64 alone would be off by more than the bound. */
Test(scan_check, the_expected_sums_are_exact)
{
    static double tenths[MANY], sums[MANY];

    for (int i = 0; i < MANY; i++) {
        tenths[i] = 0.1;
        sums[i] = (double)((long double)0.1 * (i + 1));
    }
    cr_expect(compare(FL_F64, tenths, FL_F64, sums, MANY, FL_SUM, false, false).ok);
    for (int i = 0; i < MANY; i++)
        sums[i] = (double)((long double)0.1 * i);
    cr_expect(compare(FL_F64, tenths, FL_F64, sums, MANY, FL_SUM, true, false).ok);
    cr_expect(!compare(FL_F64, tenths, FL_F64, sums, MANY, FL_SUM, false, false).ok, "exclusive in place of inclusive");
}

Test(scan_check, not_finite)
{
    float in[] = {1, INFINITY, 2, -INFINITY, 3}, out[] = {1, INFINITY, INFINITY, NAN, NAN};
    float large[] = {FLT_MAX, FLT_MAX, -FLT_MAX}, any[] = {FLT_MAX, INFINITY, 7};

    cr_expect(compare(FL_F32, in, FL_F32, out, 5, FL_SUM, false, false).ok);
    out[2] = FLT_MAX;
    cr_expect(!compare(FL_F32, in, FL_F32, out, 5, FL_SUM, false, false).ok);
    out[2] = INFINITY;
    out[4] = 3;
    cr_expect(!compare(FL_F32, in, FL_F32, out, 5, FL_SUM, false, false).ok);
    cr_expect(compare(FL_F32, large, FL_F32, any, 3, FL_SUM, false, false).ok, "sums that may overflow on their way");
    any[0] = INFINITY;
    cr_expect(!compare(FL_F32, large, FL_F32, any, 3, FL_SUM, false, false).ok, "the first one may not");
}

/* Integers wrap, and are wrong where they differ beyond the digits of a double. */
Test(scan_check, integers)
{
    int64_t in[] = {INT64_C(1) << 60, 1, INT64_MAX}, out[] = {INT64_C(1) << 60, (INT64_C(1) << 60) + 1, 0};
    uint8_t bytes[] = {200, 100, 0}, most[] = {200, 200, 200};
    int64_t sums[] = {0, 200, 300};
    compare_result found;

    out[2] = (int64_t)((uint64_t)out[1] + INT64_MAX);
    cr_expect(compare(FL_I64, in, FL_I64, out, 3, FL_SUM, false, false).ok);
    out[1]--;
    found = compare(FL_I64, in, FL_I64, out, 3, FL_SUM, false, false);
    cr_expect(!found.ok && found.failed == 1 && found.worst_index == 1 && isinf(found.max_abs));
    cr_expect(compare(FL_U8, bytes, FL_I64, sums, 3, FL_SUM, true, false).ok);
    sums[2]++;
    cr_expect(!compare(FL_U8, bytes, FL_I64, sums, 3, FL_SUM, true, false).ok);
    cr_expect(compare(FL_U8, bytes, FL_U8, most, 3, FL_MAXIMUM, false, false).ok);
    most[2] = 0;
    cr_expect(!compare(FL_U8, bytes, FL_U8, most, 3, FL_MAXIMUM, false, false).ok);
}

Test(scan_check, maxima)
{
    double in[] = {-5, -7, NAN, 9}, inclusive[] = {-5, -5, NAN, NAN}, exclusive[] = {-INFINITY, -5, -5, NAN};
    int32_t small[] = {-3, -9}, before[] = {INT32_MIN, -3};

    cr_expect(compare(FL_F64, in, FL_F64, inclusive, 4, FL_MAXIMUM, false, false).ok);
    cr_expect(compare(FL_F64, in, FL_F64, exclusive, 4, FL_MAXIMUM, true, false).ok);
    cr_expect(compare(FL_I32, small, FL_I32, before, 2, FL_MAXIMUM, true, false).ok);
    inclusive[3] = 9;
    cr_expect(!compare(FL_F64, in, FL_F64, inclusive, 4, FL_MAXIMUM, false, false).ok, "after a NaN all is NaN");
}
