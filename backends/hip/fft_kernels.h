/* SPDX-License-Identifier: MIT
 *
 * fft_kernels.h - convolutions on a GPU by FFTs of tiles: what happens around the library's transforms.
 * convolve_fft_run.hip.cpp queues these kernels.
 *
 * Numbers of type T (the image's, the kernel's and the output's) are transformed as numbers of type W: the same, or
 * double for float. A signal is an image of one row, and its tiles have one row.
 */
#ifndef FLYNN_HIP_FFT_KERNELS_H
#define FLYNN_HIP_FFT_KERNELS_H

#include "convolve_marked_kernels.h"

#include <cfloat>

constexpr int fft_threads = 256; /* of a block; a power of two */
constexpr int fft_chunk = 4096;  /* elements of a tile, or outputs, that a block handles */

/* Returns whether a kernel that does nothing if *unless is not 0 has work; all threads get the same answer. */
__device__ inline bool is_needed(const int *unless)
{
    return !unless || !gpu_same(*unless);
}

/* Tiles of `height` by `width` numbers, powers of two, one after the other. A row has room for its spectrum: it takes
 * width + 2 numbers. */
template <typename W>
struct fft_tiles {
    W *data;
    int64_t height, width;
    int log2_width;
    int64_t first;       /* the number of the first of them in the whole image, row by row */
    int64_t across;      /* tiles in a row of the image */
    int64_t down, right; /* outputs of a tile: rows and columns */
    const int *rank_one; /* the verdict of rank_kernel; not 0: kernels do nothing, since `separable` has run. Or NULL */
    const int *idle;     /* not 0: kernels do nothing, since no sum needs their result. Or NULL */
    fft_marked *marked;  /* one for all tiles; cleared when the first ones are loaded */

    __host__ __device__ int64_t pitch() const
    {
        return width + 2;
    }
    /* Returns whether the sums of the tiles are wanted; all threads get the same answer. */
    __device__ bool are_needed() const
    {
        return is_needed(rank_one) && is_needed(idle);
    }
    __device__ W *tile() const
    {
        return data + blockIdx.y * height * pitch();
    }
};

/* Of some numbers: the sums of their squares and of their magnitudes. */
struct fft_norms {
    double squares, sum;
};

/* Adds up what the block's threads, a power of two, have, in an order that depends on nothing else. All threads return
 * the result. `shared`: one for each. */
template <int threads = fft_threads>
__device__ inline fft_norms block_norms(fft_norms own, fft_norms *shared)
{
    const int thread = (int)threadIdx.x;
    shared[thread] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            shared[thread].squares += shared[thread + half].squares;
            shared[thread].sum += shared[thread + half].sum;
        }
        __syncthreads();
    }
    const fft_norms all = shared[0];
    __syncthreads(); /* `shared` may be used again */
    return all;
}

/* The largest `sum` that a thread of the block has. */
template <int threads = fft_threads>
__device__ inline fft_norms block_most(fft_norms own, fft_norms *shared)
{
    const int thread = (int)threadIdx.x;
    shared[thread] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half)
            shared[thread].sum = std::fmax(shared[thread].sum, shared[thread + half].sum);
        __syncthreads();
    }
    return shared[0];
}

/* block_norms of `count` norms in memory. */
template <int threads = fft_threads>
__device__ inline fft_norms block_norms(const fft_norms *norms, int count, fft_norms *shared)
{
    fft_norms own = {};
    for (int i = (int)threadIdx.x; i < count; i += threads) {
        own.squares += norms[i].squares;
        own.sum += norms[i].sum;
    }
    return block_norms<threads>(own, shared);
}

/* Clears the marks, in the kernel that loads the first tiles. */
__device__ inline void clear_marks(fft_marked *marked, bool first)
{
    if (first && blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x == 0)
        *marked = {0, 0, 0, 1, 0, 0, 0};
}

