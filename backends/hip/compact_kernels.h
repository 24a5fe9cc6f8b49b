/* SPDX-License-Identifier: MIT
 *
 * compact_kernels.h - stores the selected elements of an array in their order: for `select`, and for `primes` when it
 * is known which numbers are prime. Two kernels: each block counts what it keeps in its part of the input; then each
 * adds up the counts of the blocks before it, which is where its own elements go, and stores them there (Blelloch,
 * "Prefix sums and their applications", 1990; within a warp by votes: Harris and Garland, "Optimizing parallel prefix
 * operations for the Fermi architecture", GPU Computing Gems Jade, 2011).
 *
 * What is kept comes from a `Source`: its type `value`, and get(i, &value), which says whether the i-th is kept.
 */
#ifndef FLYNN_HIP_COMPACT_KERNELS_H
#define FLYNN_HIP_COMPACT_KERNELS_H

#include "device.hpp"

/* ---------------------------------------------------------------------------------------- threads of a block ---- */

/* A thread's linear index in its block. */
struct block_place {
    int threads, thread; /* of the block */
    int warps, warp;
    int lanes, lane;   /* of a whole warp */
    int here;          /* lanes of this warp: the block's last one may have fewer */
    uint64_t together; /* those, bit by bit */

    __device__ block_place()
        : threads((int)(blockDim.x * blockDim.y * blockDim.z)),
          thread((int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))), lanes(gpu_lanes())
    {
        warps = (threads + lanes - 1) / lanes;
        warp = thread / lanes;
        lane = thread % lanes;
        here = threads - warp * lanes < lanes ? threads - warp * lanes : lanes;
        together = ~UINT64_C(0) >> (64 - here);
    }
};

/* The sum of what all threads bring, for each of them. `sums`: shared, one a thread; free to use before and after. */
__device__ inline int64_t block_sum(const block_place &p, int64_t mine, int64_t *sums)
{
    sums[p.thread] = mine;
    __syncthreads();
    for (int active = p.threads; active > 1;) {
        const int half = (active + 1) / 2;
        if (p.thread < active - half)
            sums[p.thread] += sums[p.thread + half];
        active = half;
        __syncthreads();
    }
    const int64_t sum = sums[0];
    __syncthreads();
    return sum;
}

/* values[i] = values[0] + ... + values[i - 1]; returns the sum of all. `values` and `sums` (two a thread): shared. The
 * values must be there (a barrier) before the call; they are after it. */
__device__ inline int block_scan(const block_place &p, int *values, int count, int *sums)
{
    const int piece = count <= p.threads ? 1 : (count + p.threads - 1) / p.threads;
    const int used = piece == 1 ? count : (count + piece - 1) / piece;
    const int first = p.thread * piece, end = first + piece < count ? first + piece : count;
    int sum = 0, *from = sums, *to = sums + p.threads;
    for (int i = first; i < end; i++)
        sum += values[i];
    from[p.thread] = sum;
    __syncthreads();
    for (int step = 1; step < used; step *= 2) { /* Hillis and Steele, "Data parallel algorithms", 1986 */
        to[p.thread] = from[p.thread] + (p.thread >= step ? from[p.thread - step] : 0);
        int *const swapped = from;
        from = to;
        to = swapped;
        __syncthreads();
    }
    int running = p.thread > 0 ? from[p.thread - 1] : 0;
    const int total = from[used - 1];
    for (int i = first; i < end; i++) {
        const int value = values[i];
        values[i] = running;
        running += value;
    }
    __syncthreads();
    return total;
}

/* Where the elements of this block go: after those of the blocks before it. */
__device__ inline int64_t block_offset(const block_place &p, const int64_t *counts, int64_t *sums)
{
    int64_t before = 0;
    for (unsigned b = (unsigned)p.thread; b < blockIdx.x; b += (unsigned)p.threads)
        before += counts[b];
    return block_sum(p, before, sums);
}

/* -------------------------------------------------------------------------------------------------- kernels ---- */

constexpr int compact_rounds = 8; /* elements that a thread holds at a time */

/* How the input is divided among blocks. */
struct compact_parts {
    int64_t length, part; /* elements in all, and of a block */
};

/* The bytes of shared memory that a block needs. */
inline int64_t compact_shared(const hip_device *device, int threads)
{
    const int64_t warps = (threads + device->lanes - 1) / device->lanes;
    const int64_t scan = (compact_rounds * warps + 2 * threads) * (int64_t)sizeof(int);
    const int64_t sum = threads * (int64_t)sizeof(int64_t);
    return scan > sum ? scan : sum;
}

template <typename Source>
__global__ __launch_bounds__(1024) void count_kernel(Source source, compact_parts parts, int64_t *counts)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    const int64_t first = blockIdx.x * parts.part;
    const int64_t end = first + parts.part < parts.length ? first + parts.part : parts.length;
    typename Source::value ignored;
    int64_t kept = 0;
    for (int64_t tile = first + p.thread; tile < end; tile += (int64_t)compact_rounds * p.threads) {
        GPU_UNROLL
        for (int r = 0; r < compact_rounds; r++) /* this many loads in flight */
            kept += tile + r * p.threads < end && source.get(tile + r * p.threads, &ignored);
    }
    kept = block_sum(p, kept, reinterpret_cast<int64_t *>(bytes));
    if (p.thread == 0)
        counts[blockIdx.x] = kept;
}

