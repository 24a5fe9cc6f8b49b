/* SPDX-License-Identifier: MIT
 *
 * transpose_kernels.h - the kernels of transpose.hip.cpp, in blocks of any shape and size. Elements are moved as
 * unsigned integers of their size.
 *
 * A block of `tiled` and `padded` reads a tile row by row, and writes it column by column: in both directions
 * neighbouring threads have neighbouring elements in global memory. In between the tile is in shared memory, where rows
 * or columns must be walked across (Ruetsch and Micikevicius, "Optimizing matrix transpose in CUDA", 2009).
 */
#ifndef FLYNN_HIP_TRANSPOSE_KERNELS_H
#define FLYNN_HIP_TRANSPOSE_KERNELS_H

#include "gpu/gpu_registers.h"
#include "gpu/gpu_tiles.h"

#include <type_traits>

namespace
{

/* Matrices in two dimensions of a batch, and where an element of them lies in `in` and in `out`, in elements. */
struct transposing {
    const void *in;
    void *out;
    int64_t shape[4]; /* of `in` */
    int64_t in_stride[4], out_stride[4];
};

__device__ inline int transpose_thread()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* a / b; in 32 bits, if they have no more, it takes a fraction of the time. */
__device__ inline int64_t transpose_quotient(int64_t a, int64_t b)
{
    return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* One element a thread and step: neighbouring threads read neighbouring elements, and write elements that lie a row
 * apart. `shape` may also be that of `out`, with the strides of `in` exchanged: then the writes are neighbours. */
template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 2) void naive_transpose(transposing t)
{
    const int threads = gpu_block_threads();
    const int64_t elements = t.shape[0] * t.shape[1] * t.shape[2] * t.shape[3], step = (int64_t)gridDim.x * threads;
    for (int64_t e = (int64_t)blockIdx.x * threads + transpose_thread(); e < elements; e += step) {
        int64_t rest = e, from = 0, to = 0;
        GPU_UNROLL
        for (int d = 3; d > 0; d--) {
            const int64_t outer = transpose_quotient(rest, t.shape[d]), at = rest - outer * t.shape[d];
            from += at * t.in_stride[d];
            to += at * t.out_stride[d];
            rest = outer;
        }
        static_cast<T *>(t.out)[to + rest * t.out_stride[0]] =
            static_cast<const T *>(t.in)[from + rest * t.in_stride[0]];
    }
}

/* ----------------------------------------------------------------------------------------------------- tiles ---- */

/* The number-th tile of `edge` rows and columns, counted along the rows of a matrix, then down, then along the batch.
 */
template <typename T>
struct transpose_tile {
    const T *in;
    T *out;
    int64_t in_stride, out_stride;
    int rows, columns; /* of `in`; fewer at the ends of a matrix */

