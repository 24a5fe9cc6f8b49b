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

/* at[i] = the bin of in[first + i], or the number of bins if it is not counted. The loop for edges that decide by the
 * nearest one has no branches, so that vectors can be made of it: what is not counted takes the place of lo. */
static void FN(places)(const histogram_rule *r, const void *in, int64_t first, int64_t length, int32_t *restrict at)
{
    const T *restrict x = (const T *)in + first;
    const double lo = r->lo, hi = r->hi, width = r->width, scale = r->scale, shift = r->shift;
    const double least = r->clip ? lo : (double)-INFINITY, most = r->clip ? hi : (double)INFINITY;
    const double last = (double)(r->bins - 1);
    const int32_t none = (int32_t)r->bins;

    if (!r->nearest) {
        for (int64_t i = 0; i < length; i++) {
            const int64_t bin = CPU_NAME(bin_of)(r, (double)x[i]);
            at[i] = bin < 0 ? none : (int32_t)bin;
        }
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < length; i++) {
        double v = (double)x[i];
        v = v < least ? least : v;
        v = v > most ? most : v;
        const bool counts = v >= lo && v <= hi;
        v = counts ? v : lo;
        double bin = ((v - lo + shift) * scale + HISTOGRAM_ROUNDER) - HISTOGRAM_ROUNDER;
        bin -= v < lo + bin * width ? 1.0 : 0.0;
        bin = bin < last ? bin : last;
        at[i] = counts ? (int32_t)bin : none;
    }
}
