/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.h - the bound of convolutions by FFT, from the norms of their tiles.
 */
#pragma once

#include "support/host_array.h"

#include <flynn/flynn.h>

/* What the variant fft may add to the bound of each element (flynn.h): image and kernel, or signal and kernel, computed
 * in `dtype`. Walks both. */
double convolve_fft_error(const host_array *image, const host_array *kernel, fl_mode mode, fl_dtype dtype);
