/* SPDX-License-Identifier: MIT
 *
 * primes_kernels.h - which numbers are prime, on a GPU. primes.hip.cpp chooses among these kernels.
 */
#ifndef FLYNN_HIP_PRIMES_KERNELS_H
#define FLYNN_HIP_PRIMES_KERNELS_H

#include "compact_kernels.h"

enum class division { to_half, to_root };

/* The last number that n is divided by. The root of n < 2^31 is exact in a double. */
__device__ inline uint32_t last_divisor(division how, uint32_t n)
{
    return how == division::to_half ? n / 2 : (uint32_t)sqrt((double)n);
}

/* ------------------------------------------------------------------------------------------ one number a launch ----
 */

/* The course's kernel: one thread divides one number, until a division leaves nothing. */
__global__ void decide_one_kernel(division how, uint32_t n, uint32_t *is_prime)
{
    const uint32_t last = last_divisor(how, n);
    uint32_t prime = 1;
    for (uint32_t j = 2; j <= last && prime; j++)
        prime = n % j != 0;
    *is_prime = prime;
}

/* ------------------------------------------------------------------------------------------ all numbers at once ----
 */

constexpr uint32_t most_by_reciprocal = 1u << 21;

/* Returns whether j divides n, by a multiplication. Below most_by_reciprocal the product is less than 1/2 off the
 * quotient (n / j < 2^20, of which the reciprocal, the product and the sum are 4 units of 2^-24 wrong at most), so
 * that, where j divides n, the nearest integer is the quotient; where it does not, no integer leaves a rest of 0. All
 * integers here are below 2^24 and so exact. Adding and taking away 1.5 * 2^23 rounds to an integer. */
__device__ inline bool divides(float j, float n)
{
    const float round = 12582912.0f;
    const float quotient = n * gpu_reciprocal(j) + round - round;
    return n - quotient * j == 0;
}

/* The numbers that a lane tries for n, its warp all of 2 to `last`. */
struct by_reciprocal {
    float n;
    __device__ explicit by_reciprocal(uint32_t number) : n((float)number)
    {
    }
    __device__ bool operator()(uint32_t j) const
    {
        return divides((float)j, n);
    }
};

struct by_remainder {
    uint32_t n;
    __device__ explicit by_remainder(uint32_t number) : n(number)
    {
    }
    __device__ bool operator()(uint32_t j) const
    {
        return n % j == 0;
    }
};

/* Returns whether any of 2 to `last` divides n: each lane of a warp tries every lanes-th, and after a few of them the
 * warp looks whether one did. */
template <typename Test>
__device__ inline bool warp_finds_divisor(const block_place &p, uint32_t n, uint32_t last)
{
    constexpr int tries = 8;
    const Test test(n);
    const uint32_t lanes = (uint32_t)p.here;
    uint32_t first = 2;
    for (; first + tries * lanes - 1 <= last; first += tries * lanes) {
        bool found = false;
        GPU_UNROLL
        for (int t = 0; t < tries; t++)
            found |= test(first + (uint32_t)p.lane + t * lanes);
        if (gpu_ballot(p.together, found) != 0)
            return true;
    }
    for (; first <= last; first += lanes) {
        const uint32_t j = first + (uint32_t)p.lane;
        if (gpu_ballot(p.together, j <= last && test(j)) != 0)
            return true;
    }
    return false;
}

__global__ void reset_kernel(unsigned *ticket)
{
    *ticket = 0;
}

constexpr unsigned numbers_per_ticket = 8;

/* flag[i] = whether first + i is prime, for i < count. Some numbers take a thousand times as long as others: each warp
 * takes the next few as soon as it is done with the last, from the largest down. *ticket must be 0. */
__global__ __launch_bounds__(1024) void decide_kernel(division how, uint32_t first, uint32_t count, uint8_t *flag,
                                                      unsigned *ticket)
{
    const block_place p;
    for (;;) {
        unsigned taken = 0;
        if (p.lane == 0)
            taken = atomicAdd(ticket, numbers_per_ticket);
        taken = gpu_broadcast(p.together, taken);
        if (taken >= count)
            return;
        for (unsigned t = taken; t < count && t < taken + numbers_per_ticket; t++) {
            const uint32_t i = count - 1 - t, n = first + i, last = last_divisor(how, n);
            const bool found = n < most_by_reciprocal ? warp_finds_divisor<by_reciprocal>(p, n, last)
                                                      : warp_finds_divisor<by_remainder>(p, n, last);
            if (p.lane == 0)
                flag[i] = !found;
        }
    }
}

/* The source of compact(): the numbers whose flag is set. */
struct flagged_numbers {
    using value = int64_t;
    const uint8_t *flag;
    int64_t first;

    __device__ bool get(int64_t i, int64_t *number) const
    {
        *number = first + i;
        return flag[i] != 0;
    }
};

/* ---------------------------------------------------------------------------------------------------- sieve ---- */

/* Flag i is that of the odd number 2 i + 1. A block sieves a segment of them in shared memory, a byte a flag, and
 * leaves them as bits, or only their number. */