/* out[*base], out[*base + 1] ... = the selected elements (base NULL: 0), and *end = the index after the last. In each
 * round a warp takes as many neighbours as it has lanes: the votes of the lower lanes give the position of an element
 * within the warp, and a scan over rounds and warps gives the position of the warp's elements. */
template <typename Source>
__global__ __launch_bounds__(1024) void compact_kernel(Source source, compact_parts parts, const int64_t *counts,
                                                       const int64_t *base, typename Source::value *out, int64_t *end)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    int *kept_by = reinterpret_cast<int *>(bytes), *sums = kept_by + compact_rounds * p.warps;
    int64_t to = (base ? *base : 0) + block_offset(p, counts, reinterpret_cast<int64_t *>(bytes));
    if (p.thread == 0 && blockIdx.x == gridDim.x - 1)
        *end = to + counts[blockIdx.x];
    const int64_t first = blockIdx.x * parts.part;
    const int64_t last = first + parts.part < parts.length ? first + parts.part : parts.length;
    for (int64_t tile = first; tile < last; tile += (int64_t)compact_rounds * p.threads) {
        typename Source::value value[compact_rounds];
        bool keep[compact_rounds];
        int below[compact_rounds];
        GPU_UNROLL
        for (int r = 0; r < compact_rounds; r++) {
            const int64_t i = tile + r * p.threads + p.thread;
            keep[r] = i < last && source.get(i, &value[r]);
        }
        GPU_UNROLL
        for (int r = 0; r < compact_rounds; r++) {
            const uint64_t votes = gpu_ballot(p.together, keep[r]);
            below[r] = (int)__popcll(votes & ((UINT64_C(1) << p.lane) - 1));
            if (p.lane == 0)
                kept_by[r * p.warps + p.warp] = (int)__popcll(votes);
        }
        __syncthreads();
        const int total = block_scan(p, kept_by, compact_rounds * p.warps, sums);
        GPU_UNROLL
        for (int r = 0; r < compact_rounds; r++)
            if (keep[r])
                out[to + kept_by[r * p.warps + p.warp] + below[r]] = value[r];
        to += total;
        __syncthreads(); /* the next tile's counts */
    }
}

/* By one block: *end = *base (NULL: 0) + `more` + the sum of the counts of `blocks` blocks. */
static __global__ __launch_bounds__(1024) void sum_counts_kernel(const int64_t *counts, int64_t blocks,
                                                                 const int64_t *base, int64_t more, int64_t *end)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    int64_t sum = 0;
    for (int64_t b = p.thread; b < blocks; b += p.threads)
        sum += counts[b];
    sum = block_sum(p, sum, reinterpret_cast<int64_t *>(bytes));
    if (p.thread == 0)
        *end = (base ? *base : 0) + more + sum;
}

/* ------------------------------------------------------------------------------------------------ launching ---- */

constexpr int64_t compact_most_blocks = 2048; /* each adds up the counts of those before it */

inline int64_t compact_grid(int threads, int64_t length)
{
    const int64_t tile = (int64_t)compact_rounds * threads, tiles = (length + tile - 1) / tile;
    return tiles < compact_most_blocks ? tiles : compact_most_blocks;
}

/* Queues sum_counts_kernel in one block of as many threads. */
inline fl_status sum_counts(const fl_context *context, dim3 block, const int64_t *counts, int64_t blocks,
                            const int64_t *base, int64_t more, int64_t *end)
{
    return hip_queue(context, sum_counts_kernel, dim3(1), block, block.x * block.y * block.z * sizeof(int64_t), counts,
                     blocks, base, more, end);
}

/* Queues both kernels; `out` NULL: the elements are only counted. counts: device memory for compact_most_blocks. */
template <typename Source>
fl_status compact(const fl_context *context, dim3 block, const Source &source, int64_t length, int64_t *counts,
                  const int64_t *base, typename Source::value *out, int64_t *end)
{
    const int threads = (int)(block.x * block.y * block.z);
    const int64_t tile = (int64_t)compact_rounds * threads, tiles = (length + tile - 1) / tile;
    const int64_t each = (tiles + compact_most_blocks - 1) / compact_most_blocks;
    const compact_parts parts = {length, each * tile};
    const dim3 grid((unsigned)((tiles + each - 1) / each));
    const size_t shared = (size_t)compact_shared(hip_device_of(context), threads);
    const fl_status status = hip_queue(context, count_kernel<Source>, grid, block, shared, source, parts, counts);
    if (status != FL_OK)
        return status;
    if (!out)
        return sum_counts(context, block, counts, grid.x, base, 0, end);
    return hip_queue(context, compact_kernel<Source>, grid, block, shared, source, parts,
                     static_cast<const int64_t *>(counts), base, out, end);
}

#endif
