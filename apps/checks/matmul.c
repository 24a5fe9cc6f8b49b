/* SPDX-License-Identifier: MIT */
#include "matmul.h"
#include "reconstruct.h"

#include "run/reference.h"
#include "support/memory.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VECTORS = 2 };

/* Multiply-adds that rows computed again may cost. */
static const double ROWS_WORK = 0x1p28;

struct matmul_oracle {
    host_array copy[2]; /* copies of a and b that were transposed, converted or repeated; else empty */
    host_array a, b;    /* of one dtype, not transposed, each as often as the batch has matrices */
    int64_t batch, rows, columns, terms;
    reconstruct_oracle *floats; /* NULL: integers */
    uint64_t *x, *expected;     /* VECTORS x columns, and a (b x): batch x rows x VECTORS */
};

/* ------------------------------------------------------------------------------------------------ matrices ---- */

/* `given` in a dtype and without its transposition, `batch` times if it has one matrix, as `whole` matrices; a copy
 * where that differs from `given`. */
static host_array untangled(const host_array *given, bool transpose, int64_t batch, int ndim, fl_dtype dtype,
                            host_array *copy)
{
    const int64_t down = given->shape[given->ndim - 2], across = given->shape[given->ndim - 1];
    const int64_t many = given->ndim == 3 ? given->shape[0] : 1;
    const int64_t shape[] = {batch, transpose ? across : down, transpose ? down : across};
    const size_t width = fl_dtype_size(dtype);

    if (given->dtype == dtype && given->ndim == ndim && !transpose && many == batch)
        return *given;
    host_array plain = reference_convert(given, dtype), turned = reference_array(dtype, ndim, shape + 3 - ndim);
    for (int64_t n = 0; n < batch; n++)
        for (int64_t i = 0; i < shape[1]; i++)
            for (int64_t j = 0; j < shape[2]; j++) {
                const int64_t at = (transpose ? j * across + i : i * across + j) + (many > 1 ? n : 0) * down * across;
                char *to = (char *)turned.data + (size_t)((n * shape[1] + i) * shape[2] + j) * width;
                const char *from = (const char *)plain.data + (size_t)at * width;
                if (width == 4)
                    *(uint32_t *)to = *(const uint32_t *)from;
                else
                    *(uint64_t *)to = *(const uint64_t *)from;
            }
    host_array_free(&plain);
    return *copy = turned;
}

/* ------------------------------------------------------------------------------------------------ integers ---- */

/* An element modulo 2^64. */
static uint64_t integer_of(const host_array *array, int64_t at)
{
    return array->dtype == FL_I32 ? (uint64_t)((const int32_t *)array->data)[at]
                                  : (uint64_t)((const int64_t *)array->data)[at];
}

/* to[i, v] = the sum over j of rows[i, j] * x[v, j], where x's vectors lie `pitch` apart, or one of each row side by
 * side. */
static void times(const host_array *matrix, int64_t first, int64_t rows, int64_t columns, const uint64_t *x,
                  int64_t vector_step, int64_t element_step, uint64_t *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t v = 0; v < VECTORS; v++) {
            uint64_t sum = 0;
            for (int64_t j = 0; j < columns; j++)
                sum += integer_of(matrix, first + i * columns + j) * x[v * vector_step + j * element_step];
            to[i * VECTORS + v] = sum;
        }
}

static void expect_products(matmul_oracle *o, uint64_t seed)
{
    random_state random = random_start(seed);
    uint64_t *bx = memory_zeroed((size_t)(VECTORS * o->terms), sizeof *bx);

    o->x = memory_zeroed((size_t)(VECTORS * o->columns), sizeof *o->x);
    o->expected = memory_zeroed((size_t)(o->batch * o->rows * VECTORS), sizeof *o->expected);
    for (int64_t j = 0; j < VECTORS * o->columns; j++)
        o->x[j] = random_next(&random) | (j < o->columns ? 1 : 0);
    for (int64_t n = 0; n < o->batch; n++) {
        times(&o->b, n * o->terms * o->columns, o->terms, o->columns, o->x, o->columns, 1, bx);
        times(&o->a, n * o->rows * o->terms, o->rows, o->terms, bx, 1, VECTORS, o->expected + n * o->rows * VECTORS);
    }
    free(bx);
}

