/* SPDX-License-Identifier: MIT
 *
 * fft_check_kernels.h - whether sums by FFTs, in f64, are as accurate as direct ones, on a GPU.
 * convolve_fft_run.hip.cpp queues these kernels.
 *
 * The error of all sums of a tile is at most e (error_of), and that of a direct sum a multiple of S, the sum of its
 * terms' magnitudes. So a sum v is accurate where S is at least fft_limit.from. Where v does not show it, by |v| <= S +
 * e, S is found by an FFT in f32 of the magnitudes of image and kernel, whose own error is subtracted: it is 2^-24 of
 * the norms, where 2^-53 of them is asked about. Magnitudes may be too small, such as 0 for what f32 does not hold: S
 * is then a lower bound, too, and more sums are computed directly.
 */
#ifndef FLYNN_HIP_FFT_CHECK_KERNELS_H
#define FLYNN_HIP_FFT_CHECK_KERNELS_H

#include "compact_kernels.h"
#include "fft_kernels.h"
#include "gpu/gpu_shuffle.h"

/* The power of two by which numbers whose norm is noted are multiplied, so that it is below 1. */
__device__ inline int exponent_below(const unsigned long long *norm)
{
    constexpr int most = 1000; /* the power is a normal number */
    const double value = noted(norm);
    const int exponent = value > 0 ? -1 - std::ilogb(value) : 0;
    return exponent > most ? most : exponent < -most ? -most : exponent;
}

/* At most the magnitude of x times a scale, for an x that is of a tile whose norm times the scale is below 1. */
__device__ inline float magnitude_below(double x, double scale)
{
    const double scaled = std::fabs(x) * scale;
    return !(scaled >= (double)FLT_MIN) ? 0.0f : scaled > 1 ? 1.0f : (float)scaled; /* NaN: 0 */
}

/* The magnitudes of an image, then those of the convolution's kernel, as scaled by their norms. A block takes
 * fft_threads columns at a time, of some rows. */
[[maybe_unused]] static __global__
__launch_bounds__(fft_threads) void store_magnitudes_kernel(matrix<const double> image, matrix<float> of_image,
                                                            matrix<const double> kernel, matrix<float> of_kernel,
                                                            fft_marks marks, const int *idle)
{
    if (!is_needed(marks.rank_one) || !is_needed(idle))
        return;
    const double image_scale = std::ldexp(1.0, exponent_below(&marks.found->image)),
                 kernel_scale = std::ldexp(1.0, exponent_below(&marks.found->kernel));
    for (int64_t y = blockIdx.y; y < image.rows + kernel.rows; y += gridDim.y) {
        const bool first = y < image.rows;
        const int64_t row = first ? y : y - image.rows, columns = first ? image.columns : kernel.columns;
        const double *const from = first ? image.data + row * image.stride : kernel.data + row * kernel.stride;
        float *const to = first ? of_image.data + row * of_image.stride : of_kernel.data + row * of_kernel.stride;
        const double scale = first ? image_scale : kernel_scale;
        for (int64_t x = (int64_t)blockIdx.x * fft_threads + threadIdx.x; x < columns;
             x += (int64_t)gridDim.x * fft_threads)
            to[x] = magnitude_below(from[x], scale);
    }
}

/* Returns whether has_most_terms holds for all elements of the result from [i, j] to [i + rows - 1, j + columns - 1].
 * It looks at the corners alone, because their elements have the fewest terms. */
template <typename T>
__device__ inline bool have_most_terms(const convolution<T> &c, int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    return has_most_terms(c, i, j) && has_most_terms(c, i + rows - 1, j) && has_most_terms(c, i, j + columns - 1) &&
           has_most_terms(c, i + rows - 1, j + columns - 1);
}

/* Tiles whose sums are checked, with the sums of their magnitudes. */
struct fft_checked {
    int64_t row, column;     /* the first output of `sum` in the result */
    matrix<const float> sum; /* the sums of scaled magnitudes */
    const fft_limit *limits; /* the limits of the sums of magnitudes: one for each tile of the launch */
    int most_listed;         /* the most terms that a listed sum has; hip_sum_marked computes sums with more */
    fft_place *list;         /* has room for the places of fft_listed sums */
};

constexpr int fft_check_chunk = 2 * fft_threads; /* outputs of a tile that a block looks at */
constexpr int fft_few_terms = 4096;              /* the largest fft_checked.most_listed */
#ifdef GPU_EMULATION
constexpr unsigned fft_listed = 1u << 12; /* tests have more sums than the list has room for */
#else
constexpr unsigned fft_listed = 1u << 20;
#endif
/* A list of outputs, how long it is, and where it goes in fft_checked.list. */
constexpr size_t fft_check_shared = (2 + fft_check_chunk) * sizeof(unsigned);

/* The terms of the result's element [i, j] that are inside the image: the products of `rows` by `columns` elements of
 * the image, from [row, column] on, and of the turned kernel, from [down, right] on. */
struct fft_terms {
    int64_t row, column, down, right, rows, columns;

    template <typename T>
    __device__ fft_terms(const convolution<T> &c, int64_t i, int64_t j) : row(i + c.top), column(j + c.left)
    {
        down = row < 0 ? -row : 0;
        right = column < 0 ? -column : 0;
        rows = least(c.kernel.rows, c.image.rows - row) - down;
        columns = least(c.kernel.columns, c.image.columns - column) - right;
        row += down;
        column += right;
    }
};

/* The sum of the terms, of which there is at least one: the lanes of a warp add them up together, and lane 0 gets it.
 */
