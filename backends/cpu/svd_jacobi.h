/* SPDX-License-Identifier: MIT
 *
 * svd_jacobi.h - the singular value decomposition by one-sided Jacobi rotations (Hestenes, "Inversion of matrices by
 * biorthogonalization and related results", J. SIAM 6, 1958), in plain C. Included by svd.c, for each instruction set,
 * and by host_svd.c, for GPUs without a library.
 *
 * Two columns of a matrix W are made orthogonal by a rotation of the plane that they span, and so all pairs in turn,
 * sweep after sweep, until none is left to turn: W = A V then has orthogonal columns. Their lengths are the singular
 * values, their directions the left vectors, and V, the product of the rotations, has the right ones. Two things from
 * practice: the columns are sorted by length before each sweep, longest first, which saves sweeps (after de Rijk, "A
 * one-sided Jacobi algorithm for computing the singular value decomposition on a vector computer", SISSC 10, 1989); and
 * the pairs of a sweep come in rounds as in a tournament, in which no column plays twice (Brent and Luk, "The solution
 * of singular-value and symmetric eigenvalue problems on multiprocessor arrays", SISSC 6, 1985), so that the pairs of a
 * round can be turned by as many threads.
 *
 * All is computed in f64, whatever the dtype: f32 results are those, rounded.
 */
#ifndef FLYNN_CPU_SVD_JACOBI_H
#define FLYNN_CPU_SVD_JACOBI_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* These functions are compiled for several instruction sets, under names that differ. */
#define jacobi_free CPU_NAME(jacobi_free)
#define jacobi_create CPU_NAME(jacobi_create)
#define jacobi_dot CPU_NAME(jacobi_dot)
#define jacobi_square CPU_NAME(jacobi_square)
#define jacobi_rotate CPU_NAME(jacobi_rotate)
#define jacobi_swap CPU_NAME(jacobi_swap)
#define jacobi_turn CPU_NAME(jacobi_turn)
#define jacobi_dot_of_many CPU_NAME(jacobi_dot_of_many)
#define jacobi_products_of_many CPU_NAME(jacobi_products_of_many)
#define jacobi_multiply CPU_NAME(jacobi_multiply)
#define jacobi_pair CPU_NAME(jacobi_pair)
#define jacobi_round CPU_NAME(jacobi_round)
#define jacobi_divide CPU_NAME(jacobi_divide)
#define jacobi_complete CPU_NAME(jacobi_complete)
#define jacobi_sort CPU_NAME(jacobi_sort)
#define jacobi_normalize CPU_NAME(jacobi_normalize)
#define jacobi_decompose CPU_NAME(jacobi_decompose)

enum {
    JACOBI_SWEEPS = 60, /* at most; ten are many */
    JACOBI_FEW = 8,     /* columns with fewer elements are summed without vectors, which is faster */
};

/* `count` columns of `length` elements (at least as many), which become orthogonal, longest first, and `count` of as
 * many: the rotations. Pointers name the columns, so that two are swapped without moving them. */
typedef struct jacobi {
    int64_t count, length;
    double **column, **rotation;
    double tolerance; /* the cosine of an angle that counts as a right one */
    double nothing;   /* columns whose squared length is at most this count as zero */
    int threads;
    int sweeps; /* out: that it took */
    double *memory;
} jacobi;

static void jacobi_free(jacobi *j)
{
    free(j->memory);
}

/* Room for the columns, and the rotations none yet. false: no memory. */
static bool jacobi_create(jacobi *j, int64_t count, int64_t length, int threads)
{
    double *numbers = calloc((size_t)count, (size_t)(length + count) * sizeof *numbers + 2 * sizeof *j->column);

    *j = (jacobi){.count = count, .length = length, .threads = threads, .memory = numbers};
    if (!numbers)
        return false;
    j->column = (double **)(numbers + count * (length + count));
    j->rotation = j->column + count;
    for (int64_t i = 0; i < count; i++) {
        j->column[i] = numbers + i * length;
        j->rotation[i] = numbers + count * length + i * count;
        j->rotation[i][i] = 1;
    }
    return true;
}

/* The sums of JACOBI_FEW elements or more, by vectors. They are not inlined, because the compiler would prepare the
 * vectors before it knows that there are fewer elements. */
