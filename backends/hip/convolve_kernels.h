/* SPDX-License-Identifier: MIT
 *
 * convolve_kernels.h - 2-D convolution on a GPU, for float and double. convolve.hip.cpp chooses among these kernels.
 *
 * All of them see the kernel turned by 180 degrees, so that both run upwards:
 *     out[i, j] = sum over s, t of image[i + top + s, j + left + t] * kernel[rows - 1 - s, columns - 1 - t]
 *
 * `tiled` and `separable` also fill up what a kernel lacks to a whole number of register windows with zeros. That
 * changes nothing as long as all numbers are finite. Where they are not, 0 * infinity is NaN, and sums on the way may
 * overflow: every output that is not finite is summed again as `naive` does it, and so is naive's.
 */
#ifndef FLYNN_HIP_CONVOLVE_KERNELS_H
#define FLYNN_HIP_CONVOLVE_KERNELS_H

#include "device.hpp"
#include "gpu/gpu_tiles.h"
#include "sliding.h"

#include <cmath>
#include <limits>

/* Rows of a matrix in device memory. */
template <typename T>
struct matrix {
    T *data;
    int64_t stride, rows, columns;
};

template <typename T>
struct convolution {
    matrix<const T> image, kernel;
    matrix<T> out;
    int64_t top, left;
};

/* fl_convolve_args as the kernels get it. */
template <typename T>
convolution<T> convolution_of(const fl_convolve_args *args)
{
    const fl_buffer &image = args->image, &kernel = args->kernel, &out = args->out;
    return {{static_cast<const T *>(image.data), image.stride[0], image.shape[0], image.shape[1]},
            {static_cast<const T *>(kernel.data), kernel.stride[0], kernel.shape[0], kernel.shape[1]},
            {static_cast<T *>(out.data), out.stride[0], out.shape[0], out.shape[1]},
            args->origin[0] - (kernel.shape[0] - 1),
            args->origin[1] - (kernel.shape[1] - 1)};
}

/* The part of a kernel that fits in shared memory together with the image under it. */
struct chunk {
    int rows, columns;
};

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* One output by its definition. The zeros outside the image are multiplied and added as well: a kernel that is not
 * finite makes NaN of the border, as in scipy.signal.convolve2d. A row's taps `first` to `end` lie inside the image. */
template <typename T>
__device__ inline T direct_sum(const convolution<T> &c, int64_t i, int64_t j)
{
    const int64_t row = i + c.top, column = j + c.left, taps = c.kernel.columns;
    const int64_t first_inside = least(column < 0 ? -column : 0, taps);
    const int64_t past = c.image.columns - column, end_inside = past > first_inside ? least(past, taps) : first_inside;
    T sum = 0;
    for (int64_t s = 0; s < c.kernel.rows; s++) {
        const bool inside = row + s >= 0 && row + s < c.image.rows;
        const int64_t first = inside ? first_inside : taps, end = inside ? end_inside : taps;
        const T *pixel = c.image.data + (row + s) * c.image.stride + column;
        const T *tap = c.kernel.data + (c.kernel.rows - 1 - s) * c.kernel.stride + taps - 1;
        for (int64_t t = 0; t < first; t++)
            sum += 0 * tap[-t];
        for (int64_t t = first; t < end; t++)
            sum += pixel[t] * tap[-t];
        for (int64_t t = end; t < taps; t++)
            sum += 0 * tap[-t];
    }
    return sum;
}

/* One thread an output; x is the fastest axis, so that a warp's loads and stores are of neighbours. */
template <typename T>
__global__ __launch_bounds__(1024) void naive_kernel(convolution<T> c)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next = (int64_t)gridDim.y * blockDim.y;
    for (int64_t i = first; i < c.out.rows; i += next)
        if (j < c.out.columns)
            c.out.data[i * c.out.stride + j] = direct_sum(c, i, j);
}

/* ------------------------------------------------------------------------------------ what tiles are made of ---- */

