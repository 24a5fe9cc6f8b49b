/* SPDX-License-Identifier: MIT
 *
 * svd_single.h - svd's variant `single` on a CPU and a GPU: the least tolerance that it takes, and when it is faster.
 */
#ifndef FLYNN_SVD_SINGLE_H
#define FLYNN_SVD_SINGLE_H

#include <flynn/plugin.h>

#include <stdbool.h>

/* The linker keeps one copy of a function that several files have, which may be compiled for instructions that this
 * processor lacks: inlined, there is none. */
#define SVD_SINGLE_INLINE static inline __attribute__((always_inline))

/* fl_row.bound of `single`: the bound of a decomposition in f32, and one unit of rounding of f32 more, because rounding
 * each element to f32 changes the matrix by at most that part of its Frobenius norm. Elements that underflow are far
 * below it: the largest one is scaled to about 1. */
SVD_SINGLE_INLINE double svd_single_bound(const fl_host *host, const fl_svd_args *args)
{
    fl_svd_args in_f32 = *args;

    in_f32.a.dtype = FL_F32;
    return host->bound(FL_OP_SVD, "library", &in_f32) + 0x1p-24;
}

/* Returns whether LAPACK decomposes a matrix of this shape faster in f32, with the conversions: not a long one of few
 * rows or columns (docs/performance/svd.md). */
SVD_SINGLE_INLINE bool svd_single_pays(const fl_svd_args *args)
{
    enum { MOST_TIMES = 8, ANY_LENGTH = 64 };
    const int64_t m = args->a.shape[0], n = args->a.shape[1], shorter = m < n ? m : n, longer = m + n - shorter;

    return shorter >= ANY_LENGTH || longer <= MOST_TIMES * shorter;
}

#endif
