/* SPDX-License-Identifier: MIT
 *
 * gpu_range.h - named ranges in the vendors' profilers: NVTX (Nsight) and rocTX (rocprof).
 */
#ifndef FLYNN_HIP_GPU_RANGE_H
#define FLYNN_HIP_GPU_RANGE_H

#include <cstdlib>

/* NVTX is header-only: without a profiler a call only tests a pointer. */
#if defined(__CUDACC__) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

static inline bool gpu_range_wanted()
{
    return std::getenv("NVTX_INJECTION64_PATH") != nullptr; /* set by the profilers */
}

static inline void gpu_range_push(const char *name)
{
    nvtxRangePushA(name);
}

static inline void gpu_range_pop()
{
    nvtxRangePop();
}

/* rocTX is a library of the profiler or of ROCm. */
#elif defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_CPU_RT__)
#include "../shared/library.h"

struct gpu_roctx {
    int (*push)(const char *name);
    int (*pop)();
    bool found;
};

static inline const gpu_roctx &gpu_roctx_library()
{
    static const gpu_roctx roctx = [] {
        gpu_roctx r = {};
        char why[256];
        void *library = library_load("libroctx64.so.4 libroctx64.so.1 libroctx64.so", why, sizeof why);
        r.found = library && library_function(library, "roctxRangePushA", &r.push, sizeof r.push) &&
                  library_function(library, "roctxRangePop", &r.pop, sizeof r.pop);
        return r;
    }();
    return roctx;
}

static inline bool gpu_range_wanted()
{
    return gpu_roctx_library().found;
}

static inline void gpu_range_push(const char *name)
{
    (void)gpu_roctx_library().push(name);
}

static inline void gpu_range_pop()
{
    (void)gpu_roctx_library().pop();
}

#else
static inline bool gpu_range_wanted()
{
    return false;
}

static inline void gpu_range_push(const char *)
{
}

static inline void gpu_range_pop()
{
}
#endif

#endif
