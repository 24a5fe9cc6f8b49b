/* SPDX-License-Identifier: MIT
 *
 * histogram_kernels.h - counts how many elements fall into each bin: by atomic additions to global memory, or to one or
 * more histograms in each block's shared memory, which are then added up (Gomez-Luna et al., "An optimized approach to
 * histogram computation on GPU", 2013).
 *
 * Which bin an element falls into is said by `Bins`: the type `value` of an element, and bin(x), negative if x is not
 * counted. shared/histogram_rule.h says why the results are right.
 */
#ifndef FLYNN_HIP_HISTOGRAM_KERNELS_H
#define FLYNN_HIP_HISTOGRAM_KERNELS_H

#include "device.hpp"

#include "../shared/histogram_rule.h"

/* ----------------------------------------------------------------------------------------------------- bins ---- */

__device__ inline double histogram_edge(double lo, double width, double bin)
{
    return lo + gpu_multiply(bin, width);
}

/* `place` plus this is rounded to a whole number, which is in the lowest bits. */
__device__ inline int64_t whole_of(double rounded_and_shifted)
{
    int64_t bits, zero;
    const double rounder = HISTOGRAM_ROUNDER;
    memcpy(&bits, &rounded_and_shifted, sizeof bits);
    memcpy(&zero, &rounder, sizeof zero);
    return bits - zero;
}

constexpr float float_rounder = 0x1.8p23f; /* the same for a float below 2^22 */

__device__ inline int whole_of(float rounded_and_shifted)
{
    int bits, zero;
    const float rounder = float_rounder;
    memcpy(&bits, &rounded_and_shifted, sizeof bits);
    memcpy(&zero, &rounder, sizeof zero);
    return bits - zero;
}

/* Estimates in f64. */
template <typename T>
struct double_bins {
    using value = T;
    histogram_rule rule;

    __device__ int64_t bin(T element) const
    {
        double x = (double)element;
        const int64_t last = rule.bins - 1;
        if (rule.clip) {
            if (x < rule.lo)
                return 0;
            if (x > rule.hi)
                return last;
        }
        if (!(x >= rule.lo && x <= rule.hi)) /* NaN, too */
            return -1;
        if (!rule.nearest)
            return search(x);
        const double place = gpu_multiply(x - rule.lo + rule.shift, rule.scale), shifted = place + HISTOGRAM_ROUNDER;
        const double edge = shifted - HISTOGRAM_ROUNDER, beyond = place - edge;
        const bool below = beyond < rule.tolerance && beyond > -rule.tolerance
                               ? x < histogram_edge(rule.lo, rule.width, edge)
                               : beyond < 0;
        const int64_t found = whole_of(shifted) - (below ? 1 : 0);
        return found < last ? found : last;
    }

    /* The last bin whose edge is not above x. */
    __device__ int64_t search(double x) const
    {
        int64_t low = 0, high = rule.bins - 1;
        while (low < high) {
            const int64_t middle = low + (high - low + 1) / 2;
            if (histogram_edge(rule.lo, rule.width, (double)middle) <= x)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
};

__device__ inline float distance(float x, float from)
{
    return x - from;
}

__device__ inline float distance(int32_t x, int32_t from)
{
    return (float)((uint32_t)x - (uint32_t)from);
}

/* Estimates in f32, for elements of four bytes; the edges stay f64. */
template <typename T>
struct float_bins {
    using value = T;
    T lower, upper; /* the least and the largest element between lo and hi */
    float scale, offset, tolerance;
    int last;
    bool clip;
    double lo, width;

    __device__ int bin(T x) const
    {
        if (clip) {
            x = x < lower ? lower : x;
            x = x > upper ? upper : x;
        }
        if (!(x >= lower && x <= upper)) /* NaN, too */
            return -1;
        const float place = distance(x, lower) * scale + offset, shifted = place + float_rounder;
        const float edge = shifted - float_rounder, beyond = place - edge;
        bool below = beyond < 0;
        if (beyond < tolerance && beyond > -tolerance)
            below = (double)x < histogram_edge(lo, width, (double)edge);
        const int found = whole_of(shifted) - (below ? 1 : 0);
        return found < last ? found : last;
    }
};

/* The 256 values of a byte, each of which is a bin until all are counted. */
struct byte_bins {
    using value = uint8_t;

    __device__ int bin(uint8_t x) const
    {
        return x;
    }
};

/* Where the count of a bin goes, the bin's number itself or the bin of that byte; negative: nowhere. */
struct same_bin {
    __device__ int64_t bin(int64_t counted) const
    {
        return counted;
    }
};

struct bin_of_byte {
    double_bins<uint8_t> bins;

    __device__ int64_t bin(int64_t counted) const
    {
        return bins.bin((uint8_t)counted);
    }
};

/* ---------------------------------------------------------------------------------------------------- naive ---- */

/* A thread's linear index in its block. */
__device__ inline int thread_of_block()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

__device__ inline void add_to(int64_t *counter, uint64_t count)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(counter), (unsigned long long)count);
}

