/* SPDX-License-Identifier: MIT
 *
 * fft_check.h - whether sums by FFTs, in f64, are as accurate as direct ones, on a processor.
 *
 * The error of all sums of a tile is at most e (fft_typed.h), and that of a direct sum a multiple of M, the sum of its
 * terms' magnitudes |a| |k|, a of the image and k of the kernel. So a sum is accurate where M is large enough. For any
 * level m, since no |a| is negative, and by Cauchy and Schwarz,
 *     M >= m (sum |a| - sum max(0, 1 - |k| / m) |a|) >= m (sum |a| - root of (sum max(0, 1 - |k| / m)^2 * sum a^2))
 * where the sums over a are those of the window of the image that is under the kernel. They change by what enters the
 * window and what leaves it, so that the bound costs a few operations for each output, whatever the kernel's size.
 * For random numbers of both signs it is 0.67 of M if they are distributed evenly, and 0.53 if normally.
 * docs/accuracy.md has more.
 */
#ifndef FLYNN_CPU_FFT_CHECK_H
#define FLYNN_CPU_FFT_CHECK_H

#include "fftw.h"
#include "operation.h"

#include <string.h>

/* A level m, and the sum of max(0, 1 - |k| / m)^2 over a kernel's elements k. */
typedef struct fft_level {
    double level, below;
} fft_level;

static inline double fft_below(double level, double element)
{
    const double less = level - fabs(element), part = less > 0 ? less / level : 0;

    return part * part;
}

/* The bound of M for a window whose magnitudes and squares add up to these. */
static inline double fft_bound_of(fft_level level, double sum, double squares)
{
    return level.level * (sum - sqrt(level.below * squares));
}

/* A kernel of f64, in one or two dimensions, has a norm (the root of the sum of its squares) and a level, for which the
 * bound is the largest if the image has numbers in -1..1 that are distributed evenly and a sum has `terms` terms. */
typedef struct fft_kernel {
    double norm;
    fft_level level;
} fft_kernel;

static inline const double *fft_kernel_row(const fl_buffer *kernel, int64_t row)
{
    return (const double *)(const void *)element_at(kernel, row, 0);
}

/* The highest level is twice the largest magnitude, each other one 1 / root 2 of that before. */
static inline fft_kernel CPU_NAME(fft_kernel_of)(const fl_buffer *kernel, double terms)
{
    enum { LEVELS = 16 };
    const int64_t columns = kernel->shape[kernel->ndim - 1], rows = elements_of(kernel) / columns;
    fft_level levels[LEVELS] = {{0, 0}};
    fft_norms norms = {0};
    double largest = 0;
    int best = 0;

    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < columns; q++) {
            cpu_fft_count(&norms, fft_kernel_row(kernel, p)[q]);
            largest = fmax(largest, fabs(fft_kernel_row(kernel, p)[q]));
        }
    for (int i = 0; i < LEVELS; i++)
        levels[i].level = 2 * largest * exp2(-i / 2.0);
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < columns; q++)
            for (int i = 0; i < LEVELS; i++)
                levels[i].below += fft_below(levels[i].level, fft_kernel_row(kernel, p)[q]);
    for (int i = 1; i < LEVELS; i++)
        if (fft_bound_of(levels[i], terms / 2, terms / 3) > fft_bound_of(levels[best], terms / 2, terms / 3))
            best = i;
    return (fft_kernel){cpu_fft_norm(&norms), levels[best]};
}

/* The part of a sum's terms that the check needs where the image has such numbers, `inside` of them in a tile, and the
 * kernel's squares add up to norm^2. `bound`: that of M with all terms. */
static inline double fft_share(double log2_of_tile, double inside, double norm, double bound, double terms)
{
    return bound > 0 ? cpu_fft_checked_error(log2_of_tile) * sqrt(inside / 3) * norm / ((terms + 14) * bound)
                     : INFINITY;
}

/* fft_share for a kernel of such numbers. */
static inline double fft_share_of_random(double log2_of_tile, double inside, double terms)
{
    return fft_share(log2_of_tile, inside, sqrt(terms / 3), terms / 6, terms);
}

static inline double fft_share_of(const fft_kernel *kernel, double log2_of_tile, double inside, double terms)
{
    return fft_share(log2_of_tile, inside, kernel->norm, fft_bound_of(kernel->level, terms / 2, terms / 3), terms);
}

/* Up to this share auto takes fft-checked: with a larger one sums of numbers that are distributed normally fail, so
 * that most are computed twice. */
static const double fft_most_share = 0.6;

/* Returns the cost of the direct sums, in the unit of cpu_fft_cost. Outputs `at_border` are summed directly if they
 * have less than the share of the terms, and all `outputs` if no share suffices. A multiply-add costs half as much
 * again as in a large tile. */
