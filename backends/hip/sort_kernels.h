/* SPDX-License-Identifier: MIT
 *
 * sort_kernels.h - the kernels of sort.hip.cpp. Elements are sorted by their bits, U being uint32_t or uint64_t, in
 * blocks of any shape and size.
 */
#ifndef FLYNN_HIP_SORT_KERNELS_H
#define FLYNN_HIP_SORT_KERNELS_H

#include "gpu/gpu_registers.h"

namespace
{

/* How bits become keys, unsigned numbers in the order of the elements:
 *     key = (bits ^ top bit, and of negative elements ^ flip) - bias
 * Integers are in two's complement: only the top bit is wrong. Floating-point numbers are sign and magnitude: of
 * negative ones all bits are turned around (Herf, "Radix tricks", 2001). NaN with a sign would then come first; less
 * their number, the keys wrap around and these are the last. Nothing of an element is lost on the way there and back,
 * so that the payload of a NaN survives. */
template <typename U>
struct order {
    U flip, bias;
};

template <typename U>
constexpr U top = (U)1 << (8 * sizeof(U) - 1);

/* flip for negative elements, else 0. */
template <typename U>
__device__ inline U flip_of(U bits, const order<U> &o)
{
    return ((U)0 - (bits >> (8 * sizeof(U) - 1))) & o.flip;
}

template <typename U>
__device__ inline U key_of(U bits, const order<U> &o)
{
    return (bits ^ top<U> ^ flip_of(bits, o)) - o.bias;
}

template <typename U>
__device__ inline U bits_of(U key, const order<U> &o)
{
    const U bits = (key + o.bias) ^ top<U>;
    return bits ^ flip_of(bits, o);
}

__device__ inline int block_threads()
{
    return gpu_block_threads();
}

__device__ inline int thread_of_block()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* ----------------------------------------------------------------------------------------------------- radix ---- */

/* Radix sort by the lowest digit first, in three kernels a pass: count the digits of each tile, add the counts up to
 * where each tile's elements of a digit belong, and put them there. A tile is ordered in shared memory before it is
 * written, so that neighbouring threads write neighbouring elements (Satish, Harris and Garland, "Designing efficient
 * sorting algorithms for manycore GPUs", IPDPS 2009). No block waits for another within a kernel. */

constexpr int digit_bits = 8, digits = 1 << digit_bits;
constexpr int half_bits = 4, halves = 1 << half_bits; /* of a digit: what a tile is ordered by at a time */

/* Elements of a thread: 64 bytes. */
template <typename U>
constexpr int items = 64 / (int)sizeof(U);

template <typename U>
struct radix_pass {
    const U *in;
    U *out;
    int64_t n, tiles;
    order<U> o;
    int shift;       /* of the digit */
    int64_t first;   /* the tile of a launch's first block */
    int64_t *places; /* [digit][tile]: counts, then the number of such elements in earlier tiles */
    int64_t *totals; /* [digit] */
};

/* The pads after the last element have the largest key, and stay after all others. */
template <typename U>
__device__ inline U load_key(const radix_pass<U> &p, int64_t at)
{
    return at < p.n ? key_of(p.in[at], p.o) : ~(U)0;
}

template <typename U>
__device__ inline int digit_of(const radix_pass<U> &p, U key)
{
    return (int)(key >> p.shift) & (digits - 1);
}

/* Returns the sum of the values of all threads before this one; `total` is that of all. `sums`: two values a thread. */
template <typename C>
__device__ C block_scan(C value, C *sums, C *total)
{
    const int threads = block_threads(), me = thread_of_block();
    C *now = sums, *next = sums + threads;
    now[me] = value;
    __syncthreads();
    for (int distance = 1; distance < threads; distance *= 2) {
        next[me] = now[me] + (me >= distance ? now[me - distance] : 0);
        C *const swap = now;
        now = next;
        next = swap;
        __syncthreads();
    }
    const C before = me > 0 ? now[me - 1] : 0;
    *total = now[threads - 1];
    __syncthreads(); /* before anyone uses `sums` again */
    return before;
}

template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void count_kernel(radix_pass<U> p)
{
    GPU_DYNAMIC_SHARED(memory);
    unsigned *const counts = reinterpret_cast<unsigned *>(memory);
    const int threads = block_threads(), me = thread_of_block();
    const int64_t number = p.first + blockIdx.x, first = number * threads * items<U>;
    for (int digit = me; digit < digits; digit += threads)
        counts[digit] = 0;
    __syncthreads();
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++) {
        const int64_t at = first + me + k * threads;
        if (at < p.n)
            atomicAdd(&counts[digit_of(p, key_of(p.in[at], p.o))], 1u);
    }
    __syncthreads();
    for (int digit = me; digit < digits; digit += threads)
        p.places[digit * p.tiles + number] = counts[digit];
}