    __device__ transpose_tile(const transposing &t, int64_t number, int edge)
        : in_stride(t.in_stride[2]), out_stride(t.out_stride[3])
    {
        const int64_t across = (t.shape[3] + edge - 1) / edge, down = (t.shape[2] + edge - 1) / edge;
        const int64_t line = transpose_quotient(number, across), matrix = transpose_quotient(line, down);
        const int64_t column = (number - line * across) * edge, row = (line - matrix * down) * edge;
        const int64_t outer = transpose_quotient(matrix, t.shape[1]), inner = matrix - outer * t.shape[1];
        in = static_cast<const T *>(t.in) + outer * t.in_stride[0] + inner * t.in_stride[1] + row * in_stride + column;
        out = static_cast<T *>(t.out) + outer * t.out_stride[0] + inner * t.out_stride[1] + column * out_stride + row;
        rows = (int)(t.shape[2] - row < edge ? t.shape[2] - row : edge);
        columns = (int)(t.shape[3] - column < edge ? t.shape[3] - column : edge);
    }
};

constexpr int simple_edge = 32; /* of a tile of `tiled` */

/* The textbook's, without padding: the threads of a warp read a column of the tile, whose elements lie 32 elements
 * apart: of four bytes, all 32 in one bank, which serves them one after the other. */
template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 2) void tiled_transpose(transposing t, int64_t tiles)
{
    GPU_DYNAMIC_SHARED(memory);
    constexpr int rounds = 4;
    T *const cells = reinterpret_cast<T *>(memory);
    const int threads = gpu_block_threads();
    for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        const transpose_tile<T> tile(t, number, simple_edge);
        for (int first = transpose_thread(); first < simple_edge * simple_edge; first += rounds * threads) {
            T element[rounds] = {};
            GPU_UNROLL
            for (int r = 0; r < rounds; r++) { /* this many loads are on their way at a time */
                const int i = first + r * threads, row = i / simple_edge, column = i % simple_edge;
                if (row < tile.rows && column < tile.columns)
                    element[r] = tile.in[row * tile.in_stride + column];
            }
            GPU_UNROLL
            for (int r = 0; r < rounds; r++)
                if (first + r * threads < simple_edge * simple_edge)
                    cells[first + r * threads] = element[r];
        }
        __syncthreads();
        GPU_NO_UNROLL
        for (int i = transpose_thread(); i < simple_edge * simple_edge; i += threads) {
            const int column = i / simple_edge, row = i % simple_edge;
            if (row < tile.rows && column < tile.columns)
                tile.out[column * tile.out_stride + row] = cells[row * simple_edge + column];
        }
        __syncthreads(); /* before the next tile takes this one's place */
    }
}

/* ---------------------------------------------------------------------------------------------------- padded ---- */

/* 16 bytes, which a thread loads or stores at once: elements of a row. */
template <typename T>
struct alignas(16) transpose_pack {
    static constexpr int size = 16 / (int)sizeof(T);
    T value[size];
};

/* How a tile lies in shared memory: column by column, in cells, which are what a thread reads and writes there:
 * elements, or of single bytes the four below each other that make a word.
 *
 * A cell's bank is its place modulo 32 words. Packs are written by 8 threads along a row of the tile (128 bytes in
 * global memory) and 4 down: the same element of their packs is in 8 columns that lie pack_size apart. Packs of the
 * result are read by 8 threads along a column and 4 across. With a column of one cell more than 32 words or 16 double
 * words, both meet each bank once for packs of 4 and of 2 elements; columns 16 apart would lie in only two places, so
 * after each 16 of them there are 20 words more. */
template <typename T>
struct transpose_layout {
    static constexpr int edge = transpose_edge<T>;
    static constexpr int stack = sizeof(T) == 1 ? 4 : 1; /* elements of a cell */
    using cell = std::conditional_t<sizeof(T) == 1, uint32_t, T>;
    static constexpr int pack_size = transpose_pack<T>::size;
    static constexpr int pitch = edge / stack + 1, gap = stack == 1 ? 0 : 20;
    static constexpr int cells = edge * pitch + edge / pack_size * gap;

    static __device__ int place(int row_of_cells, int column)
    {
        return column * pitch + column / pack_size * gap + row_of_cells;
    }
};

/* Whether packs of these rows are aligned. */
template <typename T>
__device__ inline bool transpose_aligned(const T *first, int64_t stride)
{
    return (reinterpret_cast<uintptr_t>(first) | (uintptr_t)(stride * (int64_t)sizeof(T))) % 16 == 0;
}

/* Which pack of a tile, `across` in a row, the i-th thread takes: 8 along a row, then 4 down, then the next 32. */
struct transpose_spot {
    int along, line;

    __device__ transpose_spot(int i, int across)
        : along(i % 8 + i / 32 % (across / 8) * 8), line(i / 8 % 4 + i / 32 / (across / 8) * 4)
    {
    }
};

