/* SPDX-License-Identifier: MIT
 *
 * fft_typed.h - what convolutions of images and of signals by FFT share. Included once for each pair of types, with
 *     real     the type of the inputs and the output
 *     work     the type that is transformed
 *     FT(name) the name of a function for the pair: name_fft_wide_v3
 *
 * Overlap-save (Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 8.7.3): a tile is convolved
 * with the kernel as if both were periodic. The sums that wrap around are dropped, and neighbouring tiles overlap by
 * what the kernel covers. Tap p of a kernel of `taps` lies at p - (taps - 1), modulo the tile's edge: the sums that
 * wrap are then the last ones.
 */

/* Returns whether sums that are computed again are found by fft_check.h: those in `work` are no more accurate than
 * direct ones. `exact`: a call computes sums again that are less accurate than direct ones. */
static inline bool FT(is_checked)(bool exact)
{
    return sizeof(work) == sizeof(real) && exact;
}

/* Where tap p lies. */
static inline int64_t FT(wrapped)(int64_t p, int64_t taps, int64_t edge)
{
    return p == taps - 1 ? 0 : p + edge - (taps - 1);
}

/* Divides a kernel's spectrum by the elements of a tile, by which the transforms multiply: a power of two. */
static void FT(divide)(work *spectrum, int64_t count, double elements)
{
    const work scale = (work)(1 / elements);

    for (int64_t i = 0; i < count; i++)
        spectrum[i] *= scale;
}

/* row[x] = line[from + x], zeros beyond the ends of the line's `size` elements; adds up what is in it. */
static void FT(load_row)(const real *line, int64_t size, int64_t from, int64_t count, work *restrict row,
                         fft_norms *norms)
{
    const int64_t first = min64(max64(0, -from), count), end = max64(first, min64(count, size - from));
    double squares = 0, sum = 0;

    memset(row, 0, (size_t)first * sizeof *row);
    if (first < end) {
        const real *restrict in = line + (from + first);
        work *restrict to = row + first;
#pragma omp simd reduction(+ : squares, sum)
        for (int64_t x = 0; x < end - first; x++) {
            const double element = in[x];
            to[x] = in[x];
            squares += element * element;
            sum += fabs(element);
        }
    }
    memset(row + end, 0, (size_t)(count - end) * sizeof *row);
    norms->squares += squares;
    norms->sum += sum;
}

/* Adds the magnitudes of the elements that load_row loads, and their squares, times `sign`. */
static void FT(count_row)(const real *line, int64_t size, int64_t from, int64_t count, double sign,
                          double *restrict magnitudes, double *restrict squares)
{
    const int64_t first = min64(max64(0, -from), count), end = max64(first, min64(count, size - from));

#pragma omp simd
    for (int64_t x = first; x < end; x++) {
        const double element = line[from + x];
        magnitudes[x] += sign * fabs(element);
        squares[x] += sign * (element * element);
    }
}

/* tile *= kernel, both complex. */
static void FT(multiply)(const work *restrict kernel, work *restrict tile, int64_t count)
{
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
        const work a = tile[2 * k], b = tile[2 * k + 1], re = kernel[2 * k], im = kernel[2 * k + 1];
        tile[2 * k] = a * re - b * im;
        tile[2 * k + 1] = a * im + b * re;
    }
}

/* Stores sums; returns how many have a magnitude below `least`. */
static int64_t FT(store_row)(const work *restrict sums, double least, real *restrict out, int64_t count)
{
    int64_t small = 0;

    if (sizeof(work) == sizeof(real) && least == 0) {
        memcpy(out, sums, (size_t)count * sizeof *out);
        return 0;
    }
#pragma omp simd reduction(+ : small)
    for (int64_t x = 0; x < count; x++) {
        out[x] = (real)sums[x];
        small += !(fabs((double)sums[x]) >= least);
    }
    return small;
}

/* An upper bound of the error of a sum in `work` (docs/accuracy.md). The second term is for what underflows.
 * `checked`: fft-checked asks, which has a smaller bound. */
static double FT(error)(const fft_norms *tile, const fft_norms *kernel, double log2_of_elements, bool checked)
{
    const bool single = sizeof(work) == sizeof(float);
    const double unit = (single ? FLT_EPSILON : DBL_EPSILON) / 2, least = single ? (double)FLT_MIN : DBL_MIN;
    const double units = checked ? cpu_fft_checked_error(log2_of_elements) : cpu_fft_error(log2_of_elements);

    return units * unit * cpu_fft_norm(tile) * cpu_fft_norm(kernel) +
           8 * least * exp2(log2_of_elements) * (tile->sum + kernel->sum + log2_of_elements);
}

/* A sum is within the bound of the other variants if the magnitudes of its terms add up to at least this. A sum y
 * in `work` is at most e from the exact one, x, and within e + u |x| after it is rounded to `real`, which is at most
 * (terms + 16) u |x| if |x| >= e / ((terms + 14) u). And |x| is at most the sum over absolute values. */
static double FT(least_terms)(double error, double terms)
{
    return error * (1.01 / ((terms + 14) * (sizeof(real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON) / 2));
}

/* The magnitude from which on a sum shows by itself that it is: |x| >= |y| - e. */
static double FT(least_accurate)(double error, double terms)
{
    return 1.01 * error + FT(least_terms)(error, terms);
}

/* Returns whether most sums of a tile would be too small for fft-checked, so that transforming it is no use. Where its
 * `inside` numbers are independent of the kernel's, a sum's terms add up to their mean times the sum of the kernel's.
 */
static bool FT(is_in_vain)(bool exact, const fft_norms *tile, double inside, double kernel_sum, double needed)
{
    return FT(is_checked)(exact) && tile->sum / inside * kernel_sum < needed;
}

/* Returns the largest of `so_far` and of the magnitudes of sums[0] to sums[count - 1]. */
static double FT(largest)(const work *sums, int64_t count, double so_far)
{
    work largest = 0;

#pragma omp simd reduction(max : largest)
    for (int64_t x = 0; x < count; x++) {
        const work magnitude = sums[x] < 0 ? -sums[x] : sums[x];
        largest = magnitude > largest ? magnitude : largest;
    }
    return fmax(so_far, (double)largest);
}

/* Notes the error of a tile's sums, of which the largest is given, and returns what the largest is at least. */
static double FT(note_tile)(const fft_found *found, int64_t tile, double error, double largest)
{
    found->error[tile] = error + (sizeof(work) == sizeof(real) ? 0 : FLT_EPSILON / 2 * (largest + error));
    return fmax(0, largest - found->error[tile]);
}

/* Returns whether a tile can be transformed: its numbers are finite, their squares neither overflow nor lose digits,
 * and no number on the way is too large: none exceeds the product. */
static bool FT(can_transform)(const fft_norms *norms, double sum, double elements)
{
    return norms->squares > DBL_MIN / DBL_EPSILON &&
           (sqrt(norms->squares) + 1) * (sqrt(elements) + sum) <
               (sizeof(work) == sizeof(float) ? (double)FLT_MAX : DBL_MAX) / 16;
}
