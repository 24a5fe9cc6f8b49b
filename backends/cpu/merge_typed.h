/* SPDX-License-Identifier: MIT
 *
 * merge_typed.h - the order of a dtype's elements, and merging by it, for sort.c and merge.c. Included once for each
 * dtype (sorted_dtypes.h).
 */

/* NaN, which `<=` finds neither below nor above anything, is more than any number. */
static inline bool FN(less)(element a, element b)
{
    return !(b <= a) & !IS_NAN(a);
}

/* Two sorted runs that are being merged, up to their ends; a's elements come before equal ones of b. */
typedef struct FN(runs) {
    const element *a, *a_end, *b, *b_end;
    element *out;
} FN(runs);

/* The processor cannot foresee from which run the next element comes: a branch would be wrong every other time. Without
 * one, the bits of both elements are combined, and the pointers advance by 0 or 1. */
static inline void FN(merge_next)(FN(runs) * r)
{
    const element a = *r->a, b = *r->b;
    const bits second = FN(less)(b, a);
    bits of_a, of_b;

    memcpy(&of_a, &a, sizeof a);
    memcpy(&of_b, &b, sizeof b);
    of_a ^= (of_a ^ of_b) & ((bits)0 - second);
    memcpy(r->out++, &of_a, sizeof of_a);
    r->a += 1 - second;
    r->b += second;
}

/* Copies what is from `first` up to `end`, which are NULL where an array has no elements, and returns out's next one.
 */
static inline element *FN(append)(element *out, const element *first, const element *end)
{
    if (first < end)
        memcpy(out, first, (size_t)(end - first) * sizeof(element));
    return out + (end - first);
}

static inline void FN(merge_rest)(FN(runs) r)
{
    while (r.a < r.a_end && r.b < r.b_end)
        FN(merge_next)(&r);
    FN(append)(FN(append)(r.out, r.a, r.a_end), r.b, r.b_end);
}

/* How many of x's elements are among the first `count` of x and y merged (Odeh, Green, Mwassi, Shmueli and Birk, "Merge
 * path - parallel merging made simple", IPDPS workshops 2012). */
static inline int64_t FN(path)(const element *x, int64_t nx, const element *y, int64_t ny, int64_t count)
{
    int64_t low = max64(0, count - ny), high = min64(count, nx);

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (FN(less)(y[count - 1 - middle], x[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The elements `start` to `end`, excluded, of x and y merged. Inputs that are not in order give parts that do not fit
 * to each other: no part is longer than its output. */
static inline FN(runs)
    FN(part)(const element *x, int64_t nx, const element *y, int64_t ny, int64_t start, int64_t end, element *out)
{
    const int64_t i = FN(path)(x, nx, y, ny, start), next = FN(path)(x, nx, y, ny, end);
    const int64_t of_x = max64(0, min64(next - i, end - start));
    const element *a = x + i, *b = y + (start - i);

    return (FN(runs)){a, a + of_x, b, b + (end - start - of_x), out + start};
}

/* Merges the sorted x and y; x's elements come before equal ones of y. Four parts in turns, unless there are few
 * elements: each element waits for the one before it in its part, and not for the others. */
static void FN(merge_runs)(const element *restrict x, int64_t nx, const element *restrict y, int64_t ny,
                           element *restrict out)
{
    enum { PARTS = 4, FEW = 64 };
    const int64_t n = nx + ny;
    FN(runs) part[PARTS];
    int64_t safe; /* steps that no part's run is too short for */

    if (n <= FEW) {
        FN(merge_rest)((FN(runs)){x, x + nx, y, y + ny, out});
        return;
    }
    for (int p = 0; p < PARTS; p++)
        part[p] = FN(part)(x, nx, y, ny, n * p / PARTS, n * (p + 1) / PARTS, out);
    do {
        safe = n;
        for (int p = 0; p < PARTS; p++)
            safe = min64(safe, min64(part[p].a_end - part[p].a, part[p].b_end - part[p].b));
        for (int64_t step = 0; step < safe; step++)
#pragma GCC unroll 4
            for (int p = 0; p < PARTS; p++)
                FN(merge_next)(&part[p]);
    } while (safe > 0);
    for (int p = 0; p < PARTS; p++)
        FN(merge_rest)(part[p]);
}
