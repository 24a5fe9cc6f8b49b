/* SPDX-License-Identifier: MIT
 *
 * histogram_kernels.h - counts how many elements fall into each bin: by atomic additions to global memory, or to one or
 * more histograms in each block's shared memory, which are then added up (Gomez-Luna et al., "An optimized approach to
 * histogram computation on GPU", 2013).
 *
 * Which bin an element falls into is said by `Bins`: the type `value` of an element, and bin(x), which as an unsigned
 * number is beyond the last bin if x is not counted. shared/histogram_rule.h says why the results are right.
 */
#ifndef FLYNN_HIP_HISTOGRAM_KERNELS_H
#define FLYNN_HIP_HISTOGRAM_KERNELS_H

#include "device.hpp"

#include "../shared/histogram_rule.h"

#include <type_traits>

/* ----------------------------------------------------------------------------------------------------- bins ---- */

/* The estimate of x's position less 1/2 is rounded to a whole number by adding a large one, in whose lowest bits it is
 * then: the bin, unless the position is so close to an edge that exact() must decide, or x is hi, which integers that
 * are moved away from the edges are not close to. The bits of a float grow with it. So a position before or behind the
 * bins gives a number that is, unsigned, beyond them, and it is not asked first whether x lies between lo and hi. */
template <typename Whole, typename Real>
__device__ inline Whole whole_of(Real shifted, Real rounder)
{
    static_assert(sizeof(Whole) == sizeof(Real), "");
    Whole bits, zero;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&zero, &rounder, sizeof zero);
    return bits - zero;
}

/* The last bin whose edge is not above x. */
__device__ inline int64_t histogram_search(const histogram_rule &rule, double x)
{
    int64_t low = 0, high = rule.bins - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (rule.lo + gpu_multiply((double)middle, rule.width) <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The bin of x, to which edge `nearest` is the nearest one if the rule says that this decides; -1: it is not counted.
 */
__device__ inline int64_t histogram_exact(const histogram_rule &rule, double x, double nearest)
{
    const int64_t last = rule.bins - 1;
    if (!(x >= rule.lo && x <= rule.hi)) /* NaN, too */
        return !rule.clip || x != x ? -1 : x < rule.lo ? 0 : last;
    if (!rule.nearest)
        return histogram_search(rule, x);
    const int64_t found = (int64_t)nearest - (x < rule.lo + gpu_multiply(nearest, rule.width) ? 1 : 0);
    return found < last ? found : last;
}

/* Estimates in f64. */
template <typename T>
struct double_bins {
    using value = T;
    histogram_rule rule;
    double inner; /* an estimate this close to the middle of a bin is right */

    __device__ int64_t bin(T element) const
    {
        double x = (double)element;
        if (rule.clip) { /* NaN stays */
            x = x < rule.lo ? rule.lo : x;
            x = x > rule.hi ? rule.hi : x;
        }
        const double place = gpu_multiply(x - rule.lo + rule.shift, rule.scale) - 0.5;
        const double shifted = place + HISTOGRAM_ROUNDER, below = shifted - HISTOGRAM_ROUNDER, beyond = place - below;
        if (!(fabs(beyond) <= inner) || (std::is_integral<T>::value && x == rule.hi))
            return histogram_exact(rule, (double)element, below + (beyond > 0 ? 1 : 0));
        return whole_of<int64_t, double>(shifted, HISTOGRAM_ROUNDER);
    }
};

__device__ inline float distance(float x, float from)
{
    return x - from;
}

/* Below `from`: more than any other. */
__device__ inline float distance(int32_t x, int32_t from)
{
    return (float)((uint32_t)x - (uint32_t)from);
}

constexpr float float_rounder = 0x1.8p23f; /* for numbers below 2^22 */

/* Estimates in f32, for elements of four bytes. */
template <typename T>
struct float_bins {
    using value = T;
    T lower, upper; /* the least and the largest element between lo and hi */
    float scale, offset, inner;
    int last;
    bool clip;
    double lo, width;

    __device__ int bin(T x) const
    {
        if (clip) { /* NaN stays */
            x = x < lower ? lower : x;
            x = x > upper ? upper : x;
        }
        const float place = distance(x, lower) * scale + offset, shifted = place + float_rounder;
        const float below = shifted - float_rounder, beyond = place - below;
        if (!(fabsf(beyond) <= inner) || (std::is_integral<T>::value && x == upper))
            return exact(x, below + (beyond > 0 ? 1 : 0));
        return whole_of<int, float>(shifted, float_rounder);
    }

    /* As histogram_exact. */
    __device__ int exact(T x, float nearest) const
    {
        if (!(x >= lower && x <= upper)) /* NaN, too */
            return -1;
        const int found = (int)nearest - ((double)x < lo + gpu_multiply((double)nearest, width) ? 1 : 0);
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

/* Where the count of a bin goes, the bin's number itself or the bin of that byte. */
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
                                                     int64_t *out, int64_t out_bins)
{
    const int64_t threads = gpu_block_threads(), step = gridDim.x * threads;
    for (int64_t i = blockIdx.x * threads + thread_of_block(); i < length; i += step) {
        const int64_t bin = bins.bin(in[i]);
        if ((uint64_t)bin < (uint64_t)out_bins)
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
    const auto count = [=](typename Bins::value x) {
        using index = decltype(bins.bin(x));
        const auto place = (typename std::make_unsigned<index>::type)(bins.bin(x) - (index)first_counter);
        if (place < (unsigned)counters)
            atomicAdd(&mine[(int)place * h.copies], 1u);
    };
    const auto count_pack = [&](const typename Input::pack &pack) {
        GPU_UNROLL
        for (int e = 0; e < Input::width; e++)
            count(pack.element[e]);
    };
    const auto *packs = reinterpret_cast<const typename Input::pack *>(input.in + input.head);
    const int64_t here = (int64_t)blockIdx.x * threads + thread, all = (int64_t)gridDim.x * threads;
    const int64_t tile = (int64_t)pack_rounds * threads, tiled = input.packs / tile * tile;
    for (int64_t first = blockIdx.x * tile + thread; first < tiled; first += gridDim.x * tile) {
        typename Input::pack loaded[pack_rounds];
        GPU_UNROLL
        for (int r = 0; r < pack_rounds; r++)
            loaded[r] = packs[first + r * threads];
        GPU_UNROLL
        for (int r = 0; r < pack_rounds; r++)
            count_pack(loaded[r]);
    }
    for (int64_t p = tiled + here; p < input.packs; p += all)
        count_pack(packs[p]);
    const int64_t tail = input.head + input.packs * Input::width, rest = input.length - (tail - input.head);
    for (int64_t i = here; i < rest; i += all)
        count(input.in[i < input.head ? i : tail + i - input.head]);
    __syncthreads();

    for (int c = thread; c < counters; c += threads) {
        uint32_t sum = 0;
        for (int r = 0; r < h.copies; r++) /* each thread begins with another copy: in another bank */
            sum += counts[c * h.copies + ((r + thread) & (h.copies - 1))];
        const int64_t bin = sum > 0 ? target.bin(first_counter + c) : -1;
        if ((uint64_t)bin < (uint64_t)out_bins)
            add_to(&out[bin], sum);
    }
}

#endif
