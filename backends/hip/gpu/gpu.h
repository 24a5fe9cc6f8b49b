/* SPDX-License-Identifier: MIT
 *
 * gpu.h - the one file that knows a vendor (the gpu_*.h next to it know vendors' libraries). Everything else in this
 * folder is written in HIP, and means the same with
 *
 *   nvcc      the hip* names that the project uses stand for those of the CUDA runtime;
 *   hipcc     HIP itself;
 *   g++       gpu_emulation.h: backends/simt runs the kernels, or HIP-CPU's headers. A block's threads are fibers,
 * which switch at barriers, and the blocks are spread over the cores.
 *
 * What a kernel must keep to, so that it runs on all three: all threads of a block reach the same barriers; shared
 * memory is the dynamic one, by GPU_DYNAMIC_SHARED; launches go through gpu_launch.
 */
#ifndef FLYNN_HIP_GPU_H
#define FLYNN_HIP_GPU_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

/* The architectures that this was compiled for, separated by blanks: from the build. */
#ifndef FLYNN_GPU_ARCHITECTURES
#define FLYNN_GPU_ARCHITECTURES ""
#endif

/* ---------------------------------------------------------------------------------------------------- NVIDIA ---- */

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDriverGetVersion cudaDriverGetVersion
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipError_t cudaError_t
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributes cudaFuncAttributes
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGetDevice cudaGetDevice
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphInstantiateWithFlags cudaGraphInstantiateWithFlags
#define hipGraphLaunch cudaGraphLaunch
#define hipGraph_t cudaGraph_t
#define hipHostFree cudaFreeHost
#define hipHostMalloc cudaHostAlloc
#define hipHostMallocDefault cudaHostAllocDefault
#define hipLaunchKernel cudaLaunchKernel
#define hipMalloc cudaMalloc
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyKind cudaMemcpyKind
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipSetDevice cudaSetDevice
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess

constexpr int gpu_dlpack_type = 2, gpu_dlpack_pinned_type = 3; /* kDLCUDA, kDLCUDAHost */
constexpr const char *gpu_vendor = "NVIDIA";
constexpr const char *gpu_runtime = "CUDA";
constexpr const char *gpu_device_file = "/dev/nvidiactl";
constexpr const char *gpu_permission_cure = "get access to /dev/nvidia* (in a container: start it with GPU access)";
constexpr const char *gpu_architecture_option = "FLYNN_CUDA_ARCHITECTURES";
constexpr size_t gpu_architecture_prefix = 3; /* letters of "sm_90" that the option's value goes without */
constexpr int64_t gpu_max_grid_threads = 0;   /* threads of a launch in a dimension; 0: no limit */