/* Each tile = the part of `from` that begins at its first output, moved by top and left; zeros outside. A block loads
 * chunks of a tile, and stores the norms of each. */
template <typename T, typename W>
__global__ __launch_bounds__(fft_threads) void load_tiles_kernel(fft_tiles<W> t, matrix<const T> from, int64_t top,
                                                                 int64_t left, fft_norms *norms)
{
    GPU_DYNAMIC_SHARED(bytes);
    const int64_t number = t.first + blockIdx.y, y0 = number / t.across * t.down + top,
                  x0 = number % t.across * t.right + left;
    const int64_t chunks = t.height * t.width / fft_chunk;
    W *const to = t.tile();
    clear_marks(t.marked, t.first == 0);
    for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        fft_norms own = {};
        for (int k = (int)threadIdx.x; k < fft_chunk; k += fft_threads) {
            const int64_t e = chunk * fft_chunk + k, y = e >> t.log2_width, x = e & (t.width - 1);
            const bool inside = y0 + y >= 0 && y0 + y < from.rows && x0 + x >= 0 && x0 + x < from.columns;
            const T value = inside ? from.data[(y0 + y) * from.stride + x0 + x] : T(0);
            to[y * t.pitch() + x] = value;
            own.squares += (double)value * (double)value;
            own.sum += std::fabs((double)value);
        }
        const fft_norms all = block_norms(own, reinterpret_cast<fft_norms *>(bytes));
        if (threadIdx.x == 0)
            norms[blockIdx.y * chunks + chunk] = all;
    }
}

/* Each tile's spectrum times the kernel's, over the elements of a tile, by which the transforms multiply. */
template <typename W>
__global__ __launch_bounds__(fft_threads) void multiply_tiles_kernel(fft_tiles<W> t, const W *kernel)
{
    struct alignas(2 * sizeof(W)) number {
        W re, im;
    };
    const number *with = reinterpret_cast<const number *>(kernel);
    number *tile = reinterpret_cast<number *>(t.tile());
    const int64_t count = t.height * (t.width / 2 + 1), next = (int64_t)gridDim.x * fft_threads;
    const W scale = 1 / ((W)t.height * (W)t.width); /* a power of two: exact */
    for (int64_t k = (int64_t)blockIdx.x * fft_threads + threadIdx.x; k < count; k += next) {
        const number a = tile[k], b = {with[k].re * scale, with[k].im * scale};
        tile[k] = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
}

/* How exact sums by FFT are (docs/accuracy.md). */
struct fft_accuracy {
    double units;     /* of rounding that a sum is off at most, times the tile's and the kernel's norms */
    double terms;     /* of a sum, at most */
    double elements;  /* of a tile */
    double tolerance; /* of the call; 0: none */
    bool checked;     /* sums that are not known to be accurate stay, for the kernels of fft_check_kernels.h */
};

/* Sums of numbers of these types can be checked. */
template <typename T, typename W>
constexpr bool fft_can_check = sizeof(T) == sizeof(double) && sizeof(W) == sizeof(double);

/* What a call with a tolerance finds, as the bits of doubles that are not negative, whose order is that of the numbers:
 * the error that a sum of each tile may have, and what the largest magnitude of all sums is at least. */
struct fft_found {
    unsigned long long *error, *largest;
};

__device__ inline void note_most(unsigned long long *most, double value)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    atomicMax(most, bits);
}

/* Notes what a block found of tile `number`: the largest magnitude of its sums of type W, each within `error` of the
 * exact one, which are rounded to type T. */
template <typename T, typename W>
__device__ inline void note_sums(const fft_found &found, int64_t number, double largest, double error)
{
    const double rounded = error + (sizeof(W) == sizeof(T) ? 0 : (double)unit_of_rounding<T> / 2 * (largest + error));
    note_most(&found.error[number], rounded);
    note_most(found.largest, std::fmax(0.0, largest - rounded));
}

