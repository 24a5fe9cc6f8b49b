/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_library.hpp - the FFT library that convolve_fft_run.hip.cpp uses where our own transforms do not serve:
 * the plans of a stream, and what is said where the library is missing.
 */
#ifndef FLYNN_HIP_CONVOLVE_FFT_LIBRARY_HPP
#define FLYNN_HIP_CONVOLVE_FFT_LIBRARY_HPP

#include "convolve1d_fft_own.hpp"
#include "gpu/gpu_fft.h"

#include <algorithm>
#include <new>

namespace
{

/* The plans of a stream, created again when the dtype that is transformed, or the tiles, change. */
struct fft_plans {
    fl_dtype dtype;
    int64_t edge[2];
    int count;
    gpu_fft kernel, forward, inverse;
};

fl_status fft_failed(const fl_context *context, int error, const char *what)
{
    return context->host->error(gpu_fft::status(error), "fft: %s failed to %s: error %d", gpu_fft_library, what, error);
}

/* Writes which calls cannot run, and why: the cause is what gpu_fft::found or gpu_fft::load says. */
void explain_library(fl_dtype dtype, const char *cause, char *why, size_t size)
{
    std::snprintf(why, size, "%s cannot run for kernels beyond %dx%d, or %d for signals %.200s",
                  gpu_fft::variants(dtype), hip_fft_own_taps, hip_fft_own_taps, hip_fft_signal_taps, cause);
}

/* Loads the library for numbers of that dtype. */
fl_status need_library(const fl_context *context, fl_dtype dtype)
{
    char cause[256], why[384];
    if (gpu_fft::load(dtype, cause, sizeof cause))
        return FL_OK;
    explain_library(dtype, cause, why, sizeof why);
    return context->host->error(library_status(cause), "%s; tiled needs no library", why);
}

/* The stream's plans for such tiles, created if it has others. */
fl_status plans_for(const fl_context *context, fl_dtype dtype, const fft_cut &c, fft_plans **plans)
{
    hip_stream *stream = hip_stream_of(context);
    const auto kept = static_cast<fft_plans *>(stream->fft.get());
    if (hip_leaves_graph(context) != FL_OK) /* a later call may replace the plans */
        return FL_E_UNSUPPORTED;
    *plans = kept;
    if (kept && kept->dtype == dtype && kept->edge[0] == c.edge[0] && kept->edge[1] == c.edge[1] &&
        kept->count == c.count)
        return FL_OK;
    const fl_status status = need_library(context, dtype);
    if (status != FL_OK)
        return status;
    const hip_device *device = hip_device_of(context);
    HIP_SELECT(device);
    if (kept) /* transforms that are queued still use the old plans' memory */
        HIP_TRY(device->host, device->number, hipStreamSynchronize(stream->queue));
    stream->fft.reset();
    std::shared_ptr<fft_plans> made;
    try {
        made = std::make_shared<fft_plans>();
    } catch (const std::bad_alloc &) {
        return device->host->error(FL_E_MEMORY, "out of host memory for the plans of an FFT");
    }
    made->dtype = dtype;
    std::copy_n(c.edge, 2, made->edge);
    made->count = c.count;
    const int rows = (int)c.edge[0], columns = (int)c.edge[1];
    int error = made->kernel.plan(device->host, dtype, gpu_fft::forward, rows, columns, 1);
    if (error == 0)
        error = made->forward.plan(device->host, dtype, gpu_fft::forward, rows, columns, c.count);
    if (error == 0)
        error = made->inverse.plan(device->host, dtype, gpu_fft::inverse, rows, columns, c.count);
    if (error != 0)
        return fft_failed(context, error, "make a plan");
    stream->fft = made;
    *plans = made.get();
    return FL_OK;
}

} // namespace

#endif
