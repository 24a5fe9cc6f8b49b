/* SPDX-License-Identifier: MIT
 *
 * reduce_kernels.h - the kernels of `reduce`. The input is (outer, length, inner); a result is that of `length`
 * elements, `inner` apart. What is computed of them says an operation (reduce_operations.h).
 *
 * A thread adds up several elements in pairs, sixteen of such sums one after the other, and the sums of these; then
 * threads, blocks and what is left are put together in trees: so no element of n is rounded more often than log2 n + 40
 * times (Higham, "The accuracy of floating point summation", 1993), and always in the same order.
 */
#ifndef FLYNN_HIP_REDUCE_KERNELS_H
#define FLYNN_HIP_REDUCE_KERNELS_H

#include "compact_kernels.h"
#include "gpu/gpu_registers.h"
#include "gpu/gpu_shuffle.h"
#include "reduce_operations.h"

/* -------------------------------------------------------------------------------------------------- threads ---- */

/* How the input is divided among blocks: a task is a chunk of columns (neighbours along `inner`) of a part of the
 * `length`. */
struct reduce_shape {
    int64_t outer, length, inner;
    int64_t chunks, parts; /* of a slice (length, inner) */
    int across, along;     /* the block's threads: at most so many columns, and beside each other along `length` */
};

/* One task, and the place of a thread in it. */
struct reduce_task {
    int64_t outer, chunk, part;
    int64_t first, end; /* along `length` */
    int64_t column;     /* the thread's */
    int row;            /* the thread's, below `along`; or the thread has no column */
    bool works;

    __device__ reduce_task(const reduce_shape &s, int64_t task, int thread)
    {
        part = task % s.parts;
        chunk = task / s.parts % s.chunks;
        outer = task / s.parts / s.chunks;
        first = begin_of(s.length, s.parts, part);
        end = begin_of(s.length, s.parts, part + 1);
        const int64_t begin = begin_of(s.inner, s.chunks, chunk), next = begin_of(s.inner, s.chunks, chunk + 1);
        column = begin + thread % s.across;
        row = thread / s.across;
        works = column < next && row < s.along;
    }
    __device__ static int64_t begin_of(int64_t count, int64_t parts, int64_t part)
    {
        return count / parts * part + (part < count % parts ? part : count % parts);
    }
    /* The first element of the thread's column. */
    __device__ int64_t start(const reduce_shape &s) const
    {
        return outer * s.length * s.inner + column;
    }
};

constexpr int reduce_rows = gpu_in_flight<8>; /* loads that a thread has in flight */

/* The thread's elements of a column, every along-th of the part. */
template <typename Operation>
__device__ inline typename Operation::running sum_column(const Operation &o, const reduce_shape &s,
                                                         const reduce_task &t)
{
    using T = typename Operation::element;
    const int64_t start = t.start(s), step = (int64_t)s.along * s.inner;
    auto r = o.start(start);
    int64_t index = t.first + t.row, at = start + index * s.inner;
    for (; index + (int64_t)(reduce_rows - 1) * s.along < t.end; index += (int64_t)reduce_rows * s.along) {
        T a[reduce_rows][1], b[reduce_rows][1] = {};
        GPU_UNROLL
        for (int i = 0; i < reduce_rows; i++)
            a[i][0] = o.x[at + i * step];
        if (o.y)
            GPU_UNROLL
        for (int i = 0; i < reduce_rows; i++)
            b[i][0] = o.y[at + i * step];
        o.add(r, a, b, index, s.along);
        at += reduce_rows * step;
    }
    for (; index < t.end; index += s.along, at += step)
        o.add(r, at, index);
    return r;
}

/* Bytes that are loaded at once. */
template <typename T>
constexpr int reduce_bytes = sizeof(T) == 1 ? 4 * gpu_in_flight<4> : sizeof(T) * gpu_in_flight<16 / sizeof(T)>;

template <typename T>
struct alignas(reduce_bytes<T>) reduce_vector {
    static constexpr int width = reduce_bytes<T> / sizeof(T);
    T value[width];
};

/* That a thread has in flight: of a part of a line, and of a line that a warp has for itself, where more are slower.
 * Bytes need a register each: fewer vectors of them. */
template <typename T>
constexpr int reduce_vectors = gpu_in_flight<sizeof(T) == 1 ? 2 : 8>;
template <typename T>
constexpr int reduce_vectors_of_warp = gpu_in_flight<sizeof(T) == 1 ? 2 : 4>;

/* `ahead`: the vectors that a thread has in flight. Adds elements of row[0] to row[length - 1], the row beginning at
 * element `row` of the array, as thread `rank` of a team: those of every tiles-th tile from `tile` on, a tile being
 * what a team loads at once. So the tiles that are loaded at the same time are neighbours in memory, whichever teams
 * load them. */
