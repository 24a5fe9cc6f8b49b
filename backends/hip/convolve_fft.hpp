/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.hpp - what `auto` of convolve and of convolve1d asks of convolve_fft.hip.cpp.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_HPP
#define FLYNN_HIP_CONVOLVE_FFT_HPP

#include "convolve_marked_kernels.h"

/* A variant by FFT, with the functions of its row. */
struct hip_fft {
    const char *variant;
    void (*plan)(void *device, const void *args, fl_launch *launch);
    fl_status (*run)(const fl_context *context, const void *args, const fl_launch *launch);
    /* For an image, by our own transforms: does nothing if *rank_one, in device memory, is not 0 when the stream gets
     * there. */
    fl_status (*run_unless)(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch,
                            const int *rank_one);
};

/* What auto chooses. */
struct hip_fft_choice {
    const hip_fft *fft; /* NULL: direct sums of each output */
    bool direct;        /* direct sums take the tolerance: those of `separable` are taken where they can be */
    bool own;           /* the FFT is our own, whose kernels read from device memory whether they have work */
    double least;       /* the least tolerance of a variant that can run */
};
hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve_args *args, double tolerance);
hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve1d_args *args, double tolerance);

#endif
