/* SPDX-License-Identifier: MIT
 *
 * merge_kernels.h - the kernels of merge.hip.cpp, for elements of type T, in blocks of any shape and size.
 *
 * Merging by the merge path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple", IPDPS
 * workshops 2012; on a GPU: Green, McColl and Bader, "GPU merge path", ICS 2012): where the output's element i comes
 * from follows from a binary search in both inputs. A first kernel searches for each tile of the output, so that the
 * searches' waits for memory overlap; then each block loads the parts of x and y that its tile is made of, and each of
 * its threads searches again in there and merges a few elements.
 */
#ifndef FLYNN_HIP_MERGE_KERNELS_H
#define FLYNN_HIP_MERGE_KERNELS_H

#include "gpu/gpu_registers.h"
#include "gpu/gpu_tiles.h"

namespace
{

/* Elements of a thread; odd, so that threads that write theirs beside each other use all banks of shared memory. */
template <typename T>
constexpr int merge_items = sizeof(T) == 4 ? 15 : 7;

template <typename T>
struct merging {
    const T *x, *y;
    T *out;
    int64_t nx, ny;
    int64_t tiles, *starts; /* [tiles + 1]: how many of x's elements are before a tile */
};

__device__ inline int merge_thread()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* The order of fl_sort: NaN is more than any number. */
template <typename T>
__device__ inline bool merge_less(T a, T b)
{
    return a < b || (b != b && a == a);
}

/* How many of x's elements are among the first `count` of x and y merged; of equal ones x's come first. */
template <typename T, typename Index>
__device__ Index merge_path(const T *x, Index nx, const T *y, Index ny, Index count)
{
    Index low = count > ny ? count - ny : 0, high = count < nx ? count : nx;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (merge_less(y[count - 1 - middle], x[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The part of a tile that is from x: of inputs that are not in order it might be any number. */
__device__ inline int merge_part(int64_t part, int count)
{
    return (int)(part < 0 ? 0 : part < count ? part : count);
}

template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void path_kernel(merging<T> m, int64_t tile)
{
    const int threads = gpu_block_threads();
    const int64_t n = m.nx + m.ny;
    for (int64_t t = (int64_t)blockIdx.x * threads + merge_thread(); t <= m.tiles; t += (int64_t)gridDim.x * threads)
        m.starts[t] = merge_path(m.x, m.nx, m.y, m.ny, t * tile < n ? t * tile : n);
}

/* The next elements of the thread's part of a tile whose first `nx` elements are x's, and the others y's. */
template <typename T>
__device__ void merge_in_tile(const T *tile, int nx, int count, int first, T *merged)
{
    int i = merge_path(tile, nx, tile + nx, count - nx, first), j = nx + first - i;
    T a = i < nx ? tile[i] : T(), b = j < count ? tile[j] : T();
    GPU_UNROLL
    for (int k = 0; k < merge_items<T>; k++) {
        const bool second = j < count && (i >= nx || merge_less(b, a));
        merged[k] = second ? b : a;
        if (second)
            b = ++j < count ? tile[j] : b;
        else
            a = ++i < nx ? tile[i] : a;
    }
}

template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void merge_kernel(merging<T> m)
{
    GPU_DYNAMIC_SHARED(memory);
    T *const tile = reinterpret_cast<T *>(memory);
    const int threads = gpu_block_threads(), size = threads * merge_items<T>;
    int me = merge_thread();
    const int64_t n = m.nx + m.ny;
    for (int64_t t = blockIdx.x; t < m.tiles; t += gridDim.x) {
        const int64_t start = t * size, x = m.starts[t], y = start - x;
        const int count = (int)(n - start < size ? n - start : size), nx = merge_part(m.starts[t + 1] - x, count);
        const int first = me * merge_items<T> < count ? me * merge_items<T> : count;
        T merged[merge_items<T>];
        GPU_FORGET_IF_FEW(me);
        GPU_UNROLL
        for (int k = 0; k < merge_items<T>; k++) { /* all loads are on their way at a time */
            const int i = me + k * threads;
            merged[k] = i < nx ? m.x[x + i] : i < count ? m.y[y + (i - nx)] : T();
        }
        GPU_UNROLL
        for (int k = 0; k < merge_items<T>; k++)
            tile[me + k * threads] = merged[k];
        __syncthreads();
        merge_in_tile(tile, nx, count, first, merged);
        __syncthreads();
        GPU_UNROLL
        for (int k = 0; k < merge_items<T>; k++)
            tile[me * merge_items<T> + k] = merged[k];
        __syncthreads();
        for (int i = me; i < count; i += threads)
            m.out[start + i] = tile[i];
        __syncthreads(); /* before the next tile takes this one's place */
    }
}

/* places[i] = how many of sorted[0 ... n) are less than values[i]. */
template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void search_kernel(const T *sorted, int64_t n, const T *values, int64_t count,
                                                         int64_t *places)
{
    const int threads = gpu_block_threads();
    const int64_t next = (int64_t)gridDim.x * threads;
    for (int64_t i = (int64_t)blockIdx.x * threads + merge_thread(); i < count; i += next) {
        const T value = values[i];
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (merge_less(sorted[middle], value))
                low = middle + 1;
            else
                high = middle;
        }
        places[i] = low;
    }
}

/* ------------------------------------------------------------------------------------ search in shared memory ---- */

/* `nodes` - 1 elements of `sorted`, the last ones of all parts of `step` elements but one, as a binary search tree: the
 * middle one is node 1, and below node k are 2 k and 2 k + 1 (Eytzinger's order; Khuong and Morin, "Array layouts for
 * comparison-based searching", 2017). The nodes that searches meet at a time are side by side: those of the first six
 * levels lie in different banks of shared memory. */
template <typename T>
struct searching {
    const T *sorted;
    int64_t n, step;   /* at least 1, and ceil(n / nodes) */
    int levels, nodes; /* 2 ^ levels */
    const T *values;
    int64_t count;
    int64_t *places;
    T *tree; /* [nodes]; the first one is not used */
};

/* Gathers the tree, so that blocks load it as a whole. Parts beyond the end have the last element. */
template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void tree_kernel(searching<T> s)
{
    const int threads = gpu_block_threads();
    for (int64_t k = 1 + (int64_t)blockIdx.x * threads + merge_thread(); k < s.nodes;
         k += (int64_t)gridDim.x * threads) {
        int level = 0;
        while (k >> (level + 1) != 0)
            level++;
        const int64_t part = ((2 * (k - ((int64_t)1 << level)) + 1) << (s.levels - 1 - level)) * s.step;
        s.tree[k] = s.sorted[(part < s.n ? part : s.n) - 1];
    }
}

/* A thread's values: their loads are on their way at a time. */
constexpr int search_items = 4;

/* The first levels of all searches are in shared memory, the others in the part of `sorted` that these lead to; all
 * have as many steps, and no branch. If the last part is shorter, the search begins before it, with elements that are
 * less. */
template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void shared_search_kernel(searching<T> s)
{
    GPU_DYNAMIC_SHARED(memory);
    T *const tree = reinterpret_cast<T *>(memory);
    const int threads = gpu_block_threads(), me = merge_thread();
    for (int k = 1 + me; k < s.nodes; k += threads)
        tree[k] = s.tree[k];
    __syncthreads();
    const int64_t next = (int64_t)gridDim.x * threads;
    for (int64_t first = (int64_t)blockIdx.x * threads + me; first < s.count; first += search_items * next) {
        T value[search_items];
        int node[search_items];
        const T *at[search_items];
        GPU_UNROLL
        for (int r = 0; r < search_items; r++) {
            value[r] = s.values[first + r * next < s.count ? first + r * next : first];
            node[r] = 1;
        }
        for (int level = 0; level < s.levels; level++) {
            GPU_UNROLL
            for (int r = 0; r < search_items; r++)
                node[r] = 2 * node[r] + (merge_less(tree[node[r]], value[r]) ? 1 : 0);
        }
        GPU_UNROLL
        for (int r = 0; r < search_items; r++) {
            const int64_t start = (node[r] - s.nodes) * s.step;
            at[r] = s.sorted + (start < s.n - s.step ? start : s.n - s.step);
        }
        for (int64_t left = s.step, half; left > 1; left -= half) {
            half = left / 2;
            GPU_UNROLL
            for (int r = 0; r < search_items; r++)
                at[r] += merge_less(at[r][half - 1], value[r]) ? half : 0;
        }
        GPU_UNROLL
        for (int r = 0; r < search_items; r++)
            if (first + r * next < s.count)
                s.places[first + r * next] = at[r] - s.sorted + (merge_less(*at[r], value[r]) ? 1 : 0);
    }
}

} // namespace

#endif
