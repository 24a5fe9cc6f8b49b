/* SPDX-License-Identifier: MIT
 *
 * fft_own_kernels.h - 2-D convolutions on a GPU by FFTs of tiles, with transforms of our own (fft_lines.h) instead of a
 * library's. convolve_fft_own.hip.cpp queues these kernels: of each tile the rows; the columns, their product with the
 * kernel's spectrum, and back; the rows back. A tile passes through memory twice.
 *
 * Two real rows y and y + height / 2 are transformed as one complex row z = top + i bottom. Its frequencies are shifted
 * by a half: frequency k stands for k + 1/2, so that the conjugate of top's number k is its number width - 1 - k, and
 * no number is its own partner. What wraps around in a row then changes its sign (a negacyclic convolution), but those
 * outputs are dropped anyway. A column's thread has numbers of k and of its partner, and takes top and bottom apart.
 */
#ifndef FLYNN_HIP_FFT_OWN_KERNELS_H
#define FLYNN_HIP_FFT_OWN_KERNELS_H

#include "fft_kernels.h"
#include "fft_lines.h"

/* How lines of E G numbers, each transformed by G threads, are grouped in blocks: in at most 64 KiB, which every GPU
 * has. */
template <typename W, int E, int G, int bytes = 65536>
struct fft_lines {
    static constexpr int length = E * G;
    static constexpr int fitting = bytes / (length * (int)sizeof(fft_complex<W>));
    static constexpr int lines = fitting < 16 ? fitting : 16, threads = lines * G;
    static constexpr size_t shared = (size_t)lines * length * sizeof(fft_complex<W>);
    /* Blocks that should fit into the 65536 registers of a multiprocessor: some load while others compute. Columns by
     * 32 numbers of each thread do better with fewer blocks and nothing spilled. */
    static constexpr int numbers = 2 * E * (int)(sizeof(W) / sizeof(float));
    static constexpr int others = G > E || numbers < 64 ? 48 : numbers < 128 ? 64 : 40;
    static constexpr int resident = 65536 / (threads * (numbers + others)), resident_columns = E < 32 ? resident : 1;

    static_assert(threads * (sizeof(fft_norms) + sizeof(unsigned)) + sizeof(unsigned) <= shared,
                  "what repaired_together needs fits");
};

/* The blocks of the kernels that take rows: smaller ones, because what a row loads lies together anyway. */
template <typename W, int E, int G>
using fft_row_lines = fft_lines<W, E, G, 4096 * (int)sizeof(W)>;

/* A tile's numbers lie in groups of 8 columns, one group after the other, each row by row: so a block of columns, and
 * one of rows, loads and stores what lies together. Returns where column k of row y is, of `half` rows. */
constexpr int fft_group = 8;
__device__ inline int fft_spot(int k, int y, int half)
{
    return ((int)((unsigned)k / fft_group) * half + y) * fft_group + k % fft_group;
}

template <typename W>
__device__ inline fft_complex<W> *complex_tile(const fft_tiles<W> &t)
{
    return reinterpret_cast<fft_complex<W> *>(t.data) + blockIdx.y * (t.height / 2) * t.width;
}

/* The norms of a thread's numbers, whose real and imaginary parts are elements. */
template <int E, typename W>
__device__ inline fft_norms norms_of(fft_complex<W> *v)
{
    fft_norms own = {};
    GPU_UNROLL
    for (int j = 0; j < E; j++) {
        const double re = (double)v[j].re, im = (double)v[j].im;
        own.squares += re * re + im * im;
        own.sum += std::fabs(re) + std::fabs(im);
    }
    gpu_forget(own.squares); /* complete before v changes */
    gpu_forget(own.sum);
    fft_forget<E>(v);
    return own;
}

/* The rows of each tile (load_tiles_kernel says of what). A block stores the norms of its rows. Tile `last` of those at
 * once is of the convolution kernel. */