__global__ void clear_kernel(int64_t *out, int64_t bins)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; b < bins; b += step)
        out[b] = 0;
}

template <typename Bins>
__global__ __launch_bounds__(1024) void naive_kernel(Bins bins, const typename Bins::value *in, int64_t length,
                                                     int64_t *out)
{
    const int64_t threads = gpu_block_threads(), step = gridDim.x * threads;
    for (int64_t i = blockIdx.x * threads + thread_of_block(); i < length; i += step) {
        const int64_t bin = (int64_t)bins.bin(in[i]);
        if (bin >= 0)
            add_to(&out[bin], 1);
    }
}

/* ------------------------------------------------------------------------------------------------ replicated ---- */

/* The input of a launch: whole packs of 16 bytes at an address that is a multiple of 16, and what is before and behind
 * them. */
template <typename T>
struct pack_input {
    static constexpr int width = 16 / (int)sizeof(T);
    struct alignas(16) pack {
        T element[width];
    };
    const T *in;
    int64_t length, head, packs;
};

template <typename T>
pack_input<T> pack_input_of(const T *in, int64_t length)
{
    constexpr int64_t width = pack_input<T>::width;
    const int64_t to_aligned = (int64_t)((16 - (uintptr_t)in % 16) % 16 / sizeof(T));
    const int64_t head = to_aligned < length ? to_aligned : length;
    return {in, length, head, (length - head) / width};
}

/* The histograms of a block. Counter c of copy r is at c * copies + r: the copies of a counter are in different banks.
 * `copies` is a power of two. */
struct histogram_copies {
    int counters; /* of a block: of the range of bins that its y says */
    int copies;
    int64_t bins;
    bool clears; /* the launch's only block: it clears `out` first */
};

constexpr int pack_rounds = 4; /* packs that a thread loads before it counts: as many loads in flight */

template <typename Bins, typename Target>
__global__ __launch_bounds__(1024) void histogram_kernel(Bins bins, Target target,
                                                         pack_input<typename Bins::value> input, histogram_copies h,
                                                         int64_t first_range, int64_t *out, int64_t out_bins)
{
    using Input = pack_input<typename Bins::value>;
    GPU_DYNAMIC_SHARED(memory);
    uint32_t *counts = reinterpret_cast<uint32_t *>(memory);
    const int threads = gpu_block_threads();
    const int thread = thread_of_block();
    const int64_t first_counter = (first_range + blockIdx.y) * h.counters;
    if (first_counter >= h.bins)
        return;
    const int counters = h.bins - first_counter < h.counters ? (int)(h.bins - first_counter) : h.counters;

    for (int c = thread; c < counters * h.copies; c += threads)
        counts[c] = 0;
    if (h.clears)
        for (int64_t b = thread; b < out_bins; b += threads)
            out[b] = 0;
    __syncthreads();

    uint32_t *const mine = counts + (thread & (h.copies - 1));
    const auto count = [&](typename Bins::value x) {
        const int64_t place = (int64_t)bins.bin(x) - first_counter;
        if (place >= 0 && place < counters)
            atomicAdd(&mine[place * h.copies], 1u);
    };
    const auto *packs = reinterpret_cast<const typename Input::pack *>(input.in + input.head);
    const int64_t step = (int64_t)gridDim.x * threads * pack_rounds;
    for (int64_t p = (int64_t)blockIdx.x * threads * pack_rounds + thread; p < input.packs; p += step) {
        typename Input::pack loaded[pack_rounds];
        GPU_UNROLL
        for (int r = 0; r < pack_rounds; r++)
            if (p + r * threads < input.packs)
                loaded[r] = packs[p + r * threads];
        GPU_UNROLL
        for (int r = 0; r < pack_rounds; r++)
            if (p + r * threads < input.packs) {
                GPU_UNROLL
                for (int e = 0; e < Input::width; e++)
                    count(loaded[r].element[e]);
            }
    }
    const int64_t tail = input.head + input.packs * Input::width, rest = input.length - (tail - input.head);
    for (int64_t i = (int64_t)blockIdx.x * threads + thread; i < rest; i += (int64_t)gridDim.x * threads)
        count(input.in[i < input.head ? i : tail + i - input.head]);
    __syncthreads();

    for (int c = thread; c < counters; c += threads) {
        uint32_t sum = 0;
        for (int r = 0; r < h.copies; r++) /* each thread begins with another copy: in another bank */
            sum += counts[c * h.copies + ((r + thread) & (h.copies - 1))];
        const int64_t bin = sum > 0 ? target.bin(first_counter + c) : -1;
        if (bin >= 0)
            add_to(&out[bin], sum);
    }
}

#endif
