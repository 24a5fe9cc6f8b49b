/* SPDX-License-Identifier: MIT
 *
 * reconstruct_kernels.h - y = u diag(s) vt on a GPU, for float and double. reconstruct.hip.cpp chooses among these
 * kernels.
 *
 * n counts the batch, i and j rows and columns of the result, p the terms of its sums. All kernels multiply s into u
 * first, as the formula has it from left to right: where a product overflows, it does so in all of them. Blocks take
 * the tiles beyond the end of the grid one after the other.
 */
#ifndef FLYNN_HIP_RECONSTRUCT_KERNELS_H
#define FLYNN_HIP_RECONSTRUCT_KERNELS_H

#include "device.hpp"
#include "gpu/gpu_matrix.h"
#include "gpu/gpu_tiles.h"

#include <type_traits>

/* Matrices in device memory: a stride from row to row, a step from one of the batch to the next. */
template <typename T>
struct factors {
    const T *u, *s, *vt;
    T *y;
    int64_t u_stride, vt_stride, y_stride;
    int64_t u_step, s_step, vt_step, y_step;
    int64_t batch, rows, columns, rank;
};

/* The n-th of the batch. */
template <typename T>
__device__ inline factors<T> one_of(factors<T> c, int64_t n)
{
    c.u += n * c.u_step;
    c.s += n * c.s_step;
    c.vt += n * c.vt_step;
    c.y += n * c.y_step;
    return c;
}

template <typename T>
__device__ inline T element_of(const factors<T> &c, int64_t i, int64_t j)
{
    T sum = 0;
    for (int64_t p = 0; p < c.rank; p++)
        sum += c.u[i * c.u_stride + p] * c.s[p] * c.vt[p * c.vt_stride + j];
    return sum;
}

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* One thread an output, three loads a term. x is the fastest axis: a warp's loads of vt and its stores are of
 * neighbours, its loads of u and s of one element. */
template <typename T>
__global__ __launch_bounds__(1024) void naive_kernel(factors<T> c)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < c.batch; n += gridDim.z) {
        const factors<T> one = one_of(c, n);
        for (int64_t i = first; i < c.rows; i += next)
            if (j < c.columns)
                one.y[i * c.y_stride + j] = element_of(one, i, j);
    }
}

/* The same with x along the rows of the result, the mistake of many first kernels: a warp's loads of u and its stores
 * are a whole row apart. */
template <typename T>
__global__ __launch_bounds__(1024) void uncoalesced_kernel(factors<T> c)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < c.batch; n += gridDim.z) {
        const factors<T> one = one_of(c, n);
        for (int64_t j = first; j < c.columns; j += next)
            if (i < c.rows)
                one.y[i * c.y_stride + j] = element_of(one, i, j);
    }
}

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

/* A row of u's tile has one element more than it needs: rows then begin in different banks. */
__host__ __device__ inline int tiled_pitch(int depth)
{
    return depth > 1 ? depth + 1 : 1;
}

/* Elements of shared memory. */
__host__ __device__ inline int64_t tiled_shared(int64_t width, int64_t height, int depth)
{
    return height * tiled_pitch(depth) + depth * width;
}

/* Copies the tile of `height` x `depth` of u times s, and of `depth` x `width` of vt, zeros beyond their edges. */
template <typename T>
__device__ inline void fill_tiles(const factors<T> &c, int64_t i0, int64_t j0, int64_t p0, int height, int width,
                                  int depth, T *us, T *vs)
{
    for (int row = (int)threadIdx.y; row < height; row += (int)blockDim.y) {
        GPU_FORGET_IF_FEW(row);
        for (int k = (int)threadIdx.x; k < depth; k += (int)blockDim.x) {
            GPU_FORGET_IF_FEW(k);
            const int64_t i = i0 + row, p = p0 + k;
            us[row * tiled_pitch(depth) + k] = i < c.rows && p < c.rank ? c.u[i * c.u_stride + p] * c.s[p] : 0;
        }
    }
    for (int k = (int)threadIdx.y; k < depth; k += (int)blockDim.y) {
        GPU_FORGET_IF_FEW(k);
        for (int x = (int)threadIdx.x; x < width; x += (int)blockDim.x) {
            GPU_FORGET_IF_FEW(x);
            const int64_t p = p0 + k, j = j0 + x;
            vs[k * width + x] = p < c.rank && j < c.columns ? c.vt[p * c.vt_stride + j] : 0;
        }
    }
}

