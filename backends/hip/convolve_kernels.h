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

/* The part of a kernel that fits in shared memory together with the image under it. */
struct chunk {
    int rows, columns;
};

/* The kernels' template parameters R and Q are the outputs that a thread computes, one below the other, and the taps
 * that it takes at a time. Eight outputs need more registers than a block of more than 256 threads has. */
constexpr int shape_threads(int outputs)
{
    return outputs == 8 ? 256 : 1024;
}

/* The second number of their launch bounds: without it the compiler spills registers to have more blocks at once. */
constexpr int shape_blocks(int outputs)
{
    return outputs == 8 ? 3 : 1;
}

__host__ __device__ constexpr int round_up(int n, int multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

template <typename T>
__host__ __device__ inline T least(T a, T b)
{
    return b < a ? b : a;
}

template <typename T>
__device__ inline bool is_finite(T x)
{
    return x - x == 0;
}

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

/* Shared memory -> registers: sums[r] += sum over s < taps of tap[s] * in[(r + s) * step]. `taps` is a multiple of Q.
 * A window of registers slides along the column, so that a value is read once for R sums. */
template <int R, int Q, typename T>
__device__ inline void slide(const T *in, int step, const T *tap, int taps, T (&sums)[R])
{
    struct alignas(16) quad { /* 16 bytes of taps, read at once by the whole warp */
        T value[16 / sizeof(T)];
    };
    constexpr int per_quad = 16 / sizeof(T);
    T window[R - 1 + Q];
    GPU_UNROLL
    for (int r = 0; r < R - 1; r++)
        window[r] = in[r * step];
    in += (R - 1) * step;
    for (int s = 0; s < taps; s += Q, in += Q * step) {
        GPU_UNROLL
        for (int q = 0; q < Q; q++)
            window[R - 1 + q] = in[q * step];
        GPU_UNROLL
        for (int first = 0; first < Q; first += per_quad) {
            const quad four = *reinterpret_cast<const quad *>(tap + s + first);
            GPU_UNROLL
            for (int q = 0; q < per_quad; q++)
                GPU_UNROLL
                for (int r = 0; r < R; r++)
                    sums[r] += four.value[q] * window[first + q + r];
        }
        GPU_UNROLL
        for (int r = 0; r < R - 1; r++)
            window[r] = window[Q + r];
    }
}

/* image[row .., column ..] -> tile (rows x columns, its rows `pitch` apart), zeros outside the image. */
template <typename T>
__device__ inline void load_tile(const matrix<const T> &image, int64_t row, int64_t column, int rows, int columns,
                                 int pitch, T *tile)
{
    /* The image's part of the tile in the tile's own coordinates: 32 bits do, and the loop is short of nothing else. */
    const int first_y = row < 0 ? (int)least<int64_t>(-row, rows) : 0;
    const int first_x = column < 0 ? (int)least<int64_t>(-column, columns) : 0;
    const int end_y = image.rows - row < rows ? (int)(image.rows - row) : rows;
    const int end_x = image.columns - column < columns ? (int)(image.columns - column) : columns;
    for (int y = threadIdx.y; y < rows; y += blockDim.y) {
        const T *pixel = image.data + (row + y) * image.stride + column;
        const bool inside = y >= first_y && y < end_y;
        for (int x = threadIdx.x; x < columns; x += blockDim.x)
            tile[y * pitch + x] = inside && x >= first_x && x < end_x ? pixel[x] : T(0);
    }
}

/* A thread's sums -> out, from row i down. */
template <int R, typename T>
__device__ inline void store(const convolution<T> &exact, int64_t i, int64_t j, const T (&sums)[R])
{
    if (j >= exact.out.columns)
        return;
    GPU_UNROLL
    for (int r = 0; r < R; r++)
        if (i + r < exact.out.rows)
            exact.out.data[(i + r) * exact.out.stride + j] =
                is_finite(sums[r]) ? sums[r] : direct_sum(exact, i + r, j);
}

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

/* One tile of `c`: a block's threads, each R outputs high. Leaves shared memory free to be used again.
 * Shared: the chunk's taps, turned, column by column and padded with zeros to a multiple of Q; then the image. */
template <int R, int Q, typename T>
__device__ inline void tiled_tile(const convolution<T> &c, const convolution<T> &exact, chunk largest, T *shared,
                                  int64_t i0, int64_t j0)
{
    const int x = threadIdx.x, y = threadIdx.y * R, width = blockDim.x, height = blockDim.y * R;
    T sums[R] = {};
    for (int64_t s0 = 0; s0 < c.kernel.rows; s0 += largest.rows)
        for (int64_t t0 = 0; t0 < c.kernel.columns; t0 += largest.columns) {
            const int rows = (int)least<int64_t>(largest.rows, c.kernel.rows - s0), padded = round_up(rows, Q);
            const int columns = (int)least<int64_t>(largest.columns, c.kernel.columns - t0);
            const int pitch = width + columns - 1;
            const T *last = c.kernel.data + (c.kernel.rows - 1 - s0) * c.kernel.stride + c.kernel.columns - 1 - t0;
            T *tile = shared + padded * columns;
            for (int s = threadIdx.y; s < padded; s += blockDim.y)
                for (int t = x; t < columns; t += width)
                    shared[t * padded + s] = s < rows ? last[-s * c.kernel.stride - t] : T(0);
            load_tile(c.image, i0 + c.top + s0, j0 + c.left + t0, height + padded - 1, pitch, pitch, tile);
            __syncthreads();
            for (int t = 0; t < columns; t++)
                slide<R, Q>(tile + y * pitch + x + t, pitch, shared + t * padded, padded, sums);
            __syncthreads(); /* the next chunk or tile overwrites what others may still read */
        }
    store(exact, i0 + y, j0 + x, sums);
}

/* Elements of shared memory that a tile of `tiled` needs. */
template <int R, int Q>
constexpr int64_t tiled_shared(int width, int height, chunk c)
{
    return (int64_t)round_up(c.rows, Q) * c.columns +
           ((int64_t)height * R + round_up(c.rows, Q) - 1) * ((int64_t)width + c.columns - 1);
}

/* Two convolutions of which the device chooses, by whether the kernel was found to be of rank one. One without output
 * rows is nothing to do. */
template <typename T>
struct choice {
    const int *rank_one; /* nullptr: `otherwise` */
    convolution<T> of_rank_one, otherwise;
    convolution<T> exact; /* by which outputs that are not finite are computed again */
    chunk largest;
};

template <int R, int Q, typename T>
__global__ __launch_bounds__(shape_threads(R), shape_blocks(R)) void tiled_kernel(choice<T> c)
{
    GPU_DYNAMIC_SHARED(bytes);
    T *shared = reinterpret_cast<T *>(bytes);
    const bool rank_one = c.rank_one && *c.rank_one;
    const int64_t rows = rank_one ? c.of_rank_one.out.rows : c.otherwise.out.rows;
    const int64_t j = (int64_t)blockIdx.x * blockDim.x, next = (int64_t)gridDim.y * blockDim.y * R;
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R; i < rows; i += next)
        if (rank_one) /* twice the code, so that each reads its numbers straight from the kernel's parameters */
            tiled_tile<R, Q>(c.of_rank_one, c.exact, c.largest, shared, i, j);
        else
            tiled_tile<R, Q>(c.otherwise, c.exact, c.largest, shared, i, j);
}

