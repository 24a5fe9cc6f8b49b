/* SPDX-License-Identifier: MIT
 *
 * reduce_extremes_typed.h - the least or the largest of each column, and its place, for reduce.c. Included once for
 * each type, with
 *     T             the type
 *     I             a signed integer as wide as T, so that vectors of both have as many lanes
 *     IS_NAN(value) whether it is one
 *     FN(name)      the name of a function for that type: max_rows_f32_v3
 */

/* Is b above `a` (most) or below it, or one of them NaN? */
ALWAYS_INLINE bool FN(is_past)(T b, T a, bool most)
{
    return most ? !(b <= a) : !(b >= a);
}

/* Does b, which comes later, take the place of `a`? NaN does, and stays. */
ALWAYS_INLINE bool FN(beats)(T b, T a, bool most)
{
    return FN(is_past)(b, a, most) & !IS_NAN(a);
}

/* What stays of both. Two choices, of which gcc makes vectors: not of floats where a choice has two conditions. */
ALWAYS_INLINE T FN(better)(T b, T a, bool most)
{
    const T past = FN(is_past)(b, a, most) ? b : a;

    return IS_NAN(a) ? a : past;
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
                const I past = FN(is_past)(next, value, most) ? (I)(row + k) : at;
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
            const I past = FN(is_past)(r[c], best[c], most) ? (I)row : place[c];
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

/* Of equal elements, and of several NaN, that of the lower index. */
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
    static void FN(name##_rows)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, \
                                columns_state *s) \
    { \
        (void)y; \
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
    static void FN(arg##name##_rows)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, \
                                     columns_state *s) \
    { \
        (void)y; \
        FN(places_of)(x, stride, rows, columns, most, s); \
    } \
    static void FN(arg##name##_choose)(columns_state * s, const columns_state *other, int from, int columns) \
    { \
        FN(choose_place)(s, other, from, columns, most); \
    } \
    static const engine FN(name) = {FN(name##_rows), FN(name##_choose), FN(store_value), FN(name##_naive), false}; \
    static const engine FN(arg##name) = {FN(arg##name##_rows), FN(arg##name##_choose), CPU_NAME(store_place), \
                                         FN(name##_naive), true};
DIRECTION(min, false)
DIRECTION(max, true)
#undef DIRECTION

#undef T
#undef I
#undef FN