template <typename T, typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS((fft_row_lines<W, E, G>::threads),
                             (fft_row_lines<W, E, G>::resident)) void fft_rows_kernel(fft_tiles<W> t, convolution<T> c,
                                                                                      int last, fft_norms *norms)
{
    using shape = fft_row_lines<W, E, G>;
    constexpr int N = shape::length;
    static_assert(G % fft_group == 0, "a thread's numbers are of the same column of their groups");
    if (!t.are_needed())
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int thread = (int)threadIdx.x % G, line = (int)threadIdx.x / G, half = (int)t.height / 2;
    const int row = (int)blockIdx.x * shape::lines + line;
    const bool of_kernel = (int)blockIdx.y == last;
    clear_marks(t.marked, t.first == 0);
    const matrix<const T> from = of_kernel ? c.kernel : c.image;
    const int64_t number = t.first + blockIdx.y, y0 = of_kernel ? 0 : number / t.across * t.down + c.top,
                  x0 = of_kernel ? 0 : number % t.across * t.right + c.left;
    const int first = x0 < 0 ? (int)least<int64_t>(-x0, N) : 0;
    const int inside = x0 < from.columns ? (int)least<int64_t>(from.columns - x0, N) - first : 0;
    const unsigned upper = y0 + row >= 0 && y0 + row < from.rows && inside > 0 ? (unsigned)inside : 0;
    const unsigned lower = y0 + row + half >= 0 && y0 + row + half < from.rows && inside > 0 ? (unsigned)inside : 0;
    const T *const upper_row = from.data + (y0 + row) * from.stride + x0 + thread;
    const T *const lower_row = upper_row + half * from.stride;
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int j = 0; j < E; j++) {
        const unsigned x = (unsigned)(thread + G * j - first);
        v[j].re = x < upper ? (W)upper_row[G * j] : W(0);
        v[j].im = x < lower ? (W)lower_row[G * j] : W(0);
    }
    const fft_norms own = norms_of<E>(v);
    fft_line<E, G, 1>(v, shared + line * N, fft_row_place<E, G>{thread});
    fft_complex<W> *const to = complex_tile(t) + fft_spot(thread, row, half);
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        to[G * half * m] = v[m];
    __syncthreads();
    const fft_norms all = block_norms<shape::threads>(own, reinterpret_cast<fft_norms *>(bytes));
    if (threadIdx.x == 0)
        norms[blockIdx.y * gridDim.x + blockIdx.x] = all;
}

/* A column's numbers, top half and bottom half, twice each, from its numbers k and those of k's partners. */
template <int E, int G, typename W>
__device__ inline void load_column(fft_complex<W> *v, const fft_complex<W> *column, const fft_complex<W> *partner)
{
    GPU_UNROLL
    for (int j = 0; j < E / 2; j++) {
        const fft_complex<W> a = column[fft_group * G * j], b = partner[fft_group * G * j];
        v[j] = {a.re + b.re, a.im - b.im};
        v[j + E / 2] = {a.im + b.im, b.re - a.re};
    }
}

/* The spectrum of the convolution kernel, in the order in which threads use it, divided by all that the transforms
 * multiply by: the elements of a tile, and 2 for each load_column. */
template <typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS((fft_lines<W, E, G>::threads),
                             (fft_lines<W, E, G>::resident_columns)) void fft_spectrum_kernel(fft_tiles<W> t,
                                                                                              fft_complex<W> *spectrum)
{
    using shape = fft_lines<W, E, G>;
    if (!t.are_needed())
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int line = (int)threadIdx.x % shape::lines, thread = (int)threadIdx.x / shape::lines;
    const int k = (int)blockIdx.x * shape::lines + line, half = (int)t.height / 2;
    const fft_complex<W> *const tile = complex_tile(t);
    fft_complex<W> v[E];
    load_column<E, G>(v, tile + fft_spot(k, thread, half), tile + fft_spot((int)t.width - 1 - k, thread, half));
    fft_line<E, G, 0>(v, shared, fft_column_place<E, G, shape::lines>{thread, line});
    const W scale = 1 / (4 * (W)t.height * (W)t.width); /* a power of two: exact */
    fft_complex<W> *const to = spectrum + (int64_t)blockIdx.x * E * shape::threads + threadIdx.x;
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        to[m * shape::threads] = {v[m].re * scale, v[m].im * scale};
}

/* The columns of each tile, times the kernel's spectrum, and back in place. The first block of a tile also finds out
 * how accurate its sums will be: `chunks` norms of each tile, and of the kernel. */