/* Returns a column of the image from top to bottom, zeros outside the image unless the column is `within`. */
template <bool within, typename T>
struct column_reader {
    const T *pixel;
    int64_t stride;
    unsigned y, rows; /* rows since the first one of those in the image; above it is far beyond the last */

    __device__ T operator()()
    {
        const T value = within || y < rows ? *pixel : T(0);
        y++;
        pixel += stride;
        return value;
    }
};

/* The part of the image under a tile; 32 bits suffice for its rows and columns. */
template <typename T>
struct region {
    const T *corner; /* in the image or not */
    int64_t stride;
    int first_row, end_row, first_column, end_column; /* the part that is in the image */
    bool within;                                      /* all of it is */

    __device__ region(const matrix<const T> &image, int64_t row, int64_t column, int rows, int columns)
        : corner(image.data + row * image.stride + column), stride(image.stride),
          first_row(row < 0 ? (int)least<int64_t>(-row, rows) : 0),
          end_row(row < image.rows ? (int)least<int64_t>(image.rows - row, rows) : first_row),
          first_column(column < 0 ? (int)least<int64_t>(-column, columns) : 0),
          end_column(column < image.columns ? (int)least<int64_t>(image.columns - column, columns) : first_column),
          within(end_row - first_row == rows && end_column - first_column == columns)
    {
    }
    /* Column x from row y down. */
    template <bool all_within>
    __device__ column_reader<all_within, T> column(int x, int y) const
    {
        const int inside = x >= first_column && x < end_column ? end_row - first_row : 0;
        return {corner + y * stride + x, stride, (unsigned)(y - first_row), (unsigned)inside};
    }
};

/* image[row .., column ..] -> tile, whose columns lie one after the other, `pitch` apart; zeros outside the image.
 * A thread has several loads on their way at once: one after the other they would take longer than all else. */
template <typename T>
__device__ inline void load_tile(const matrix<const T> &image, int64_t row, int64_t column, int rows, int columns,
                                 int pitch, T *tile)
{
    constexpr int at_once = 8;
    region<T> under(image, row, column, rows, columns);
    unsigned threads = blockDim.x * blockDim.y, items = (rows + at_once - 1) / at_once * columns;
    gpu_in_vector(threads, items, rows, pitch);
    gpu_in_vector(under.stride, under.first_row, under.end_row, under.first_column, under.end_column);
    for (unsigned item = threadIdx.y * blockDim.x + threadIdx.x; item < items; item += threads) {
        const int x = item % columns, y = item / columns * at_once;
        auto next = under.template column<false>(x, y);
        T pixel[at_once];
        GPU_UNROLL
        for (int k = 0; k < at_once; k++)
            pixel[k] = next();
        T *const to = tile + (x * pitch + y);
        GPU_UNROLL
        for (int k = 0; k < at_once; k++)
            if (y + k < rows)
                to[k] = pixel[k];
    }
}

/* Stores a thread's sums, from row i down. A sum that is not finite is computed again by exact(). */
template <int R, typename T, typename Exact>
__device__ inline void store(const matrix<T> &to, Exact exact, int64_t i, int64_t j, const T (&sums)[R])
{
    if (j >= to.columns || i >= to.rows)
        return;
    const int rows = (int)least<int64_t>(R, to.rows - i);
    T *const top = to.data + i * to.stride + j, *out = top;
    T zero = 0; /* NaN as soon as one sum is not finite */
    GPU_UNROLL
    for (int r = 0; r < R; r++, out += to.stride)
        if (r < rows) {
            *out = sums[r];
            zero += 0 * sums[r];
        }
    if (zero == 0)
        return;
    for (int r = 0; r < rows; r++)
        if (!is_finite(top[r * to.stride]))
            top[r * to.stride] = direct_sum(exact(), i + r, j);
}

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

/* One tile of `c`: a block's threads, each R outputs high. Leaves shared memory free to be used again. `finite`: the
 * kernel is, so that parts of it under which there are zeros outside the image alone are left out.
 * Shared: the chunk's taps, turned, column by column and padded with zeros to a multiple of Q; then the image. */
