/* SPDX-License-Identifier: MIT
 *
 * gpu_shuffle.h - values that the lanes of a warp give each other, words of memory that blocks give each other, and
 * results that nobody loads soon.
 */
#ifndef FLYNN_HIP_GPU_SHUFFLE_H
#define FLYNN_HIP_GPU_SHUFFLE_H

#include "gpu.h"

#if defined(GPU_EMULATION)
#include <thread>
#endif

/* The value of the lane that is `by` lanes below (of the lowest lanes: undefined), and of the lane `from`. All lanes in
 * `lanes`, bit by bit, must be there. T has 4 or 8 bytes. The emulation's warps have one lane. */
template <typename T>
static __device__ inline T gpu_shuffle_up(uint64_t lanes, T value, int by)
{
#if defined(__CUDACC__)
    return __shfl_up_sync((unsigned)lanes, value, (unsigned)by);
#elif defined(GPU_EMULATION)
    (void)lanes, (void)by;
    return value;
#else
    (void)lanes;
    return __shfl_up(value, (unsigned)by);
#endif
}

template <typename T>
static __device__ inline T gpu_shuffle(uint64_t lanes, T value, int from)
{
#if defined(__CUDACC__)
    return __shfl_sync((unsigned)lanes, value, from);
#elif defined(GPU_EMULATION)
    (void)lanes, (void)from;
    return value;
#else
    (void)lanes;
    return __shfl(value, from);
#endif
}

/* The value of the lane that is `distance` above; what a lane without such a one gets is any value. */
static __device__ inline uint32_t gpu_word_from_above(uint64_t lanes, uint32_t value, int distance)
{
#if defined(__CUDACC__)
    return __shfl_down_sync((unsigned)lanes, value, (unsigned)distance);
#elif defined(GPU_EMULATION)
    (void)lanes, (void)distance;
    return value;
#else
    (void)lanes;
    return __shfl_down(value, (unsigned)distance);
#endif
}

/* As gpu_word_from_above, for a value of any size. */
template <typename T>
__device__ inline T gpu_from_above(uint64_t lanes, T value, int distance)
{
    constexpr int words = (sizeof(T) + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    uint32_t word[words] = {};
    memcpy(word, &value, sizeof value);
    for (int i = 0; i < words; i++)
        word[i] = gpu_word_from_above(lanes, word[i], distance);
    memcpy(&value, word, sizeof value);
    return value;
}

/* A word of global memory that other blocks see, or wrote: all of its 64 bits at once, and past the caches that a
 * multiprocessor has for itself. Nothing is said about other words. */
static __device__ inline void gpu_store_word(uint64_t *to, uint64_t word)
{
#if defined(__CUDACC__)
    *reinterpret_cast<volatile uint64_t *>(to) = word;
#elif defined(GPU_EMULATION)
    __atomic_store_n(to, word, __ATOMIC_RELAXED);
#else
    __hip_atomic_store(to, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}

static __device__ inline uint64_t gpu_load_word(const uint64_t *from)
{
#if defined(__CUDACC__)
    return *reinterpret_cast<const volatile uint64_t *>(from);
#elif defined(GPU_EMULATION)
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#else
    return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}

/* Called in a loop that waits for such a word. In the emulation the block that writes it may wait for this processor.
 */
static __device__ inline void gpu_wait_a_moment()
{
#if defined(GPU_EMULATION)
    std::this_thread::yield();
#endif
}

/* Copies a struct that is an array `value` of 8, or of a multiple of 16, bytes to memory that is not loaded again soon:
 * caches keep other data instead. */
template <typename Pack>
__device__ inline void gpu_store_last(const Pack &from, Pack &to)
{
#if defined(__CUDACC__)
    using word = std::conditional_t<sizeof(Pack) % sizeof(uint4) == 0, uint4, uint2>;
#pragma unroll
    for (size_t w = 0; w < sizeof(Pack) / sizeof(word); w++)
        __stcs(reinterpret_cast<word *>(&to) + w, reinterpret_cast<const word *>(&from)[w]);
#elif defined(__HIP_DEVICE_COMPILE__)
#pragma unroll
    for (int v = 0; v < Pack::size; v++)
        __builtin_nontemporal_store(from.value[v], &to.value[v]);
#else
    to = from;
#endif
}

#endif