template <typename T>
__device__ inline T sum_of(const block_place &p, const convolution<T> &c, const fft_terms &terms)
{
    const int columns = (int)terms.columns, all = (int)terms.rows * columns;
    const int down = p.here / columns, across = p.here - down * columns; /* from a lane's term to its next one */
    const int64_t rows = p.lane / columns;
    int t = p.lane - (int)rows * columns;
    const T *pixel = c.image.data + (terms.row + rows) * c.image.stride + terms.column + t;
    const T *tap = c.kernel.data + (c.kernel.rows - 1 - terms.down - rows) * c.kernel.stride + c.kernel.columns - 1 -
                   terms.right - t;
    const int64_t pixel_step = down * c.image.stride + across, pixel_wrap = c.image.stride - columns;
    const int64_t tap_step = down * c.kernel.stride + across, tap_wrap = c.kernel.stride - columns;
    T sum = 0;
    GPU_UNROLL_SOME
    for (int n = p.lane; n < all; n += p.here) {
        sum += *pixel * *tap;
        t += across;
        const bool wraps = t >= columns;
        t -= wraps ? columns : 0;
        pixel += wraps ? pixel_step + pixel_wrap : pixel_step;
        tap -= wraps ? tap_step + tap_wrap : tap_step;
    }
    for (int distance = p.lanes / 2; distance > 0; distance /= 2) {
        const T other = gpu_from_above(p.together, sum, distance);
        if (p.lane + distance < p.here)
            sum += other;
    }
    return sum;
}

/* Lists each sum that is not known to be accurate and has few terms, as at the border, for sum_listed_kernel; others it
 * replaces by NaN, for hip_sum_marked. Of the tiles from number t.first on, each row of blocks takes one, with its
 * limit; a block takes chunks of its outputs. */
[[maybe_unused]] static __global__ __launch_bounds__(fft_threads) void check_tiles_kernel(convolution<double> c,
                                                                                          fft_tiles<double> t,
                                                                                          const fft_limit *limits,
                                                                                          fft_checked with)
{
    if (!t.are_needed() || !gpu_same(t.marked->weak))
        return;
    const bool bordering = gpu_same(t.marked->bordering) != 0;
    const int64_t number = t.first + blockIdx.y, i0 = number / t.across * t.down, j0 = number % t.across * t.right;
    const int64_t rows = least(t.down, c.out.rows - i0), columns = least(t.right, c.out.columns - j0);
    const double from = limits[blockIdx.y].from;
    if (!(from > 0) || (bordering && have_most_terms(c, i0, j0, rows, columns))) /* not above 0: all are 0, or marked */
        return;
    /* A sum of magnitudes less its error must be above this. If this underflows to 0, a difference of 0 is not. */
    double least_sum = (double)INFINITY;
    if (!bordering)
        least_sum = std::ldexp(from, exponent_below(&t.marked->image) + exponent_below(&t.marked->kernel));
    const double error = bordering ? 0 : with.limits[blockIdx.y].error;
    GPU_DYNAMIC_SHARED(bytes);
    unsigned *const count = reinterpret_cast<unsigned *>(bytes), *const place = count + 1, *const list = count + 2;
    /* Leaves output k of the tile to hip_sum_marked. */
    const auto leave_out = [&](uint32_t k) {
        c.out.data[(i0 + k / (uint32_t)columns) * c.out.stride + j0 + k % (uint32_t)columns] = (double)NAN;
        t.marked->any = 1;
    };
    for (int64_t first = (int64_t)blockIdx.x * fft_check_chunk; first < rows * columns;
         first += (int64_t)gridDim.x * fft_check_chunk) {
        const uint32_t end = (uint32_t)least<int64_t>(first + fft_check_chunk, rows * columns);
        if (threadIdx.x == 0)
            *count = 0;
        __syncthreads();
        for (uint32_t k = (uint32_t)first + threadIdx.x; k < end; k += fft_threads) {
            const int64_t i = i0 + k / (uint32_t)columns, j = j0 + k % (uint32_t)columns;
            if (std::fabs(c.out.data[i * c.out.stride + j]) >= from)
                continue;
            const float *const sum = with.sum.data + (i - with.row) * with.sum.stride + (j - with.column);
            if (!bordering && (double)*sum - error > least_sum)
                continue;
            const fft_terms terms(gpu_first(c), i, j);
            if (terms.rows * terms.columns <= with.most_listed)
                list[atomicAdd(count, 1u)] = k;
            else
                leave_out(k);
        }
        __syncthreads();
        if (threadIdx.x == 0 && *count > 0)
            *place = atomicAdd(&t.marked->listed, *count);
        __syncthreads();
        for (unsigned n = threadIdx.x; n < *count; n += fft_threads) {
            const uint32_t k = list[n];
            if (*place < fft_listed && n < fft_listed - *place)
                with.list[*place + n] = {i0 + k / (uint32_t)columns, j0 + k % (uint32_t)columns};
            else
                leave_out(k);
        }
        __syncthreads();
    }
}

/* Computes the listed sums directly, each by a warp. */
[[maybe_unused]] static __global__
__launch_bounds__(fft_threads) void sum_listed_kernel(convolution<double> c, fft_marks marks, const fft_place *list)
{
    if (!is_needed(marks.rank_one))
        return;
    const block_place p;
    const unsigned count = least(gpu_same(marks.found->listed), fft_listed);
    for (unsigned n = blockIdx.x * (unsigned)p.warps + (unsigned)p.warp; n < count;
         n += gridDim.x * (unsigned)p.warps) {
        const fft_place out = list[n];
        const double sum = sum_of(p, gpu_first(c), fft_terms(gpu_first(c), out.row, out.column));
        if (p.lane == 0)
            c.out.data[out.row * c.out.stride + out.column] = sum;
    }
}

#endif