__device__ inline double noted(const unsigned long long *most)
{
    double value;
    __builtin_memcpy(&value, most, sizeof value);
    return value;
}

/* At least the root of the sum of squares, also where squares lose digits. */
__device__ inline double norm_of(const fft_norms &norms)
{
    return norms.squares > DBL_MIN / DBL_EPSILON ? std::sqrt(norms.squares) : norms.sum;
}

/* At most so far is a sum of numbers of type W from the exact one. The second term is for what underflows. */
template <typename W>
__device__ inline double error_of(const fft_norms &tile, const fft_norms &kernel, const fft_accuracy &a)
{
    const bool single = sizeof(W) == sizeof(float);
    const double unit = (single ? FLT_EPSILON : DBL_EPSILON) / 2, least = single ? (double)FLT_MIN : DBL_MIN;
    if (tile.sum == 0)
        return 0;
    return a.units * unit * norm_of(tile) * norm_of(kernel) +
           8 * least * a.elements * (tile.sum + kernel.sum + a.units);
}

/* The magnitude from which on a sum of these numbers is as accurate as those of the other variants, and so is one whose
 * terms have magnitudes that add up to it. 0 with a tolerance, because tiles are looked at when all are done, and where
 * the transform's numbers are no wider and the sums are not to be checked. NaN: none is, because the tile cannot be
 * transformed: something is not finite, or squares overflow or lose digits. */
template <typename T, typename W>
__device__ inline double least_accurate(const fft_norms &tile, const fft_norms &kernel, const fft_accuracy &a)
{
    const double largest = sizeof(W) == sizeof(float) ? (double)FLT_MAX : DBL_MAX, norm = std::sqrt(tile.squares);
    const bool kernel_finite = kernel.sum - kernel.sum == 0;
    if (tile.sum == 0 && kernel_finite)
        return 0; /* all sums are 0, and the transforms give that */
    if (!(tile.squares > DBL_MIN / DBL_EPSILON && (norm + 1) * (std::sqrt(a.elements) + kernel.sum) < largest / 16))
        return NAN;
    if ((sizeof(W) == sizeof(T) && !(fft_can_check<T, W> && a.checked)) || a.tolerance > 0)
        return 0;
    return error_of<W>(tile, kernel, a) * (1.01 + 1.01 / ((a.terms + 14) * ((double)unit_of_rounding<T> / 2)));
}

/* How accurate a tile's sums will be, found before they are stored. */
struct fft_limit {
    double from, error; /* least_accurate and error_of; of a tile that cannot be transformed the error is infinite */
};

template <typename T, typename W>
__device__ inline fft_limit limit_of(const fft_norms &tile, const fft_norms &kernel, const fft_accuracy &a)
{
    const double from = least_accurate<T, W>(tile, kernel, a);
    return {from, std::isnan(from) ? (double)INFINITY : error_of<W>(tile, kernel, a)};
}

/* Notes whether the convolution's kernel is finite; for sums that are to be checked also the norms of a tile that can
 * be transformed. One thread for each tile calls this. */
__device__ inline void note_norms(fft_marked *marked, const fft_norms &tile, const fft_norms &kernel,
                                  const fft_limit &limit, const fft_accuracy &a)
{
    if (kernel.sum - kernel.sum != 0)
        marked->spoilt = 1;
    if (a.checked && !std::isnan(limit.from)) {
        note_most(&marked->image, norm_of(tile));
        note_most(&marked->kernel, norm_of(kernel));
    }
}

/* Where an output lies in the result. */
struct fft_place {
    int64_t row, column;
};

/* Returns whether the result's element [i, j] has more than half of the most terms inside the image that one has. */
template <typename T>
__device__ inline bool has_most_terms(const convolution<T> &c, int64_t i, int64_t j)
{
    const int64_t row = i + c.top, column = j + c.left;
    const int64_t rows = least(row + c.kernel.rows, c.image.rows) - (row > 0 ? row : 0),
                  columns = least(column + c.kernel.columns, c.image.columns) - (column > 0 ? column : 0);
    return 2.0 * (double)rows * (double)columns >
           (double)least(c.kernel.rows, c.image.rows) * (double)least(c.kernel.columns, c.image.columns);
}

