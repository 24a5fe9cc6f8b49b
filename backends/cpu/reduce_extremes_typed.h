/* SPDX-License-Identifier: MIT
 *
 * reduce_extremes_typed.h - the least or the largest of each column, and its place, for reduce_loops.c. Included once
 * for each type, with
 *     T             the type
 *     I             a signed integer as wide as T, so that vectors of both have as many lanes
 *     IS_NAN(value) whether it is one
 *     FN(name)      the name of a function for that type: max_rows_f32_v3
 */
#define LANES (CPU_LINE / (int)sizeof(T))
#define RUN (RUN_ROWS * LANES)

/* Is b above `a` (most) or below it? */
ALWAYS_INLINE bool FN(is_past)(T b, T a, bool most)
{
    return most ? b > a : b < a;
}

/* Is it, or one of them NaN? */
ALWAYS_INLINE bool FN(is_past_or_nan)(T b, T a, bool most)
{
    return most ? !(b <= a) : !(b >= a);
}

/* Returns whether b, which comes later, takes the place of `a`: NaN does, and stays. */
ALWAYS_INLINE bool FN(beats)(T b, T a, bool most)
{
    return FN(is_past_or_nan)(b, a, most) & !IS_NAN(a);
}

/* Returns the more extreme of two elements, in one instruction; `a` if one of them is NaN. */
ALWAYS_INLINE T FN(past)(T b, T a, bool most)
{
    return FN(is_past)(b, a, most) ? b : a;
}

/* Returns the more extreme of two elements, NaN if one of them is. Written as two choices: gcc makes no vectors of
 * a choice of floats with two conditions. */
ALWAYS_INLINE T FN(better)(T b, T a, bool most)
{
    const T past = FN(past)(b, a, most);

    return IS_NAN(b) ? b : past;
}

/* ------------------------------------------------------------------------- of elements that follow each other ---- */

/* The extreme of a row of LANES elements that are not NaN, and whether there is NaN: that is cheaper than an extreme
 * that becomes NaN. */
ALWAYS_INLINE void FN(of_row)(const T *x, bool most, T *restrict best, I *restrict nan)
{
#pragma omp simd
    for (int c = 0; c < LANES; c++) {
        best[c] = FN(past)(x[c], best[c], most);
        nan[c] |= ARE_NAN(x[c], x[c]) ? (I)-1 : (I)0;
    }
}

/* As of_row, for GROUP_ROWS rows. One comparison finds NaN in two elements. */
ALWAYS_INLINE void FN(of_group)(const T *x, bool most, T *restrict best, I *restrict nan)
{
#define VALUE(row) x[(row)*LANES + c]
#define PAST(a, b) FN(past)(b, a, most)
#define FOUR(row) PAST(PAST(VALUE(row), VALUE(row + 1)), PAST(VALUE(row + 2), VALUE(row + 3)))
#define NAN_OF(row) (ARE_NAN(VALUE(row), VALUE(row + 1)) ? (I)-1 : (I)0)
    for (int k = 0; k < GROUP_ROWS; k++)
        __builtin_prefetch((const char *)(x + k * LANES) + AHEAD);
#pragma omp simd
    for (int c = 0; c < LANES; c++) {
        best[c] = PAST(best[c], PAST(FOUR(0), FOUR(4)));
        nan[c] |= (NAN_OF(0) | NAN_OF(2)) | (NAN_OF(4) | NAN_OF(6));
    }
#undef VALUE
#undef PAST
#undef FOUR
#undef NAN_OF
}

/* The extreme of LANES to RUN elements, and whether one of them is NaN. */
ALWAYS_INLINE T FN(of_lanes)(const T *x, int count, bool most, bool *has_nan)
{
    T best[LANES];
    I nan[LANES] = {0};
    int i = 0;

    memcpy(best, x, sizeof best);
    for (; i + GROUP_ROWS * LANES <= count; i += GROUP_ROWS * LANES)
        FN(of_group)(x + i, most, best, nan);
    for (; i + LANES <= count; i += LANES)
        FN(of_row)(x + i, most, best, nan);
    FN(of_row)(x + count - LANES, most, best, nan); /* some of them once more */
#define FOLD(half) \
    for (int c = 0; c < (half); c++) { \
        best[c] = FN(past)(best[c + (half)], best[c], most); \
        nan[c] |= nan[c + (half)]; \
    }
    IN_HALVES(FOLD)
#undef FOLD
    *has_nan = nan[0] != 0;
    return best[0];
}

ALWAYS_INLINE T FN(of_few)(const T *x, int64_t count, bool most, bool *has_nan)
{
    T best = x[0];
    int nan = 0;

    for (int64_t i = 0; i < count; i++) {
        best = FN(past)(x[i], best, most);
        nan |= IS_NAN(x[i]);
    }
    *has_nan = nan != 0;
    return best;
}