template <int R, int Q, typename T, typename Exact>
__device__ inline void tiled_tile(const convolution<T> &c, Exact exact, chunk largest, T *shared, int64_t i0,
                                  int64_t j0, bool finite = false)
{
    const int width = blockDim.x, height = blockDim.y * R;
    int x = threadIdx.x, y = threadIdx.y * R;
    T sums[R] = {};
    for (int64_t s0 = 0; s0 < c.kernel.rows; s0 += largest.rows)
        for (int64_t t0 = 0; t0 < c.kernel.columns; t0 += largest.columns) {
            const int rows = (int)least<int64_t>(largest.rows, c.kernel.rows - s0), padded = round_up(rows, Q);
            const int columns = (int)least<int64_t>(largest.columns, c.kernel.columns - t0);
            const int tile_rows = height + padded - 1, pitch = tile_rows | 1; /* odd: no two threads in one bank */
            const T *last = c.kernel.data + (c.kernel.rows - 1 - s0) * c.kernel.stride + c.kernel.columns - 1 - t0;
            T *tile = shared + padded * columns;
            const int64_t row = i0 + c.top + s0, column = j0 + c.left + t0;
            if (finite && (row + tile_rows <= 0 || row >= c.image.rows || column + width + columns - 1 <= 0 ||
                           column >= c.image.columns))
                continue;
            int step = width;
            gpu_in_vector(step);
            for (int s = threadIdx.y; s < padded; s += blockDim.y)
                for (int t = x; t < columns; t += step)
                    shared[t * padded + s] = s < rows ? last[-s * c.kernel.stride - t] : T(0);
            load_tile(c.image, row, column, tile_rows, width + columns - 1, pitch, tile);
            __syncthreads();
            for (int t = 0; t < columns; t++)
                slide<R, Q>(line_reader<T>{tile + (x + t) * pitch + y}, shared + t * padded, padded, sums);
            __syncthreads(); /* the next chunk or tile overwrites what others may still read */
        }
    gpu_forget(x);
    gpu_forget(y);
    store(c.out, exact, i0 + y, j0 + x, sums);
}

/* Elements of shared memory that a tile of `tiled` needs. */
template <int R, int Q>
constexpr int64_t tiled_shared(int width, int height, chunk c)
{
    return (int64_t)round_up(c.rows, Q) * c.columns +
           (((int64_t)height * R + round_up(c.rows, Q) - 1) | 1) * ((int64_t)width + c.columns - 1);
}

/* Two convolutions of which the device chooses, by whether the kernel was found to be of rank one. One without output
 * rows is nothing to do. */
template <typename T>
struct choice {
    const int *rank_one; /* nullptr: `otherwise` */
    convolution<T> of_rank_one, otherwise;
    convolution<T> exact; /* by which outputs that are not finite are computed again; the same outputs */
    chunk largest;
};

template <int R, int Q, typename T>
__global__ GPU_LAUNCH_BOUNDS(shape_threads(R), shape_blocks<T>(R)) void tiled_kernel(choice<T> c)
{
    GPU_DYNAMIC_SHARED(bytes);
    T *shared = reinterpret_cast<T *>(bytes);
    const bool rank_one = c.rank_one && gpu_same(*c.rank_one);
    const int64_t rows = rank_one ? c.of_rank_one.out.rows : c.otherwise.out.rows;
    const int64_t j = (int64_t)blockIdx.x * blockDim.x, next = (int64_t)gridDim.y * blockDim.y * R;
    const auto exact = [&]() -> const convolution<T> & { return gpu_first(c).exact; };
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R; i < rows; i += next)
        if (rank_one) /* twice the code, so that each reads its numbers straight from the kernel's parameters */
            tiled_tile<R, Q>(gpu_first(c).of_rank_one, exact, c.largest, shared, i, j);
        else
            tiled_tile<R, Q>(gpu_first(c).otherwise, exact, c.largest, shared, i, j);
}

