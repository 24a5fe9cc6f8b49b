/* SPDX-License-Identifier: MIT
 *
 * gpu_scan.h - the vendors' scans, CUB's and rocPRIM's, under one name. Only scan.hip.cpp includes it: they take long
 * to compile.
 */
#ifndef FLYNN_HIP_GPU_SCAN_H
#define FLYNN_HIP_GPU_SCAN_H

#include "gpu.h"

/* HIP-CPU has no such library; on a machine that compiles for AMD it may be missing. */
#if defined(__CUDACC__)
#include <cub/device/device_scan.cuh>
#define GPU_HAS_SCAN 1
#elif !defined(GPU_EMULATION) && !defined(FLYNN_NO_ROCPRIM) && __has_include(<rocprim/device/device_scan.hpp>)
#include "gpu_rocprim.h"

#include <iostream> /* which rocPRIM 5.3 uses and does not include */

#include <rocprim/device/device_scan.hpp>
#define GPU_HAS_SCAN 1
#else
#define GPU_HAS_SCAN 0
#endif

#if GPU_HAS_SCAN

/* Four bytes of any type, to scan them. HIP's runtime loses memory where two objects of a plugin have the same kernel:
 * so rocPRIM gets a type that no other operation gives it. CUB is faster with a type of the language. */
#if defined(__CUDACC__)
using gpu_scan_word = int32_t;
#else
struct gpu_scan_word {
    int32_t bits;
};
#endif

/* Queues: out[i] = `put` of in[0] to in[i], or, if exclusive, of `lowest` and in[0] to in[i - 1]. `in`: a pointer or an
 * iterator. With `memory` NULL it only returns the bytes it needs. */
template <typename In, typename T, typename Put>
static inline hipError_t gpu_scan(void *memory, size_t *bytes, In in, T *out, T lowest, bool exclusive, int64_t length,
                                  Put put, hipStream_t stream)
{
#if defined(__CUDACC__)
    return exclusive ? cub::DeviceScan::ExclusiveScan(memory, *bytes, in, out, put, lowest, length, stream)
                     : cub::DeviceScan::InclusiveScan(memory, *bytes, in, out, put, length, stream);
#else
    return exclusive ? rocprim::exclusive_scan(memory, *bytes, in, out, lowest, (size_t)length, put, stream)
                     : rocprim::inclusive_scan(memory, *bytes, in, out, (size_t)length, put, stream);
#endif
}
#endif

#endif
