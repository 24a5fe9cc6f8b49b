/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.hpp - what `auto` of convolve and of convolve1d asks of convolve_fft.hip.cpp.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_HPP
#define FLYNN_HIP_CONVOLVE_FFT_HPP

#include "device.hpp"

/* The variant fft-wide, with the arguments of fl_row's functions. `pays`: it takes less time than direct sums of each
 * output, and its library is there. */
struct hip_fft_wide {
    bool (*pays)(const void *args);
    void (*plan)(void *device, const void *args, fl_launch *launch);
    fl_status (*run)(const fl_context *context, const void *args, const fl_launch *launch);
};
const hip_fft_wide &hip_fft_of_images();
const hip_fft_wide &hip_fft_of_signals();

#endif