template <typename T, typename W, int E, int G>
__global__
    GPU_LAUNCH_BOUNDS((fft_lines<W, E, G>::threads), (fft_lines<W, E, G>::resident_columns)) void fft_columns_kernel(
        fft_tiles<W> t, const fft_complex<W> *spectrum, const fft_norms *tile_norms, const fft_norms *kernel_norms,
        int chunks, fft_accuracy accuracy, fft_limit *limits)
{
    using shape = fft_lines<W, E, G>;
    if (!t.are_needed())
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    if (blockIdx.x == 0) {
        fft_norms *const parts = reinterpret_cast<fft_norms *>(bytes);
        const fft_norms tile = block_norms<shape::threads>(tile_norms + (int64_t)blockIdx.y * chunks, chunks, parts);
        const fft_norms kernel = block_norms<shape::threads>(kernel_norms, chunks, parts);
        if (threadIdx.x == 0) {
            const fft_limit limit = limit_of<T, W>(tile, kernel, accuracy);
            limits[blockIdx.y] = limit;
            note_norms(t.marked, tile, kernel, limit, accuracy);
        }
    }
    const int line = (int)threadIdx.x % shape::lines, thread = (int)threadIdx.x / shape::lines;
    const int k = (int)blockIdx.x * shape::lines + line, half = (int)t.height / 2;
    fft_complex<W> *const tile = complex_tile(t), *const column = tile + fft_spot(k, thread, half),
                          *const partner = tile + fft_spot((int)t.width - 1 - k, thread, half);
    const fft_column_place<E, G, shape::lines> place = {thread, line};
    fft_complex<W> v[E];
    load_column<E, G>(v, column, partner);
    fft_line<E, G, 0>(v, shared, place);
    const fft_complex<W> *const with = spectrum + (int64_t)blockIdx.x * E * shape::threads + threadIdx.x;
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        v[m] = v[m] * with[m * shape::threads];
    fft_line_back<E, G, 0>(v, shared, place);
    GPU_UNROLL
    for (int j = 0; j < E / 2; j++) {
        const fft_complex<W> a = v[j], b = v[j + E / 2];
        column[fft_group * G * j] = {a.re - b.im, a.im + b.re};
        partner[fft_group * G * j] = {a.re + b.im, b.re - a.im};
    }
}

/* More outputs of a block than this are left to sum_marked_kernel, which looks whether they are 0. */
constexpr unsigned fft_few = 16;

/* Computes the outputs whose bits are set in `inaccurate` again, in f64: bit b of a thread is the output that
 * number_of(b), below 2^32, numbers in the tile; place_of(number) is where it lies in the result. The threads of the
 * block compute each of them together, because a single one would take longer than all else. Returns whether they did:
 * not if there are more than fft_few. All numbers are finite: zeros outside the image count nothing. */
template <int threads, typename T, typename Number, typename Place>
__device__ inline bool repaired_together(const convolution<T> &c, uint64_t inaccurate, unsigned char *bytes,
                                         const Number &number_of, const Place &place_of)
{
    fft_norms *const parts = reinterpret_cast<fft_norms *>(bytes);
    unsigned *const count = reinterpret_cast<unsigned *>(parts + threads), *const list = count + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        *count = 0;
    __syncthreads();
    GPU_NO_UNROLL
    for (int bit = 0; inaccurate != 0; bit++, inaccurate >>= 1)
        if (inaccurate & 1) {
            const unsigned place = atomicAdd(count, 1u);
            if (place < fft_few)
                list[place] = number_of(bit);
        }
    __syncthreads();
    const bool together = *count <= fft_few;
    const int found = together ? (int)*count : 0;
    const int taps = (int)c.kernel.columns, all = (int)c.kernel.rows * taps;
    for (int k = 0; k < found; k++) {
        const fft_place out = place_of(list[k]);
        const int64_t bottom = out.row + c.top + c.kernel.rows - 1, right = out.column + c.left + taps - 1;
        double sum = 0;
        GPU_UNROLL_SOME
        for (int tap = (int)threadIdx.x; tap < all; tap += threads) {
            const int64_t row = bottom - tap / taps, column = right - tap % taps;
            if (row >= 0 && row < c.image.rows && column >= 0 && column < c.image.columns)
                sum += (double)c.image.data[row * c.image.stride + column] *
                       (double)c.kernel.data[tap / taps * c.kernel.stride + tap % taps];
        }
        sum = block_norms<threads>({sum, 0}, parts).squares;
        if (threadIdx.x == 0)
            c.out.data[out.row * c.out.stride + out.column] = (T)sum;
    }
    return together;
}

/* Computes inaccurate outputs again by repaired_together. If they are too many for that, or not all numbers are finite,
 * it leaves them to sum_marked_kernel. Outputs of finite numbers that are to be checked stay. */
template <int threads, typename W, typename T, typename Number, typename Place>
__device__ inline void repair(const convolution<T> &c, uint64_t inaccurate, bool finite, const fft_accuracy &accuracy,
                              unsigned char *bytes, fft_marked *marked, const Number &number_of, const Place &place_of)
{
    if (sizeof(W) != sizeof(T) && finite && repaired_together<threads>(c, inaccurate, bytes, number_of, place_of))
        return;
    const bool checked = fft_can_check<T, W> && accuracy.checked && finite;
    GPU_NO_UNROLL
    for (int bit = 0; inaccurate != 0; bit++, inaccurate >>= 1)
        if (inaccurate & 1) {
            const fft_place out = place_of(number_of(bit));
            if (checked) {
                if (note_weak(c, out.row, out.column, marked))
                    return;
                continue;
            }
            leave(c.out.data + out.row * c.out.stride + out.column, marked, accuracy);
        }
}

