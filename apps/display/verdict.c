/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static _Thread_local differences *watched;

differences *compare_watch(differences *wrong)
{
    differences *before = watched;

    watched = wrong;
    return before;
}

compare_result compare_start(void)
{
    return (compare_result){.worst_index = -1, .excess = -1};
}

compare_result compare_unknown(char *method, size_t size, const char *how)
{
    snprintf(method, size, "nothing; %s", how);
    return (compare_result){.unknown = true, .max_abs = NAN, .max_rel = NAN, .worst_index = -1, .excess = -1};
}

/* Infinite for what no bound excuses. */
static double error_of(double result, double expected)
{
    if (result == expected || (isnan(result) && isnan(expected)))
        return 0;
    double error = fabs(result - expected);
    return isfinite(result) && isfinite(expected) ? error : INFINITY;
}

void compare_add(compare_result *found, int64_t index, double result, double expected, double bound)
{
    double error = error_of(result, expected);
    /* In this form, so that a bound that is NaN excuses nothing but an exact result. */
    bool right = error == 0 || (error <= bound && isfinite(error));
    double excess = error == 0 ? 0 : right ? error / bound : fmax(error / bound, nextafter(1, 2));
    if (isnan(excess) || (!right && isinf(bound)))
        excess = INFINITY;

    found->compared++;
    found->failed += !right;
    found->ok = found->failed == 0;
    found->max_abs = fmax(found->max_abs, error);
    if (expected != 0 && error != 0)
        found->max_rel = fmax(found->max_rel, isinf(error) ? INFINITY : error / fabs(expected));
    if (excess > found->excess) {
        found->excess = excess;
        found->worst_index = index;
        found->worst_result = result;
        found->worst_expected = expected;
        found->worst_bound = bound;
    }
    if (!right && watched) /* last: a call before would cost each right element the registers that it saves */
        differences_add(watched, index, result, expected);
}

/* Returns whether all elements are right, and compare_add would only count them. How many of the four conditions fail
 * is added up in f64, and its bits are joined: without branches and in numbers of one width, so that gcc 12 makes
 * vectors of the loop. */
static bool only_counts(const compare_result *found, int64_t count, const double *result, const double *expected,
                        const double *bound)
{
    const double max_abs = found->max_abs, max_rel = found->max_rel, excess = found->excess;
    int64_t wrong = 0;

    for (int64_t i = 0; i < count; i++) {
        const double error = fabs(result[i] - expected[i]); /* NaN, or infinite, where one of them is: not right */
        const double fails = (error <= bound[i] ? 0 : 1.0) + (error <= max_abs ? 0 : 1.0) +
                             (error <= excess * bound[i] ? 0 : 1.0) + (error <= max_rel * fabs(expected[i]) ? 0 : 1.0);
        int64_t bits;
        memcpy(&bits, &fails, sizeof bits);
        wrong |= bits;
    }
    return wrong == 0 && excess >= 0 && isfinite(max_abs);
}

void compare_add_run(compare_result *found, int64_t index, int64_t count, const double *result, const double *expected,
                     const double *bound)
{
    enum { RUN = 64 };

    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t end = count - first < RUN ? count : first + RUN;
        if (only_counts(found, end - first, result + first, expected + first, bound + first)) {
            found->compared += end - first;
            continue;
        }
        for (int64_t i = first; i < end; i++)
            compare_add(found, index + i, result[i], expected[i], bound[i]);
    }
}

void compare_add_equal(compare_result *found, int64_t index, double value, int64_t count)
{
    if (found->excess < 0 && count > 0) {
        compare_add(found, index, value, value, 0);
        count--;
    }
    found->compared += count;
}

void compare_add_exact(compare_result *found, int64_t index, bool same, double result, double expected)
{
    if (same)
        compare_add_equal(found, index, expected, 1);
    else
        compare_add(found, index, error_of(result, expected) == 0 ? (double)INFINITY : result, expected, 0);
}

void compare_add_same_bits(compare_result *found, int64_t first, const host_array *result, const host_array *expected)
{
    const int64_t count = host_array_size(expected);
    const size_t width = fl_dtype_size(expected->dtype);
    const char *a = result->data, *b = expected->data;

    if (count > 0 && memcmp(a, b, (size_t)count * width) == 0) {
        compare_add_equal(found, first, host_array_get(expected, 0), count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        compare_add_exact(found, first + i, memcmp(a + (size_t)i * width, b + (size_t)i * width, width) == 0,
                          host_array_get(result, i), host_array_get(expected, i));
}

int64_t compare_skip_equal(compare_result *found, const host_array *result, const host_array *expected, int64_t first)
{
    enum { BLOCK = 256 };
    int64_t end = first;

    if (first % BLOCK != 0 || result->dtype != expected->dtype)
        return first; /* before anything else, since each element asks */

    const int64_t size = host_array_size(expected);
    const size_t width = fl_dtype_size(expected->dtype);
    const char *a = result->data, *b = expected->data;

    if (host_array_size(result) != size)
        return first;
    while (end + BLOCK <= size && memcmp(a + (size_t)end * width, b + (size_t)end * width, BLOCK * width) == 0)
        end += BLOCK;
    if (end > first)
        compare_add_equal(found, first, host_array_get(expected, first), end - first);
    return end;
}

void compare_merge(compare_result *all, const compare_result *one, int64_t first)
{
    const bool worst = all->worst_index < 0 || one->excess > all->excess;

    all->ok = (all->compared == 0 || all->ok) && one->ok;
    all->compared += one->compared;
    all->failed += one->failed;
    all->max_abs = fmax(all->max_abs, one->max_abs);
    all->max_rel = fmax(all->max_rel, one->max_rel);
    if (worst && one->worst_index >= 0) {
        all->excess = one->excess;
        all->worst_index = first + one->worst_index;
        all->worst_result = one->worst_result;
        all->worst_expected = one->worst_expected;
        all->worst_bound = one->worst_bound;
    }
}

compare_result compare_allclose(const host_array *result, const host_array *expected, double relative, double absolute)
{
    compare_result found = compare_start();
    int64_t size = host_array_size(expected);
    for (int64_t i = 0; i < size; i++) {
        double value = host_array_get(expected, i);
        compare_add(&found, i, host_array_get(result, i), value, absolute + relative * fabs(value));
    }
    return found;
}

compare_result compare_bounded(const host_array *result, const host_array *expected, const host_array *bound)
{
    compare_result found = compare_start();
    int64_t size = host_array_size(expected);
    for (int64_t i = 0; i < size; i++)
        compare_add(&found, i, host_array_get(result, i), host_array_get(expected, i), host_array_get(bound, i));
    return found;
}
