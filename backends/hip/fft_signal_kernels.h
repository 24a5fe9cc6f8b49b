/* SPDX-License-Identifier: MIT
 *
 * fft_signal_kernels.h - convolutions of signals on a GPU by FFTs, with transforms of our own (fft_lines.h) instead of
 * a library's. convolve1d_fft_own.hip.cpp queues these kernels.
 *
 * A signal is cut into segments that overlap (overlap-save), and two successive segments a and b are one block of
 * complex numbers a + i b: the kernel h is real, so that (a + i b) * h = a * h + i (b * h) needs not be taken apart.
 *
 * A block of N = N1 N2 numbers is a matrix of N1 rows, number n2 + N2 n1 in row n1. With frequency k = k1 + N1 k2,
 *     y[k1, n2] = exp(-2 pi i n2 k1 / N) times the sum over n1 of x[n2 + N2 n1] exp(-2 pi i n1 k1 / N1),
 *     X[k] = sum over n2 of y[k1, n2] exp(-2 pi i n2 k2 / N2):
 * a transform of each column, a turn of each number, and a transform of each row (Bailey, "FFTs in external
 * or hierarchical memory", Journal of Supercomputing 4, 1990). Three kernels: the columns, loaded from the signal; the
 * rows, their product with the kernel's spectrum, which lies in the same order, and the rows back; the columns back and
 * the outputs. A block passes through memory twice.
 */
#ifndef FLYNN_HIP_FFT_SIGNAL_KERNELS_H
#define FLYNN_HIP_FFT_SIGNAL_KERNELS_H

#include "fft_own_kernels.h"

/* Blocks of numbers of two segments each, one block after the other. */
template <typename W>
struct fft_pairs {
    fft_complex<W> *data;
    fft_complex<W> *spectrum; /* the kernel's, one block */
    int64_t first;            /* the number of the first pair in the whole signal */
    int columns;              /* N2 */
    int log2_step;            /* log2(fft_fine_circle / N): how far neighbouring roots are apart */
    int segment, dropped;     /* outputs of a segment, and elements before them; together N */
    bool with_kernel;         /* the kernel's columns are transformed, too, in the memory of the spectrum */
    const int *idle;          /* as in fft_tiles */
    fft_marked *marked;       /* as in fft_tiles */
};

/* ------------------------------------------------------------------------------------------------------ turns ---- */

constexpr int fft_fine_circle = 1 << 17, fft_fine_part = 512; /* the longest block; roots of a table */

/* exp(-2 pi i j step / fft_fine_circle) at j. */
template <typename W, int count>
__host__ __device__ constexpr fft_table<W, count> make_fft_part(int step)
{
    fft_table<W, count> table = {};
    for (int j = 0; j < count; j++)
        table.root[j] = {(W)fft_cosine(j * step, fft_fine_circle),
                         (W)-fft_cosine(j * step - fft_fine_circle / 4, fft_fine_circle)};
    return table;
}

/* exp(-2 pi i k / fft_fine_circle) for k below fft_fine_circle: the product of two roots that are rounded once. */
template <typename W>
__device__ inline fft_complex<W> fft_fine_root(unsigned k)
{
    constexpr int parts = fft_fine_circle / fft_fine_part;
    static constexpr fft_table<W, parts> coarse = make_fft_part<W, parts>(fft_fine_part);
    static constexpr fft_table<W, fft_fine_part> fine = make_fft_part<W, fft_fine_part>(1);
    return coarse.root[k / fft_fine_part] * fine.root[k % fft_fine_part];
}

/* v[m] times exp(-2 pi i column (thread + G m) / N), or its conjugate: the product of one of E / 4 roots and one of
 * four. */