/* ------------------------------------------------------------------------------------------------- separable ---- */

/* kernel[p, q] = column[p] * row[q], where the verdict is that it is of rank one. */
template <typename T>
struct factors {
    int *rank_one;
    T *column, *row;
};

template <typename T>
struct candidate {
    T magnitude;
    int64_t row, column;
};

/* The order in which an element counts among equals, the same whichever thread finds it: the lowest first. */
template <typename T>
__device__ inline bool is_before(const candidate<T> &a, const candidate<T> &b)
{
    constexpr int group = 16;
    if (a.column % group != b.column % group)
        return a.column % group < b.column % group;
    if (a.row % group != b.row % group)
        return a.row % group < b.row % group;
    return a.row != b.row ? a.row < b.row : a.column < b.column;
}

/* Returns the candidate of larger magnitude, which is never NaN; of two equal ones, the earlier one. */
template <typename T>
__device__ inline candidate<T> larger(candidate<T> first, candidate<T> second)
{
    if (second.magnitude > first.magnitude || (second.magnitude == first.magnitude && is_before(second, first)))
        first = second;
    return first;
}

template <typename T>
constexpr T unit_of_rounding = std::numeric_limits<T>::epsilon();

/* Elements that a thread of rank_kernel loads at once, `width` rows or columns of the kernel apart. */
constexpr int rank_rows = 2;
template <typename T>
constexpr int rank_columns = 16 / sizeof(T);

/* Shared memory of rank_kernel in a block of width x width: what each thread found, and the verdict. */
template <typename T>
constexpr size_t rank_shared(int width)
{
    return (size_t)width * width * sizeof(candidate<T>) + sizeof(int);
}

/* Elements [p + width r, q + width c] of the kernel, where they exist. */
template <typename T>
struct rank_patch {
    T taps[rank_rows][rank_columns<T>];

    template <int width>
    __device__ void load(const matrix<const T> &kernel, int64_t p, int64_t q)
    {
        each<width>(kernel, p, q, [&](int r, int c, int64_t row, int64_t column) {
            taps[r][c] = kernel.data[row * kernel.stride + column];
        });
    }
    /* Calls f(r, c, row, column) for each that exists. */
    template <int width, typename F>
    __device__ static void each(const matrix<const T> &kernel, int64_t p, int64_t q, F f)
    {
        GPU_UNROLL
        for (int r = 0; r < rank_rows; r++)
            GPU_UNROLL
        for (int c = 0; c < rank_columns<T>; c++)
            if (p + width * r < kernel.rows && q + width * c < kernel.columns)
                f(r, c, p + width * r, q + width * c);
    }
};

/* Cross approximation with full pivoting, of rank one (Bebendorf, "Approximation of boundary element matrices", Numer.
 * Math. 86, 2000): row and column of the largest element; the kernel is of rank one if each element is their product to
 * 16 units of rounding, or to one for each element if it has fewer. The factor of the first pass (`columns_first`: that
 * of the columns) keeps the kernel's own size and the other is at most 1: so the first pass loses nothing to underflow
 * that the direct sum would keep. The block is width x width. */