template <int ahead, typename Operation>
__device__ inline void sum_line(const Operation &o, typename Operation::running &r, int64_t row, int64_t length,
                                int rank, int team, int64_t tile, int64_t tiles)
{
    using T = typename Operation::element;
    constexpr int width = reduce_vector<T>::width, bytes = reduce_bytes<T>;
    const uintptr_t off = reinterpret_cast<uintptr_t>(o.x + row) % bytes;
    const bool alike = !o.y || reinterpret_cast<uintptr_t>(o.y + row) % bytes == off;
    const int64_t before = alike ? (int64_t)((bytes - off) % bytes / sizeof(T)) : length; /* no vectors begin there */
    const int64_t begin = before < length ? before : length, vectors = (length - begin) / width;
    const auto *x = reinterpret_cast<const reduce_vector<T> *>(o.x + row + begin);
    const auto *y = reinterpret_cast<const reduce_vector<T> *>(o.y ? o.y + row + begin : o.x + row + begin);
    if (tile == 0)
        for (int64_t i = rank; i < begin; i += team)
            o.add(r, row + i, i);
    const int64_t size = (int64_t)ahead * team;
    for (int64_t first = tile * size; first < vectors; first += tiles * size) {
        int64_t v = first + rank;
        if (first + size <= vectors) {
            reduce_vector<T> a[ahead], b[ahead] = {};
            GPU_UNROLL
            for (int i = 0; i < ahead; i++)
                a[i] = x[v + (int64_t)i * team];
            if (o.y)
                GPU_UNROLL
            for (int i = 0; i < ahead; i++)
                b[i] = y[v + (int64_t)i * team];
            o.add(r, reinterpret_cast<const T(&)[ahead][width]>(a), reinterpret_cast<const T(&)[ahead][width]>(b),
                  begin + v * width, (int64_t)team * width);
            continue;
        }
        for (; v < vectors; v += team) {
            const reduce_vector<T> a = x[v], b = y[v];
            o.add(r, reinterpret_cast<const T(&)[1][width]>(a), reinterpret_cast<const T(&)[1][width]>(b),
                  begin + v * width, 0);
        }
    }
    if (tile == 0)
        for (int64_t i = begin + vectors * width + rank; i < length; i += team)
            o.add(r, row + i, i);
}

/* --------------------------------------------------------------------------------------------------- blocks ---- */

/* The states of a column's rows together, in its row 0: a tree in shared memory, `states`, of across x along. */
template <typename Operation>
__device__ inline typename Operation::state join_rows(const Operation &o, const reduce_shape &s, int thread,
                                                      typename Operation::state mine, typename Operation::state *states)
{
    const int row = thread / s.across;
    __syncthreads(); /* what was there before was read */
    if (row < s.along)
        states[thread] = mine;
    __syncthreads();
    for (int active = s.along; active > 1;) {
        const int half = (active + 1) / 2;
        if (row < active - half)
            states[thread] = o.join(states[thread], states[thread + half * s.across]);
        active = half;
        __syncthreads();
    }
    return states[thread % s.across];
}

/* The states of a warp's lanes together, in its lane 0. */
template <typename Operation>
__device__ inline typename Operation::state join_lanes(const Operation &o, const block_place &p,
                                                       typename Operation::state mine)
{
    for (int distance = p.lanes / 2; distance > 0; distance /= 2) {
        const typename Operation::state other = gpu_from_above(p.together, mine, distance);
        if (p.lane + distance < p.here)
            mine = o.join(mine, other);
    }
    return mine;
}

/* Puts the parts of a task's columns together, and stores the results. partial[outer][part][column]. */
template <typename Operation>
__device__ inline void finish(const Operation &o, const reduce_shape &s, const reduce_task &t, int thread,
                              const typename Operation::state *partial, typename Operation::state *states,
                              typename Operation::result *out)
{
    auto r = o.start(t.works ? t.start(s) : 0);
    if (t.works)
        for (int64_t part = t.row; part < s.parts; part += s.along)
            r.add(o, partial[(t.outer * s.parts + part) * s.inner + t.column]);
    const auto all = join_rows(o, s, thread, r.so_far(), states);
    if (t.works && t.row == 0)
        out[t.outer * s.inner + t.column] = Operation::of(all);
}

/* Whether this block is the last of a chunk's parts to arrive, whose partial states all threads may read then. The
 * counter is 0 again afterwards. */
__device__ inline bool is_last_block(const reduce_shape &s, int thread, unsigned *arrived, unsigned *shared)
{
    if (thread == 0) {
        gpu_fence();
        *shared = atomicAdd(arrived, 1u);
        if (*shared == (unsigned)s.parts - 1)
            *arrived = 0;
    }
    __syncthreads();
    const bool last = *shared == (unsigned)s.parts - 1;
    gpu_fence();
    return last;
}

/* -------------------------------------------------------------------------------------------------- kernels ---- */

/* Bytes: an index and an element. A block's shared memory has room for as many in each thread, and a word after them,
 * which lies at a multiple of 4 bytes for any state and number of threads. */
constexpr int reduce_largest_state = 16;