template <bool inverse, int E, int G, typename W>
__device__ inline void fft_turn_column(fft_complex<W> *v, unsigned thread, unsigned column, int log2_step)
{
    unsigned step = column << log2_step;
    fft_forget<E>(v);
    gpu_forget(step); /* roots are not loaded before */
    fft_complex<W> next[4];
    GPU_UNROLL
    for (int b = 1; b < 4; b++)
        next[b] = fft_fine_root<W>(step * (unsigned)(G * b));
    GPU_UNROLL
    for (int a = 0; a < E; a += 4) {
        gpu_forget(step);
        const fft_complex<W> first = fft_fine_root<W>(step * (thread + (unsigned)(G * a)));
        GPU_UNROLL
        for (int b = 0; b < 4; b++) {
            fft_complex<W> root = b == 0 ? first : first * next[b];
            root.im = inverse ? -root.im : root.im;
            v[a + b] = v[a + b] * root;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- kernels ---- */

/* fft_lines, with the blocks that fit into a multiprocessor's registers without spilling. */
template <typename W, int E, int G>
struct fft_signal_lines : fft_lines<W, E, G> {
    using lines_of = fft_lines<W, E, G>;
    static constexpr int others = lines_of::numbers == 32 ? 64 : lines_of::numbers == 128 ? 100 : lines_of::others;
    static constexpr int resident = 65536 / (lines_of::threads * (lines_of::numbers + others));
    static constexpr int resident_store = lines_of::threads == 128 && lines_of::numbers == 64 ? 3 : resident;
};

/* Which group of lines a block of threads transforms, of how many: in x and, for those that are too many there, in z.
 */
__device__ inline int fft_line_group()
{
    return (int)(blockIdx.x + gridDim.x * blockIdx.z);
}
__device__ inline int fft_line_groups()
{
    return (int)(gridDim.x * gridDim.z);
}

/* The next one of 0 to `most`. */
__device__ inline unsigned fft_within(int64_t x, int most)
{
    return x < 0 ? 0 : (unsigned)least<int64_t>(x, most);
}

/* The columns of each pair of segments of `c.image`, turned. With `with_kernel` the first block is the kernel's. A
 * group of threads stores the norms of its columns. */
template <typename T, typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS((fft_signal_lines<W, E, G>::threads),
                             (fft_signal_lines<W, E, G>::resident)) void fft_signal_columns_kernel(fft_pairs<W> p,
                                                                                                   convolution<T> c,
                                                                                                   fft_norms *norms)
{
    using shape = fft_signal_lines<W, E, G>;
    constexpr int N1 = shape::length;
    if (!is_needed(p.idle))
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int line = (int)threadIdx.x % shape::lines, thread = (int)threadIdx.x / shape::lines;
    const int column = fft_line_group() * shape::lines + line, block = N1 * p.columns;
    const bool of_kernel = p.with_kernel && blockIdx.y == 0;
    clear_marks(p.marked, p.with_kernel);
    const int64_t number = (int64_t)blockIdx.y - p.with_kernel, at = 2 * (p.first + number) * p.segment;
    const matrix<const T> &from = of_kernel ? c.kernel : c.image;
    const int64_t x0 = of_kernel ? 0 : at + c.left + c.kernel.columns - 1 - p.dropped;
    const int64_t x1 = of_kernel ? from.columns : x0 + p.segment; /* the kernel's second segment is empty */
    const unsigned first0 = fft_within(-x0, block), inside0 = fft_within(from.columns - x0, block) - first0;
    const unsigned first1 = fft_within(-x1, block), inside1 = fft_within(from.columns - x1, block) - first1;
    const T *const a = from.data + x0, *const b = from.data + x1;
    int n = thread * p.columns + column;
    const int apart = G * p.columns;
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int j = 0; j < E; j++) {
        const int x = n + apart * j;
        v[j].re = (unsigned)x - first0 < inside0 ? (W)a[x] : W(0);
        v[j].im = (unsigned)x - first1 < inside1 ? (W)b[x] : W(0);
    }
    const fft_norms all = block_norms<shape::threads>(norms_of<E>(v), reinterpret_cast<fft_norms *>(bytes));
    if (threadIdx.x == 0)
        norms[(int)blockIdx.y * fft_line_groups() + fft_line_group()] = all;
    fft_line<E, G, 0>(v, shared, fft_column_place<E, G, shape::lines>{thread, line});
    fft_turn_column<false, E, G>(v, (unsigned)thread, (unsigned)column, p.log2_step);
    fft_complex<W> *const to =
        of_kernel ? p.spectrum : p.data + ((int64_t)blockIdx.y - p.with_kernel) * (p.segment + p.dropped);
    GPU_UNROLL
    for (int m = 0; m < E; m++) {
        gpu_forget(n);
        to[n + apart * m] = v[m];
    }
}

/* The rows of the kernel's block, in place, divided by N, by which the transforms multiply. */
template <typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS((fft_signal_lines<W, E, G>::threads),
                             (fft_signal_lines<W, E, G>::resident)) void fft_signal_spectrum_kernel(fft_pairs<W> p)
{
    using shape = fft_signal_lines<W, E, G>;
    constexpr int N2 = shape::length;
    if (!is_needed(p.idle))
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int thread = (int)threadIdx.x % G, line = (int)threadIdx.x / G;
    fft_complex<W> *const row = p.spectrum + (fft_line_group() * shape::lines + line) * N2 + thread;
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int j = 0; j < E; j++)
        v[j] = row[G * j];
    fft_line<E, G, 0>(v, shared + line * N2, fft_row_place<E, G>{thread});
    const W scale = 1 / (W)(p.segment + p.dropped); /* a power of two: exact */
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        row[G * m] = {v[m].re * scale, v[m].im * scale};
}

/* The rows of each block, times the kernel's spectrum, and back in place. The first threads of a block of numbers also
 * find out how accurate its sums will be: `chunks` norms of each block, and of the kernel. */
template <typename T, typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS(
    (fft_signal_lines<W, E, G>::threads),
    (fft_signal_lines<W, E, G>::resident)) void fft_signal_rows_kernel(fft_pairs<W> p, const fft_norms *tile_norms,
                                                                       const fft_norms *kernel_norms, int chunks,
                                                                       fft_accuracy accuracy, fft_limit *limits)
{
    using shape = fft_signal_lines<W, E, G>;
    constexpr int N2 = shape::length;
    if (!is_needed(p.idle))
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    if (fft_line_group() == 0) {
        fft_norms *const parts = reinterpret_cast<fft_norms *>(bytes);
        const fft_norms pair = block_norms<shape::threads>(tile_norms + (int64_t)blockIdx.y * chunks, chunks, parts);
        const fft_norms kernel = block_norms<shape::threads>(kernel_norms, chunks, parts);
        if (threadIdx.x == 0) {
            const fft_limit limit = limit_of<T, W>(pair, kernel, accuracy);
            limits[blockIdx.y] = limit;
            note_norms(p.marked, pair, kernel, limit, accuracy);
        }
    }
    const int thread = (int)threadIdx.x % G, line = (int)threadIdx.x / G;
    const fft_row_place<E, G> place = {thread};
    const int at = (fft_line_group() * shape::lines + line) * N2 + thread;
    fft_complex<W> *const row = p.data + (int64_t)blockIdx.y * (p.segment + p.dropped) + at;
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int j = 0; j < E; j++)
        v[j] = row[G * j];
    fft_line<E, G, 0>(v, shared + line * N2, place);
    const fft_complex<W> *const with = p.spectrum + at;
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        v[m] = v[m] * with[G * m];
    fft_line_back<E, G, 0>(v, shared + line * N2, place);
    GPU_UNROLL
    for (int j = 0; j < E; j++)
        row[G * j] = v[j];
}