constexpr int segment_flags = 1 << 15, segment_words = segment_flags / 32;

/* Segments to sieve: those from `first` on, of `flags` flags in all, by the `*base_count` primes of `base`, ascending,
 * of which the first, 2, is not needed. */
struct sieve_task {
    int64_t flags, first; /* first: a flag */
    const int64_t *base, *base_count;
};

/* The first flag of the segment at `begin` that is one of an odd multiple of `prime`, its square or beyond; counted
 * from `begin`. */
__device__ inline int64_t first_strike(int64_t begin, int64_t prime)
{
    const int64_t square = prime * prime / 2, past = begin - square;
    if (past <= 0)
        return -past;
    const uint32_t over = past <= UINT32_MAX ? (uint32_t)past % (uint32_t)prime : (uint32_t)(past % prime);
    return over == 0 ? 0 : prime - over;
}

/* Strikes every `step`-th multiple of `prime`, from the `from`-th on. */
__device__ inline void strike(uint8_t *flag, int64_t begin, int64_t prime, int from, int step)
{
    const int64_t first = first_strike(begin, prime);
    if (first >= segment_flags)
        return;
    const int apart = step * (int)prime;
    for (int m = (int)first + from * (int)prime; m < segment_flags; m += apart)
        flag[m] = 0;
}

/* Four bytes, 0 or 1, as four bits. */
__device__ inline uint32_t four_bits(uint32_t bytes)
{
    return bytes * 0x10204080u >> 28;
}

__global__ __launch_bounds__(1024) void sieve_kernel(sieve_task task, uint32_t *bits, int64_t *counts)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    uint8_t *flag = bytes;
    uint32_t *fours = reinterpret_cast<uint32_t *>(bytes);
    const int64_t begin = task.first + (int64_t)blockIdx.x * segment_flags, length = task.flags - begin;
    for (int w = p.thread; w < segment_flags / 4; w += p.threads)
        fours[w] = 0x01010101u;
    __syncthreads();
    /* Each warp strikes the multiples of one small prime, each thread those of one of the other primes. What is struck
     * twice, by any two threads, is 0 all the same. */
    const int64_t count = *task.base_count, dense = segment_flags / p.lanes;
    for (int64_t b = 1 + p.warp; b < count && task.base[b] <= dense; b += p.warps)
        strike(flag, begin, task.base[b], p.lane, p.here);
    for (int64_t b = 1 + p.thread; b < count; b += p.threads)
        if (task.base[b] > dense)
            strike(flag, begin, task.base[b], 0, 1);
    __syncthreads();
    if (begin == 0 && p.thread == 0)
        flag[0] = 0; /* 1 */
    for (int64_t i = length + p.thread; i < segment_flags; i += p.threads)
        flag[i] = 0;
    __syncthreads();
    int64_t primes = 0;
    for (int w = p.thread; w < segment_words; w += p.threads) {
        uint32_t word = 0;
        GPU_UNROLL
        for (int k = 0; k < 8; k++)
            word |= four_bits(fours[8 * w + k]) << 4 * k;
        if (bits)
            bits[(int64_t)blockIdx.x * segment_words + w] = word;
        primes += (int64_t)__popc(word);
    }
    __syncthreads();
    primes = block_sum(p, primes, reinterpret_cast<int64_t *>(bytes));
    if (p.thread == 0)
        counts[blockIdx.x] = primes;
}

/* Writes the primes of the segments that sieve_kernel left, from out[*base] on (base NULL: from the first element on,
 * or with_two from the second one, after 2), and to *end where the next would go. */
__global__ __launch_bounds__(1024) void sieve_write_kernel(const uint32_t *bits, const int64_t *counts, int64_t first,
                                                           bool with_two, const int64_t *base, int64_t *out,
                                                           int64_t *end)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    int *kept_by = reinterpret_cast<int *>(bytes), *sums = kept_by + p.threads; /* two a thread */
    int64_t to = (base ? *base : with_two ? 1 : 0) + block_offset(p, counts, reinterpret_cast<int64_t *>(bytes));
    if (p.thread == 0 && blockIdx.x == gridDim.x - 1)
        *end = to + counts[blockIdx.x];
    if (p.thread == 0 && blockIdx.x == 0 && !base && with_two)
        out[0] = 2;
    const int64_t begin = first + (int64_t)blockIdx.x * segment_flags;
    for (int tile = 0; tile < segment_words; tile += p.threads) {
        const int w = tile + p.thread;
        uint32_t word = w < segment_words ? bits[(int64_t)blockIdx.x * segment_words + w] : 0;
        kept_by[p.thread] = (int)__popc(word);
        __syncthreads();
        const int total = block_scan(p, kept_by, p.threads, sums);
        for (int64_t at = to + kept_by[p.thread]; word != 0; at++) {
            const uint32_t lowest = word & (0u - word);
            out[at] = 2 * (begin + 32 * (int64_t)w + (int64_t)__popc(lowest - 1)) + 1;
            word ^= lowest;
        }
        to += total;
        __syncthreads(); /* the next tile's counts */
    }
}

#endif
