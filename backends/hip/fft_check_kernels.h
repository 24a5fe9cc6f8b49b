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

#include "fft_kernels.h"

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

/* Returns has_most_terms of all of the result's elements in so many rows and columns from [i, j] on: those in the
 * corners have the fewest terms. */
template <typename T>
__device__ inline bool have_most_terms(const convolution<T> &c, int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    return has_most_terms(c, i, j) && has_most_terms(c, i + rows - 1, j) && has_most_terms(c, i, j + columns - 1) &&
           has_most_terms(c, i + rows - 1, j + columns - 1);
}

/* Tiles whose sums are checked, with the sums of their magnitudes. */
struct fft_checked {
    int64_t row, column;     /* the first output of `sum` in the result */
    matrix<const float> sum; /* of magnitudes, as scaled */
    const fft_limit *limits; /* of sum, for each tile of the launch */
};

constexpr int fft_check_chunk = 2 * fft_threads; /* outputs of a tile that a block looks at */
constexpr int fft_few_terms = 2048;              /* that a thread adds up by itself */

/* The result's element [i, j] directly, from the terms that are inside the image; NaN if they are not few. All numbers
 * are finite. */
template <typename T>
__device__ inline T sum_of_few(convolution<T> c, int64_t i, int64_t j)
{
    gpu_in_vector(c.top, c.left, c.image.rows, c.image.columns, c.kernel.rows, c.kernel.columns);
    gpu_in_vector(c.image.data, c.image.stride, c.kernel.data, c.kernel.stride);
    const int64_t row = i + c.top, column = j + c.left;
    const int64_t above = row < 0 ? -row : 0, below = least(c.kernel.rows, c.image.rows - row);
    const int64_t before = column < 0 ? -column : 0, past = least(c.kernel.columns, c.image.columns - column);
    if (has_most_terms(c, i, j) || (below - above) * (past - before) > fft_few_terms)
        return (T)NAN;
    T sum = 0;
    for (int64_t s = above; s < below; s++) {
        const T *const pixel = c.image.data + (row + s) * c.image.stride + column;
        const T *const tap = c.kernel.data + (c.kernel.rows - 1 - s) * c.kernel.stride + c.kernel.columns - 1;
        GPU_UNROLL_SOME
        for (int64_t t = before; t < past; t++)
            sum += pixel[t] * tap[-t];
    }
    return sum;
}

/* Replaces each sum that is not known to be accurate: at the border, where it has few terms, by a direct one, else by
 * NaN, for hip_sum_marked. Of the tiles from number t.first on, each row of blocks takes one, with its limit; a block
 * takes chunks of its outputs. */
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
    double least_sum = (double)INFINITY; /* of a sum - error, which is not above 0 where this became 0 */
    if (!bordering)
        least_sum = std::ldexp(from, exponent_below(&t.marked->image) + exponent_below(&t.marked->kernel));
    const double error = bordering ? 0 : with.limits[blockIdx.y].error;
    for (int64_t first = (int64_t)blockIdx.x * fft_check_chunk; first < rows * columns;
         first += (int64_t)gridDim.x * fft_check_chunk) {
        const uint32_t end = (uint32_t)least<int64_t>(first + fft_check_chunk, rows * columns);
        for (uint32_t k = (uint32_t)first + threadIdx.x; k < end; k += fft_threads) {
            const int64_t i = i0 + k / (uint32_t)columns, j = j0 + k % (uint32_t)columns;
            double *const out = c.out.data + i * c.out.stride + j;
            if (std::fabs(*out) >= from)
                continue;
            const float *const sum = with.sum.data + (i - with.row) * with.sum.stride + (j - with.column);
            if (!bordering && (double)*sum - error > least_sum)
                continue;
            const double direct = sum_of_few(gpu_first(c), i, j);
            *out = direct;
            if (std::isnan(direct))
                t.marked->any = 1;
        }
    }
}

#endif