static __attribute__((noinline)) double jacobi_dot_of_many(const double *x, const double *y, int64_t n)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline double jacobi_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;

    if (n >= JACOBI_FEW)
        return jacobi_dot_of_many(x, y, n);
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Returns the squared length of a column, for the lengths in results. It sums by blocks, so that the error is that of
 * BLOCK + n / BLOCK additions and not of n: errors do not cancel if all elements are alike, as in a constant matrix. */
static double jacobi_square(const double *x, int64_t n)
{
    enum { BLOCK = 64 };
    double sum = 0;

    for (int64_t i = 0; i < n; i += BLOCK)
        sum += jacobi_dot(x + i, x + i, n - i < BLOCK ? n - i : BLOCK);
    return sum;
}

/* (x, y) = (c x - s y, s x + c y) */
static inline void jacobi_rotate(double *restrict x, double *restrict y, int64_t n, double c, double s)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double xi = x[i], yi = y[i];
        x[i] = c * xi - s * yi;
        y[i] = s * xi + c * yi;
    }
}

static inline void jacobi_swap(double **x, double **y)
{
    double *kept = *x;

    *x = *y;
    *y = kept;
}

typedef struct jacobi_products {
    double xx, yy, xy;
} jacobi_products;

static __attribute__((noinline)) jacobi_products jacobi_products_of_many(const double *x, const double *y, int64_t n)
{
    double xx = 0, yy = 0, xy = 0;

#pragma omp simd reduction(+ : xx, yy, xy)
    for (int64_t i = 0; i < n; i++) {
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        xy += x[i] * y[i];
    }
    return (jacobi_products){xx, yy, xy};
}

/* x'x, y'y and x'y, which read both once. */
static inline jacobi_products jacobi_multiply(const double *x, const double *y, int64_t n)
{
    jacobi_products p = {0};

    if (n >= JACOBI_FEW)
        return jacobi_products_of_many(x, y, n);
    for (int64_t i = 0; i < n; i++) {
        p.xx += x[i] * x[i];
        p.yy += y[i] * y[i];
        p.xy += x[i] * y[i];
    }
    return p;
}

/* Makes columns p and q orthogonal. Returns false if they already were, as with a column of zeros. */
static bool jacobi_turn(const jacobi *j, int64_t p, int64_t q)
{
    const jacobi_products products = jacobi_multiply(j->column[p], j->column[q], j->length);
    const double pp = products.xx, qq = products.yy, pq = products.xy;

    if (!(pp > 0) || !(qq > 0) || fabs(pq) <= j->tolerance * sqrt(pp) * sqrt(qq))
        return false;
    /* The smaller angle of the two whose tangent t solves t^2 + 2 zeta t - 1 = 0 (Rutishauser). */
    const double zeta = (qq - pp) / (2 * pq);
    const double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + t * t);

    jacobi_rotate(j->column[p], j->column[q], j->length, c, c * t);
    jacobi_rotate(j->rotation[p], j->rotation[q], j->count, c, c * t);
    return true;
}

/* A pair of a round of the tournament: of `players`, an even number, the last stands still and the others go around a
 * table. Returns how many pairs were turned: 0 or 1. */
static inline int64_t jacobi_pair(const jacobi *j, int64_t players, int64_t round, int64_t pair)
{
    const int64_t circle = players - 1;
    const int64_t a = pair == 0 ? circle : (round + pair) % circle, b = (round - pair + circle) % circle;
    const int64_t p = a < b ? a : b, q = a < b ? b : a;

    return q < j->count && jacobi_turn(j, p, q); /* the last player of an odd number is not there */
}

/* One round, whose pairs the threads share. Returns how many were turned. */
static int64_t jacobi_round(const jacobi *j, int64_t players, int64_t round)
{
    int64_t turned = 0;

    if (j->threads == 1) {
        for (int64_t pair = 0; pair < players / 2; pair++)
            turned += jacobi_pair(j, players, round, pair);
        return turned;
    }
#pragma omp parallel for schedule(static) num_threads(j->threads) reduction(+ : turned)
    for (int64_t pair = 0; pair < players / 2; pair++)
        turned += jacobi_pair(j, players, round, pair);
    return turned;
}

static inline void jacobi_divide(double *x, int64_t n, double by)
{
    for (int64_t i = 0; i < n; i++)
        x[i] /= by;
}

/* A column of zeros has no direction: it gets one that is orthogonal to those before it, which are orthonormal. A unit
 * vector less its parts along them is never short for all units; twice is enough (Parlett, "The symmetric eigenvalue
 * problem", 1980, section 6.9, which gives it as Kahan's). */
