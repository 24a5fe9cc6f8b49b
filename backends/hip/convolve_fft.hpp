/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.hpp - what `auto` of convolve and of convolve1d asks of convolve_fft.hip.cpp, and what that asks of
 * convolve_fft_own.hip.cpp.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_HPP
#define FLYNN_HIP_CONVOLVE_FFT_HPP

#include "device.hpp"

#include <cmath>

/* A variant by FFT, with the functions of its row. */
struct hip_fft {
    const char *variant;
    void (*plan)(void *device, const void *args, fl_launch *launch);
    fl_status (*run)(const fl_context *context, const void *args, const fl_launch *launch);
};

/* What auto chooses. */
struct hip_fft_choice {
    const hip_fft *fft; /* NULL: direct sums of each output */
    bool direct;        /* direct sums take the tolerance: those of `separable` are taken where they can be */
    double least;       /* the least tolerance of a variant that can run */
};
hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve_args *args, double tolerance);
hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve1d_args *args, double tolerance);

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

/* The tiles for our own transforms; edge 0: a kernel has too many taps. */
fft_cut hip_fft_own_cut(const fl_convolve_args &args);

/* Blocks of the kernel that transforms a tile's rows, and their shared memory. */
struct fft_own_launch {
    int threads, blocks; /* of a tile */
    size_t shared;
};
fft_own_launch hip_fft_own_rows(const fft_cut &cut, bool wide);

#endif