/* The four words of which each has a row of four bytes become four that have a column each. */
__device__ inline void transpose_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t *columns)
{
    const uint32_t even = 0x00ff00ff;
    const uint32_t ab_even = (a & even) | (b & even) << 8, ab_odd = (a >> 8 & even) | (b & ~even);
    const uint32_t cd_even = (c & even) | (d & even) << 8, cd_odd = (c >> 8 & even) | (d & ~even);
    columns[0] = (ab_even & 0xffff) | cd_even << 16;
    columns[1] = (ab_odd & 0xffff) | cd_odd << 16;
    columns[2] = ab_even >> 16 | (cd_even & 0xffff0000);
    columns[3] = ab_odd >> 16 | (cd_odd & 0xffff0000);
}

/* A pack of elements of four or eight bytes, as it goes to and from memory. */
template <typename T>
struct transpose_unit {
    transpose_pack<T> packs[1];

    __device__ void store_cells(T *cells, int row, int column) const
    {
        GPU_UNROLL
        for (int k = 0; k < transpose_pack<T>::size; k++)
            cells[transpose_layout<T>::place(row, column + k)] = packs[0].value[k];
    }
    static __device__ transpose_pack<T> load_cells(const T *cells, int row, int column)
    {
        transpose_pack<T> pack;
        GPU_UNROLL
        for (int k = 0; k < transpose_pack<T>::size; k++)
            pack.value[k] = cells[transpose_layout<T>::place(row + k, column)];
        return pack;
    }
    static __device__ void store_cell(T *cells, int row, int column, const T *elements)
    {
        cells[transpose_layout<T>::place(row, column)] = elements[0];
    }
};

/* For single bytes: four packs below each other, as words. */
template <>
struct transpose_unit<uint8_t> {
    transpose_pack<uint32_t> packs[4];

    __device__ void store_cells(uint32_t *cells, int row, int column) const
    {
        GPU_UNROLL
        for (int w = 0; w < 4; w++) {
            uint32_t columns[4];
            transpose_bytes(packs[0].value[w], packs[1].value[w], packs[2].value[w], packs[3].value[w], columns);
            GPU_UNROLL
            for (int k = 0; k < 4; k++)
                cells[transpose_layout<uint8_t>::place(row, column + 4 * w + k)] = columns[k];
        }
    }
    static __device__ transpose_pack<uint32_t> load_cells(const uint32_t *cells, int row, int column)
    {
        transpose_pack<uint32_t> pack;
        GPU_UNROLL
        for (int k = 0; k < 4; k++)
            pack.value[k] = cells[transpose_layout<uint8_t>::place(row / 4 + k, column)];
        return pack;
    }
    static __device__ void store_cell(uint32_t *cells, int row, int column, const uint8_t *elements)
    {
        cells[transpose_layout<uint8_t>::place(row, column)] =
            elements[0] | (uint32_t)elements[1] << 8 | (uint32_t)elements[2] << 16 | (uint32_t)elements[3] << 24;
    }
};

/* Loads the tile: by whole packs, several of which are on their way at a time. */
template <typename T>
__device__ void transpose_load_packs(const transpose_tile<T> &tile, typename transpose_layout<T>::cell *cells)
{
    using layout = transpose_layout<T>;
    constexpr int across = layout::edge / layout::pack_size, units = layout::edge / layout::stack * across;
    constexpr int rounds = units > 256 ? units / 256 : 1;
    using pack = transpose_pack<typename layout::cell>;
    const int threads = gpu_block_threads();
    for (int first = transpose_thread(); first < units; first += rounds * threads) {
        transpose_unit<T> unit[rounds] = {};
        GPU_UNROLL
        for (int r = 0; r < rounds; r++) {
            const transpose_spot spot(first + r * threads, across);
            const int row = spot.line * layout::stack, column = spot.along * layout::pack_size;
            GPU_UNROLL
            for (int k = 0; k < layout::stack; k++)
                if (row + k < tile.rows && column < tile.columns)
                    gpu_copy(*reinterpret_cast<const pack *>(tile.in + (row + k) * tile.in_stride + column),
                             unit[r].packs[k]);
        }
        GPU_UNROLL
        for (int r = 0; r < rounds; r++) {
            const transpose_spot spot(first + r * threads, across);
            if (first + r * threads < units)
                unit[r].store_cells(cells, spot.line, spot.along * layout::pack_size);
        }
    }
}

