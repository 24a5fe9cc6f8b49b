/* SPDX-License-Identifier: MIT
 *
 * merge_typed.h - the order of a dtype's elements, and merging by it, for sort.c and merge.c. Included once for each
 * dtype, with
 *     element       the type: float, double, int32_t, int64_t
 *     IS_NAN(value) whether it is one
 *     FN(name)      the name of a function for that type: merge_f32_v3
 */

/* NaN, which `<` finds less than nothing and nothing less than it, is more than any number. */
static inline bool FN(less)(element a, element b)
{
    return a < b || (IS_NAN(b) && !IS_NAN(a));
}

/* Merges the sorted x and y; x's elements come before equal ones of y. The processor cannot foresee which of the two
 * comes next: both are read, and no branch depends on them. */
static void FN(merge_runs)(const element *restrict x, int64_t nx, const element *restrict y, int64_t ny,
                           element *restrict out)
{
    int64_t i = 0, j = 0;

    while (i < nx && j < ny) {
        const element a = x[i], b = y[j];
        const bool second = FN(less)(b, a);
        out[i + j] = second ? b : a;
        i += !second;
        j += second;
    }
    memcpy(out + i + j, x + i, (size_t)(nx - i) * sizeof(element));
    memcpy(out + nx + j, y + j, (size_t)(ny - j) * sizeof(element));
}