/* Tiles of both factors in shared memory, each element of which serves a whole row or column of a block's outputs. A
 * thread has R x C outputs, a block apart from each other: for `tiled` one. Any block will do. */
template <int R, int C, typename T>
__global__ __launch_bounds__(1024) void tiled_kernel(factors<T> c, int depth)
{
    GPU_DYNAMIC_SHARED(memory);
    const int height = (int)blockDim.y * R, width = (int)blockDim.x * C;
    T *us = reinterpret_cast<T *>(memory), *vs = us + height * tiled_pitch(depth);
    const int64_t j0 = (int64_t)blockIdx.x * width;
    for (int64_t n = blockIdx.z; n < c.batch; n += gridDim.z) {
        const factors<T> one = one_of(gpu_first(c), n);
        for (int64_t i0 = (int64_t)blockIdx.y * height; i0 < one.rows; i0 += (int64_t)gridDim.y * height) {
            T sum[R][C] = {};
            for (int64_t p0 = 0; p0 < one.rank; p0 += depth) {
                fill_tiles(one, i0, j0, p0, height, width, depth, us, vs);
                __syncthreads();
                GPU_UNROLL_SOME
                for (int k = 0; k < depth; k++)
                    GPU_UNROLL
                for (int r = 0; r < R; r++)
                    GPU_UNROLL
                for (int q = 0; q < C; q++)
                    sum[r][q] += us[(threadIdx.y + r * blockDim.y) * tiled_pitch(depth) + k] *
                                 vs[k * width + threadIdx.x + q * blockDim.x];
                __syncthreads(); /* all have read before the next tiles come */
            }
            unsigned tx = threadIdx.x, ty = threadIdx.y, across = blockDim.x, down = blockDim.y;
            gpu_in_vector(tx, ty, across, down);
            GPU_UNROLL
            for (int r = 0; r < R; r++)
                GPU_UNROLL
            for (int q = 0; q < C; q++) {
                const int64_t i = i0 + ty + r * down, j = j0 + tx + q * across;
                if (i < one.rows && j < one.columns)
                    one.y[i * c.y_stride + j] = sum[r][q];
            }
        }
    }
}

/* -------------------------------------------------------------------------------------------------- register ---- */

/* 16 bytes: what one load or store can move. */
template <typename T>
struct alignas(16) pack {
    static constexpr int width = 16 / sizeof(T);
    T value[width];
};

template <typename P, typename T>
struct patch_memory {
    /* A row of u's tile, turned so that it runs along the rows of u, is longer by a pack: half the bank conflicts. */
    static constexpr int u_pitch = P::height + pack<T>::width;
    static constexpr int elements = 2 * P::depth * (u_pitch + P::width);

    /* The number of packs of each tile that a thread copies. */
    static constexpr int u_across = P::depth / pack<T>::width, u_down = P::threads / u_across;
    static constexpr int u_packs = P::height / u_down;
    static constexpr int vt_across = P::width / pack<T>::width, vt_down = P::threads / vt_across;
    static constexpr int vt_packs = P::depth / vt_down;
    static_assert(u_packs * u_down == P::height && vt_packs * vt_down == P::depth, "tiles are whole copies");
};

/* row[at], row[at + 1] ..., zeros from `end` on. With `vectors` in one load where all of them exist. */
template <bool vectors, typename T>
__device__ inline pack<T> load_pack(const T *row, int64_t at, int64_t end)
{
    if (vectors && at + pack<T>::width <= end)
        return *reinterpret_cast<const pack<T> *>(row + at);
    pack<T> p;
    GPU_UNROLL
    for (int e = 0; e < pack<T>::width; e++)
        p.value[e] = at + e < end ? row[at + e] : 0;
    return p;
}

/* What a thread holds of the next tiles, on the way from global to shared memory. */
template <typename P, typename T>
struct carried {
    using M = patch_memory<P, T>;
    pack<T> u[M::u_packs], s, vt[M::vt_packs];
};

