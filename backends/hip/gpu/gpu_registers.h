/* SPDX-License-Identifier: MIT
 *
 * gpu_registers.h - what keeps a kernel's values in registers, and out of memory, with each vendor's compiler. The test
 * amd-registers reads how many registers each kernel spills on AMD's GPUs.
 */
#ifndef FLYNN_HIP_GPU_REGISTERS_H
#define FLYNN_HIP_GPU_REGISTERS_H

#include "gpu.h"

/* AMD's GPUs of the gfx9 family have 256 vector registers a lane and SIMD, which blocks of 1024 threads share: 64 a
 * thread. From CDNA 2 on (gfx90a) they have twice as many. */
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__) || \
    defined(__gfx9_4_generic__)
#define GPU_AMD_CDNA2
#elif defined(__GFX9__)
#define GPU_FEW_REGISTERS
#endif

/* GPU_UNROLL: before a loop over registers, which have no addresses: it must be unrolled.
 * GPU_NO_UNROLL: before one that is seldom run, or short: a single copy of it takes fewer registers from the rest.
 * GPU_UNROLL_FOR_SPEED, GPU_UNROLL_SOME: before one that is unrolled for speed alone, and one of these whose count the
 * compiler does not know. In the emulation, fibers have 7 KiB of stack. AMD's compiler would have the loads of all
 * rounds before the first round's arithmetic, and spill what they return. */
#if defined(GPU_EMULATION)
#define GPU_UNROLL _Pragma("GCC unroll 16")
#define GPU_NO_UNROLL _Pragma("GCC unroll 1")
#define GPU_UNROLL_FOR_SPEED
#define GPU_UNROLL_SOME _Pragma("GCC unroll 8")
#elif defined(__CUDACC__)
#define GPU_UNROLL _Pragma("unroll")
#define GPU_NO_UNROLL _Pragma("unroll 1")
#define GPU_UNROLL_FOR_SPEED _Pragma("unroll")
#define GPU_UNROLL_SOME _Pragma("unroll 8")
#else
#define GPU_UNROLL _Pragma("unroll")
#define GPU_NO_UNROLL _Pragma("unroll 1")
#define GPU_UNROLL_FOR_SPEED _Pragma("unroll 1")
#if defined(GPU_FEW_REGISTERS)
#define GPU_UNROLL_SOME _Pragma("unroll 1")
#else
#define GPU_UNROLL_SOME _Pragma("unroll 2")
#endif
#endif

/* A GPU of AMD has some 100 scalar registers, in which are a kernel's parameters and, two to each, the conditions of 64
 * lanes; the compiler moves conditions and addresses out of loops until these spill. gpu_forget: what was derived from
 * x before is derived again after it; GPU_FORGET_IF_FEW: where there are few vector registers. gpu_in_vector: numbers
 * that are the same in all threads are in vector registers from here on, and so is what is derived from them.
 * gpu_first: the kernel's first parameter, which takes registers from here on only. gpu_same: x, which is the same in
 * all threads of the block: of two branches one is run, and holds registers. gpu_loops_apart: a condition does not
 * change within a loop, and each of its branches gets a loop of its own. gpu_in_flight<most>: the loads that a thread begins before it uses the first. */
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__CUDACC__)
template <typename T>
__device__ inline void gpu_forget(T &x)
{
    asm volatile("" : "+v"(x));
}
template <typename T>
__device__ inline T gpu_same(T x)
{
    return (T)__builtin_amdgcn_readfirstlane((int)x);
}
constexpr bool gpu_loops_apart = true;
template <int most>
constexpr int gpu_in_flight = 1;
template <typename T>
__device__ inline const T &gpu_first(const T &)
{
    auto arguments = __builtin_amdgcn_kernarg_segment_ptr();
    asm volatile("" : "+s"(arguments));
    return *(const T *)arguments;
}
#else
template <typename T>
__device__ inline void gpu_forget(T &)
{
}
template <typename T>
__device__ inline T gpu_same(T x)
{
    return x;
}
constexpr bool gpu_loops_apart = false;
template <int most>
constexpr int gpu_in_flight = most;
template <typename T>
__device__ inline const T &gpu_first(const T &parameter)
{
    return parameter;
}
#endif

template <typename... T>
__device__ inline void gpu_in_vector(T &...x)
{
    (gpu_forget(x), ...);
}

#if defined(GPU_FEW_REGISTERS)
#define GPU_FORGET_IF_FEW(x) gpu_forget(x)
#else
#define GPU_FORGET_IF_FEW(x) ((void)0)
#endif

/* Copies a struct that is an array `value` of 16 bytes: NVIDIA's compiler makes one instruction of the whole struct,
 * AMD's one of its elements; of the whole it makes copies in memory. */
template <typename Pack>
__device__ inline void gpu_copy(const Pack &from, Pack &to)
{
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__CUDACC__)
    GPU_UNROLL
    for (int v = 0; v < Pack::size; v++)
        to.value[v] = from.value[v];
#else
    to = from;
#endif
}

#endif
