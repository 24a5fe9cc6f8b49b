/* SPDX-License-Identifier: MIT
 *
 * gpu_reduce.h - the vendors' reductions, CUB's and rocPRIM's, under one name. Only reduce.hip.cpp includes it: they
 * take long to compile.
 */
#ifndef FLYNN_HIP_GPU_REDUCE_H
#define FLYNN_HIP_GPU_REDUCE_H

#include "gpu.h"

/* HIP-CPU has no such library; on a machine that compiles for AMD it may be missing. */
#if defined(__CUDACC__)
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#define GPU_HAS_REDUCE 1
#elif !defined(GPU_EMULATION) && !defined(FLYNN_NO_ROCPRIM) && __has_include(<rocprim/device/device_reduce.hpp>)
#include "gpu_rocprim.h"

#include <iostream> /* which rocPRIM 5.3 uses and does not include */

#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_segmented_reduce.hpp>
#define GPU_HAS_REDUCE 1
#else
#define GPU_HAS_REDUCE 0
#endif

#if GPU_HAS_REDUCE
#include <cstddef>
#include <iterator>

/* The multiples of a number from `first` times it on: where rows begin. */
struct gpu_multiples {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const int64_t *;
    using reference = int64_t;

    int64_t factor, first;

    __host__ __device__ int64_t operator[](std::ptrdiff_t i) const
    {
        return (first + i) * factor;
    }
    __host__ __device__ int64_t operator*() const
    {
        return first * factor;
    }
    __host__ __device__ gpu_multiples operator+(std::ptrdiff_t i) const
    {
        return {factor, first + i};
    }
};

/* Queues: out[r] = the elements of row r together with `start`, by `combine`; rows are of `length` elements and follow
 * each other. With `memory` NULL it only returns the bytes it needs. */
template <typename T, typename Result, typename Combine>
static inline hipError_t gpu_reduce(void *memory, size_t *bytes, const T *x, Result *out, int64_t rows, int64_t length,
                                    Combine combine, Result start, hipStream_t stream)
{
    const gpu_multiples begins = {length, 0}, ends = {length, 1};
#if defined(__CUDACC__)
    return rows == 1
               ? cub::DeviceReduce::Reduce(memory, *bytes, x, out, length, combine, start, stream)
               : cub::DeviceSegmentedReduce::Reduce(memory, *bytes, x, out, rows, begins, ends, combine, start, stream);
#else
    return rows == 1 ? rocprim::reduce(memory, *bytes, x, out, start, (size_t)length, combine, stream)
                     : rocprim::segmented_reduce(memory, *bytes, x, out, (unsigned)rows, begins, ends, combine, start,
                                                 stream);
#endif
}
#endif

#endif