/* Every element of a row, as a double where both are the same one. */
static void compare_row(const matmul_oracle *o, const host_array *result, int64_t row, compare_result *found)
{
    const int64_t n = row / o->rows;

    for (int64_t j = 0; j < o->columns; j++) {
        uint64_t sum = 0;
        for (int64_t p = 0; p < o->terms; p++)
            sum += integer_of(&o->a, row * o->terms + p) * integer_of(&o->b, (n * o->terms + p) * o->columns + j);
        const int64_t wanted = result->dtype == FL_I32 ? (int32_t)(uint32_t)sum : (int64_t)sum;
        const bool right = (uint64_t)wanted == integer_of(result, row * o->columns + j);
        compare_add_exact(found, row * o->columns + j, right, host_array_get(result, row * o->columns + j),
                          (double)wanted);
    }
}

static bool row_is_right(const matmul_oracle *o, const host_array *result, int64_t row)
{
    const uint64_t mask = result->dtype == FL_I32 ? UINT32_MAX : UINT64_MAX;
    uint64_t got[VECTORS];
    bool right = true;

    times(result, row * o->columns, 1, o->columns, o->x, o->columns, 1, got);
    for (int v = 0; v < VECTORS; v++)
        right = right && ((got[v] - o->expected[row * VECTORS + v]) & mask) == 0;
    return right;
}

static compare_result compare_products(const matmul_oracle *o, const host_array *result)
{
    const double cost = (double)o->columns * (double)o->terms;
    compare_result found = compare_start();
    double work = 0;

    for (int64_t row = 0; row < o->batch * o->rows; row++) {
        const int64_t first = row * o->columns;
        if (o->columns > 0 && row_is_right(o, result, row)) {
            compare_add_equal(&found, first, host_array_get(result, first), o->columns);
        } else if (found.failed == 0 || (work += cost) <= ROWS_WORK) {
            compare_row(o, result, row, &found);
        } else { /* an element of it is wrong, at least */
            found.compared += o->columns;
            found.failed++;
        }
    }
    return found;
}

/* -------------------------------------------------------------------------------------------------- oracle ---- */

matmul_oracle *matmul_oracle_create(const host_array *a, bool transpose_a, const host_array *b, bool transpose_b,
                                    fl_dtype dtype, check_choice choice, uint64_t seed)
{
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    matmul_oracle *o = memory_zeroed(1, sizeof *o);

    o->batch = a->ndim == 3 && a->shape[0] != 1 ? a->shape[0] : b->ndim == 3 ? b->shape[0] : 1;
    o->a = untangled(a, transpose_a, o->batch, ndim, dtype, &o->copy[0]);
    o->b = untangled(b, transpose_b, o->batch, ndim, dtype, &o->copy[1]);
    o->rows = o->a.shape[ndim - 2];
    o->terms = o->a.shape[ndim - 1];
    o->columns = o->b.shape[ndim - 1];
    if (fl_dtype_is_float(dtype))
        o->floats = reconstruct_oracle_create(&o->a, NULL, &o->b, o->terms, choice, seed);
    else
        expect_products(o, seed);
    return o;
}

void matmul_oracle_free(matmul_oracle *o)
{
    if (!o)
        return;
    host_array_free(&o->copy[0]);
    host_array_free(&o->copy[1]);
    reconstruct_oracle_free(o->floats);
    free(o->x);
    free(o->expected);
    free(o);
}

compare_result matmul_oracle_check(matmul_oracle *o, const host_array *result, const char *variant, char *method,
                                   size_t size)
{
    if (o->floats)
        return reconstruct_oracle_check(o->floats, result, variant, method, size);
    snprintf(method, size, "products of %d random vectors, exactly", VECTORS);
    return compare_products(o, result);
}
