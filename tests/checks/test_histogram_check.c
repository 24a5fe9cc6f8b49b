/* SPDX-License-Identifier: MIT
 *
 * test_histogram_check.c - the counts that results are compared with: those of a walk along all edges for each element.
 */
#include "checks/histogram.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last bin whose lower edge is not above x, found one edge after the other; -1: x is not counted. */
static int64_t walk(double x, double lo, double hi, int64_t bins, bool clip)
{
    const double width = (hi - lo) / (double)bins;
    int64_t bin = 0;

    if (isnan(x) || (!clip && (x < lo || x > hi)))
        return -1;
    if (x < lo || x > hi)
        return x < lo ? 0 : bins - 1;
    for (int64_t b = 1; b < bins; b++) {
        volatile double product = (double)b * width; /* rounded by itself */
        bin = lo + product <= x ? b : bin;
    }
    return bin;
}

static void expect_counts(const host_array *array, double lo, double hi, int64_t bins)
{
    double *const wanted = calloc((size_t)bins, sizeof *wanted);

    for (int clip = 0; clip < 2; clip++) {
        double *const counts = histogram_count(array, lo, hi, bins, clip);
        memset(wanted, 0, (size_t)bins * sizeof *wanted);
        for (int64_t i = 0; i < host_array_size(array); i++) {
            const int64_t bin = walk(host_array_get(array, i), lo, hi, bins, clip);
            if (bin >= 0)
                wanted[bin]++;
        }
        for (int64_t b = 0; b < bins; b++)
            cr_expect(counts[b] == wanted[b], "%g to %g, clip %d, bin %lld of %lld: %.0f, expected %.0f", lo, hi, clip,
                      (long long)b, (long long)bins, counts[b], wanted[b]);
        free(counts);
    }
    free(wanted);
}

enum { NEIGHBOURS = 3, OTHERS = 7 };

/* Each edge and its neighbours, both ends, and numbers outside. */
static void expect_edges(double lo, double hi, int64_t bins)
{
    const double others[OTHERS] = {hi,       nextafter(hi, -DBL_MAX), nextafter(hi, DBL_MAX), NAN, -INFINITY,
                                   INFINITY, lo / 2 + hi / 2};
    const int64_t size = NEIGHBOURS * bins + OTHERS;
    double *const values = calloc((size_t)size, sizeof *values);
    const host_array array = {FL_F64, 1, {size, 1, 1, 1}, values};

    for (int64_t b = 0; b < bins; b++) {
        volatile double product = (double)b * ((hi - lo) / (double)bins);
        const double edge = lo + product;
        values[NEIGHBOURS * b] = edge;
        values[NEIGHBOURS * b + 1] = nextafter(edge, -DBL_MAX);
        values[NEIGHBOURS * b + 2] = nextafter(edge, DBL_MAX);
    }
    memcpy(values + NEIGHBOURS * bins, others, sizeof others);
    expect_counts(&array, lo, hi, bins);
    free(values);
}

Test(histogram_check, elements_on_edges_and_next_to_them)
{
    static const double ranges[][2] = {{0, 1},           {-1, 1},    {0.1, 0.7},     {-0.3, 1e6},
                                       {1e15, 1e15 + 8}, {-1e-3, 3}, {-8e307, 8e307}};

    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int64_t bins = 1; bins < 1000; bins += 1 + bins / 3)
            expect_edges(ranges[r][0], ranges[r][1], bins);
}

/* Bins narrower than the spacing of numbers there: many have equal edges, and the width can be 0. */
Test(histogram_check, equal_edges)
{
    expect_edges(1, 1 + 4 * DBL_EPSILON, 3);
    expect_edges(1, 1 + 4 * DBL_EPSILON, 100);
    expect_edges(-1e16, -1e16 + 20, 333);
    expect_edges(0, DBL_TRUE_MIN, 1);
    expect_edges(0, DBL_TRUE_MIN, 2);
    expect_edges(0, 5 * DBL_TRUE_MIN, 7);
    expect_edges(0, 5 * DBL_TRUE_MIN, 300);
    expect_edges(-DBL_TRUE_MIN, DBL_TRUE_MIN, 50);
    expect_edges(DBL_MAX / 2, nextafter(DBL_MAX / 2, DBL_MAX), 9);
}

/* A part has 16 elements for each bin, and there are as many parts as processors at most: sizes around several parts.
 */
Test(histogram_check, parts)
{
    enum { MOST = 16 * 5 * 9 + 1 };
    static const int64_t bins[] = {1, 2, 5};
    float values[MOST];

    for (int i = 0; i < MOST; i++)
        values[i] = (float)(i * 37 % 101) / 100;
    for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
        for (int64_t parts = 0; parts <= 9; parts++)
            for (int64_t size = 16 * bins[k] * parts - 1; size <= 16 * bins[k] * parts + 1; size++)
                if (size >= 0)
                    expect_counts(&(host_array){FL_F32, 1, {size, 1, 1, 1}, values}, 0.1, 0.9, bins[k]);
}

Test(histogram_check, every_dtype)
{
    enum { SIZE = 5000 };
    const int64_t shape[2] = {50, SIZE / 50};

    for (fl_dtype dtype = FL_U8; dtype <= FL_F64; dtype++) {
        host_array array;
        problem why;
        cr_assert(host_array_create(&array, dtype, 2, shape, "test", &why));
        for (int64_t i = 0; i < SIZE; i++)
            host_array_set(&array, i, (double)(i * 7919 % 256) - (dtype == FL_U8 ? 0 : 100));
        expect_counts(&array, 0, 256, 256);
        expect_counts(&array, -20, 90, 7);
        expect_counts(&array, -0.5, 100.25, 12);
        host_array_free(&array);
    }
}
