/* SPDX-License-Identifier: MIT
 *
 * product_kernels.h - products of matrices on a GPU, with or without factors on a diagonal between them: the kernels
 * that reconstruct and matmul have in common. product.hpp chooses among them and launches them.
 *
 * n counts the batch, i and j rows and columns of the result, p the terms of its sums. Blocks take the tiles beyond the
 * end of the grid one after the other.
 */
#ifndef FLYNN_HIP_PRODUCT_KERNELS_H
#define FLYNN_HIP_PRODUCT_KERNELS_H

#include "product_patch.h"

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

/* A row of a's tile has one element more than it needs: rows then begin in different banks. So has one of b's where
 * columns are stored. */
__host__ __device__ inline int tiled_pitch(int depth)
{
    return depth > 1 ? depth + 1 : 1;
}

template <product_form form>
__host__ __device__ inline int tiled_b_pitch(int width)
{
    return form == product_form::turned ? width + 1 : width;
}

/* Elements of shared memory. */
template <product_form form>
__host__ __device__ inline int64_t tiled_shared(int64_t width, int64_t height, int depth)
{
    return height * tiled_pitch(depth) + depth * (form == product_form::turned ? width + 1 : width);
}

/* A tile as it lies in memory: `lines` of `length` elements, the first of which is element `x` of line `line` of a
 * matrix with `end_line` lines of `end` elements. */
struct tile_in_memory {
    int64_t line, end_line, x, end;
    int lines, length;
};

/* to[line * line_pitch + x * x_pitch] = the tile's, zeros beyond the edges; `scaled`: times s[x]. */
template <bool scaled, typename T>
__device__ inline void fill_tile(const T *from, int64_t stride, const tile_in_memory &tile, const T *s, T *to,
                                 int line_pitch, int x_pitch)
{
    for (int line = (int)threadIdx.y; line < tile.lines; line += (int)blockDim.y) {
        GPU_FORGET_IF_FEW(line);
        for (int x = (int)threadIdx.x; x < tile.length; x += (int)blockDim.x) {
            GPU_FORGET_IF_FEW(x);
            const int64_t at_line = tile.line + line, at = tile.x + x;
            T value = 0;
            if (at_line < tile.end_line && at < tile.end)
                value = scaled ? from[at_line * stride + at] * s[at] : from[at_line * stride + at];
            to[line * line_pitch + x * x_pitch] = value;
        }
    }
}

/* As fill_tile, for a tile that may be turned: its first element is element p of line i, or the other way around.
 * Numbers that are the same in all threads go to vector registers, of which there are more. */
template <typename T>
__device__ inline void fill_turned(const T *from, int64_t stride, bool turned, int64_t i, int64_t end_i, int64_t p,
                                   int64_t end_p, int rows, int depth, T *to, int i_pitch, int p_pitch)
{
    tile_in_memory tile = {turned ? p : i,         turned ? end_p : end_i, turned ? i : p,
                           turned ? end_i : end_p, turned ? depth : rows,  turned ? rows : depth};
    int line_pitch = turned ? p_pitch : i_pitch, x_pitch = turned ? i_pitch : p_pitch;
    gpu_in_vector(stride, tile.line, tile.end_line, tile.x, tile.end, tile.lines, tile.length, line_pitch, x_pitch);
    fill_tile<false>(from, stride, tile, (const T *)nullptr, to, line_pitch, x_pitch);
}

/* Copies the tile of `height` x `depth` of a times s, and of `depth` x `width` of b. */
template <product_form form, typename T>
__device__ inline void fill_tiles(const factors<T> &m, int64_t i0, int64_t j0, int64_t p0, int height, int width,
                                  int depth, T *as, T *bs)
{
    const int a_pitch = tiled_pitch(depth), b_pitch = tiled_b_pitch<form>(width);
    if constexpr (form == product_form::turned) {
        fill_turned(m.a, m.a_stride, m.turned_a, i0, m.rows, p0, m.terms, height, depth, as, a_pitch, 1);
        fill_turned(m.b, m.b_stride, !m.turned_b, j0, m.columns, p0, m.terms, width, depth, bs, 1, b_pitch);
    } else {
        constexpr bool scaled = form == product_form::scaled;
        fill_tile<scaled>(m.a, m.a_stride, {i0, m.rows, p0, m.terms, height, depth}, m.s, as, a_pitch, 1);
        fill_tile<false>(m.b, m.b_stride, {p0, m.terms, j0, m.columns, depth, width}, m.s, bs, b_pitch, 1);
    }
}

/* Tiles of both factors in shared memory, each element of which serves a whole row or column of a block's outputs. A
 * thread has R x C outputs, a block apart from each other: for `tiled` one. Any block will do. */