template <typename P, bool vectors, typename T>
__device__ inline void fetch(const factors<T> &c, int64_t i0, int64_t j0, int64_t p0, int thread, carried<P, T> &held)
{
    using M = patch_memory<P, T>;
    gpu_forget(thread);
    const int64_t p = p0 + thread % M::u_across * pack<T>::width;
    const int64_t j = j0 + thread % M::vt_across * pack<T>::width;
    held.s = load_pack<vectors>(c.s, p, c.rank);
    GPU_UNROLL
    for (int e = 0; e < M::u_packs; e++) {
        const int64_t i = i0 + e * M::u_down + thread / M::u_across;
        held.u[e] = load_pack<vectors>(c.u + i * c.u_stride, p, i < c.rows ? c.rank : 0);
    }
    GPU_UNROLL
    for (int e = 0; e < M::vt_packs; e++) {
        const int64_t row = p0 + e * M::vt_down + thread / M::vt_across;
        held.vt[e] = load_pack<vectors>(c.vt + row * c.vt_stride, j, row < c.rank ? c.columns : 0);
    }
}

/* The same for tiles that lie inside the matrices, all of them aligned: nearly all there are. */
template <typename P, typename T>
struct inner_source {
    using M = patch_memory<P, T>;
    const T *u, *s, *vt; /* the thread's first packs */
    int64_t u_down, vt_down, vt_next;

    __device__ inner_source(const factors<T> &c, int64_t i0, int64_t j0, int thread)
        : u(c.u + (i0 + thread / M::u_across) * c.u_stride + thread % M::u_across * pack<T>::width),
          s(c.s + thread % M::u_across * pack<T>::width),
          vt(c.vt + thread / M::vt_across * c.vt_stride + j0 + thread % M::vt_across * pack<T>::width),
          u_down(M::u_down * c.u_stride), vt_down(M::vt_down * c.vt_stride), vt_next(P::depth * c.vt_stride)
    {
    }

    /* Moves on to the next tiles. */
    __device__ void advance()
    {
        u += P::depth;
        s += P::depth;
        vt += vt_next;
    }

    __device__ void fetch(carried<P, T> &held) const
    {
        held.s = *reinterpret_cast<const pack<T> *>(s);
        GPU_UNROLL
        for (int e = 0; e < M::u_packs; e++)
            held.u[e] = *reinterpret_cast<const pack<T> *>(u + e * u_down);
        GPU_UNROLL
        for (int e = 0; e < M::vt_packs; e++)
            held.vt[e] = *reinterpret_cast<const pack<T> *>(vt + e * vt_down);
    }
};

/* Into shared memory, s multiplied into u. */
template <typename P, typename T>
__device__ inline void keep(const carried<P, T> &held, int thread, T *us, T *vs)
{
    using M = patch_memory<P, T>;
    const int k = thread % M::u_across * pack<T>::width, x = thread % M::vt_across * pack<T>::width;
    GPU_UNROLL
    for (int e = 0; e < M::u_packs; e++) {
        const int row = e * M::u_down + thread / M::u_across;
        GPU_UNROLL
        for (int w = 0; w < pack<T>::width; w++)
            us[(k + w) * M::u_pitch + row] = held.u[e].value[w] * held.s.value[w];
    }
    GPU_UNROLL
    for (int e = 0; e < M::vt_packs; e++) {
        const int row = e * M::vt_down + thread / M::vt_across;
        *reinterpret_cast<pack<T> *>(vs + row * P::width + x) = held.vt[e];
    }
}

/* Of the `count` rows (or columns) of a thread's outputs, where in the tile the e-th lies: in runs of a pack, so that
 * the threads of a warp read neighbouring packs of shared memory. */
template <int count, int threads, typename T>
__device__ constexpr int place_of(int thread, int e)
{
    constexpr int run = count < pack<T>::width ? count : pack<T>::width;
    return (e / run * threads + thread) * run + e % run;
}

/* The thread's `count` elements of a row of a tile. */
template <int count, int threads, typename T>
__device__ inline void read_run(const T *row, int thread, T (&values)[count])
{
    constexpr int run = count < pack<T>::width ? count : pack<T>::width;
    struct alignas(run * sizeof(T)) piece {
        T value[run];
    };
    GPU_UNROLL
    for (int e = 0; e < count; e += run) {
        const piece p = *reinterpret_cast<const piece *>(row + place_of<count, threads, T>(thread, e));
        GPU_UNROLL
        for (int w = 0; w < run; w++)
            values[e + w] = p.value[w];
    }
}

