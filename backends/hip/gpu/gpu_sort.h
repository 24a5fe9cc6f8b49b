/* SPDX-License-Identifier: MIT
 *
 * gpu_sort.h - the interface to the vendors' radix sorts: CUB with nvcc, rocPRIM with hipcc if installed. Slow to
 * compile, so few files should include it. GPU_SORT_LIBRARY is the library's name; if it is not defined, there is no
 * library, and GPU_SORT_LACKS states the fix (not for HIP-CPU, where there is none).
 *
 * Both order numbers by their bits: -0 is 0 (or just below it), NaN without a sign comes last and with one first.
 */
#ifndef FLYNN_HIP_GPU_SORT_H
#define FLYNN_HIP_GPU_SORT_H

#include "gpu.h"

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#define GPU_SORT_LIBRARY "CUB"

namespace gpu_sort_library
{
template <typename T>
using pair = cub::DoubleBuffer<T>;

template <typename T>
T *current(pair<T> &buffers)
{
    return buffers.Current();
}

/* With a count of 64 bits CUB's offsets have as many. */
template <typename... Arguments>
hipError_t sort(void *temporary, size_t &bytes, hipStream_t stream, size_t bits, Arguments &&...arguments)
{
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, arguments..., 0, (int)bits, stream);
}
} // namespace gpu_sort_library

#elif !defined(GPU_EMULATION) && !defined(FLYNN_NO_ROCPRIM) && __has_include(<rocprim/rocprim.hpp>)
#include "gpu_rocprim.h"

#include <rocprim/rocprim.hpp>
#define GPU_SORT_LIBRARY "rocPRIM"

namespace gpu_sort_library
{
template <typename T>
using pair = rocprim::double_buffer<T>;

template <typename T>
T *current(pair<T> &buffers)
{
    return buffers.current();
}

template <typename... Arguments>
hipError_t sort(void *temporary, size_t &bytes, hipStream_t stream, size_t bits, Arguments &&...arguments)
{
    return rocprim::radix_sort_keys(temporary, bytes, arguments..., 0u, (unsigned)bits, stream);
}
} // namespace gpu_sort_library

#elif !defined(GPU_EMULATION)
#define GPU_SORT_LACKS \
    "built without rocPRIM: sort's library variant is unavailable; install librocprim-dev (ROCm: rocprim-dev) and " \
    "rebuild"
#endif

#ifdef GPU_SORT_LIBRARY

/* Queues the sorting of in[0 ... n) into out, which shares no memory with it. With `temporary` NULL it only returns the
 * bytes it needs. */
template <typename T>
hipError_t gpu_sort(void *temporary, size_t &bytes, const T *in, T *out, uint64_t n, hipStream_t stream)
{
    /* Without const: rocPRIM's kernels depend on the pointer's type, and those of gpu_sort_in_place are compiled as
     * well. */
    return gpu_sort_library::sort(temporary, bytes, stream, 8 * sizeof(T), const_cast<T *>(in), out, n);
}

/* Queues the sorting of data[0 ... n) in it and as much memory at `beside`; `sorted` is the one of them that has the
 * result. */
template <typename T>
hipError_t gpu_sort_in_place(void *temporary, size_t &bytes, T *data, T *beside, uint64_t n, T **sorted,
                             hipStream_t stream)
{
    gpu_sort_library::pair<T> buffers(data, beside);
    const hipError_t error = gpu_sort_library::sort(temporary, bytes, stream, 8 * sizeof(T), buffers, n);
    *sorted = gpu_sort_library::current(buffers);
    return error;
}

#endif
#endif