template <product_form form, int R, int C, typename T>
__global__ __launch_bounds__(1024) void tiled_kernel(factors<T> m, int depth)
{
    GPU_DYNAMIC_SHARED(memory);
    const int height = (int)blockDim.y * R, width = (int)blockDim.x * C;
    T *as = reinterpret_cast<T *>(memory), *bs = as + height * tiled_pitch(depth);
    const int64_t j0 = (int64_t)blockIdx.x * width;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z) {
        const factors<T> one = one_of(gpu_first(m), n);
        for (int64_t i0 = (int64_t)blockIdx.y * height; i0 < one.rows; i0 += (int64_t)gridDim.y * height) {
            T sum[R][C] = {};
            for (int64_t p0 = 0; p0 < one.terms; p0 += depth) {
                fill_tiles<form>(one, i0, j0, p0, height, width, depth, as, bs);
                __syncthreads();
                GPU_UNROLL_SOME
                for (int k = 0; k < depth; k++)
                    GPU_UNROLL
                for (int r = 0; r < R; r++)
                    GPU_UNROLL
                for (int q = 0; q < C; q++)
                    sum[r][q] += as[(threadIdx.y + r * blockDim.y) * tiled_pitch(depth) + k] *
                                 bs[k * tiled_b_pitch<form>(width) + threadIdx.x + q * blockDim.x];
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
                    one.c[i * m.c_stride + j] = sum[r][q];
            }
        }
    }
}

/* -------------------------------------------------------------------------------------------------- register ---- */

/* A patch of R x C sums in each thread's registers, for which it reads R + C values a term from shared memory. There
 * are two pairs of tiles: while one is added, the next one is on its way from global memory through registers, and one
 * barrier a tile is enough. 8 x 4 neighbouring patches belong to threads in a row, so that a warp's reads of either
 * tile are of few different packs: 8 side by side are 128 bytes, each of the 32 banks once, and 4 lie below each other.
 * A wavefront of 64 lanes has two such squares, which AMD's LDS, of 32 banks too, reads one after the other: nothing is
 * gained by a square of 8 x 8, nor lost by this one. As in Volkov and Demmel, "Benchmarking GPUs to tune dense linear
 * algebra", SC 2008, and Tan et al., "Fast implementation of DGEMM on Fermi GPU", SC 2011. `vectors`: all matrices are
 * aligned to 16 bytes. */
template <product_form form, typename P, bool vectors, typename T>
__global__ GPU_LAUNCH_BOUNDS(P::threads, P::blocks) void register_kernel(factors<T> m)
{
    using M = patch_memory<P, form, T>;
    GPU_DYNAMIC_SHARED(memory);
    constexpr int tile = P::depth * (M::a_pitch + M::b_pitch);
    T *tiles = reinterpret_cast<T *>(memory);
    const int thread = (int)(threadIdx.y * P::x + threadIdx.x), square = thread / 32;
    const int tx = square % (P::x / 8) * 8 + thread % 8, ty = square / (P::x / 8) * 4 + thread / 8 % 4;
    const int64_t j0 = (int64_t)blockIdx.x * P::width;
    for (int64_t n = blockIdx.z; n < m.batch; n += gridDim.z) {
        const factors<T> one = one_of(m, n);
        for (int64_t i0 = (int64_t)blockIdx.y * P::height; i0 < m.rows; i0 += (int64_t)gridDim.y * P::height) {
            const bool inside = vectors && i0 + P::height <= m.rows && j0 + P::width <= m.columns;
            inner_source<P, M, form, T> source(one, i0, j0, thread);
            std::conditional_t<gpu_matrix<T>::exists, wave_sums<P, T>, T[P::rows][P::columns]> sum = {};
            carried<M, T> held;
            fetch<M, form, vectors>(one, i0, j0, 0, thread, held);
            keep<M, form>(one, held, thread, tiles, tiles + P::depth * M::a_pitch);
            __syncthreads();
            int current = 0;
            int64_t p0 = 0;
            for (; inside && p0 + 2 * P::depth <= m.terms; p0 += P::depth) {
                const T *as = tiles + current * tile;
                T *next = tiles + (current ^= 1) * tile;
                source.advance();
                source.fetch(held);
                add_tile<P, M>(as, as + P::depth * M::a_pitch, tx, ty, sum);
                keep<M, form>(one, held, thread, next, next + P::depth * M::a_pitch);
                __syncthreads();
            }
            for (; p0 < m.terms; p0 += P::depth) {
                const T *as = tiles + current * tile;
                T *next = tiles + (current ^= 1) * tile;
                const bool more = p0 + P::depth < m.terms;
                if (more)
                    fetch<M, form, vectors>(one, i0, j0, p0 + P::depth, thread, held);
                add_tile<P, M>(as, as + P::depth * M::a_pitch, tx, ty, sum);
                if (more)
                    keep<M, form>(one, held, thread, next, next + P::depth * M::a_pitch);
                __syncthreads();
            }
            store_patch<P, vectors>(one, i0, j0, tx, ty, sum);
        }
    }
}

#endif