template <typename P, typename T>
__device__ inline void add_tile(const T *us, const T *vs, int tx, int ty, T (&sum)[P::rows][P::columns])
{
    using M = patch_memory<P, T>;
    GPU_UNROLL_FOR_SPEED
    for (int k = 0; k < P::depth; k++) {
        T a[P::rows], b[P::columns];
        read_run<P::rows, P::y>(us + k * M::u_pitch, ty, a);
        read_run<P::columns, P::x>(vs + k * P::width, tx, b);
        GPU_UNROLL
        for (int r = 0; r < P::rows; r++)
            GPU_UNROLL
        for (int q = 0; q < P::columns; q++)
            sum[r][q] += a[r] * b[q];
    }
}

template <typename P, bool vectors, typename T>
__device__ inline void store_patch(const factors<T> &c, int64_t i0, int64_t j0, int tx, int ty,
                                   const T (&sum)[P::rows][P::columns])
{
    constexpr int run = P::columns < pack<T>::width ? 1 : pack<T>::width;
    gpu_forget(tx);
    gpu_forget(ty);
    GPU_UNROLL
    for (int r = 0; r < P::rows; r++) {
        const int64_t i = i0 + place_of<P::rows, P::y, T>(ty, r);
        T *row = c.y + i * c.y_stride;
        GPU_UNROLL
        for (int q = 0; q < P::columns; q += run) {
            const int64_t j = j0 + place_of<P::columns, P::x, T>(tx, q);
            if (vectors && run > 1 && i < c.rows && j + run <= c.columns) {
                pack<T> p;
                GPU_UNROLL
                for (int w = 0; w < run; w++)
                    p.value[w] = sum[r][q + w];
                *reinterpret_cast<pack<T> *>(row + j) = p;
            } else {
                GPU_UNROLL
                for (int w = 0; w < run; w++)
                    if (i < c.rows && j + w < c.columns)
                        row[j + w] = sum[r][q + w];
            }
        }
    }
}

/* The same by matrix instructions, where a GPU has them. A wavefront has half of the tile's height (all of it if that
 * is the side of a square) and its share of the width, in squares. */
template <typename P, typename T>
struct wave_sums {
    using matrix = gpu_matrix<T>;
    static constexpr int waves = P::threads / matrix::lanes, waves_down = P::height > matrix::side ? 2 : 1;
    static constexpr int height = P::height / waves_down, width = P::width * waves_down / waves;
    static constexpr int down = height / matrix::side, across = width / matrix::side;
    static_assert(down * across * matrix::elements == P::rows * P::columns, "whole squares");
    typename matrix::sums square[down][across];
};

/* A thread's lane, and where in the tile its wavefront's part begins. */
template <typename P, typename T>
struct wave_place {
    using W = wave_sums<P, T>;
    int lane, row, column;

    __device__ wave_place()
    {
        const int thread = (int)(threadIdx.y * P::x + threadIdx.x), wave = thread / gpu_matrix<T>::lanes;
        lane = thread % gpu_matrix<T>::lanes;
        row = wave % W::waves_down * W::height;
        column = wave / W::waves_down * W::width;
    }
};

/* Not unrolled: the compiler would have the loads of the next tiles after most of it. */
template <typename P, typename T>
__device__ inline void add_tile(const T *us, const T *vs, int, int, wave_sums<P, T> &sum)
{
    using W = wave_sums<P, T>;
    using matrix = gpu_matrix<T>;
    constexpr int u_pitch = patch_memory<P, T>::u_pitch;
    const wave_place<P, T> at;
    us += at.lane / matrix::side * u_pitch + at.row + at.lane % matrix::side;
    vs += at.lane / matrix::side * P::width + at.column + at.lane % matrix::side;
    GPU_NO_UNROLL
    for (int k = 0; k < P::depth; k += matrix::depth)
        GPU_UNROLL
    for (int d = 0; d < W::down; d++)
        GPU_UNROLL
    for (int q = 0; q < W::across; q++)
        matrix::multiply_add(us[k * u_pitch + d * matrix::side], vs[k * P::width + q * matrix::side], sum.square[d][q]);
}

template <typename P, bool vectors, typename T>
__device__ inline void store_patch(const factors<T> &c, int64_t i0, int64_t j0, int, int, const wave_sums<P, T> &sum)
{
    using W = wave_sums<P, T>;
    using matrix = gpu_matrix<T>;
    wave_place<P, T> at;
    GPU_UNROLL
    for (int d = 0; d < W::down; d++)
        GPU_UNROLL
    for (int q = 0; q < W::across; q++) {
        gpu_forget(at.lane);
        const int64_t j = j0 + at.column + q * matrix::side + at.lane % matrix::side;
        GPU_UNROLL
        for (int e = 0; e < matrix::elements; e++) {
            const int64_t i = i0 + at.row + d * matrix::side + matrix::row_of(at.lane, e);
            if (i < c.rows && j < c.columns)
                c.y[i * c.y_stride + j] = sum.square[d][q][e];
        }
    }
}

