/* SPDX-License-Identifier: MIT
 *
 * The statistics of an array: those of a loop over its elements, whatever the dtype, and however many threads share it.
 */
#include "display/summary.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <sched.h>
#include <string.h>

enum { BLOCK = 1 << 16 }; /* elements that are summed one after the other: summary.c */

static host_array array_of(fl_dtype dtype, int64_t size)
{
    host_array array;
    problem why;

    cr_assert(host_array_create(&array, dtype, 1, &size, "test", &why));
    for (int64_t i = 0; i < size; i++)
        host_array_set(&array, i, (double)(i * 7919 % 101 + 7) / (fl_dtype_is_float(dtype) ? 64 : 1));
    return array;
}

/* The statistics by one loop; the sum is exact, as far as a long double holds it. */
static array_summary loop(const host_array *array)
{
    array_summary s = {.least = -1, .most = -1};
    long double sum = 0;

    for (int64_t i = 0; i < host_array_size(array); i++) {
        const double x = host_array_get(array, i);
        s.zeros += x == 0;
        s.nans += isnan(x) != 0;
        s.infinities += isinf(x) != 0;
        if (!isfinite(x))
            continue;
        if (s.least < 0 || x < host_array_get(array, s.least))
            s.least = i;
        if (s.most < 0 || x > host_array_get(array, s.most))
            s.most = i;
        sum += x;
        s.finite++;
    }
    s.sum = s.finite > 0 ? (double)sum : NAN;
    s.mean = s.sum / (double)s.finite;
    return s;
}

static void expect_summary(const host_array *array)
{
    const array_summary got = summary_of(array), wanted = loop(array);

    cr_expect(got.finite == wanted.finite && got.nans == wanted.nans && got.infinities == wanted.infinities &&
                  got.zeros == wanted.zeros,
              "%lld finite, %lld NaN, %lld infinite, %lld zeros", (long long)got.finite, (long long)got.nans,
              (long long)got.infinities, (long long)got.zeros);
    cr_expect(got.least == wanted.least && got.most == wanted.most, "[%lld] to [%lld], expected [%lld] to [%lld]",
              (long long)got.least, (long long)got.most, (long long)wanted.least, (long long)wanted.most);
    cr_expect(got.sum == wanted.sum || (isnan(got.sum) && isnan(wanted.sum)), "%.17g, expected %.17g", got.sum,
              wanted.sum);
    cr_expect(got.mean == wanted.mean || (isnan(got.mean) && isnan(wanted.mean)));
}

Test(summary, sizes_around_blocks)
{
    static const int64_t sizes[] = {0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK + 1};

    for (fl_dtype dtype = FL_U8; dtype <= FL_F64; dtype++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            host_array array = array_of(dtype, sizes[k]);
            expect_summary(&array);
            for (int64_t i = 0; dtype != FL_U8 && i < sizes[k]; i++)
                host_array_set(&array, i, -host_array_get(&array, i)); /* all are below 0 */
            expect_summary(&array);
            host_array_free(&array);
        }
}

/* Of equal elements the first counts, which may be the last of a block or the first of the next one. */
Test(summary, the_first_least_and_most)
{
    static const int64_t places[] = {0, 1, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, 3 * BLOCK};
    enum { PLACES = sizeof places / sizeof *places };

    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < PLACES; k++) {
            host_array array = array_of(FL_F32, 3 * BLOCK + 1);
            host_array_set(&array, places[i], -3);
            host_array_set(&array, places[k], places[i] == places[k] ? -3 : 99);
            expect_summary(&array);
            host_array_set(&array, 3 * BLOCK - 5, -3);
            host_array_set(&array, 3 * BLOCK - 4, 99);
            expect_summary(&array);
            host_array_free(&array);
        }
}

Test(summary, what_is_not_finite)
{
    host_array array = array_of(FL_F64, 3 * BLOCK);

    for (int64_t i = 0; i < BLOCK + 10; i++) /* a whole block without a finite element */
        host_array_set(&array, i, i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY);
    host_array_set(&array, 2 * BLOCK, -0.0);
    host_array_set(&array, 2 * BLOCK + 1, 0);
    host_array_set(&array, 3 * BLOCK - 1, INFINITY);
    expect_summary(&array);
    for (int64_t i = 0; i < 3 * BLOCK; i++)
        host_array_set(&array, i, i % 2 == 0 ? NAN : -INFINITY);
    expect_summary(&array);
    for (int64_t i = 0; i < 3 * BLOCK; i++)
        host_array_set(&array, i, i % 2 == 0 ? DBL_MAX : -DBL_MAX);
    expect_summary(&array);
    host_array_free(&array);
}

/* What single additions lose is added at the end, of every block. */
Test(summary, a_sum_whose_terms_cancel)
{
    static const double terms[] = {1, 1e100, 1, -1e100};
    host_array array = array_of(FL_F64, 3 * BLOCK);

    for (int64_t i = 0; i < 3 * BLOCK; i++)
        host_array_set(&array, i, terms[i % 4]);
    cr_expect(summary_of(&array).sum == 1.5 * BLOCK);
    host_array_free(&array);
}

/* What is beyond all numbers stays so, as in a sum of one element after the other. */
Test(summary, a_sum_that_overflows)
{
    host_array array = array_of(FL_F64, 3 * BLOCK);

    for (int64_t i = 0; i < 3 * BLOCK; i++)
        host_array_set(&array, i, i < BLOCK ? 1e308 : -1e308);
    cr_expect(summary_of(&array).sum == (double)INFINITY);
    host_array_free(&array);
}

/* The terms of the sum cancel, so that another order could be seen; on one processor one thread adds all blocks. */
Test(summary, one_sum_for_every_number_of_threads)
{
    host_array array = array_of(FL_F64, 9 * BLOCK + 3);
    uint64_t state = 7;
    cpu_set_t one;

    for (int64_t i = 0; i < host_array_size(&array); i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        host_array_set(&array, i, ldexp((double)(int64_t)state, (int)(state >> 32) % 200));
    }
    const array_summary some = summary_of(&array);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
    const array_summary alone = summary_of(&array);
    cr_expect(memcmp(&some.sum, &alone.sum, sizeof some.sum) == 0, "%.17g and %.17g", some.sum, alone.sum);
    host_array_free(&array);
}
