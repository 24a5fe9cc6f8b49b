/* SPDX-License-Identifier: MIT
 *
 * gpu_library.h - finds and loads the vendors' libraries (gpu_blas.h, gpu_solver.h, gpu_fft.h).
 *
 * ROCm's names, from the SOVERSION in the CMakeLists.txt of github.com/ROCm/rocBLAS, rocSOLVER and hipFFT at each
 * release (since ROCm 7 in github.com/ROCm/rocm-libraries, folder projects/):
 *
 *             ROCm 5.0 to 5.6     5.7                 6                   7
 *   HIP       libamdhip64.so.5    libamdhip64.so.5    libamdhip64.so.6    libamdhip64.so.7
 *   rocBLAS   librocblas.so.0     librocblas.so.3     librocblas.so.4     librocblas.so.5
 *   rocSOLVER librocsolver.so.0   librocsolver.so.0   librocsolver.so.0   librocsolver.so.0
 *   hipFFT    libhipfft.so.0      libhipfft.so.0      libhipfft.so.0      libhipfft.so.0
 *
 * The functions that Flynn calls have the same parameters in all of them. Which ROCm a file is from is read from the
 * runtime that it needs (library_runtime.h).
 */
#ifndef FLYNN_HIP_GPU_LIBRARY_H
#define FLYNN_HIP_GPU_LIBRARY_H

#include "gpu.h"

#include "../../shared/library_runtime.h"

#if defined(__HIP_PLATFORM_AMD__) && !defined(GPU_EMULATION)

constexpr bool gpu_library_shares_memory = true; /* library_order.hpp */

static inline const library_runtime *gpu_library_runtime()
{
    static const library_runtime runtime = {"libamdhip64.so", "hipGetDeviceCount",
                                            reinterpret_cast<const void *>(&hipGetDeviceCount)};
    return &runtime;
}

static inline void *gpu_library_load(const char *names, char *why, size_t size)
{
    return library_load_for(gpu_library_runtime(), names, why, size);
}

/* Returns whether the library exists, without loading it; else `why` states the reason. */
static inline bool gpu_library_find(const char *names, char *why, size_t size)
{
    return library_find_for(gpu_library_runtime(), names, why, size);
}

#else

constexpr bool gpu_library_shares_memory = false;

static inline void *gpu_library_load(const char *names, char *why, size_t size)
{
    return library_load(names, why, size);
}

static inline bool gpu_library_find(const char *names, char *why, size_t size)
{
    if (library_find(names))
        return true;
    std::snprintf(why, size, "%s not found", names);
    return false;
}

#endif
#endif