/* ------------------------------------------------------------------------------------------------- separable ---- */

/* kernel[p, q] = column[p] * row[q], where the verdict is that it is of rank one. */
template <typename T>
struct factors {
    int *rank_one;
    T *column, *row;
};

/* A block's threads agree on the element of largest magnitude; NaN never is, and the first of equals is. */
template <typename T>
__device__ inline int64_t largest_element(const matrix<const T> &kernel, T *magnitude, int64_t *where)
{
    const int thread = threadIdx.x;
    T best = -1;
    int64_t at = 0;
    for (int64_t e = thread; e < kernel.rows * kernel.columns; e += blockDim.x) {
        const T candidate = std::fabs(kernel.data[e / kernel.columns * kernel.stride + e % kernel.columns]);
        at = candidate > best ? e : at;
        best = candidate > best ? candidate : best;
    }
    magnitude[thread] = best;
    where[thread] = at;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            const int other = thread + half;
            if (magnitude[other] > magnitude[thread] ||
                (magnitude[other] == magnitude[thread] && where[other] < where[thread])) {
                magnitude[thread] = magnitude[other];
                where[thread] = where[other];
            }
        }
    }
    __syncthreads();
    return where[0];
}

template <typename T>
constexpr T unit_of_rounding = std::numeric_limits<T>::epsilon();

constexpr int rank_threads = 256; /* a power of two */

/* Shared memory of rank_kernel. */
template <typename T>
constexpr size_t rank_shared()
{
    return rank_threads * (sizeof(int64_t) + sizeof(T));
}

/* Cross approximation with full pivoting, of rank one (Bebendorf, "Approximation of boundary element matrices", Numer.
 * Math. 86, 2000): row and column of the largest element; the kernel is of rank one if each element is their product to
 * 16 units of rounding, or to one for each element if it has fewer. */
