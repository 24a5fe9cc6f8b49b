/* SPDX-License-Identifier: MIT
 *
 * gpu_emulation.h - gpu.h's part for g++, where the processor runs the kernels: the hip* names that the project uses
 * stand for those of backends/simt. With GPU_EMULATION_HIP_CPU the kernels are compiled with HIP-CPU's headers
 * (github.com/ROCm/HIP-CPU) and run by them, so that a test can compare the two; memory, streams and events are those
 * of backends/simt there, too. HIP-CPU's own streams are emptied by a thread that never sleeps; they leak for each
 * stream and thread, and may stand still for ever when one waits for another's event.
 */
#ifndef FLYNN_HIP_GPU_EMULATION_H
#define FLYNN_HIP_GPU_EMULATION_H

#if defined(GPU_EMULATION_HIP_CPU)
#include "../../simt/runtime.hpp"

#include <hip/hip_runtime.h>

/* HIP-CPU would have gcc make vector versions of every kernel and device function. */
#undef __global__
#define __global__
#undef __device__
#define __device__

#define GPU_DYNAMIC_SHARED(name) HIP_DYNAMIC_SHARED(unsigned char, name)
constexpr const char *gpu_runtime = "HIP-CPU";

/* One type for all kernels: HIP-CPU's templates for a kernel's own types take half a second to compile. */
inline void gpu_run_blocks(dim3 grid, dim3 block, size_t shared, void (*run)(const void *), const void *call)
{
    const hip::detail::Tiled_domain domain(block, grid, (uint32_t)shared, [=] { run(call); });
    for_each_tile(domain, run, std::tuple<const void *>(call));
}

template <typename... Parameters, typename... Arguments>
simt::error gpu_emulate(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, Arguments... arguments)
{
    struct call {
        void (*kernel)(Parameters...);
        std::tuple<Parameters...> arguments;
    } called = {kernel, std::tuple<Parameters...>(arguments...)};
    if ((uint64_t)grid.x * grid.y * grid.z > INT32_MAX) /* HIP-CPU counts blocks in 32 bits */
        return simt::error::too_many_blocks;
    const auto run = [](const void *at) {
        const call &c = *static_cast<const call *>(at);
        std::apply(c.kernel, c.arguments);
    };
    gpu_run_blocks(grid, block, shared, run, &called);
    return simt::error::success;
}

#else
#include "../../simt/kernel.hpp"

#define GPU_DYNAMIC_SHARED(name) unsigned char *const name = simt::here.shared
constexpr const char *gpu_runtime = "emulation";

template <typename... Parameters, typename... Arguments>
simt::error gpu_emulate(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, Arguments... arguments)
{
    return simt::launch_kernel(kernel, grid, block, shared, arguments...);
}
#endif

template <typename... Ignored>
inline simt::error gpu_done(const Ignored &...)
{
    return simt::error::success;
}

/* Sets *number to 0, or to the one device's number. */
template <typename... Ignored>
inline simt::error gpu_number(int *number, const Ignored &...)
{
    *number = 0;
    return simt::error::success;
}

inline simt::error gpu_count(int *count)
{
    *count = 1;
    return simt::error::success;
}

using gpu_stream = simt::stream *;
using gpu_event = simt::event *;

inline simt::error gpu_stream_create(gpu_stream *created, int)
{
    *created = nullptr;
    return simt::error::success;
}

inline simt::error gpu_event_record(gpu_event event, gpu_stream)
{
    return simt::event_record(event);
}

inline simt::error gpu_allocate_host(void **memory, size_t bytes, int)
{
    return simt::allocate(memory, bytes);
}

inline simt::error gpu_copy(void *to, const void *from, size_t bytes, int, gpu_stream)
{
    return simt::copy(to, bytes, from, bytes, bytes, 1);
}

inline simt::error gpu_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                 size_t rows, int, gpu_stream)
{
    return simt::copy(to, to_pitch, from, from_pitch, width, rows);
}

#define hipDeviceProp_t simt::properties
#define hipDeviceSynchronize gpu_done
#define hipDriverGetVersion gpu_number
#define hipErrorInsufficientDriver simt::error::insufficient_driver
#define hipErrorNoDevice simt::error::no_device
#define hipErrorOutOfMemory simt::error::out_of_memory
#define hipError_t simt::error
#define hipEventCreate simt::event_create
#define hipEventDestroy simt::event_destroy
#define hipEventElapsedTime simt::event_elapsed
#define hipEventRecord gpu_event_record
#define hipEventSynchronize gpu_done
#define hipEvent_t gpu_event
#define hipFree simt::release
#define hipFuncAttributeMaxDynamicSharedMemorySize 0
#define hipFuncSetAttribute gpu_done
#define hipGetDevice gpu_number
#define hipGetDeviceCount gpu_count
#define hipGetDeviceProperties simt::get_properties
#define hipGetErrorName simt::error_name
#define hipGetErrorString simt::error_text
#define hipGetLastError gpu_done
#define hipHostFree simt::release
#define hipHostMalloc gpu_allocate_host
#define hipHostMallocDefault 0
#define hipMalloc simt::allocate
#define hipMemcpy2DAsync gpu_copy_rows
#define hipMemcpyAsync gpu_copy
#define hipMemcpyDeviceToDevice 2
#define hipMemcpyDeviceToHost 1
#define hipMemcpyHostToDevice 0
#define hipMemcpyKind int
#define hipRuntimeGetVersion gpu_number
#define hipSetDevice gpu_done
#define hipStreamCreateWithFlags gpu_stream_create
#define hipStreamDestroy gpu_done
#define hipStreamNonBlocking 0
#define hipStreamSynchronize gpu_done
#define hipStreamWaitEvent gpu_done
#define hipStream_t gpu_stream
#define hipSuccess simt::error::success

constexpr int gpu_dlpack_type = 1, gpu_dlpack_pinned_type = 1; /* kDLCPU: the emulation's memory */
constexpr const char *gpu_vendor = "emulated";
constexpr const char *gpu_device_file = "/";
constexpr const char *gpu_permission_cure = "";
constexpr const char *gpu_architecture_option = "";
constexpr size_t gpu_architecture_prefix = 0;

/* The emulation has no version of its own. */
static inline void gpu_version(int, char *text, size_t)
{
    text[0] = '\0';
}

static inline void gpu_architecture(const hipDeviceProp_t &, char *text, size_t size)
{
    std::snprintf(text, size, "emulated");
}

static inline bool gpu_fits(const char *, const hipDeviceProp_t &)
{
    return true;
}

/* Fibers run one after the other: a warp is one thread. */
static inline uint64_t gpu_ballot(uint64_t, bool vote)
{
    return vote;
}

static inline uint32_t gpu_broadcast(uint64_t, uint32_t value)
{
    return value;
}

static inline void gpu_fence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* blocks run on several cores */
}

static inline int gpu_lanes()
{
    return 1;
}

static inline int gpu_lanes_of(const hipDeviceProp_t &)
{
    return 1;
}

static inline float gpu_reciprocal(float x)
{
    return 1 / x;
}

#endif