/* Notes that the magnitude of the result's element [i, j] does not show that it is accurate. Returns has_most_terms, of
 * which one is enough. */
template <typename T>
__device__ inline bool note_weak(const convolution<T> &c, int64_t i, int64_t j, fft_marked *marked)
{
    const bool most = has_most_terms(c, i, j);
    marked->weak = 1;
    if (most)
        marked->bordering = 0;
    return most;
}

/* A convolution of images of one row as one of signals. */
template <typename T>
__host__ __device__ inline line_convolution<T> line_of(const convolution<T> &c)
{
    return {c.image.data,
            c.kernel.data,
            c.out.data,
            c.image.columns,
            c.kernel.columns,
            c.out.columns,
            c.left + c.kernel.columns - 1};
}

/* An output by its definition: that of fl_convolve1d's if the image is a signal. */
template <bool signal, typename T>
__device__ inline T defined_sum(const convolution<T> &c, int64_t i, int64_t j)
{
    return signal ? direct_sum(line_of(c), j) : direct_sum(c, i, j);
}

/* The same, summed as numbers of type W: a tolerance may be less than sums of numbers of type T keep. */
template <bool signal, typename T, typename W>
__device__ inline T defined_sum_in(const convolution<T> &c, int64_t i, int64_t j)
{
    if (sizeof(W) == sizeof(T))
        return defined_sum<signal>(c, i, j);
    const int64_t taps = c.kernel.columns, last = j + c.left + taps - 1; /* the column under the first tap */
    const int64_t past = last - c.image.columns + 1, first = past > 0 ? least(past, taps) : 0;
    const int64_t end = last + 1 > first ? least(last + 1, taps) : first;
    W sum = 0;
    for (int64_t p = 0; p < c.kernel.rows; p++) {
        const int64_t y = i + c.top + c.kernel.rows - 1 - p;
        const bool inside = y >= 0 && y < c.image.rows;
        const int64_t first_inside = inside ? first : taps, end_inside = inside ? end : taps;
        const T *const pixel = c.image.data + y * c.image.stride + last, *const tap =
                                                                             c.kernel.data + p * c.kernel.stride;
        for (int64_t q = 0; q < first_inside && !signal; q++)
            sum += 0 * (W)tap[q];
        GPU_UNROLL_SOME
        for (int64_t q = first_inside; q < end_inside;
             q++) /* several loads at once: a thread may be alone with a sum */
            sum += (W)pixel[-q] * (W)tap[q];
        for (int64_t q = end_inside; q < taps && !signal; q++)
            sum += 0 * (W)tap[q];
    }
    return (T)sum;
}

/* Stores a sum that is too inaccurate: NaN, for sum_marked_kernel. With a tolerance it stays, because
 * repair_tiles_kernel computes all outputs of such a tile again. */
template <typename T>
__device__ inline void leave(T *out, fft_marked *marked, const fft_accuracy &accuracy)
{
    if (accuracy.tolerance > 0)
        return;
    *out = (T)NAN;
    marked->any = 1;
}

/* The tiles' outputs, which follow the kernel's rows and columns, less one, that wrapped around. A sum that is not
 * accurate enough is left. A block stores chunks of a tile's outputs. */