static inline double fft_checked_cost(double share, double terms, double outputs, double at_border)
{
    return 2 * CPU_FFT_SUM * terms * (share > fft_most_share ? outputs : 1.5 * share * share * at_border);
}

/* fft_below of one level, added up over the first p rows and q columns of a kernel: at the border of an image a part of
 * the kernel is over it. */
typedef struct fft_table {
    double level;
    int64_t rows, columns;
    double *sum; /* sum[p * (columns + 1) + q] */
} fft_table;

static inline int64_t fft_table_size(const fl_buffer *kernel)
{
    const int64_t columns = kernel->shape[kernel->ndim - 1];

    return (elements_of(kernel) / columns + 1) * (columns + 1);
}

/* Makes the table of a kernel of f64 in `sum`, for the level of fft_kernel_of. */
static inline fft_table CPU_NAME(fft_table_of)(const fl_buffer *kernel, double *sum)
{
    const double level = CPU_NAME(fft_kernel_of)(kernel, (double)elements_of(kernel)).level.level;
    const int64_t columns = kernel->shape[kernel->ndim - 1], rows = elements_of(kernel) / columns, pitch = columns + 1;

    memset(sum, 0, (size_t)pitch * sizeof *sum);
    for (int64_t p = 0; p < rows; p++) {
        const double *const before = sum + p * pitch;
        double *const to = sum + (p + 1) * pitch;
        double in_row = 0;
        to[0] = 0;
        for (int64_t q = 0; q < columns; q++) {
            in_row += fft_below(level, fft_kernel_row(kernel, p)[q]);
            to[q + 1] = before[q + 1] + in_row;
        }
    }
    return (fft_table){level, rows, columns, sum};
}

/* At least what fft_below adds up to over the kernel's rows from `from` to `past`, and its columns that are over the
 * image's, for `count` outputs of a row. The first of them has the kernel's column 0 over the image's column x. */
static inline void CPU_NAME(fft_sum_below)(const fft_table *table, int64_t from, int64_t past, int64_t x,
                                           int64_t columns, double *restrict below, int64_t count)
{
    const int64_t pitch = table->columns + 1, rounded = 8 * (table->rows + table->columns);
    const double *const high = table->sum + from * pitch, *const low = table->sum + past * pitch;
    const double more = (double)rounded * DBL_EPSILON * table->sum[table->rows * pitch + table->columns];
    const bool inside = x >= table->columns - 1 && x + count <= columns; /* all of the kernel's columns are */

    for (int64_t j = 0; j < count && inside; j++)
        below[j] = low[table->columns] - high[table->columns] + more;
    for (int64_t j = 0; j < count && !inside; j++) {
        const int64_t first = max64(0, x + j - columns + 1), end = max64(first, min64(table->columns, x + j + 1));
        below[j] = low[end] - high[end] - (low[first] - high[first]) + more;
    }
}

/* The sums of a tile are compared with these numbers. */
typedef struct fft_check {
    double least;  /* a sum with at least this magnitude is accurate */
    double needed; /* one whose bound of M is at least this is, too */
    double more;   /* the sum of squares over a window may be too small by that */
    const fft_table *table;
} fft_check;

/* Sets the check of a tile with these norms, whose least is set, and needed to the M that a sum needs. The sums over a
 * window are the results of at most 2 * steps additions and subtractions each way, each of which rounds a part of the
 * tile's. */
static inline void fft_set_check(fft_check *check, const fft_table *table, const fft_norms *tile, int64_t steps)
{
    const double rounded = 8 * (double)steps * DBL_EPSILON;

    check->table = table;
    check->needed += table->level * rounded * tile->sum;
    check->more = rounded * tile->squares;
}

/* The sums over a window. */
typedef struct fft_window {
    double sum, squares;
} fft_window;

/* `sum` and `squares` are what the window's sums change by at each of `count` outputs, and are overwritten; `below` is
 * from fft_sum_below. Sets each of the outputs' sums that is below check->least to this if it is accurate all the
 * same, else to 0, and returns how many it set to 0. */
static inline int64_t CPU_NAME(fft_judge)(const fft_check *check, fft_window *window, double *restrict sum,
                                          double *restrict squares, const double *restrict below, double *restrict sums,
                                          int64_t count)
{
    const double least = check->least, needed = check->needed, more = check->more, level = check->table->level;
    fft_window w = *window;
    int64_t small = 0;

    for (int64_t j = 0; j < count; j++) {
        sum[j] = w.sum += sum[j];
        squares[j] = w.squares += squares[j];
    }
    *window = w;
#pragma omp simd reduction(+ : small)
    for (int64_t j = 0; j < count; j++) {
        const double bound = level * (sum[j] - sqrt(below[j] * (squares[j] + more)));
        const double raised = bound >= needed ? least : 0;
        sums[j] = fabs(sums[j]) >= least ? sums[j] : raised;
        small += sums[j] == 0;
    }
    return small;
}

#endif
