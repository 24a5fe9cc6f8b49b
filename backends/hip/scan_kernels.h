/* SPDX-License-Identifier: MIT
 *
 * scan_kernels.h - what is put together in a scan, and the kernels of scan.hip.cpp that take several launches: Hillis
 * and Steele's over global memory, and Blelloch's tree in shared memory. Blocks of any shape and size.
 */
#ifndef FLYNN_HIP_SCAN_KERNELS_H
#define FLYNN_HIP_SCAN_KERNELS_H

#include "gpu/gpu_registers.h"

#include <limits>

namespace
{

/* Sums, of integers as unsigned ones, which wrap; or maxima: of equal elements the first, and the first NaN for ever.
 */
template <typename From, typename Value, bool Maximum>
struct scan_of {
    using from = From;
    using value = Value;
    using of_values = scan_of<Value, Value, Maximum>;
    using limits = std::numeric_limits<Value>;

    /* The neutral element: put before a value, it does not change it. */
    static constexpr Value least = !Maximum               ? Value(0)
                                   : limits::has_infinity ? (Value)-limits::infinity()
                                                          : limits::lowest();
    __host__ __device__ static Value lowest()
    {
        return least;
    }
    __host__ __device__ static Value put(Value a, Value b)
    {
        if constexpr (!Maximum)
            return (Value)(a + b);
        else if constexpr (limits::has_infinity)
            return a == a && (b > a || b != b) ? b : a;
        else
            return b > a ? b : a;
    }
};

__device__ inline int scan_thread()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* ------------------------------------------------------------------------------ naive: Hillis and Steele, 1986 ---- */

/* One pass: each element and the one `step` before it put together. `shift`: each result one place further. */
template <typename Op>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void step_kernel(const typename Op::from *in, typename Op::value *out,
                                                       int64_t length, int64_t step, int shift)
{
    using value = typename Op::value;
    const int threads = gpu_block_threads();
    const int64_t next = (int64_t)gridDim.x * threads;
    for (int64_t i = (int64_t)blockIdx.x * threads + scan_thread(); i < length; i += next) {
        const value own = (value)in[i], result = i >= step ? Op::put((value)in[i - step], own) : own;
        if (shift && i == 0)
            out[0] = Op::lowest();
        if (i + shift < length)
            out[i + shift] = result;
    }
}

/* --------------------------------------------------------------------------------------- block: Blelloch, 1990 ---- */

/* Elements of a block's tree: two a thread, and a power of two. */
__host__ __device__ inline int scan_tree(int threads)
{
    int size = 2;
    while (size <= threads)
        size *= 2;
    return size;
}

/* Where the i-th element of a tree is in shared memory. At a distance of a power of two all threads of a warp would
 * meet in one bank; with one element left out after as many as there are banks, they do not. */
constexpr int scan_banks = 32;
__host__ __device__ inline int scan_padded(int i)
{
    return i + i / scan_banks;
}

/* Makes of each element in `tree` what those before it give, and returns what all give. The elements must be there (a
 * barrier) before the call; the results are after it. */
template <typename Op>
__device__ typename Op::value scan_by_tree(typename Op::value *tree, int size, int me)
{
    using value = typename Op::value;
    int distance = 1;
    for (int active = size / 2; active > 0; active /= 2, distance *= 2) { /* up: sums of 2, of 4 ... */
        if (me < active) {
            value *const right = &tree[scan_padded(distance * (2 * me + 2) - 1)];
            *right = Op::put(tree[scan_padded(distance * (2 * me + 1) - 1)], *right);
        }
        __syncthreads();
    }
    const value all = tree[scan_padded(size - 1)];
    __syncthreads();
    if (me == 0)
        tree[scan_padded(size - 1)] = Op::lowest();
    __syncthreads();
    for (int active = 1; active < size; active *= 2) { /* down: the left one gets what is before both */
        distance /= 2;
        if (me < active) {
            value *const left = &tree[scan_padded(distance * (2 * me + 1) - 1)];
            value *const right = &tree[scan_padded(distance * (2 * me + 2) - 1)];
            const value of_left = *left;
            *left = *right;
            *right = Op::put(*right, of_left);
        }
        __syncthreads();
    }
    return all;
}

/* Scans the tree of elements from `first` on, each behind `before`; returns what these give without `before`. */
template <typename Op>
__device__ typename Op::value scan_tile_by_tree(const typename Op::from *in, typename Op::value *out, int64_t length,
                                                int64_t first, int exclusive, typename Op::value before,
                                                typename Op::value *tree, int size, int me)
{
    using value = typename Op::value;
    const int half = size / 2;
    value own[2];
    for (int k = 0; k < 2; k++) {
        const int64_t i = first + me + k * half;
        own[k] = me < half && i < length ? (value)in[i] : Op::lowest();
        if (me < half)
            tree[scan_padded(me + k * half)] = own[k];
    }
    __syncthreads();
    const value all = scan_by_tree<Op>(tree, size, me);
    for (int k = 0; k < 2; k++) {
        const int64_t i = first + me + k * half;
        if (me >= half || i >= length)
            continue;
        const value earlier = tree[scan_padded(me + k * half)];
        out[i] = Op::put(before, exclusive ? earlier : Op::put(earlier, own[k]));
    }
    __syncthreads(); /* before the next tile takes this one's place */
    return all;
}

/* Each tile by itself; sums[t] = what the t-th gives. */
template <typename Op>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void tree_kernel(const typename Op::from *in, typename Op::value *out,
                                                       int64_t length, int exclusive, typename Op::value *sums)
{
    GPU_DYNAMIC_SHARED(memory);
    using value = typename Op::value;
    value *const tree = reinterpret_cast<value *>(memory);
    const int me = scan_thread(), size = scan_tree(gpu_block_threads());
    const int64_t tiles = (length + size - 1) / size;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const value all = scan_tile_by_tree<Op>(in, out, length, t * size, exclusive, Op::lowest(), tree, size, me);
        if (me == 0)
            sums[t] = all;
    }
}

/* sums[t] = what the tiles before the t-th give: by one block, tree after tree. */
template <typename Op>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void sums_kernel(typename Op::value *sums, int64_t tiles)
{
    GPU_DYNAMIC_SHARED(memory);
    using value = typename Op::value;
    value *const tree = reinterpret_cast<value *>(memory);
    const int me = scan_thread(), size = scan_tree(gpu_block_threads());
    value before = Op::lowest();
    for (int64_t first = 0; first < tiles; first += size)
        before = Op::put(before, scan_tile_by_tree<Op>(sums, sums, tiles, first, 1, before, tree, size, me));
}

/* Puts what is before its tile to each result. */
template <typename Op>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void add_kernel(typename Op::value *out, int64_t length,
                                                      const typename Op::value *sums)
{
    const int threads = gpu_block_threads(), size = scan_tree(threads);
    const int64_t next = (int64_t)gridDim.x * threads;
    for (int64_t i = (int64_t)blockIdx.x * threads + scan_thread(); i < length; i += next)
        out[i] = Op::put(sums[i / size], out[i]);
}

} // namespace

#endif