template <typename T, typename W>
__global__
__launch_bounds__(fft_threads) void store_tiles_kernel(fft_tiles<W> t, convolution<T> c, const fft_norms *tile_norms,
                                                       const fft_norms *kernel_norms, int chunks, fft_accuracy accuracy,
                                                       fft_limit *limits, fft_found found)
{
    GPU_DYNAMIC_SHARED(bytes);
    fft_norms *const shared = reinterpret_cast<fft_norms *>(bytes);
    const int64_t number = t.first + blockIdx.y, i0 = number / t.across * t.down, j0 = number % t.across * t.right;
    const int64_t rows = least(t.down, c.out.rows - i0), columns = least(t.right, c.out.columns - j0);
    if (rows <= 0 || columns <= 0)
        return;
    const fft_norms tile = block_norms(tile_norms + (int64_t)blockIdx.y * chunks, chunks, shared);
    const fft_norms kernel = block_norms(kernel_norms, chunks, shared);
    const fft_limit limit = limit_of<T, W>(tile, kernel, accuracy);
    const bool checked = fft_can_check<T, W> && accuracy.checked && !std::isnan(limit.from);
    fft_norms most = {};
    const W *const sums = t.tile() + (c.kernel.rows - 1) * t.pitch() + c.kernel.columns - 1;
    for (int64_t first = (int64_t)blockIdx.x * fft_chunk; first < rows * columns;
         first += (int64_t)gridDim.x * fft_chunk) {
        const uint32_t end = (uint32_t)least<int64_t>(first + fft_chunk, rows * columns);
        for (uint32_t k = (uint32_t)first + threadIdx.x; k < end; k += fft_threads) {
            const uint32_t y = k / (uint32_t)columns, x = k % (uint32_t)columns;
            const W sum = sums[y * t.pitch() + x];
            T *const out = c.out.data + (i0 + y) * c.out.stride + j0 + x;
            *out = (T)sum;
            if (!(std::fabs((double)sum) >= limit.from)) {
                if (checked)
                    (void)note_weak(c, i0 + y, j0 + x, t.marked);
                else
                    leave(out, t.marked, accuracy);
            }
            most.sum = std::fmax(most.sum, std::fabs((double)sum));
        }
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        limits[blockIdx.y] = limit;
        note_norms(t.marked, tile, kernel, limit, accuracy);
    }
    if (!(accuracy.tolerance > 0)) /* for all threads of the block */
        return;
    most = block_most(most, shared);
    if (threadIdx.x == 0)
        note_sums<T, W>(found, number, most.sum, limit.error);
}

/* The tiles that are not exact enough for the tolerance, when all are done: each output by its definition. The grid is
 * that of store_tiles_kernel. */
template <bool signal, typename T, typename W>
__global__ __launch_bounds__(fft_threads) void repair_tiles_kernel(fft_tiles<W> t, convolution<T> c, double tolerance,
                                                                   fft_found found)
{
    const int64_t number = t.first + blockIdx.y, i0 = number / t.across * t.down, j0 = number % t.across * t.right;
    const int64_t rows = least(t.down, c.out.rows - i0), columns = least(t.right, c.out.columns - j0);
    if (!t.are_needed() || rows <= 0 || columns <= 0 || noted(&found.error[number]) <= tolerance * noted(found.largest))
        return;
    for (int64_t first = (int64_t)blockIdx.x * fft_chunk; first < rows * columns;
         first += (int64_t)gridDim.x * fft_chunk) {
        const uint32_t end = (uint32_t)least<int64_t>(first + fft_chunk, rows * columns);
        for (uint32_t k = (uint32_t)first + threadIdx.x; k < end; k += fft_threads) {
            const uint32_t y = k / (uint32_t)columns, x = k % (uint32_t)columns;
            c.out.data[(i0 + y) * c.out.stride + j0 + x] = defined_sum_in<signal, T, W>(c, i0 + y, j0 + x);
        }
    }
}

/* Before the first tile. */
[[maybe_unused]] static __global__ __launch_bounds__(fft_threads) void clear_found_kernel(fft_found found,
                                                                                          int64_t tiles)
{
    const int64_t next = (int64_t)gridDim.x * fft_threads;
    for (int64_t k = (int64_t)blockIdx.x * fft_threads + threadIdx.x; k < tiles; k += next)
        found.error[k] = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *found.largest = 0;
}

#endif