template <int width, typename T>
__global__ __launch_bounds__(width *width) void rank_kernel(matrix<const T> kernel, factors<T> f, bool columns_first,
                                                            hip_report *report, bool needed)
{
    GPU_DYNAMIC_SHARED(bytes);
    candidate<T> *found = reinterpret_cast<candidate<T> *>(bytes);
    int *fits = reinterpret_cast<int *>(found + width * width);
    const int x = threadIdx.x, y = threadIdx.y, thread = y * width + x;
    rank_patch<T> patch = {};
    candidate<T> best = {-1, 0, 0};
    for (int64_t p = y; p < kernel.rows; p += width * rank_rows)
        for (int64_t q = x; q < kernel.columns; q += width * rank_columns<T>) {
            patch.template load<width>(kernel, p, q);
            patch.template each<width>(kernel, p, q, [&](int r, int c, int64_t row, int64_t column) {
                best = larger(best, {std::fabs(patch.taps[r][c]), row, column});
            });
        }
    found[thread] = best;
    *fits = 1;
    __syncthreads();
    for (int half = width * width / 2; half > 0; half /= 2) {
        if (thread < half)
            found[thread] = larger(found[thread], found[thread + half]);
        __syncthreads();
    }
    best = found[0];

    const T *pivot_row = kernel.data + best.row * kernel.stride, *pivot_column = kernel.data + best.column;
    const T largest = pivot_row[best.column], column_unit = columns_first ? 1 : largest,
            row_unit = largest / column_unit;
    const T tolerance = least<int64_t>(16, kernel.rows * kernel.columns) * unit_of_rounding<T>;
    for (int64_t p = y; p < kernel.rows; p += width * rank_rows)
        for (int64_t q = x; q < kernel.columns; q += width * rank_columns<T>) {
            T in_column[rank_rows] = {}, in_row[rank_columns<T>] = {};
            patch.template load<width>(kernel, p, q);
            GPU_UNROLL
            for (int r = 0; r < rank_rows; r++)
                if (p + width * r < kernel.rows) {
                    in_column[r] = pivot_column[(p + width * r) * kernel.stride] / column_unit;
                    if (q == 0)
                        f.column[p + width * r] = in_column[r];
                }
            GPU_UNROLL
            for (int c = 0; c < rank_columns<T>; c++)
                if (q + width * c < kernel.columns) {
                    in_row[c] = pivot_row[q + width * c] / row_unit;
                    if (p == 0)
                        f.row[q + width * c] = in_row[c];
                }
            patch.template each<width>(kernel, p, q, [&](int r, int c, int64_t, int64_t) {
                const T tap = patch.taps[r][c];
                if (!(std::fabs(std::fma(-in_column[r], in_row[c], tap)) <= tolerance * std::fabs(tap)))
                    *fits = 0; /* NaN never fits; a kernel of zeros gives NaN */
            });
        }
    __syncthreads();
    if (x == 0 && y == 0) {
        *f.rank_one = *fits;
        report->rank_one = (uint32_t)*fits;
        if (needed && !*fits)
            report->not_separable = 1;
    }
}

/* The numbers that a tile of `separable` is cut by. */
template <int R, int Q>
struct separable_tile_shape {
    int width, rows, columns; /* of the tile, in whole row sums; the columns with what is around them */
    int row_taps, column_taps;
    int column_pitch, pitch; /* odd, so that threads on neighbouring rows use different banks */

    __host__ __device__ constexpr separable_tile_shape(int block_width, int block_height, int kernel_rows,
                                                       int kernel_columns)
        : width(round_up(block_width, R)), rows(block_height * R), columns(width + round_up(kernel_columns, Q) - 1),
          row_taps(round_up(kernel_columns, Q)), column_taps(round_up(kernel_rows, Q)), column_pitch(columns | 1),
          pitch(width | 1)
    {
    }
    __host__ __device__ constexpr int64_t shared() const
    {
        return row_taps + column_taps + (int64_t)rows * (column_pitch + pitch);
    }
};

/* taps[0 .. n) = factor from its end to its start, then zeros up to `padded`. */
template <typename T>
__device__ inline void load_taps(const T *factor, int n, int padded, T *taps)
{
    for (int s = threadIdx.y * blockDim.x + threadIdx.x; s < padded; s += blockDim.x * blockDim.y)
        taps[s] = s < n ? factor[n - 1 - s] : T(0);
}

/* One tile of `c` by way of the factors, whose taps are in shared memory: sums down the columns, straight from the
 * image, then along their rows, and from there to `out`, so that a warp stores neighbours. */
