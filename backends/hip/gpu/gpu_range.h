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

/* rocTX is a library of ROCm, in two versions with the same functions: rocprof sees ranges of libroctx64 (roctracer),
 * rocprofv3 those of librocprofiler-sdk-roctx (.so.0 in ROCm 6, .so.1 since 7). Ranges go to both: without its profiler
 * a library ignores them. */
#elif defined(__HIP_PLATFORM_AMD__) && !defined(GPU_EMULATION)
#include "gpu_library.h"

struct gpu_roctx {
    int (*push)(const char *name);
    int (*pop)();
};

struct gpu_roctx_list {
    gpu_roctx each[2];
    int count;
};

static inline const gpu_roctx_list &gpu_roctx_libraries()
{
    static const gpu_roctx_list found = [] {
        gpu_roctx_list list = {};
        for (const char *names :
             {"librocprofiler-sdk-roctx.so.1 librocprofiler-sdk-roctx.so.0", "libroctx64.so.4 libroctx64.so.1"}) {
            char why[256];
            gpu_roctx &r = list.each[list.count];
            void *library = gpu_library_load(names, why, sizeof why);
            list.count += library && library_function(library, "roctxRangePushA", &r.push, sizeof r.push) &&
                          library_function(library, "roctxRangePop", &r.pop, sizeof r.pop);
        }
        return list;
    }();
    return found;
}

static inline bool gpu_range_wanted()
{
    return gpu_roctx_libraries().count > 0;
}

static inline void gpu_range_push(const char *name)
{
    for (int i = 0; i < gpu_roctx_libraries().count; i++)
        (void)gpu_roctx_libraries().each[i].push(name);
}

static inline void gpu_range_pop()
{
    for (int i = gpu_roctx_libraries().count; i-- > 0;)
        (void)gpu_roctx_libraries().each[i].pop();
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
