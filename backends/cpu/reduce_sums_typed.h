/* SPDX-License-Identifier: MIT
 *
 * reduce_sums_typed.h - sums of elements, or of products, for reduce_loops.c. Included once for each pair of types,
 * with
 *     T        the type of an element
 *     R        the type of a sum; of integers an unsigned one, which wraps
 *     W        a type that holds the sum of RUN products exactly, or is R
 *     FN(name) the name of a function for them: sum_f32_f64_v3
 */
#define LANES (CPU_LINE / (int)sizeof(T))
#define RUN (RUN_ROWS * LANES)

/* all[c] += the eight elements, or products, of column c, in pairs. */
ALWAYS_INLINE void FN(add_group)(const T *x, const T *y, int64_t stride, int columns, W *restrict all)
{
#define VALUE(row) ((W)x[(row)*stride + c])
#define PRODUCT(row) (VALUE(row) * (W)y[(row)*stride + c])
#define EIGHT(of) (((of(0) + of(1)) + (of(2) + of(3))) + ((of(4) + of(5)) + (of(6) + of(7))))
    if (y) {
#pragma omp simd
        for (int c = 0; c < columns; c++)
            all[c] += EIGHT(PRODUCT);
    } else {
#pragma omp simd
        for (int c = 0; c < columns; c++)
            all[c] += EIGHT(VALUE);
    }
#undef EIGHT
}

ALWAYS_INLINE void FN(add_row)(const T *x, const T *y, int columns, W *restrict all)
{
    const int64_t stride = 0;

    if (y) {
#pragma omp simd
        for (int c = 0; c < columns; c++)
            all[c] += PRODUCT(0);
    } else {
#pragma omp simd
        for (int c = 0; c < columns; c++)
            all[c] += VALUE(0);
    }
}

/* sum[c] = the sum of at most BLOCK_ROWS rows. */
KERNEL void FN(sum_block)(const T *x, const T *y, int64_t stride, int rows, int columns, R *restrict sum)
{
    W all[COLUMNS];
    int row = 0;

    memset(all, 0, (size_t)columns * sizeof *all);
    for (; row + GROUP_ROWS <= rows; row += GROUP_ROWS)
        FN(add_group)(x + row * stride, y ? y + row * stride : NULL, stride, columns, all);
    for (; row < rows; row++)
        FN(add_row)(x + row * stride, y ? y + row * stride : NULL, columns, all);
#pragma omp simd
    for (int c = 0; c < columns; c++)
        sum[c] = (R)all[c];
}

KERNEL void FN(sum_rows)(const T *x, const T *y, int64_t stride, int64_t rows, int columns, R *sum)
{
    const int64_t half = first_half(rows, BLOCK_ROWS);
    R rest[COLUMNS];

    if (rows <= BLOCK_ROWS) {
        FN(sum_block)(x, y, stride, (int)rows, columns, sum);
        return;
    }
    FN(sum_rows)(x, y, stride, half, columns, sum);
    FN(sum_rows)(x + half * stride, y ? y + half * stride : NULL, stride, rows - half, columns, rest);
#pragma omp simd
    for (int c = 0; c < columns; c++)
        sum[c] += rest[c];
}

/* The sum of at most RUN elements that follow each other: LANES sums side by side, which are then added in pairs. */
KERNEL R FN(sum_lanes)(const T *x, const T *y, int count)
{
    W all[LANES] = {0}, rest = 0;
    int i = 0;

    for (; i + GROUP_ROWS * LANES <= count; i += GROUP_ROWS * LANES)
        FN(add_group)(x + i, y ? y + i : NULL, LANES, LANES, all);
    for (; i + LANES <= count; i += LANES)
        FN(add_row)(x + i, y ? y + i : NULL, LANES, all);
    for (; i < count; i++)
        rest += y ? (W)x[i] * (W)y[i] : (W)x[i];
#define FOLD(half) \
    for (int c = 0; c < (half); c++) \
        all[c] += all[c + (half)];
    IN_HALVES(FOLD)
#undef FOLD
    return (R)(all[0] + rest);
}

KERNEL R FN(sum_halves)(const T *x, const T *y, int64_t length);

ALWAYS_INLINE R FN(sum_run)(const T *x, const T *y, int64_t length)
{
    return length <= RUN ? FN(sum_lanes)(x, y, (int)length) : FN(sum_halves)(x, y, length);
}

KERNEL R FN(sum_halves)(const T *x, const T *y, int64_t length)
{
    const int64_t half = first_half(length, RUN);

    return FN(sum_run)(x, y, half) + FN(sum_run)(x + half, y ? y + half : NULL, length - half);
}

static void FN(sum)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, columns_state *s)
{
    if (stride == 1)
        *(R *)s->value = FN(sum_run)(x, y, rows);
    else
        FN(sum_rows)(x, y, stride, rows, columns, (R *)s->value);
}

static void FN(add)(columns_state *s, const columns_state *other, int from, int columns)
{
    R *sum = (R *)s->value;
    const R *rest = (const R *)other->value + from;

#pragma omp simd
    for (int c = 0; c < columns; c++)
        sum[c] += rest[c];
}

static void FN(store)(const columns_state *s, int columns, void *out, int64_t at)
{
    memcpy((R *)out + at, s->value, (size_t)columns * sizeof(R));
}

/* One accumulator. */
ALWAYS_INLINE R FN(sum_in_order)(const T *x, const T *y, int64_t stride, int64_t length)
{
    R sum = 0;

    if (y)
        for (int64_t i = 0; i < length; i++)
            sum += (R)x[i * stride] * (R)y[i * stride];
    else
        for (int64_t i = 0; i < length; i++)
            sum += (R)x[i * stride];
    return sum;
}

static void FN(naive)(const void *x, const void *y, int64_t stride, int64_t length, columns_state *s)
{
    *(R *)s->value = FN(sum_in_order)(x, y, stride, length);
}

static void FN(slices)(const void *elements, const void *others, int64_t length, int64_t count, void *out)
{
    const T *x = elements, *y = others;
    R *sum = out;

    for (int64_t i = 0; i < count; i++, x += length, y = y ? y + length : NULL)
        sum[i] = length <= FEW ? FN(sum_in_order)(x, y, 1, length) : FN(sum_run)(x, y, length);
}
#undef VALUE
#undef PRODUCT

static const reduce_engine FN(sums) = {FN(sum), FN(add), FN(store), FN(naive), FN(slices), false};

#undef T
#undef R
#undef W
#undef LANES
#undef RUN
#undef FN