static void jacobi_complete(jacobi *j, int64_t at)
{
    double *x = j->column[at];
    double length = 0;

    for (int64_t unit = 0; unit < j->length && !(length > 0.5 / sqrt((double)j->length)); unit++) {
        memset(x, 0, (size_t)j->length * sizeof *x);
        x[(at + unit) % j->length] = 1;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t i = 0; i < at; i++) {
                const double part = jacobi_dot(x, j->column[i], j->length);
                for (int64_t e = 0; e < j->length; e++)
                    x[e] -= part * j->column[i][e];
            }
        length = sqrt(jacobi_square(x, j->length));
    }
    jacobi_divide(x, j->length, length);
}

/* Writes the columns' lengths to `value` and sorts by them, longest first; few are out of place after a sweep. Sets a
 * column that counts as zero to zeros: its direction is rounding error, and a later pass that found it a little longer
 * would take it for a vector, which no rotation has made orthogonal to the others. */
static void jacobi_sort(jacobi *j, double *value)
{
    for (int64_t i = 0; i < j->count; i++) {
        const double square = jacobi_square(j->column[i], j->length);
        value[i] = square > j->nothing ? sqrt(square) : 0;
        if (!(value[i] > 0))
            memset(j->column[i], 0, (size_t)j->length * sizeof *j->column[i]);
    }
    for (int64_t i = 1; i < j->count; i++)
        for (int64_t at = i; at > 0 && value[at] > value[at - 1]; at--) {
            const double kept = value[at];
            value[at] = value[at - 1];
            value[at - 1] = kept;
            jacobi_swap(&j->column[at], &j->column[at - 1]);
            jacobi_swap(&j->rotation[at], &j->rotation[at - 1]);
        }
}

/* Writes the columns' lengths to `value` and divides the columns by them. Thousands of rotations, each exact but for
 * rounding, leave neither the rotations nor the columns quite as long as they were, and both by the same factor. */
static void jacobi_normalize(jacobi *j, double *value)
{
    for (int64_t i = 0; i < j->count; i++) {
        const double drift = sqrt(jacobi_square(j->rotation[i], j->count));
        jacobi_divide(j->rotation[i], j->count, drift);
        jacobi_divide(j->column[i], j->length, drift);
    }
    jacobi_sort(j, value);
    for (int64_t i = 0; i < j->count; i++) {
        if (value[i] > 0)
            jacobi_divide(j->column[i], j->length, value[i]);
        else
            jacobi_complete(j, i);
    }
}

/* Makes the columns orthonormal; their elements are about 1 (jacobi_scale). `value` gets their lengths before that,
 * longest first. A column whose length is at most `nothing` times that of all columns together counts as
 * zero: it is rounding error, which no rotation makes orthogonal. Returns false if the sweeps did not suffice. */
static bool jacobi_decompose(jacobi *j, double tolerance, double nothing, double *value)
{
    const int64_t players = j->count + j->count % 2;
    int64_t turned = j->count > 1;
    double all = 0;

    for (int64_t i = 0; i < j->count; i++)
        all += jacobi_dot(j->column[i], j->column[i], j->length);
    j->tolerance = tolerance;
    j->nothing = all * nothing * nothing;
    for (j->sweeps = 0; turned > 0 && j->sweeps < JACOBI_SWEEPS; j->sweeps++) {
        turned = 0;
        jacobi_sort(j, value);
        for (int64_t round = 0; round < players - 1; round++)
            turned += jacobi_round(j, players, round);
    }
    jacobi_normalize(j, value);
    return turned == 0;
}

/* Returns whether the rotations take less time than LAPACK: of few elements, for which it makes many calls
 * (docs/performance/svd.md). */
static inline bool jacobi_pays(int64_t count, int64_t length)
{
    return count <= 8 && length <= 64;
}

/* The operations of that many sweeps: three products and two rotations a pair. */
static inline double jacobi_flops(int64_t count, int64_t length, int sweeps)
{
    return (double)sweeps * (double)count * (double)(count - 1) / 2 * (12 * (double)length + 6 * (double)count);
}

/* The power of two by which numbers of up to `largest` become about 1: their squares then neither over- nor underflow,
 * and multiplying by it rounds nothing. */
static inline int jacobi_scale(double largest)
{
    int exponent = 0;

    (void)frexp(largest, &exponent);
    return largest > 0 ? -exponent : 0;
}

#endif