/* The columns of each block back, and the outputs of both segments, stored as store_tiles_kernel stores them. */
template <typename T, typename W, int E, int G>
__global__ GPU_LAUNCH_BOUNDS(
    (fft_signal_lines<W, E, G>::threads),
    (fft_signal_lines<W, E, G>::resident_store)) void fft_signal_store_kernel(fft_pairs<W> p, convolution<T> c,
                                                                              const fft_limit *limits,
                                                                              fft_accuracy accuracy, fft_found found)
{
    using shape = fft_signal_lines<W, E, G>;
    constexpr int N1 = shape::length;
    if (!is_needed(p.idle))
        return;
    GPU_DYNAMIC_SHARED(bytes);
    fft_complex<W> *const shared = reinterpret_cast<fft_complex<W> *>(bytes);
    const int line = (int)threadIdx.x % shape::lines, thread = (int)threadIdx.x / shape::lines;
    const int column = fft_line_group() * shape::lines + line;
    const fft_complex<W> *const from = p.data + (int64_t)blockIdx.y * N1 * p.columns + column;
    fft_complex<W> v[E];
    GPU_UNROLL
    for (int m = 0; m < E; m++)
        v[m] = from[(thread + G * m) * p.columns];
    fft_turn_column<true, E, G>(v, (unsigned)thread, (unsigned)column, p.log2_step);
    fft_line_back<E, G, 0>(v, shared, fft_column_place<E, G, shape::lines>{thread, line});
    const W least_kept = (W)limits[blockIdx.y].from; /* a tile without accurate sums: NaN */
    const int64_t number = p.first + blockIdx.y, j0 = 2 * number * p.segment, rest = c.out.columns - j0;
    const unsigned outputs = fft_within(rest, p.segment), outputs_second = fft_within(rest - p.segment, p.segment);
    const int j = thread * p.columns + column - p.dropped, apart = G * p.columns; /* from the pair's first output */
    T *const out = c.out.data + j0;
    uint64_t inaccurate = 0;
    int n = j;
    GPU_UNROLL
    for (int m = 0; m < E; m++, n += apart) {
        gpu_forget(n);
        if ((unsigned)n < outputs) {
            out[n] = (T)v[m].re;
            inaccurate |= (uint64_t) !(std::fabs(v[m].re) >= least_kept) << 2 * m;
        }
        if ((unsigned)n < outputs_second) {
            out[n + p.segment] = (T)v[m].im;
            inaccurate |= (uint64_t) !(std::fabs(v[m].im) >= least_kept) << (2 * m + 1);
        }
    }
    fft_norms most = {};
    if (accuracy.tolerance > 0) {
        n = j;
        GPU_UNROLL
        for (int m = 0; m < E; m++, n += apart) {
            gpu_forget(n);
            most.sum = std::fmax(most.sum, (unsigned)n < outputs ? std::fabs((double)v[m].re) : 0);
            most.sum = std::fmax(most.sum, (unsigned)n < outputs_second ? std::fabs((double)v[m].im) : 0);
        }
    }
    const auto number_of = [=](int bit) { return (unsigned)(j + apart * (bit / 2) + (bit % 2 ? p.segment : 0)); };
    const auto place_of = [=](unsigned place) { return fft_place{0, j0 + place}; };
    repair<shape::threads, W>(c, inaccurate, !std::isnan(least_kept), accuracy, bytes, p.marked, number_of, place_of);
    if (accuracy.tolerance > 0) /* for all threads of the block */
        note_block<shape::threads, T, W>(found, number, most, limits[blockIdx.y], bytes);
}

#endif
