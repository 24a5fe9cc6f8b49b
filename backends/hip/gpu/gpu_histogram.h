/* SPDX-License-Identifier: MIT
 *
 * gpu_histogram.h - CUB's histogram. Only histogram.hip.cpp includes it: it takes long to compile. rocPRIM's counts its
 * elements in 32 bits.
 */
#ifndef FLYNN_HIP_GPU_HISTOGRAM_H
#define FLYNN_HIP_GPU_HISTOGRAM_H

#include "gpu.h"

#if defined(__CUDACC__)
#include <cub/device/device_histogram.cuh>
#define GPU_HAS_HISTOGRAM 1

/* Queues: counts[b] = how many of in[0] to in[length - 1] are in bin b of `bins` equal ones from `lower` up to, not
 * including, `upper`, where all edges are whole numbers. With `memory` NULL it only returns the bytes it needs. */
template <typename T>
static inline hipError_t gpu_histogram(void *memory, size_t *bytes, const T *in, int64_t length, int32_t lower,
                                       int32_t upper, int bins, int64_t *counts, hipStream_t stream)
{
    return cub::DeviceHistogram::HistogramEven(memory, *bytes, in, reinterpret_cast<unsigned long long *>(counts),
                                               bins + 1, lower, upper, length, stream);
}
#else
#define GPU_HAS_HISTOGRAM 0
#endif

#endif
