/* SPDX-License-Identifier: MIT
 *
 * test_sort_check.c - the command's check of a sorted array must see a single wrong element.
 */
#include "checks/sort.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { N = 1000 };

static float sorted[N], result[N];
static const host_array expected = {FL_F32, 1, {N, 1, 1, 1}, sorted}, got = {FL_F32, 1, {N, 1, 1, 1}, result};

/* In order, with -0 behind +0 and NaN of both signs at the end. */
static void fill(void)
{
    for (int i = 0; i < N; i++)
        sorted[i] = (float)(i / 3) - 100;
    sorted[300] = 0;
    sorted[301] = sorted[302] = -0.0F;
    sorted[N - 2] = NAN;
    sorted[N - 1] = -NAN;
    memcpy(result, sorted, sizeof result);
}

static compare_result compare(void)
{
    return sort_compare(&got, sort_checksum(&expected));
}

Test(sort_check, right, .init = fill)
{
    cr_expect(compare().ok && compare().compared == N && compare().failed == 0);
    float swap = result[300]; /* zeros are equal, and NaN come in any order */
    result[300] = result[301];
    result[301] = swap;
    result[N - 2] = sorted[N - 1];
    result[N - 1] = sorted[N - 2];
    cr_expect(compare().ok);
}

Test(sort_check, out_of_order, .init = fill)
{
    result[500] = sorted[600];
    result[600] = sorted[500];
    cr_expect(!compare().ok && compare().failed == 2 && compare().worst_index == 501, "%lld failed, at %lld",
              (long long)compare().failed, (long long)compare().worst_index);
}

Test(sort_check, nan_before_a_number, .init = fill)
{
    result[10] = NAN;
    cr_expect(!compare().ok && isinf(compare().max_abs));
}

/* In order, and yet another element than the input's, by as little as can be. */
Test(sort_check, changed, .init = fill)
{
    for (int i = 0; i < N; i++) {
        fill();
        result[i] = isnan(sorted[i]) ? (float)INFINITY : nextafterf(sorted[i], sorted[i] < 0 ? 0 : -1000);
        cr_assert(!compare().ok, "element %d", i);
    }
}

Test(sort_check, doubled_and_lost, .init = fill)
{
    result[501] = result[504];
    cr_expect(!compare().ok);
    fill();
    memset(result, 0, sizeof result);
    cr_expect(!compare().ok && compare().worst_index == -1);
}

/* Integers that a double cannot tell apart. */
Test(sort_check, large_integers)
{
    int64_t numbers[] = {INT64_MAX - 1, INT64_MAX};
    host_array array = {FL_I64, 1, {2, 1, 1, 1}, numbers};
    uint64_t checksum = sort_checksum(&array);
    cr_expect(sort_compare(&array, checksum).ok);
    numbers[0] = INT64_MAX;
    numbers[1] = INT64_MAX - 1;
    cr_expect(!sort_compare(&array, checksum).ok && sort_compare(&array, checksum).worst_index == 1);
}

Test(sort_check, nothing)
{
    host_array array = {FL_F64, 1, {0, 1, 1, 1}, sorted};
    cr_expect(sort_compare(&array, sort_checksum(&array)).ok && sort_compare(&array, 0).compared == 0);
}