template <int R, int Q, typename T, typename Exact>
__device__ inline void separable_tile(const convolution<T> &c, Exact exact, const separable_tile_shape<R, Q> &shape,
                                      T *shared, int64_t i0, int64_t j0)
{
    unsigned threads = blockDim.x * blockDim.y;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned rows = shape.rows, columns = shape.columns; /* unsigned: divided by in fewer steps */
    const T *row_taps = shared, *column_taps = row_taps + shape.row_taps;
    T *column_sums = shared + shape.row_taps + shape.column_taps, *tile = column_sums + shape.rows * shape.column_pitch;
    region<T> under(c.image, i0 + c.top, j0 + c.left, shape.rows + shape.column_taps - 1, shape.columns);
    if (R > 4) /* blocks of fewer threads, which have vector registers for it */
        gpu_in_vector(threads, under.first_row, under.end_row, under.first_column, under.end_column);
    for (unsigned item = thread; item < rows / R * columns; item += threads) {
        const int x = item % columns, y = item / columns * R;
        T sums[R] = {};
        if (under.within) /* for the whole block: no time is lost on looking where the image ends */
            slide<R, Q>(under.template column<true>(x, y), column_taps, shape.column_taps, sums);
        else
            slide<R, Q>(under.template column<false>(x, y), column_taps, shape.column_taps, sums);
        GPU_UNROLL
        for (int r = 0; r < R; r++)
            column_sums[(y + r) * shape.column_pitch + x] = sums[r];
    }
    __syncthreads();
    /* Neighbouring threads take neighbouring rows, and each slides along its own. */
    for (unsigned item = thread; item < shape.width / R * rows; item += threads) {
        const int x = item / rows * R, y = item % rows;
        T sums[R] = {};
        slide<R, Q>(line_reader<T>{column_sums + y * shape.column_pitch + x}, row_taps, shape.row_taps, sums);
        GPU_UNROLL
        for (int r = 0; r < R; r++)
            tile[y * shape.pitch + x + r] = sums[r];
    }
    __syncthreads(); /* the next tile's barriers prevent overwriting elements of this one that are still read */
    const int x = threadIdx.x, y = threadIdx.y * R;
    T sums[R];
    GPU_UNROLL
    for (int r = 0; r < R; r++)
        sums[r] = tile[(y + r) * shape.pitch + x];
    store(c.out, exact, i0 + y, j0 + x, sums);
}

/* `separable`, or nothing at all where the kernel is not of rank one; as `auto`: `tiled` then. */
template <int R, int Q, bool automatic, typename T>
__global__ GPU_LAUNCH_BOUNDS(shape_threads(R), shape_blocks<T>(R)) void separable_kernel(convolution<T> c, factors<T> f,
                                                                                         chunk largest)
{
    GPU_DYNAMIC_SHARED(bytes);
    T *shared = reinterpret_cast<T *>(bytes);
    const auto exact = [&]() -> const convolution<T> & { return gpu_first(c); };
    const int rank_one = gpu_same(*f.rank_one);
    if (!automatic && !rank_one)
        return;
    if (gpu_loops_apart && automatic && !rank_one) {
        for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R; i < c.out.rows; i += (int64_t)gridDim.y * blockDim.y * R)
            tiled_tile<R, Q>(gpu_first(c), exact, largest, shared, i, (int64_t)blockIdx.x * blockDim.x);
        return;
    }
    const separable_tile_shape<R, Q> shape(blockDim.x, blockDim.y, (int)c.kernel.rows, (int)c.kernel.columns);
    load_taps(f.row, (int)c.kernel.columns, shape.row_taps, shared);
    load_taps(f.column, (int)c.kernel.rows, shape.column_taps, shared + shape.row_taps);
    __syncthreads();
    const int64_t j = (int64_t)blockIdx.x * blockDim.x, next = (int64_t)gridDim.y * blockDim.y * R;
    for (int64_t i = (int64_t)gpu_same((unsigned)blockIdx.y) * blockDim.y * R; i < c.out.rows; i += next)
        if (rank_one)
            separable_tile(gpu_first(c), exact, shape, shared, i, j);
        else if (automatic && !gpu_loops_apart)
            tiled_tile<R, Q>(gpu_first(c), exact, largest, shared, i, j);
}

#endif