/* A block a digit, and a part of the tiles a thread. */
template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void add_up_kernel(radix_pass<U> p)
{
    GPU_DYNAMIC_SHARED(memory);
    const int threads = block_threads(), me = thread_of_block();
    int64_t *const places = p.places + blockIdx.x * p.tiles;
    const int64_t part = (p.tiles + threads - 1) / threads, start = me * part;
    const int64_t end = start + part < p.tiles ? start + part : p.tiles;
    int64_t sum = 0, total;
    for (int64_t tile = start; tile < end; tile++)
        sum += places[tile];
    sum = block_scan(sum, reinterpret_cast<int64_t *>(memory), &total);
    for (int64_t tile = start; tile < end; tile++) {
        const int64_t count = places[tile];
        places[tile] = sum;
        sum += count;
    }
    if (me == 0)
        p.totals[blockIdx.x] = total;
}

/* Where the i-th element of a tile is in shared memory: beyond every 128 bytes a gap, so that the neighbours of one
 * thread, which start 64 bytes after those of the thread before, are spread over all banks. */
template <typename U>
__host__ __device__ constexpr int spread(int i)
{
    return i + i / (128 / (int)sizeof(U));
}

/* The place of the i-th counter of 16 bits; 16 of them follow each other in a thread's scan: whole words are spread. */
__host__ __device__ constexpr int spread_counter(int i)
{
    return i + i / 64 * 2;
}

/* Shared memory of scatter_kernel: two tables of digits, and the tile, in whose place are at other times the counters
 * of halves and the sums of a scan. */
constexpr size_t tables_bytes = digits * (sizeof(int64_t) + sizeof(int));

__host__ __device__ constexpr size_t counters_bytes(int threads)
{
    return ((size_t)spread_counter(halves * threads) * sizeof(uint16_t) + 15) / 16 * 16;
}

template <typename U>
constexpr size_t scatter_shared(int threads)
{
    const size_t tile = (size_t)spread<U>(threads * items<U>) * sizeof(U);
    const size_t ranking = counters_bytes(threads) + 2 * (size_t)threads * sizeof(int64_t);
    return tables_bytes + (tile > ranking ? tile : ranking);
}

/* The place in the block's order, by one half of the digit, of each of a thread's consecutive elements; equal ones keep
 * their order. Each thread counts its own: counters[half][thread], added up in that order, are the places. */
template <typename U>
__device__ void rank_items(const U *keys, int *ranks, int shift, unsigned char *memory)
{
    const int threads = block_threads();
    int me = thread_of_block();
    GPU_FORGET_IF_FEW(me);
    uint16_t *const counters = reinterpret_cast<uint16_t *>(memory);
    int *const sums = reinterpret_cast<int *>(memory + counters_bytes(threads));
    for (int half = 0; half < halves; half++)
        counters[spread_counter(half * threads + me)] = 0;
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++) {
        const int half = (int)(keys[k] >> shift) & (halves - 1);
        uint16_t *const counter = &counters[spread_counter(half * threads + me)];
        ranks[k] = *counter;
        *counter = (uint16_t)(ranks[k] + 1);
    }
    __syncthreads();
    int sum = 0, total;
    for (int i = 0; i < halves; i++)
        sum += counters[spread_counter(me * halves + i)];
    sum = block_scan(sum, sums, &total);
    for (int i = 0; i < halves; i++) {
        uint16_t *const counter = &counters[spread_counter(me * halves + i)];
        const int count = *counter;
        *counter = (uint16_t)sum;
        sum += count;
    }
    __syncthreads();
    GPU_FORGET_IF_FEW(shift);
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++)
        ranks[k] += counters[spread_counter(((int)(keys[k] >> shift) & (halves - 1)) * threads + me)];
    __syncthreads();
}

