/* SPDX-License-Identifier: MIT
 *
 * allclose_typed.h - the loops of allclose.c for one type. Included once for each, with
 *     T         the type: float, double
 *     ABS       fabsf, fabs
 *     LARGEST   the largest finite number
 *     FN(name)  the name of a function for that type: name_f32_v3
 *
 * All is computed in T and rounded after each step, as NumPy does: the same numbers are close on every device.
 */

/* The definition: numpy.isclose. An infinity is close to itself alone, however wide the bound. */
static inline int FN(differs)(T a, T b, T relative, T absolute, int equal_nan)
{
    const T bound = absolute + relative * ABS(b);
    const int near = (ABS(a - b) <= bound) & (ABS(a) <= LARGEST) & (ABS(b) <= LARGEST), same = a == b,
              both_nan = (a != a) & (b != b) & equal_nan;

    return !(near | same | both_nan);
}

/* How often |a - b| exceeds the bound of an element that differs. */
static inline double FN(excess)(T a, T b, T relative, T absolute)
{
    const T bound = absolute + relative * ABS(b), difference = ABS(a - b);
    const double excess = (double)difference / (double)bound;

    return difference <= LARGEST && bound <= LARGEST && bound > 0 ? excess : (double)INFINITY;
}

static inline void FN(search_element)(T a, T b, int64_t index, const rule *r, findings *f)
{
    if (!FN(differs)(a, b, (T)r->relative, (T)r->absolute, r->equal_nan))
        return;
    f->differing++;
    add_worst(f, index, FN(excess)(a, b, (T)r->relative, (T)r->absolute));
}

KERNEL int64_t FN(count)(const T *a, const T *b, int64_t count, T relative, T absolute, int equal_nan)
{
    int differing = 0;

#pragma omp simd reduction(+ : differing)
    for (int64_t i = 0; i < count; i++)
        differing += FN(differs)(a[i], b[i], relative, absolute, equal_nan);
    return differing;
}

/* Adds what is found in `count` elements, the first of which has that index in row-major order. */
static void FN(search)(const T *a, const T *b, int64_t count, int64_t index, const rule *r, findings *f)
{
    if (FN(count)(a, b, count, (T)r->relative, (T)r->absolute, r->equal_nan) == 0)
        return;
    for (int64_t i = 0; i < count; i++)
        FN(search_element)(a[i], b[i], index + i, r, f);
}
