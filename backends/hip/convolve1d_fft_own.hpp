/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft_own.hpp - the convolution of a signal by the transforms of fft_signal_kernels.h, for
 * convolve_fft_run.hip.cpp. The signal is an image of one row, and a tile of it is a pair of segments: its edge is the
 * number of elements in both, of which those in which they overlap count twice.
 */
#ifndef FLYNN_HIP_CONVOLVE1D_FFT_OWN_HPP
#define FLYNN_HIP_CONVOLVE1D_FFT_OWN_HPP

#include "convolve_fft_own.hpp"

constexpr int hip_fft_signal_taps = 65536; /* most of a kernel: more would leave the longest block too few outputs */

/* The pairs for our own transforms that have the least `cost`; edge 0: the kernel has too many taps. */
fft_cut hip_fft_signal_cut(const fl_convolve_args &args, fft_cost *cost);

/* As hip_fft_own_units. */
double hip_fft_signal_units(const fft_cut &cut);

/* Blocks of the kernel that transforms a pair's columns, and their shared memory. */
fft_own_launch hip_fft_signal_columns(const fft_cut &cut, bool wide);

/* The grid of `count` pairs in y, each with `groups` blocks of threads in x and z: in z, too, where x may not hold them
 * all. */
dim3 hip_fft_signal_grid(const hip_device *device, int64_t groups, int threads, int count);

/* Queues the convolution of `count` pairs; with the first ones the kernel's transform, in the memory of its spectrum.
 */
template <typename T, typename W>
fl_status hip_fft_signal_pairs(const fl_context *context, const fft_own_work<T, W> &work);

#endif