/* "13.0" */
static inline void gpu_version(int version, char *text, size_t size)
{
    std::snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

/* "sm_90" */
static inline void gpu_architecture(const hipDeviceProp_t &device, char *text, size_t size)
{
    std::snprintf(text, size, "sm_%d%d", device.major, device.minor);
}

/* Code for an older GPU runs on a newer one (the driver compiles it); code named "-real" only within the major version;
 * a word like "native" is left to the canary kernel. */
static inline bool gpu_fits(const char *built_for, const hipDeviceProp_t &device)
{
    char *suffix;
    const long built = std::strtol(built_for, &suffix, 10);
    if (suffix == built_for)
        return true;
    if (std::strncmp(suffix, "-real", 5) == 0 && built / 10 != device.major)
        return false;
    return built <= device.major * 10 + device.minor;
}

/* The most shared memory that a kernel can have after asking for it. */
static inline size_t gpu_max_shared(const hipDeviceProp_t &device)
{
    return device.sharedMemPerBlockOptin;
}

/* Exchanges between the threads of a warp, its lanes; all those in `lanes`, bit by bit, must be there. They return the
 * bits of those that vote yes; the first lane's value. */
static __device__ inline uint64_t gpu_ballot(uint64_t lanes, bool vote)
{
    return __ballot_sync((unsigned)lanes, vote);
}

static __device__ inline uint32_t gpu_broadcast(uint64_t lanes, uint32_t value)
{
    return __shfl_sync((unsigned)lanes, value, 0);
}

/* 1 / x, to within two units in the last place. */
static __device__ inline float gpu_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ------------------------------------------------------------------------------------------------------- AMD ---- */

#elif !defined(GPU_EMULATION)
#include "amd_target.h"

#include <hip/hip_runtime.h>

/* "5.2" */
static inline void gpu_version(int version, char *text, size_t size)
{
    std::snprintf(text, size, "%d.%d", version / 10000000, version / 100000 % 100);
}

/* Newer HIP deprecates hipHostMalloc and hipHostFree for names that older ones lack. */
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

constexpr int gpu_dlpack_type = 10, gpu_dlpack_pinned_type = 11; /* kDLROCM, kDLROCMHost */
constexpr const char *gpu_vendor = "AMD";
constexpr const char *gpu_runtime = "HIP";
constexpr const char *gpu_device_file = "/dev/kfd";
constexpr const char *gpu_permission_cure = "add this user to the group that owns /dev/kfd (render or video)";
constexpr const char *gpu_architecture_option = "FLYNN_AMD_ARCHITECTURES";
constexpr size_t gpu_architecture_prefix = 0;

/* "gfx90a:sramecc+:xnack-": features follow a colon. */
static inline void gpu_architecture(const hipDeviceProp_t &device, char *text, size_t size)
{
    std::snprintf(text, size, "%s", device.gcnArchName);
}

static inline bool gpu_fits(const char *built_for, const hipDeviceProp_t &device)
{
    return amd_target_fits(built_for, device.gcnArchName);
}

static __device__ inline uint64_t gpu_ballot(uint64_t, bool vote)
{
    return __ballot(vote);
}

static __device__ inline uint32_t gpu_broadcast(uint64_t, uint32_t value)
{
    return (uint32_t)__shfl((int)value, 0);
}

static __device__ inline float gpu_reciprocal(float x)
{
    return __builtin_amdgcn_rcpf(x);
}

#else
#include "gpu_emulation.h"
#endif

#if !defined(__CUDACC__)
/* HIP refuses a launch of 2^32 threads or more, of all blocks, in one dimension. Tests are compiled with less, so that
 * small arrays are beyond it. */
#ifndef FLYNN_GPU_GRID_THREADS
#define FLYNN_GPU_GRID_THREADS UINT32_MAX
#endif
constexpr int64_t gpu_max_grid_threads = FLYNN_GPU_GRID_THREADS;

static inline size_t gpu_max_shared(const hipDeviceProp_t &device)
{
    return device.sharedMemPerBlock;
}
#endif

#if !defined(GPU_EMULATION)
/* What this thread has stored before is seen by every thread that sees what it stores after, and the reverse. */
static __device__ inline void gpu_fence()
{
    __threadfence();
}

static __device__ inline int gpu_lanes()
{
    return warpSize;
}

static inline int gpu_lanes_of(const hipDeviceProp_t &device)
{
    return device.warpSize;
}
#endif

/* ------------------------------------------------------------------------------------------------- for kernels ---- */

/* `name`: the block's dynamic shared memory, aligned to 16 bytes. */
#if !defined(GPU_EMULATION)
#define GPU_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

/* A kernel for blocks of at most `threads`, `blocks` of which should fit into a multiprocessor's registers, or fewer
 * where it does not hold so many threads: ptxas refuses them. Clang's second number means something else and causes
 * spills; without it clang chooses well. */
#if defined(__CUDACC__)
/* Threads of a multiprocessor by compute capability (CUDA C++ Programming Guide, "Technical Specifications"). */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
#define GPU_RESIDENT_THREADS 2048
#elif __CUDA_ARCH__ == 750
#define GPU_RESIDENT_THREADS 1024
#else
#define GPU_RESIDENT_THREADS 1536
#endif
#define GPU_LAUNCH_BOUNDS(threads, blocks) \
    __launch_bounds__(threads, \
                      (threads) * (blocks) <= GPU_RESIDENT_THREADS ? (blocks) : GPU_RESIDENT_THREADS / (threads))
#else
#define GPU_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads)
#endif

/* The threads of a block. AMD's compilers must not look through the product: those of clang 16 and 17 (hipcc 5.5
 * to 5.7) unroll a loop with such a stride, take the parity of its count from the factors' lowest bits, and then have
 * no instruction for a product of bits (llvm-project issue 67574). */
__device__ inline int gpu_block_threads()
{
    const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
#if defined(__AMDGCN__)
    return __builtin_amdgcn_readfirstlane(threads);
#else
    return threads;
#endif
}

/* The rounded product: one that is not made a multiply-add with what it is added to. (The emulation is compiled without
 * such.) */
#if defined(__CUDACC__)
__device__ inline float gpu_multiply(float a, float b)
{
    return __fmul_rn(a, b);
}
__device__ inline double gpu_multiply(double a, double b)
{
    return __dmul_rn(a, b);
}
#else
template <typename T>
__device__ inline T gpu_multiply(T a, T b)
{
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
    return a * b;
}
#endif

/* Makes the device current for this thread; asking first takes half the time of setting it again. */
static inline hipError_t gpu_select(int number)
{
    int current;
    return hipGetDevice(&current) == hipSuccess && current == number ? hipSuccess : hipSetDevice(number);
}

/* The resources of a multiprocessor that a kernel uses. */
struct gpu_kernel_use {
    int registers;       /* of a thread; 0: not known */
    size_t local_bytes;  /* of a thread */
    size_t shared_bytes; /* of a block, declared by the kernel */
    int resident_blocks; /* of that many threads and bytes of dynamic shared memory, on a multiprocessor */
};

static inline hipError_t gpu_use_of(const void *kernel, int threads, size_t shared, gpu_kernel_use *use)
{
#if defined(GPU_EMULATION)
    (void)kernel, (void)threads, (void)shared, (void)use; /* there is nothing to count */
    return hipSuccess;
#else
    hipFuncAttributes attributes;
    const hipError_t error = hipFuncGetAttributes(&attributes, kernel);
    if (error != hipSuccess)
        return error;
    use->registers = attributes.numRegs;
    use->local_bytes = attributes.localSizeBytes;
    use->shared_bytes = attributes.sharedSizeBytes;
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(&use->resident_blocks, kernel, threads, shared);
#endif
}

/* Queues kernel(arguments...) with `shared` bytes of dynamic shared memory; a block has `usual` without asking. */
template <typename... Parameters, typename... Arguments>
static inline hipError_t gpu_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, size_t usual,
                                    hipStream_t stream, const Arguments &...arguments)
{
    if (shared > usual) {
        const hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                     hipFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != hipSuccess)
            return error;
    }
#if defined(GPU_EMULATION)
    (void)stream;
    return gpu_emulate(kernel, grid, block, shared, arguments...);
#else
    /* One call does what kernel<<<...>>>(...) and hipGetLastError do: a launch is so short that this counts. */
    std::tuple<Parameters...> all(static_cast<Parameters>(arguments)...);
    return std::apply(
        [&](auto &...each) {
            void *pointers[] = {static_cast<void *>(&each)...};
            return hipLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, pointers, shared, stream);
        },
        all);
#endif
}

#endif
