/* SPDX-License-Identifier: MIT
 *
 * test_scan_check.c - the command's check of running sums and maxima: what its bounds excuse, and what they do not.
 */
#include "checks/scan.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

enum { MANY = 100000, CHUNK = 512, BLOCK = 1 << 16, BLOCKS = 2 * BLOCK + 3 * CHUNK + 5 }; /* as scan.c has them */

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

/* The total of a block is added up in lanes. Each chunk has a 1, which loses the 2^-54 that follow it in its lane. */
Test(scan_check, the_sum_before_a_block_is_exact)
{
    static double in[BLOCK + 1], sums[BLOCK + 1]; /* exclusive ones; from the second on, inclusive ones */
    const double before = BLOCK / CHUNK + (BLOCK - BLOCK / CHUNK) * 0x1p-54;

    for (int64_t i = 0; i <= BLOCK; i++) {
        const int64_t chunks = (i + CHUNK - 1) / CHUNK;
        in[i] = i % CHUNK ? 0x1p-54 : 1;
        sums[i] = (double)chunks + (double)(i - chunks) * 0x1p-54;
    }
    cr_assert(sums[BLOCK] == before);
    sums[BLOCK] = 0; /* so that the check tells what it expects */
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        const compare_result found =
            compare(FL_F64, in, FL_F64, sums + !exclusive, BLOCK + exclusive, FL_SUM, exclusive, false);
        cr_expect(found.failed == 1 && found.worst_expected == before, "exclusive %d: %d fail, expected %.17g",
                  exclusive, (int)found.failed, found.worst_expected);
    }
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

/* Small numbers that grow, so that every block has new maxima, but not all of its elements are. */
static void fill(host_array *in)
{
    random_state random = {7};

    for (int64_t i = 0, n = host_array_size(in); i < n; i++)
        host_array_set(in, i,
                       (double)(random_next(&random) % 32 + (uint64_t)(200 * i / n)) - (in->dtype == FL_U8 ? 0 : 120));
}

/* One loop, exact for those numbers but for the rounding of a result. */
static void scan(const host_array *in, fl_reduction reduction, bool exclusive, host_array *out)
{
    const bool sums = reduction == FL_SUM;
    double running = sums || in->dtype == FL_U8 ? 0
                     : in->dtype == FL_I32      ? INT32_MIN
                     : in->dtype == FL_I64      ? (double)INT64_MIN
                                                : -HUGE_VAL;

    for (int64_t i = 0, n = host_array_size(in); i < n; i++) {
        const double x = host_array_get(in, i), before = running;
        running = sums ? running + x : fmax(running, x);
        host_array_set(out, i, exclusive ? before : running);
    }
}

/* Compares a right result, then it with one wrong element at each of some places. */
static void try_places(const host_array *in, fl_reduction reduction, bool exclusive, host_array *out)
{
    const int64_t n = host_array_size(in);
    const int64_t places[] = {0,         CHUNK - 1, CHUNK,         BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + CHUNK,
                              2 * BLOCK, n / 2 - 1, n - 1 - n % 7, n - 1};
    const char *dtype = fl_dtype_name(in->dtype);
    compare_result found;

    scan(in, reduction, exclusive, out);
    found = scan_compare(out, in, reduction, exclusive, false);
    cr_expect(found.ok && found.failed == 0 && found.compared == n, "%s, reduction %d, exclusive %d, %d elements",
              dtype, (int)reduction, exclusive, (int)n);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        const int64_t i = places[p];
        if (i < 0 || i >= n)
            continue;
        const double right = host_array_get(out, i), wrong = right == 0 ? 100 : isfinite(right) ? right / 2 : 0;
        host_array_set(out, i, wrong);
        found = scan_compare(out, in, reduction, exclusive, false);
        cr_expect(!found.ok && found.failed == 1 && found.worst_index == i && found.compared == n,
                  "%s, reduction %d, exclusive %d, %d elements, wrong at %d: %d fail, worst %d", dtype, (int)reduction,
                  exclusive, (int)n, (int)i, (int)found.failed, (int)found.worst_index);
        host_array_set(out, i, right);
    }
}

Test(scan_check, one_wrong_element_of_several_blocks)
{
    static double in[BLOCKS], out[BLOCKS];
    static const int64_t sizes[] = {1,     2,         CHUNK - 1, CHUNK,         CHUNK + 1, BLOCK - 1,
                                    BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, BLOCKS};
    static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};

    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int both = 0; both < 4; both++) {
                const fl_reduction reduction = both & 1 ? FL_MAXIMUM : FL_SUM;
                host_array input = vector(dtypes[d], sizes[s], in),
                           result = vector(fl_reduce_dtype(dtypes[d], reduction), sizes[s], out);
                fill(&input);
                try_places(&input, reduction, both & 2, &result);
            }
}

Test(scan_check, nothing_is_compared_of_an_empty_array)
{
    float none;
    const compare_result found = compare(FL_F32, &none, FL_F32, &none, 0, FL_SUM, false, false);

    cr_expect(!found.ok && found.compared == 0 && found.failed == 0 && found.worst_index == -1);
}

