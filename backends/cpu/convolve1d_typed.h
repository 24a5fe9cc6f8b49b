/* SPDX-License-Identifier: MIT
 *
 * convolve1d_typed.h - the loops of convolve1d.c for one type. Included once for each, with
 *     real     the type: float, double
 *     wide     the type that `reference` sums in: double, long double
 *     FN(name) the name of a function for that type: name_f32_v3
 *
 * `c` is always what to compute; i counts outputs, p the kernel's taps:
 *     out[i] = sum of signal[i + origin - p] * kernel[p] over those p for which both exist.
 * What does not exist is left out rather than taken for zero: 0 * infinity would be NaN.
 */

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* out[i] += signal[i + origin - p] * kernel[p] for outputs i0 to i1 and taps p0 to p1, the ends excluded. The loop over
 * the outputs is the innermost: the ends of the signal are then bounds of that loop, and its sums do not wait for each
 * other. */
KERNEL void FN(add_within)(const fl_convolve1d_args *c, int64_t i0, int64_t i1, int64_t p0, int64_t p1)
{
    const real *restrict signal = c->signal.data, *restrict kernel = c->kernel.data;
    real *restrict out = c->out.data;

    for (int64_t p = p0; p < p1; p++) {
        const real tap = kernel[p];
        const int64_t shift = c->origin - p, first = max64(i0, -shift), end = min64(i1, c->signal.shape[0] - shift);
#pragma omp simd
        for (int64_t i = first; i < end; i++)
            out[i] += signal[i + shift] * tap;
    }
}

/* The first of the taps that meet the signal under outputs i0 to i1, and the one past the last. */
static inline int64_t FN(first_tap)(const fl_convolve1d_args *c, int64_t i0)
{
    return max64(0, i0 + c->origin - c->signal.shape[0] + 1);
}

static inline int64_t FN(end_tap)(const fl_convolve1d_args *c, int64_t i1)
{
    return min64(c->kernel.shape[0], i1 + c->origin);
}

static fl_status FN(naive)(const fl_context *context, const fl_convolve1d_args *c, const fl_launch *launch)
{
    const int64_t strip = STRIP_BYTES / sizeof(real), n = c->out.shape[0];

    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t i = 0; i < n; i += strip) {
        const int64_t end = min64(i + strip, n);
        memset((real *)c->out.data + i, 0, (size_t)(end - i) * sizeof(real));
        FN(add_within)(c, i, end, FN(first_tap)(c, i), FN(end_tap)(c, end));
    }
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* out[x] = (first ? 0 : out[x]) + sum over q < taps of in[x - q] * kernel[q], 0 <= x < SUMS * quarter; `first` is a
 * constant wherever this is inlined. The sums of four quarters stay in registers and share a tap, so that nothing but
 * the signal is loaded again and again. */
ALWAYS_INLINE void FN(sum_quarters)(const bool first, const real *restrict in, const real *restrict kernel,
                                    int64_t taps, real *restrict out, int64_t quarter)
{
    const real *restrict in1 = in + quarter, *restrict in2 = in1 + quarter, *restrict in3 = in2 + quarter;
    real *restrict out1 = out + quarter, *restrict out2 = out1 + quarter, *restrict out3 = out2 + quarter;

#pragma omp simd
    for (int64_t x = 0; x < quarter; x++) {
        real a = first ? 0 : out[x], b = first ? 0 : out1[x], c = first ? 0 : out2[x], d = first ? 0 : out3[x];
        int64_t q = 0;
        do { /* there is a tap; a test for it before the loop would keep the loop over x from being vectorized */
            const real tap = kernel[q];
            a += in[x - q] * tap;
            b += in1[x - q] * tap;
            c += in2[x - q] * tap;
            d += in3[x - q] * tap;
        } while (++q < taps);
        out[x] = a;
        out1[x] = b;
        out2[x] = c;
        out3[x] = d;
    }
}

/* sum_quarters for any width. */
KERNEL void FN(sum_piece)(bool first, const real *in, const real *kernel, int64_t taps, real *out, int64_t width)
{
    const int64_t quarter = width / SUMS;

    if (first)
        FN(sum_quarters)(true, in, kernel, taps, out, quarter);
    else
        FN(sum_quarters)(false, in, kernel, taps, out, quarter);
    for (int64_t x = SUMS * quarter; x < width; x++) {
        real sum = first ? 0 : out[x];
        for (int64_t q = 0; q < taps; q++)
            sum += in[x - q] * kernel[q];
        out[x] = sum;
    }
}

/* Outputs i0 to i1, piece by piece of the kernel. Where a piece hangs over an end of the signal, the sums are bounded.
 */
static void FN(tile)(const fl_convolve1d_args *c, int64_t i0, int64_t i1)
{
    const int64_t from = i0 + c->origin, to = i1 + c->origin, end = FN(end_tap)(c, i1), size = c->signal.shape[0];
    const real *kernel = c->kernel.data;
    real *out = (real *)c->out.data + i0;
    bool first = true;

    for (int64_t p = FN(first_tap)(c, i0), next; p < end; p = next) {
        next = min64(p + (int64_t)(PIECE_BYTES / sizeof(real)), end);
        if (from - next + 1 >= 0 && to - 1 - p < size) {
            FN(sum_piece)(first, (const real *)c->signal.data + (from - p), kernel + p, next - p, out, i1 - i0);
        } else {
            if (first)
                memset(out, 0, (size_t)(i1 - i0) * sizeof *out);
            FN(add_within)(c, i0, i1, p, next);
        }
        first = false;
    }
}

static fl_status FN(tiled)(const fl_context *context, const fl_convolve1d_args *c, const fl_launch *launch)
{
    const int64_t tiles = launch->grid[0], width = launch->block[0], n = c->out.shape[0];

    (void)context;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t t = 0; t < tiles; t++)
        FN(tile)(c, t * width, min64((t + 1) * width, n));
    return FL_OK;
}

/* --------------------------------------------------------------------------------------------- reference ---- */

#ifdef CPU_REFERENCE
/* The oracle: the definition, summed in a wider type. */
static fl_status FN(reference)(const fl_context *context, const fl_convolve1d_args *c, const fl_launch *launch)
{
    const real *signal = c->signal.data, *kernel = c->kernel.data;
    real *out = c->out.data;

    (void)context, (void)launch;
    for (int64_t i = 0; i < c->out.shape[0]; i++) {
        const int64_t end = FN(end_tap)(c, i + 1);
        wide sum = 0;
        for (int64_t p = FN(first_tap)(c, i); p < end; p++)
            sum += (wide)signal[i + c->origin - p] * kernel[p];
        out[i] = (real)sum;
    }
    return FL_OK;
}
#endif