/* Where the elements of each digit of this tile start in the output. */
template <typename U>
__device__ void find_places(const radix_pass<U> &p, int64_t number, int64_t *places, unsigned char *memory)
{
    const int threads = block_threads(), me = thread_of_block();
    const int part = (digits + threads - 1) / threads, start = me * part;
    const int end = start + part < digits ? start + part : digits;
    int64_t sum = 0, total;
    for (int digit = start; digit < end; digit++)
        sum += p.totals[digit];
    sum = block_scan(sum, reinterpret_cast<int64_t *>(memory), &total);
    for (int digit = start; digit < end; digit++) {
        places[digit] = sum + p.places[digit * p.tiles + number];
        sum += p.totals[digit];
    }
}

template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void scatter_kernel(radix_pass<U> p)
{
    GPU_DYNAMIC_SHARED(memory);
    int64_t *const places = reinterpret_cast<int64_t *>(memory);
    int *const first = reinterpret_cast<int *>(places + digits); /* of a digit in the ordered tile */
    U *const tile = reinterpret_cast<U *>(memory + tables_bytes);
    const int threads = block_threads();
    int me = thread_of_block();
    const int64_t number = p.first + blockIdx.x, start = number * threads * items<U>;
    U keys[items<U>];
    int ranks[items<U>];

    gpu_forget(me);
    find_places(p, number, places, memory + tables_bytes);
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++) {
        const int i = me + k * threads;
        tile[spread<U>(i)] = load_key(p, start + i);
    }
    gpu_forget(me);
    for (int half = 0; half < digit_bits; half += half_bits) {
        GPU_FORGET_IF_FEW(me);
        __syncthreads();
        GPU_UNROLL
        for (int k = 0; k < items<U>; k++)
            keys[k] = tile[spread<U>(me * items<U> + k)];
        __syncthreads(); /* before the counters take the tile's place */
        rank_items(keys, ranks, p.shift + half, memory + tables_bytes);
        GPU_UNROLL
        for (int k = 0; k < items<U>; k++)
            tile[spread<U>(ranks[k])] = keys[k];
    }
    __syncthreads();
    gpu_forget(me);
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++) {
        const int i = me + k * threads;
        keys[k] = tile[spread<U>(i)];
        const int digit = digit_of(p, keys[k]);
        if (i == 0 || digit_of(p, tile[spread<U>(i - 1)]) != digit)
            first[digit] = i;
    }
    __syncthreads();
    gpu_forget(me);
    GPU_UNROLL
    for (int k = 0; k < items<U>; k++) {
        const int i = me + k * threads, digit = digit_of(p, keys[k]);
        if (start + i < p.n)
            p.out[places[digit] + (i - first[digit])] = bits_of(keys[k], p.o);
    }
}

/* --------------------------------------------------------------------------------------------------- bitonic ---- */

/* Batcher's bitonic sorter (Batcher, "Sorting networks and their applications", AFIPS 1968) in the form in which every
 * comparison puts the smaller element first: two sorted halves are merged by comparing the first with the last, the
 * second with the last but one ..., and then elements half as far apart, and half of that ... Elements that would be
 * past the end count as larger than all, and stay where they are: any length will do. */

/* Elements that are sorted in shared memory: 32 KiB. */
template <typename U>
constexpr int bitonic_tile = 32768 / (int)sizeof(U);

/* One step within a tile: elements `distance` apart, or mirrored in groups of twice that. */
template <typename U>
__device__ void tile_step(U *tile, int distance, bool mirror)
{
    for (int p = thread_of_block(); p < bitonic_tile<U> / 2; p += block_threads()) {
        const int offset = p & (distance - 1), low = 2 * p - offset;
        const int high = mirror ? low - 2 * offset + 2 * distance - 1 : low + distance;
        const U a = tile[low], b = tile[high];
        if (b < a) {
            tile[low] = b;
            tile[high] = a;
        }
    }
    __syncthreads();
}

template <typename U>
__device__ void load_tile(const U *in, int64_t start, int64_t n, const order<U> &o, U *tile)
{
    for (int i = thread_of_block(); i < bitonic_tile<U>; i += block_threads())
        tile[i] = start + i < n ? key_of(in[start + i], o) : ~(U)0;
    __syncthreads();
}