/* The first element that is equal to that value, which one is. The last ones are read with some of those before. */
ALWAYS_INLINE int64_t FN(find)(const T *x, int64_t count, T value)
{
    const int lanes = SOUGHT;
    int64_t i = 0;
    I any = 0, first = (I)lanes;

    if (count < lanes) {
        while (x[i] != value)
            i++;
        return i;
    }
    for (;; i = min64(i + lanes, count - lanes)) {
#pragma omp simd reduction(| : any)
        for (int c = 0; c < lanes; c++)
            any |= x[i + c] == value ? (I)-1 : (I)0;
        if (any)
            break;
    }
#pragma omp simd reduction(min : first)
    for (int c = 0; c < lanes; c++) {
        const I at = x[i + c] == value ? (I)c : (I)lanes;
        first = at < first ? at : first;
    }
    return i + first;
}

ALWAYS_INLINE int64_t FN(find_nan)(const T *x)
{
    int64_t i = 0;

    while (!IS_NAN(x[i]))
        i++;
    return i;
}

ALWAYS_INLINE T FN(of_few_or_nan)(const T *x, int64_t count, bool most)
{
    bool has_nan;
    const T best = FN(of_few)(x, count, most, &has_nan);

    return has_nan ? x[FN(find_nan)(x)] : best;
}

/* One bit for each element, because which one it is cannot be predicted. */
ALWAYS_INLINE int64_t FN(place_of_few)(const T *x, int64_t count, bool most)
{
    bool has_nan;
    const T best = FN(of_few)(x, count, most, &has_nan);
    uint64_t equal = 0;

    if (has_nan)
        return FN(find_nan)(x);
    for (int64_t i = 0; i < count; i++)
        equal |= (uint64_t)(x[i] == best) << i;
    return __builtin_ctzll(equal);
}

/* The extreme, or the first NaN, and its place if asked for: an extreme is looked for in the block that has it. */
ALWAYS_INLINE T FN(of_run)(const T *x, int64_t length, bool most, int64_t *place)
{
    T best = x[0];
    int64_t block = 0;

    for (int64_t i = 0; i < length; i += RUN) {
        const int count = (int)min64(RUN, length - i);
        bool has_nan;
        const T value =
            count < LANES ? FN(of_few)(x + i, count, most, &has_nan) : FN(of_lanes)(x + i, count, most, &has_nan);
        if (has_nan) {
            block = i + FN(find_nan)(x + i);
            if (place)
                *place = block;
            return x[block];
        }
        block = FN(is_past)(value, best, most) ? i : block;
        best = FN(past)(value, best, most);
    }
    if (place)
        *place = block + FN(find)(x + block, min64(RUN, length - block), best);
    return best;
}

/* ------------------------------------------------------------------------------------------------ values ---- */

ALWAYS_INLINE void FN(values_of)(const T *x, int64_t stride, int64_t rows, int columns, bool most, T *restrict best)
{
    int64_t row = 1;

    memcpy(best, x, (size_t)columns * sizeof *best);
    for (; row + GROUP_ROWS <= rows; row += GROUP_ROWS) {
        const T *r = x + row * stride;
#pragma omp simd
        for (int c = 0; c < columns; c++) {
            T value = best[c];
#pragma GCC unroll 8
            for (int k = 0; k < GROUP_ROWS; k++)
                value = FN(better)(r[k * stride + c], value, most);
            best[c] = value;
        }
    }
    for (; row < rows; row++) {
        const T *r = x + row * stride;
#pragma omp simd
        for (int c = 0; c < columns; c++)
            best[c] = FN(better)(r[c], best[c], most);
    }
}

ALWAYS_INLINE void FN(choose)(columns_state *s, const columns_state *other, int from, int columns, bool most)
{
    T *best = (T *)s->value;
    const T *rest = (const T *)other->value + from;

#pragma omp simd
    for (int c = 0; c < columns; c++)
        best[c] = FN(better)(rest[c], best[c], most);
}

static void FN(store_value)(const columns_state *s, int columns, void *out, int64_t at)
{
    memcpy((T *)out + at, s->value, (size_t)columns * sizeof(T));
}

/* ------------------------------------------------------------------------------------------------ places ---- */

/* The places of a block's rows fit into I, whatever the type. */
ALWAYS_INLINE void FN(places_of_block)(const T *x, int64_t stride, int rows, int columns, bool most, T *restrict best,
                                       I *restrict place)
{
    int row = 1;

    memcpy(best, x, (size_t)columns * sizeof *best);
    memset(place, 0, (size_t)columns * sizeof *place);
    for (; row + GROUP_ROWS <= rows; row += GROUP_ROWS) {
        const T *r = x + row * stride;
#pragma omp simd
        for (int c = 0; c < columns; c++) {
            T value = best[c];
            I at = place[c];
#pragma GCC unroll 8
            for (int k = 0; k < GROUP_ROWS; k++) {
                const T next = r[k * stride + c];
                const I past = FN(is_past_or_nan)(next, value, most) ? (I)(row + k) : at;
                at = IS_NAN(value) ? at : past;
                value = FN(better)(next, value, most);
            }
            best[c] = value;
            place[c] = at;
        }
    }
    for (; row < rows; row++) {
        const T *r = x + row * stride;
#pragma omp simd
        for (int c = 0; c < columns; c++) {
            const I past = FN(is_past_or_nan)(r[c], best[c], most) ? (I)row : place[c];
            place[c] = IS_NAN(best[c]) ? place[c] : past;
            best[c] = FN(better)(r[c], best[c], most);
        }
    }
}

