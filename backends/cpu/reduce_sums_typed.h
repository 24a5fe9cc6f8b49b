/* SPDX-License-Identifier: MIT
 *
 * reduce_sums_typed.h - sums of elements, or of products, for reduce.c. Included once for each pair of types, with
 *     T        the type of an element
 *     R        the type of a sum; of integers an unsigned one, which wraps
 *     W        a type that holds the sum of BLOCK_ROWS products exactly, or is R
 *     FN(name) the name of a function for them: sum_f32_f64_v3
 */

/* all[c] += the eight elements, or products, of column c, in pairs. */
static inline void FN(add_group)(const T *x, const T *y, int64_t stride, int columns, W *restrict all)
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

static inline void FN(add_row)(const T *x, const T *y, int columns, W *restrict all)
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
static void FN(sum_block)(const T *x, const T *y, int64_t stride, int rows, int columns, R *restrict sum)
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

static void FN(sum_rows)(const T *x, const T *y, int64_t stride, int64_t rows, int columns, R *sum)
{
    const int64_t half = first_half(rows);
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

static void FN(sum)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, columns_state *s)
{
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
static void FN(naive)(const void *elements, const void *others, int64_t stride, int64_t length, columns_state *s)
{
    const T *x = elements, *y = others;
    R sum = 0;

    if (y)
        for (int64_t i = 0; i < length; i++)
            sum += (R)x[i * stride] * (R)y[i * stride];
    else
        for (int64_t i = 0; i < length; i++)
            sum += (R)x[i * stride];
    *(R *)s->value = sum;
}
#undef VALUE
#undef PRODUCT

static const engine FN(sums) = {FN(sum), FN(add), FN(store), FN(naive), false};

#undef T
#undef R
#undef W
#undef FN