template <typename T>
__global__ __launch_bounds__(rank_threads) void rank_kernel(matrix<const T> kernel, factors<T> f, hip_report *report,
                                                            bool needed)
{
    GPU_DYNAMIC_SHARED(shared);
    int64_t *where = reinterpret_cast<int64_t *>(shared);
    T *magnitude = reinterpret_cast<T *>(where + rank_threads);
    const int64_t elements = kernel.rows * kernel.columns;
    const int64_t pivot = largest_element(kernel, magnitude, where);
    const T *pivot_row = kernel.data + pivot / kernel.columns * kernel.stride;
    const T *pivot_column = kernel.data + pivot % kernel.columns;
    const T largest = pivot_row[pivot % kernel.columns];
    for (int64_t p = threadIdx.x; p < kernel.rows; p += blockDim.x)
        f.column[p] = pivot_column[p * kernel.stride] / largest;
    for (int64_t q = threadIdx.x; q < kernel.columns; q += blockDim.x)
        f.row[q] = pivot_row[q];
    __syncthreads();

    const T tolerance = least<int64_t>(16, elements) * unit_of_rounding<T>;
    bool fits = true; /* NaN never fits; a kernel of zeros gives NaN */
    for (int64_t e = threadIdx.x; e < elements; e += blockDim.x) {
        const int64_t p = e / kernel.columns, q = e % kernel.columns;
        const T tap = kernel.data[p * kernel.stride + q];
        fits = fits && std::fabs(std::fma(-f.column[p], f.row[q], tap)) <= tolerance * std::fabs(tap);
    }
    where[threadIdx.x] = fits;
    for (int half = rank_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            where[threadIdx.x] &= where[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        *f.rank_one = (int)where[0];
        report->rank_one = (uint32_t)where[0];
        if (needed && !where[0])
            report->not_separable = 1;
    }
}

/* The numbers that a tile of `separable` is cut by. */
template <int R, int Q>
struct separable_tile_shape {
    int width, rows, columns; /* of the tile without and with what is around it; the width is what row sums come in */
    int row_taps, column_taps;
    int pitch, sum_pitch;     /* odd, so that threads on neighbouring rows use different banks */

    __host__ __device__ constexpr separable_tile_shape(int block_width, int block_height, int kernel_rows,
                                                       int kernel_columns)
        : width(round_up(block_width, R)), rows(block_height * R + round_up(kernel_rows, Q) - 1),
          columns(width + round_up(kernel_columns, Q) - 1), row_taps(round_up(kernel_columns, Q)),
          column_taps(round_up(kernel_rows, Q)), pitch(columns | 1), sum_pitch(width | 1)
    {
    }
    __host__ __device__ constexpr int64_t shared() const
    {
        return row_taps + column_taps + (int64_t)rows * (pitch + sum_pitch);
    }
};

/* taps[0 .. n) = factor from its end to its start, then zeros up to `padded`. */
template <typename T>
__device__ inline void load_taps(const T *factor, int n, int padded, T *taps)
{
    for (int s = threadIdx.y * blockDim.x + threadIdx.x; s < padded; s += blockDim.x * blockDim.y)
        taps[s] = s < n ? factor[n - 1 - s] : T(0);
}

/* One tile of `c` by way of the factors: sums along the rows into shared memory, and down the columns from there.
 * Leaves shared memory free to be used again. */
template <int R, int Q, typename T>
__device__ inline void separable_tile(const convolution<T> &c, const factors<T> &f, T *shared, int64_t i0, int64_t j0)
{
    const separable_tile_shape<R, Q> shape(blockDim.x, blockDim.y, (int)c.kernel.rows, (int)c.kernel.columns);
    const int threads = blockDim.x * blockDim.y, segments = shape.width / R;
    T *row_taps = shared, *column_taps = row_taps + shape.row_taps, *tile = column_taps + shape.column_taps;
    T *row_sums = tile + shape.rows * shape.pitch;
    load_taps(f.row, (int)c.kernel.columns, shape.row_taps, row_taps);
    load_taps(f.column, (int)c.kernel.rows, shape.column_taps, column_taps);
    load_tile(c.image, i0 + c.top, j0 + c.left, shape.rows, shape.columns, shape.pitch, tile);
    __syncthreads();
    /* Neighbouring threads take neighbouring rows, and each slides along its own. */
    for (int item = threadIdx.y * blockDim.x + threadIdx.x; item < segments * shape.rows; item += threads) {
        const int segment = item / shape.rows, y = item - segment * shape.rows;
        T sums[R] = {};
        slide<R, Q>(tile + y * shape.pitch + segment * R, 1, row_taps, shape.row_taps, sums);
        GPU_UNROLL
        for (int r = 0; r < R; r++)
            row_sums[y * shape.sum_pitch + segment * R + r] = sums[r];
    }
    __syncthreads();
    const int x = threadIdx.x, y = threadIdx.y * R;
    T sums[R] = {};
    slide<R, Q>(row_sums + y * shape.sum_pitch + x, shape.sum_pitch, column_taps, shape.column_taps, sums);
    __syncthreads(); /* the next tile overwrites what others may still read */
    store(c, i0 + y, j0 + x, sums);
}

/* `separable`, or nothing at all where the kernel is not of rank one; as `auto`: `tiled` then. */
template <int R, int Q, bool automatic, typename T>
__global__ __launch_bounds__(shape_threads(R), shape_blocks(R)) void separable_kernel(convolution<T> c, factors<T> f,
                                                                                   chunk largest)
{
    GPU_DYNAMIC_SHARED(bytes);
    T *shared = reinterpret_cast<T *>(bytes);
    const bool rank_one = *f.rank_one;
    const int64_t j = (int64_t)blockIdx.x * blockDim.x, next = (int64_t)gridDim.y * blockDim.y * R;
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R; i < c.out.rows; i += next)
        if (rank_one)
            separable_tile<R, Q>(c, f, shared, i, j);
        else if (automatic)
            tiled_tile<R, Q>(c, c, largest, shared, i, j);
}

#endif
