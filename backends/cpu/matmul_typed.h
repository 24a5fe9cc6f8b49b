/* SPDX-License-Identifier: MIT
 *
 * matmul_typed.h - the loops of matmul.c for one type. Included once for each, with
 *     real     the type: float, double, uint32_t, uint64_t (integers wrap)
 *     FN(name) the name of a function for that type: name_f32_v3
 *     wide     the type that `reference` sums in, not defined for integers: double, long double
 *
 * `m` is always what to compute; n counts the batch, i and j rows and columns of the result, p the terms of a sum.
 */

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* The textbook's inner loop, for one row of the result: row by column, with one sum. */
KERNEL void FN(naive_row)(const matrix_product *m, int64_t n, int64_t i)
{
    const real *a = (const real *)m->a + n * m->a_step + i * m->a_row;
    const real *b = (const real *)m->b + n * m->b_step;
    real *c = (real *)m->c + n * m->c_step + i * m->c_row;

    for (int64_t j = 0; j < m->columns; j++) {
        real sum = 0;
        for (int64_t p = 0; p < m->terms; p++)
            sum += a[p * m->a_term] * b[p * m->b_term + j * m->b_column];
        c[j] = sum;
    }
}

static fl_status FN(naive)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    (void)context, (void)launch;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t n = 0; n < m->batch; n++)
        for (int64_t i = 0; i < m->rows; i++)
            FN(naive_row)(m, n, i);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* Rows p0 to p0 + SQUARE of the n-th b, which is stored transposed, as a matrix of their own in `to`: square by square,
 * so that what is loaded stays in the first cache until all of it was used. */
KERNEL void FN(turn_rows)(const matrix_product *m, int64_t n, int64_t p0, real *restrict to)
{
    const real *b = (const real *)m->b + n * m->b_step;
    const int64_t p1 = min64(p0 + SQUARE, m->terms);

    for (int64_t j0 = 0; j0 < m->columns; j0 += SQUARE)
        for (int64_t p = p0; p < p1; p++)
            for (int64_t j = j0; j < min64(j0 + SQUARE, m->columns); j++)
                to[p * m->columns + j] = b[p * m->b_term + j * m->b_column];
}

/* `m` with a copy of b that is not transposed, if b is; a b that stands for the whole batch is copied once. */
static fl_status FN(tiled)(const fl_context *context, matrix_product *m, const fl_launch *launch)
{
    const int64_t count = count_of_b(m), one = m->terms * m->columns;
    void *turned;
    fl_status status;

    if (m->b_column == 1)
        return CPU_NAME(product_tiled)(context, m, launch);
    status = context->host->scratch(context, (size_t)(count * one) * sizeof(real), &turned);
    if (status != FL_OK)
        return status;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, (double)(count * one)))
    for (int64_t n = 0; n < count; n++)
        for (int64_t p = 0; p < m->terms; p += SQUARE)
            FN(turn_rows)(m, n, p, (real *)turned + n * one);
    m->b = turned;
    m->b_step = count > 1 ? one : 0;
    m->b_term = m->columns;
    m->b_column = 1;
    return CPU_NAME(product_tiled)(context, m, launch);
}

/* --------------------------------------------------------------------------------------------- reference ---- */

#ifdef wide
/* Strips of a row, so that b is read along its rows too; the sums are the definition's, term by term. */
static fl_status FN(reference)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    (void)context, (void)launch;
    for (int64_t n = 0; n < m->batch; n++)
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->columns; j += STRIP) {
                const real *a = (const real *)m->a + n * m->a_step + i * m->a_row;
                const real *b = (const real *)m->b + n * m->b_step + j * m->b_column;
                real *c = (real *)m->c + n * m->c_step + i * m->c_row + j;
                const int64_t width = min64(STRIP, m->columns - j);
                wide sum[STRIP] = {0};
                for (int64_t p = 0; p < m->terms; p++)
                    for (int64_t x = 0; x < width; x++)
                        sum[x] += (wide)a[p * m->a_term] * (wide)b[p * m->b_term + x * m->b_column];
                for (int64_t x = 0; x < width; x++)
                    c[x] = (real)sum[x];
            }
    return FL_OK;
}
#endif