/* Notes what a block found of tile `number`. All threads of the block call this; `most`.sum is the largest magnitude of
 * the calling thread's sums. */
template <int threads, typename T, typename W>
__device__ inline void note_block(const fft_found &found, int64_t number, fft_norms most, const fft_limit &limit,
                                  unsigned char *bytes)
{
    __syncthreads();
    most = block_most<threads>(most, reinterpret_cast<fft_norms *>(bytes));
    if (threadIdx.x == 0)
        note_sums<T, W>(found, number, most.sum, limit.error);
}

/* The rows back, and the tile's outputs as store_tiles_kernel stores them. */
template <typename T, typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS((fft_row_lines<W, E, G>::threads),
                             (fft_row_lines<W, E, G>::resident)) void fft_store_kernel(fft_tiles<W> t, convolution<T> c,
                                                                                       const fft_limit *limits,
                                                                                       fft_accuracy accuracy,
                                                                                       fft_found found)
{
    using shape = fft_row_lines<W, E, G>;
    constexpr int N = shape::length;
    if (!t.are_needed())
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int64_t number = t.first + blockIdx.y, i0 = number / t.across * t.down, j0 = number % t.across * t.right;
    const int rows = (int)least(t.down, c.out.rows - i0), columns = (int)least(t.right, c.out.columns - j0);
    if (rows <= 0 || columns <= 0)
        return;
    const int thread = (int)threadIdx.x % G, line = (int)threadIdx.x / G, half = (int)t.height / 2;
    const int row = (int)blockIdx.x * shape::lines + line;
    const fft_complex<W> *const from = complex_tile(t) + fft_spot(thread, row, half);
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        v[m] = from[G * half * m];
    fft_line_back<E, G, 1>(v, shared + line * N, fft_row_place<E, G>{thread});
    const W least_kept = (W)limits[blockIdx.y].from; /* a tile without accurate sums: NaN */
    const int i = row - (int)(c.kernel.rows - 1), j = thread - (int)(c.kernel.columns - 1); /* from the first output */
    const bool upper = i >= 0 && i < rows, lower = i + half >= 0 && i + half < rows;
    T *const upper_row = c.out.data + (i0 + i) * c.out.stride + j0 + j, *const lower_row =
                                                                            upper_row + half * c.out.stride;
    uint64_t inaccurate = 0;
    GPU_UNROLL
    for (int m = 0; m < E; m++) {
        const bool stored = j + G * m >= 0 && j + G * m < columns;
        if (stored && upper) {
            upper_row[G * m] = (T)v[m].re;
            inaccurate |= (uint64_t) !(std::fabs(v[m].re) >= least_kept) << 2 * m;
        }
        if (stored && lower) {
            lower_row[G * m] = (T)v[m].im;
            inaccurate |= (uint64_t) !(std::fabs(v[m].im) >= least_kept) << (2 * m + 1);
        }
    }
    fft_norms most = {};
    if (accuracy.tolerance > 0) {
        int j_again = j;
        gpu_forget(j_again);
        GPU_UNROLL
        for (int m = 0; m < E; m++) {
            const bool stored = j_again + G * m >= 0 && j_again + G * m < columns;
            most.sum = std::fmax(most.sum, stored && upper ? std::fabs((double)v[m].re) : 0);
            most.sum = std::fmax(most.sum, stored && lower ? std::fabs((double)v[m].im) : 0);
        }
    }
    constexpr int bits = 12; /* enough for the column of an output within its tile */
    const auto number_of = [=](int bit) {
        return (unsigned)(i + (bit % 2 ? half : 0)) << bits | (unsigned)(j + G * (bit / 2));
    };
    const auto place_of = [=](unsigned place) {
        return fft_place{i0 + (place >> bits), j0 + (place & ((1u << bits) - 1))};
    };
    repair<shape::threads, W>(c, inaccurate, !std::isnan(least_kept), accuracy, bytes, t.marked, number_of, place_of);
    if (accuracy.tolerance > 0) /* for all threads of the block */
        note_block<shape::threads, T, W>(found, number, most, limits[blockIdx.y], bytes);
}

#endif
