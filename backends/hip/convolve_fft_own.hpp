/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_own.hpp - a 2-D convolution by the transforms of fft_own_kernels.h, step by step, for
 * convolve_fft.hip.cpp.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_OWN_HPP
#define FLYNN_HIP_CONVOLVE_FFT_OWN_HPP

#include "convolve_fft.hpp"
#include "fft_own_kernels.h"

/* Each tile and the spectrum have room for height x width numbers of type W; the kernel and each tile have `chunks`
 * norms, as many as hip_fft_own_rows has blocks, and each tile has a limit. */
template <typename T, typename W>
struct fft_own_work {
    convolution<T> c;
    fft_tiles<W> tiles; /* from number tiles.first on; those past the last tile have no outputs */
    int count, chunks;
    W *spectrum;
    fft_norms *kernel_norms, *tile_norms;
    fft_limit *limits;
    fft_accuracy accuracy;
    fft_found found;
};

/* Queues the kernel's transform, which uses the first tile's memory. */
template <typename T, typename W>
fl_status hip_fft_own_kernel(const fl_context *context, const fft_own_work<T, W> &work);

/* Queues the convolution of `count` tiles. */
template <typename T, typename W>
fl_status hip_fft_own_tiles(const fl_context *context, const fft_own_work<T, W> &work);

#endif