/* flynn.h's bound, in the third block. */
Test(scan_check, bounds_in_a_later_block)
{
    static double ones[BLOCKS], sums[BLOCKS];
    const int64_t at = 2 * BLOCK + CHUNK + 1;

    for (int both = 0; both < 4; both++) {
        const bool exclusive = both & 1, sequential = both & 2;
        const double terms = (double)at + 1, sum = terms - exclusive;
        const double bound = (sequential ? terms : 2 * sqrt(terms) + 160) * 0x1p-53 * sum;
        for (int64_t i = 0; i < BLOCKS; i++) {
            ones[i] = 1;
            sums[i] = (double)(i + !exclusive);
        }
        for (int above = 0; above < 2; above++) {
            sums[at] = sum + bound * (above ? 1.01 : 0.99);
            const compare_result found = compare(FL_F64, ones, FL_F64, sums, BLOCKS, FL_SUM, exclusive, sequential);
            cr_expect(found.ok == !above && found.failed == above && found.worst_index == at &&
                          fabs(found.worst_bound - bound) <= 1e-12 * bound && found.worst_expected == sum,
                      "exclusive %d, sequential %d: the bound of %.17g is %g, not %g", exclusive, sequential,
                      found.worst_expected, found.worst_bound, bound);
        }
    }
}

Test(scan_check, not_finite_in_an_earlier_block)
{
    static float in[BLOCKS], out[BLOCKS];
    const int64_t first = 3, second = BLOCK + 7, last = BLOCKS - 1;
    compare_result found;

    in[first] = INFINITY;
    in[second] = -INFINITY;
    for (int64_t i = first; i < BLOCKS; i++)
        out[i] = i < second ? INFINITY : NAN;
    cr_expect(compare(FL_F32, in, FL_F32, out, BLOCKS, FL_SUM, false, false).ok);
    out[last] = 0;
    out[second - 1] = FLT_MAX;
    found = compare(FL_F32, in, FL_F32, out, BLOCKS, FL_SUM, false, false);
    cr_expect(found.failed == 2 && found.worst_index == second - 1 && isinf(found.max_abs));

    in[first] = NAN;
    for (int64_t i = 0; i < BLOCKS; i++)
        out[i] = i < first ? 0 : NAN;
    in[second] = INFINITY;
    cr_expect(compare(FL_F32, in, FL_F32, out, BLOCKS, FL_MAXIMUM, false, false).ok);
    cr_expect(compare(FL_F32, in, FL_F32, out, BLOCKS, FL_SUM, false, false).ok);
    out[last] = INFINITY;
    found = compare(FL_F32, in, FL_F32, out, BLOCKS, FL_MAXIMUM, false, false);
    cr_expect(found.failed == 1 && found.worst_index == last);
}

/* From the element on with which the sum of the absolute values exceeds the dtype. */
Test(scan_check, any_result_where_a_sum_may_overflow)
{
    static float in[BLOCKS], out[BLOCKS];
    const int64_t second = BLOCK + 7;

    for (int exclusive = 0; exclusive < 2; exclusive++) {
        in[3] = FLT_MAX;
        in[second] = -FLT_MAX;
        for (int64_t i = 0; i < BLOCKS; i++)
            out[i] = i < 3 + exclusive ? 0 : i < second + exclusive ? FLT_MAX : i % 2 ? NAN : 7;
        cr_expect(compare(FL_F32, in, FL_F32, out, BLOCKS, FL_SUM, exclusive, false).ok);
        out[second + exclusive - 1] = INFINITY;
        const compare_result found = compare(FL_F32, in, FL_F32, out, BLOCKS, FL_SUM, exclusive, false);
        cr_expect(found.failed == 1 && found.worst_index == second + exclusive - 1);
    }
}

/* Of numbers whose sums wrap and whose digits a double does not hold. */
Test(scan_check, integers_of_several_blocks)
{
    static int64_t in[BLOCKS], sums[BLOCKS], maxima[BLOCKS];
    static const int64_t places[] = {0, BLOCK - 1, BLOCK, BLOCK + CHUNK, BLOCKS - 1};
    random_state random = {3};
    uint64_t sum = 0;

    for (int64_t i = 0; i < BLOCKS; i++) {
        in[i] = (int64_t)random_next(&random);
        sum += (uint64_t)in[i];
        sums[i] = (int64_t)sum;
        maxima[i] = i > 0 && maxima[i - 1] > in[i] ? maxima[i - 1] : in[i];
    }
    cr_expect(compare(FL_I64, in, FL_I64, sums, BLOCKS, FL_SUM, false, false).ok);
    cr_expect(compare(FL_I64, in, FL_I64, maxima, BLOCKS, FL_MAXIMUM, false, false).ok);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        compare_result found;
        sums[places[p]] ^= 1;
        maxima[places[p]] ^= 1;
        found = compare(FL_I64, in, FL_I64, sums, BLOCKS, FL_SUM, false, false);
        cr_expect(found.failed == 1 && found.worst_index == places[p]);
        found = compare(FL_I64, in, FL_I64, maxima, BLOCKS, FL_MAXIMUM, false, false);
        cr_expect(found.failed == 1 && found.worst_index == places[p]);
        sums[places[p]] ^= 1;
        maxima[places[p]] ^= 1;
    }
}
