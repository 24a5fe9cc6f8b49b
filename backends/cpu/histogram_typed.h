/* SPDX-License-Identifier: MIT
 *
 * histogram_typed.h - the loops of histogram.c over elements of one dtype. Included once for each, with
 *     T        the element's type
 *     FN(name) the name of a function for it: naive_f32_v3
 */

static void FN(naive)(const histogram_rule *r, const void *in, int64_t length, int64_t *out)
{
    const T *x = in;

    for (int64_t i = 0; i < length; i++) {
        const int64_t bin = CPU_NAME(bin_of)(r, (double)x[i]);
        if (bin >= 0)
            out[bin]++;
    }
}

/* at[i] = the bin of in[first + i], or the number of bins if it is not counted. Where the nearest edge decides the loop
 * has no branches: random ones would be mispredicted, and vectors can be made of it. */
static void FN(places)(const histogram_rule *r, const void *in, int64_t first, int64_t length, int32_t *restrict at)
{
    const T *restrict x = (const T *)in + first;
    const double lo = r->lo, hi = r->hi, width = r->width, scale = r->scale, shift = r->shift;
    const bool clip = r->clip;
    const int32_t none = (int32_t)r->bins, last = none - 1;

    if (!r->nearest) {
        for (int64_t i = 0; i < length; i++) {
            const int64_t bin = CPU_NAME(bin_of)(r, (double)x[i]);
            at[i] = bin < 0 ? none : (int32_t)bin;
        }
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < length; i++) {
        const double v = (double)x[i];
        double inside = v > lo ? v : lo; /* NaN: lo */
        inside = inside > hi ? hi : inside;
        const double edge = ((inside - lo + shift) * scale + HISTOGRAM_ROUNDER) - HISTOGRAM_ROUNDER;
        const int32_t bin = (int32_t)edge - (inside < lo + edge * width);
        at[i] = v != (clip ? v : inside) ? none : bin < last ? bin : last;
    }
}