/* A patch of R x C sums in each thread's registers, for which it reads R + C values a term from shared memory. There
 * are two pairs of tiles: while one is added, the next one is on its way from global memory through registers, and one
 * barrier a tile is enough. 8 x 4 neighbouring patches belong to threads in a row, so that a warp's reads of either
 * tile are of few different packs: 8 side by side are 128 bytes, each of the 32 banks once, and 4 lie below each other.
 * A wavefront of 64 lanes has two such squares, which AMD's LDS, of 32 banks too, reads one after the other: nothing is
 * gained by a square of 8 x 8, nor lost by this one. As in Volkov and Demmel, "Benchmarking GPUs to tune dense linear
 * algebra", SC 2008, and Tan et al., "Fast implementation of DGEMM on Fermi GPU", SC 2011. `vectors`: all matrices are
 * aligned to 16 bytes. */
template <typename P, bool vectors, typename T>
__global__ GPU_LAUNCH_BOUNDS(P::threads, P::blocks) void register_kernel(factors<T> c)
{
    using M = patch_memory<P, T>;
    GPU_DYNAMIC_SHARED(memory);
    constexpr int tile = P::depth * (M::u_pitch + P::width);
    T *tiles = reinterpret_cast<T *>(memory);
    const int thread = (int)(threadIdx.y * P::x + threadIdx.x), square = thread / 32;
    const int tx = square % (P::x / 8) * 8 + thread % 8, ty = square / (P::x / 8) * 4 + thread / 8 % 4;
    const int64_t j0 = (int64_t)blockIdx.x * P::width;
    for (int64_t n = blockIdx.z; n < c.batch; n += gridDim.z) {
        const factors<T> one = one_of(c, n);
        for (int64_t i0 = (int64_t)blockIdx.y * P::height; i0 < c.rows; i0 += (int64_t)gridDim.y * P::height) {
            const bool inside = vectors && i0 + P::height <= c.rows && j0 + P::width <= c.columns;
            inner_source<P, T> source(one, i0, j0, thread);
            std::conditional_t<gpu_matrix<T>::exists, wave_sums<P, T>, T[P::rows][P::columns]> sum = {};
            carried<P, T> held;
            fetch<P, vectors>(one, i0, j0, 0, thread, held);
            keep<P>(held, thread, tiles, tiles + P::depth * M::u_pitch);
            __syncthreads();
            int current = 0;
            int64_t p0 = 0;
            for (; inside && p0 + 2 * P::depth <= c.rank; p0 += P::depth) {
                const T *us = tiles + current * tile;
                T *next = tiles + (current ^= 1) * tile;
                source.advance();
                source.fetch(held);
                add_tile<P>(us, us + P::depth * M::u_pitch, tx, ty, sum);
                keep<P>(held, thread, next, next + P::depth * M::u_pitch);
                __syncthreads();
            }
            for (; p0 < c.rank; p0 += P::depth) {
                const T *us = tiles + current * tile;
                T *next = tiles + (current ^= 1) * tile;
                const bool more = p0 + P::depth < c.rank;
                if (more)
                    fetch<P, vectors>(one, i0, j0, p0 + P::depth, thread, held);
                add_tile<P>(us, us + P::depth * M::u_pitch, tx, ty, sum);
                if (more)
                    keep<P>(held, thread, next, next + P::depth * M::u_pitch);
                __syncthreads();
            }
            store_patch<P, vectors>(one, i0, j0, tx, ty, sum);
        }
    }
}

/* --------------------------------------------------------------------------------------------------- library ---- */

/* A packed copy of u times s. */
template <typename T>
__global__ __launch_bounds__(256) void scale_kernel(factors<T> c, T *scaled)
{
    const int64_t left = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, across = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t n = blockIdx.z; n < c.batch; n += gridDim.z)
        for (int64_t p = left; p < c.rank; p += across) {
            const T s = c.s[n * c.s_step + p];
            for (int64_t i = first; i < c.rows; i += next)
                scaled[(n * c.rows + i) * c.rank + p] = c.u[n * c.u_step + i * c.u_stride + p] * s;
        }
}

#endif