template <typename U>
__device__ void store_tile(const U *tile, int64_t start, int64_t n, const order<U> &o, U *out)
{
    for (int i = thread_of_block(); i < bitonic_tile<U> && start + i < n; i += block_threads())
        out[start + i] = bits_of(tile[i], o);
}

/* Sorts each tile. A thread stores what it loads the next tile over: no barrier is needed between them. */
template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void sort_tile_kernel(const U *in, U *out, int64_t n, order<U> o)
{
    GPU_DYNAMIC_SHARED(memory);
    U *const tile = reinterpret_cast<U *>(memory);
    const int64_t next = (int64_t)gridDim.x * bitonic_tile<U>;
    for (int64_t start = (int64_t)blockIdx.x * bitonic_tile<U>; start < n; start += next) {
        load_tile(in, start, n, o, tile);
        for (int length = 2; length <= bitonic_tile<U>; length *= 2)
            for (int distance = length / 2; distance > 0; distance /= 2)
                tile_step(tile, distance, distance == length / 2);
        store_tile(tile, start, n, o, out);
    }
}

/* The steps of a merge that stay within a tile. */
template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void finish_tile_kernel(U *data, int64_t n, order<U> o)
{
    GPU_DYNAMIC_SHARED(memory);
    U *const tile = reinterpret_cast<U *>(memory);
    const int64_t next = (int64_t)gridDim.x * bitonic_tile<U>;
    for (int64_t start = (int64_t)blockIdx.x * bitonic_tile<U>; start < n; start += next) {
        load_tile(data, start, n, o, tile);
        for (int distance = bitonic_tile<U> / 2; distance > 0; distance /= 2)
            tile_step(tile, distance, false);
        store_tile(tile, start, n, o, data);
    }
}

/* One step over a distance of a tile and more, in global memory: a thread a pair. */
template <typename U>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void far_step_kernel(U *data, int64_t n, order<U> o, int64_t distance,
                                                           int64_t pairs, bool mirror)
{
    const int threads = block_threads();
    for (int64_t p = (int64_t)blockIdx.x * threads + thread_of_block(); p < pairs; p += (int64_t)gridDim.x * threads) {
        const int64_t offset = p & (distance - 1), low = 2 * p - offset;
        const int64_t high = mirror ? low - 2 * offset + 2 * distance - 1 : low + distance;
        if (high >= n)
            continue;
        const U a = data[low], b = data[high];
        if (key_of(b, o) < key_of(a, o)) {
            data[low] = b;
            data[high] = a;
        }
    }
}

/* ------------------------------------------------------------------------------------ NaN after the library ---- */

/* A library leaves NaN with a sign in front. They change places with the rest by two reversals, first that of the rest,
 * then that of all; the order of NaN among each other does not count. Where there are none, which is nearly always,
 * both kernels end at once: that costs two launches, and no pass over the memory. `bits > infinity` with both signs'
 * bits set is true of such a NaN and no other. */
template <typename U>
__device__ inline void swap_elements(U *data, int64_t i, int64_t j)
{
    const U a = data[i];
    data[i] = data[j];
    data[j] = a;
}

/* Reverses the elements after the negative NaN; `found` says whether there are any. Blocks read elements that others
 * swap: the search only tests which of the two kinds an element is, which a swap does not change. */
template <typename U>
__global__ void reverse_rest_kernel(U *data, int64_t n, U minus_infinity, int *found)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x, me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool any = data[0] > minus_infinity;
    if (me == 0)
        *found = any;
    if (!any)
        return;
    int64_t first = 0, end = n; /* the rest starts after `first`, and at `end` at the latest */
    while (end - first > 1) {
        const int64_t middle = first + (end - first) / 2;
        if (data[middle] > minus_infinity)
            first = middle;
        else
            end = middle;
    }
    for (int64_t i = me; i < (n - end) / 2; i += threads)
        swap_elements(data, end + i, n - 1 - i);
}

template <typename U>
__global__ void reverse_all_kernel(U *data, int64_t n, const int *found)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x, me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (!*found)
        return;
    for (int64_t i = me; i < n / 2; i += threads)
        swap_elements(data, i, n - 1 - i);
}

} // namespace

#endif
