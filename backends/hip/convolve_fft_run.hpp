/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_run.hpp - convolutions by FFTs of tiles, for the rows and the choice of convolve_fft.hip.cpp: how an
 * image is cut, and what queues the transforms. A signal is an image of one row.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_RUN_HPP
#define FLYNN_HIP_CONVOLVE_FFT_RUN_HPP

#include "convolve1d_fft_own.hpp"

/* Returns the largest error of a sum, in units of rounding times the tile's norm and the kernel's (docs/accuracy.md).
 */
double hip_fft_units(const fft_cut &c);

/* Returns the largest error of sums that are checked (fft_check_kernels.h), divided by the allowed error, for random
 * numbers from -1 to 1. auto takes fft-checked up to `hip_fft_most_share`, because beyond it most sums fail the check
 * and are computed directly as well. */
double hip_fft_share(const fft_cut &c, const fl_convolve_args &args, bool signal);
constexpr double hip_fft_most_share = 0.7;

/* The cost with sums that are checked, for random numbers from -1 to 1: an fft_cost. */
double hip_fft_checked_cost(const fft_cut &c, const fl_convolve_args &args);

/* The tiles that cost least, with sums that are `checked` or without; edge 0: the kernel is too large for any. */
fft_cut hip_fft_cut_of(const fl_convolve_args &args, bool signal, bool checked);

/* The same, with no more tiles at once than a grid has blocks, one of which may be for the kernel. */
fft_cut hip_fft_cut_for(const hip_device *device, const fl_convolve_args &args, bool signal, bool checked);

/* Returns a grid of blocks for `elements` elements of each of the tiles that are transformed at once. */
dim3 hip_fft_grid(const hip_device *device, const fft_cut &c, int64_t elements);

/* The launch of our own transforms that loads the image and stores norms. */
inline fft_own_launch hip_fft_first_lines(const fft_cut &c, bool signal, bool wide)
{
    return signal ? hip_fft_signal_columns(c, wide) : hip_fft_own_rows(c, wide);
}

/* Queues the convolution: numbers of type T are transformed as numbers of type W. `rank_one`: in device memory; our own
 * transforms do nothing if it is not 0 when the stream gets there. FL_E_UNSUPPORTED (the kernel is too large),
 * FL_E_UNAVAILABLE (the library), FL_E_MEMORY. */
template <bool signal, typename T, typename W>
fl_status hip_fft_convolve(const fl_context *context, const fl_convolve_args &args, double tolerance,
                           const int *rank_one = nullptr);

/* As hip_fft_convolve, in f64 and without a tolerance. Sums that the transforms may leave too inaccurate are summed
 * directly, so that all are as accurate as those of `tiled`. */
template <bool signal>
fl_status hip_fft_convolve_checked(const fl_context *context, const fl_convolve_args &args,
                                   const int *rank_one = nullptr);

#endif