ALWAYS_INLINE void FN(places_of)(const T *x, int64_t stride, int64_t rows, int columns, bool most, columns_state *s)
{
    T *best = (T *)s->value, value[COLUMNS];
    I place[COLUMNS];

    for (int64_t row = 0; row < rows; row += BLOCK_ROWS) {
        FN(places_of_block)(x + row * stride, stride, (int)min64(BLOCK_ROWS, rows - row), columns, most, value, place);
        for (int c = 0; c < columns; c++) {
            const bool better = row == 0 || FN(beats)(value[c], best[c], most);
            best[c] = better ? value[c] : best[c];
            s->at[c] = better ? row + place[c] : s->at[c];
        }
    }
}

/* Keeps the better of two places; of equal elements, and of several NaN, the one with the lower index. */
ALWAYS_INLINE void FN(choose_place)(columns_state *s, const columns_state *other, int from, int columns, bool most)
{
    T *best = (T *)s->value;
    const T *rest = (const T *)other->value + from;
    const int64_t *rest_at = other->at + from;

    for (int c = 0; c < columns; c++) {
        const bool worse = FN(beats)(best[c], rest[c], most);
        const bool better = FN(beats)(rest[c], best[c], most) || (!worse && rest_at[c] < s->at[c]);
        best[c] = better ? rest[c] : best[c];
        s->at[c] = better ? rest_at[c] : s->at[c];
    }
}

/* ---------------------------------------------------------------------------------------- of each direction ---- */

ALWAYS_INLINE void FN(naive_of)(const T *x, int64_t stride, int64_t length, bool most, columns_state *s)
{
    T best = x[0];
    int64_t place = 0;

    for (int64_t i = 1; i < length; i++)
        if (FN(beats)(x[i * stride], best, most)) {
            best = x[i * stride];
            place = i;
        }
    *(T *)s->value = best;
    s->at[0] = place;
}

#define DIRECTION(name, most) \
    KERNEL T FN(name##_run)(const T *x, int64_t length, int64_t *place) \
    { \
        return FN(of_run)(x, length, most, place); \
    } \
    static void FN(name##_rows)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, \
                                columns_state *s) \
    { \
        (void)y; \
        if (stride == 1) \
            *(T *)s->value = FN(name##_run)(x, rows, NULL); \
        else \
            FN(values_of)(x, stride, rows, columns, most, (T *)s->value); \
    } \
    static void FN(name##_choose)(columns_state * s, const columns_state *other, int from, int columns) \
    { \
        FN(choose)(s, other, from, columns, most); \
    } \
    static void FN(name##_naive)(const void *x, const void *y, int64_t stride, int64_t length, columns_state *s) \
    { \
        (void)y; \
        FN(naive_of)(x, stride, length, most, s); \
    } \
    static void FN(name##_slices)(const void *x, const void *y, int64_t length, int64_t count, void *out) \
    { \
        (void)y; \
        for (int64_t i = 0; i < count; i++) { \
            const T *slice = (const T *)x + i * length; \
            ((T *)out)[i] = \
                length <= FEW ? FN(of_few_or_nan)(slice, length, most) : FN(name##_run)(slice, length, NULL); \
        } \
    } \
    static void FN(arg##name##_rows)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, \
                                     columns_state *s) \
    { \
        (void)y; \
        if (stride == 1) \
            *(T *)s->value = FN(name##_run)(x, rows, s->at); \
        else \
            FN(places_of)(x, stride, rows, columns, most, s); \
    } \
    static void FN(arg##name##_choose)(columns_state * s, const columns_state *other, int from, int columns) \
    { \
        FN(choose_place)(s, other, from, columns, most); \
    } \
    static void FN(arg##name##_slices)(const void *x, const void *y, int64_t length, int64_t count, void *out) \
    { \
        (void)y; \
        for (int64_t i = 0; i < count; i++) { \
            const T *slice = (const T *)x + i * length; \
            int64_t *place = (int64_t *)out + i; \
            if (length <= FEW) \
                *place = FN(place_of_few)(slice, length, most); \
            else \
                FN(name##_run)(slice, length, place); \
        } \
    } \
    static const reduce_engine FN(name) = {FN(name##_rows),  FN(name##_choose), FN(store_value), \
                                           FN(name##_naive), FN(name##_slices), false}; \
    static const reduce_engine FN(arg##name) = {FN(arg##name##_rows), FN(arg##name##_choose), CPU_NAME(store_place), \
                                                FN(name##_naive),     FN(arg##name##_slices), true};
DIRECTION(min, false)
DIRECTION(max, true)
#undef DIRECTION

#undef T
#undef I
#undef LANES
#undef RUN
#undef FN
