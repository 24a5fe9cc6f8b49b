/* SPDX-License-Identifier: MIT
 *
 * gpu_select.h - the vendors' selection, CUB's and rocPRIM's, under one name. Only select.hip.cpp includes it: they
 * take long to compile.
 */
#ifndef FLYNN_HIP_GPU_SELECT_H
#define FLYNN_HIP_GPU_SELECT_H

#include "gpu.h"

/* HIP-CPU has no such library; on a machine that compiles for AMD it may be missing. */
#if defined(__CUDACC__)
#include <cub/device/device_select.cuh>
#define GPU_HAS_SELECT 1
#elif !defined(GPU_EMULATION) && !defined(FLYNN_NO_ROCPRIM) && __has_include(<rocprim/device/device_select.hpp>)
#include "gpu_rocprim.h"

#include <iostream> /* which rocPRIM 5.3 uses and does not include */

#include <rocprim/device/device_select.hpp>
#define GPU_HAS_SELECT 1
#else
#define GPU_HAS_SELECT 0
#endif

#if GPU_HAS_SELECT

/* Queues: the elements of in[0] to in[length - 1] for which `keeps` holds to `out`, in order, and their number to
 * `count`. With `memory` NULL it only returns the bytes it needs. */
template <typename T, typename Predicate>
static inline hipError_t gpu_select(void *memory, size_t *bytes, const T *in, T *out, int64_t *count, int64_t length,
                                    Predicate keeps, hipStream_t stream)
{
#if defined(__CUDACC__)
    return cub::DeviceSelect::If(memory, *bytes, in, out, count, length, keeps, stream);
#else
    return rocprim::select(memory, *bytes, in, out, count, (size_t)length, keeps, stream);
#endif
}
#endif

#endif