/* Loads a tile element by element: its rows are not aligned, or end within a pack. */
template <typename T>
__device__ void transpose_load_elements(const transpose_tile<T> &tile, typename transpose_layout<T>::cell *cells)
{
    using layout = transpose_layout<T>;
    constexpr int units = layout::edge / layout::stack * layout::edge, rounds = 4;
    const int threads = gpu_block_threads();
    for (int first = transpose_thread(); first < units; first += rounds * threads) {
        T element[rounds][layout::stack] = {};
        GPU_UNROLL
        for (int r = 0; r < rounds; r++) {
            const int i = first + r * threads, row = i / layout::edge * layout::stack, column = i % layout::edge;
            GPU_UNROLL
            for (int k = 0; k < layout::stack; k++)
                if (row + k < tile.rows && column < tile.columns)
                    element[r][k] = tile.in[(row + k) * tile.in_stride + column];
        }
        GPU_UNROLL
        for (int r = 0; r < rounds; r++) {
            const int i = first + r * threads;
            if (i < units)
                transpose_unit<T>::store_cell(cells, i / layout::edge, i % layout::edge, element[r]);
        }
    }
}

template <typename T>
__device__ void transpose_store_packs(const transpose_tile<T> &tile, const typename transpose_layout<T>::cell *cells)
{
    using layout = transpose_layout<T>;
    constexpr int across = layout::edge / layout::pack_size, units = layout::edge * across;
    const int threads = gpu_block_threads();
    GPU_NO_UNROLL /* stores are not waited for, and registers are needed for more warps */
        for (int i = transpose_thread(); i < units; i += threads)
    {
        const transpose_spot spot(i, across);
        const int row = spot.along * layout::pack_size, column = spot.line;
        if (row < tile.rows && column < tile.columns) {
            const transpose_pack<typename layout::cell> pack = transpose_unit<T>::load_cells(cells, row, column);
            gpu_copy(pack, *reinterpret_cast<transpose_pack<typename layout::cell> *>(tile.out +
                                                                                      column * tile.out_stride + row));
        }
    }
}

template <typename T>
__device__ void transpose_store_elements(const transpose_tile<T> &tile, const typename transpose_layout<T>::cell *cells)
{
    using layout = transpose_layout<T>;
    constexpr int across = layout::edge / layout::stack, units = layout::edge * across;
    const int threads = gpu_block_threads();
    GPU_NO_UNROLL
    for (int i = transpose_thread(); i < units; i += threads) {
        const int row = i % across * layout::stack, column = i / across;
        const auto cell = cells[layout::place(i % across, column)];
        GPU_UNROLL
        for (int k = 0; k < layout::stack; k++)
            if (row + k < tile.rows && column < tile.columns)
                tile.out[column * tile.out_stride + row + k] = (T)(cell >> (layout::stack > 1 ? 8 * k : 0));
    }
}

template <typename T>
__global__ GPU_LAUNCH_BOUNDS(1024, 2) void padded_transpose(transposing t, int64_t tiles)
{
    GPU_DYNAMIC_SHARED(memory);
    using layout = transpose_layout<T>;
    auto *const cells = reinterpret_cast<typename layout::cell *>(memory);
    for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        const transpose_tile<T> tile(t, number, layout::edge);
        if (tile.columns % layout::pack_size == 0 && transpose_aligned(tile.in, tile.in_stride))
            transpose_load_packs(tile, cells);
        else
            transpose_load_elements(tile, cells);
        __syncthreads();
        if (tile.rows % layout::pack_size == 0 && transpose_aligned(tile.out, tile.out_stride))
            transpose_store_packs(tile, cells);
        else
            transpose_store_elements(tile, cells);
        __syncthreads(); /* before the next tile takes this one's place */
    }
}

} // namespace

#endif
