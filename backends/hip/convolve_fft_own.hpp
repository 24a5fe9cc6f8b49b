/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_own.hpp - a 2-D convolution by the transforms of fft_own_kernels.h, step by step, for
 * convolve_fft_run.hip.cpp.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_OWN_HPP
#define FLYNN_HIP_CONVOLVE_FFT_OWN_HPP

#include "fft_own_kernels.h"

#include <cmath>

constexpr int hip_fft_own_taps = 192; /* most rows, or columns, of a kernel: more leave tiles too few outputs */

/* How an image is cut. */
struct fft_cut {
    int64_t edge[2], step[2], tiles[2]; /* of a tile; its outputs; all tiles. edge 0: the kernel is too large */
    int count;                          /* tiles at once */
    bool own;                           /* for the transforms of convolve_fft_own.hip.cpp, not for a library's */

    /* Sets a dimension's edge; returns whether the kernel fits into it. */
    bool set(const fl_convolve_args &args, int d, int64_t length)
    {
        const int64_t outputs = length - args.kernel.shape[d] + 1;
        edge[d] = length;
        step[d] = outputs < args.out.shape[d] ? outputs : args.out.shape[d];
        tiles[d] = outputs < 1 ? 0 : (args.out.shape[d] + outputs - 1) / outputs;
        return outputs >= 1;
    }
    double elements() const /* of a tile */
    {
        return (double)edge[0] * (double)edge[1];
    }
    double all() const
    {
        return (double)tiles[0] * (double)tiles[1];
    }
    double cost() const /* log2(0) would trap where the caller's division by zero does */
    {
        if (edge[0] == 0)
            return (double)INFINITY;
        const double weight = own ? 0.5 * (edge[0] == 512 ? 1.15 : 1) * (edge[1] == 512 ? 1.15 : 1) : 1;
        return weight * all() * elements() * (std::log2(elements()) + 4); /* the weights: measured on an H200 */
    }
};

/* The cheapest of the cuts that it was shown; edge 0: of none. */
struct fft_cheapest {
    fft_cut cut = {};
    double cost = (double)INFINITY;

    void see(const fft_cut &other, double its_cost)
    {
        if (its_cost < cost) {
            cut = other;
            cost = its_cost;
        }
    }
};

/* What a cut costs: hip_fft_cost, the transforms alone, or hip_fft_checked_cost. */
using fft_cost = double(const fft_cut &c, const fl_convolve_args &args);
inline double hip_fft_cost(const fft_cut &c, const fl_convolve_args &)
{
    return c.cost();
}

/* The tiles for our own transforms that have the least `cost`; edge 0: a kernel has too many taps. */
fft_cut hip_fft_own_cut(const fl_convolve_args &args, fft_cost *cost);

/* Returns the largest error of a line by our own transforms, in units of rounding times its norm: 1 for each addition
 * that a number passes through, 4 for each product with a root (docs/accuracy.md). */
inline double hip_fft_line_units(int64_t length)
{
    return length == 512 ? 9 + 5 * 4 : std::log2((double)length) + 3 * 4;
}

/* Returns the largest error of a sum, in units of rounding times the tile's norm and the kernel's. */
double hip_fft_own_units(const fft_cut &cut);

/* Blocks of the kernel that transforms a tile's rows, and their shared memory. */
struct fft_own_launch {
    int threads, blocks; /* of a tile */
    size_t shared;
};
fft_own_launch hip_fft_own_rows(const fft_cut &cut, bool wide);

/* How lines are transformed. */
template <int E, int G>
struct fft_line_shape {
    static constexpr int numbers = E; /* that each thread holds */
    static constexpr int threads = G; /* that transform a line */
};

/* The spectrum and each tile have room for height x width numbers of type W. One tile more than are transformed at once
 * is of the kernel. Each has `chunks` norms, as many as hip_fft_own_rows has blocks; each but that one has a limit. */
template <typename T, typename W>
struct fft_own_work {
    convolution<T> c;
    fft_tiles<W> tiles;      /* from number tiles.first on; those past the last tile have no outputs */
    int count, most, chunks; /* tiles; those at once */
    W *spectrum;
    fft_norms *norms;
    fft_limit *limits;
    fft_accuracy accuracy;
    fft_found found;
};

/* Queues the first step of the first tiles, and with it the kernel's transform. */
template <typename T, typename W>
fl_status hip_fft_own_start(const fl_context *context, const fft_own_work<T, W> &work);

/* Queues the convolution of `count` tiles, after hip_fft_own_start. */
template <typename T, typename W>
fl_status hip_fft_own_tiles(const fl_context *context, const fft_own_work<T, W> &work);

#endif