/* One thread a result. */
template <typename Operation>
__global__ __launch_bounds__(1024) void one_by_one_kernel(Operation o, int64_t outer, int64_t length, int64_t inner,
                                                          typename Operation::result *out)
{
    const block_place p;
    const int64_t step = (int64_t)gridDim.x * p.threads;
    for (int64_t i = (int64_t)blockIdx.x * p.threads + p.thread; i < outer * inner; i += step) {
        const int64_t start = i / inner * length * inner + i % inner;
        auto all = o.state_of(start, 0);
        for (int64_t k = 1; k < length; k++)
            all = o.join(all, o.state_of(start + k * inner, k));
        out[i] = Operation::of(all);
    }
}

/* By trees in shared memory. With `arrived`, counters of the chunks, the last block of a chunk puts its parts together,
 * else finish_kernel does. */
template <typename Operation>
__global__ __launch_bounds__(1024) void tree_kernel(Operation o, reduce_shape s, typename Operation::state *partial,
                                                    unsigned *arrived, typename Operation::result *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    auto *states = reinterpret_cast<typename Operation::state *>(bytes);
    const block_place p;
    unsigned *flag = reinterpret_cast<unsigned *>(bytes + p.threads * reduce_largest_state);
    for (int64_t task = blockIdx.x; task < s.outer * s.chunks * s.parts; task += gridDim.x) {
        const reduce_task t(s, task, p.thread);
        const auto mine = t.works ? sum_column(o, s, t) : o.start(0);
        const auto all = join_rows(o, s, p.thread, mine.so_far(), states);
        const bool stores = t.works && t.row == 0;
        if (s.parts == 1) {
            if (stores)
                out[t.outer * s.inner + t.column] = Operation::of(all);
            continue;
        }
        if (stores)
            partial[(t.outer * s.parts + t.part) * s.inner + t.column] = all;
        if (!arrived)
            continue;
        if (stores)
            gpu_fence();
        __syncthreads();
        if (is_last_block(s, p.thread, arrived + t.outer * s.chunks + t.chunk, flag))
            finish(o, s, t, p.thread, partial, states, out);
    }
}

template <typename Operation>
__global__ __launch_bounds__(1024) void finish_kernel(Operation o, reduce_shape s,
                                                      const typename Operation::state *partial,
                                                      typename Operation::result *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    const block_place p;
    for (int64_t chunk = blockIdx.x; chunk < s.outer * s.chunks; chunk += gridDim.x)
        finish(o, s, reduce_task(s, chunk * s.parts, p.thread), p.thread, partial,
               reinterpret_cast<typename Operation::state *>(bytes), out);
}

/* Rows whose elements follow each other (inner is 1, and so is `across`), by vectors and shuffles: a warp a row. */
template <typename Operation>
__global__ __launch_bounds__(1024) void line_a_warp_kernel(Operation o, reduce_shape s, typename Operation::result *out)
{
    const block_place p;
    for (int64_t row = (int64_t)blockIdx.x * p.warps + p.warp; row < s.outer; row += (int64_t)gridDim.x * p.warps) {
        const int64_t first = row * s.length;
        auto r = o.start(first);
        sum_line<reduce_vectors_of_warp<typename Operation::element>>(o, r, first, s.length, p.lane, p.here, 0, 1);
        const auto all = join_lanes(o, p, r.so_far());
        if (p.lane == 0)
            out[row] = Operation::of(all);
    }
}

/* Such rows, a block a part of a row. */
template <typename Operation>
__global__ __launch_bounds__(1024) void lines_kernel(Operation o, reduce_shape s, typename Operation::state *partial,
                                                     unsigned *arrived, typename Operation::result *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    auto *states = reinterpret_cast<typename Operation::state *>(bytes);
    const block_place p;
    unsigned *flag = reinterpret_cast<unsigned *>(bytes + p.threads * reduce_largest_state);
    if constexpr (std::is_class_v<typename Operation::state>) /* other operations need vector registers more */
        gpu_in_vector(partial, out, arrived);
    const reduce_shape of_warps = {s.outer, s.length, 1, 1, s.parts, 1, p.warps};
    for (int64_t task = blockIdx.x; task < s.outer * s.parts; task += gridDim.x) {
        const reduce_task t(s, task, p.thread);
        const int64_t row = t.outer * s.length;
        auto r = o.start(row);
        sum_line<reduce_vectors<typename Operation::element>>(o, r, row, s.length, p.thread, p.threads, t.part,
                                                              s.parts);
        const auto of_warp = join_lanes(o, p, r.so_far());
        /* Lane 0 of each warp brings its warp's, as the thread of that number would. */
        __syncthreads();
        if (p.lane == 0)
            states[p.warp] = of_warp;
        __syncthreads();
        const auto all = join_rows(o, of_warps, p.thread, states[p.thread < p.warps ? p.thread : 0], states);
        if (p.thread == 0) {
            if (s.parts == 1)
                out[t.outer] = Operation::of(all);
            else
                partial[task] = all;
        }
        if (s.parts > 1 && is_last_block(s, p.thread, arrived + t.outer, flag))
            finish(o, s, t, p.thread, partial, states, out);
    }
}

#endif
