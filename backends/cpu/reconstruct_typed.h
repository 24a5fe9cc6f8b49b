/* SPDX-License-Identifier: MIT
 *
 * reconstruct_typed.h - the loops of reconstruct.c for one type. Included once for each, with
 *     real     the type: float, double
 *     wide     the type that `reference` sums in: double, long double
 *     FN(name) the name of a function for that type: name_f32_v3
 *
 * `c` is always what to compute; n counts the batch, i and j rows and columns of the result, p the terms of a sum:
 * y[n, i, j] = sum over p of u[n, i, p] * s[n, p] * vt[n, p, j]. All multiply s into u first, as the formula has it
 * from left to right: where a product overflows, it does so in all of them.
 */

static inline const real *FN(u_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    return (const real *)c->u.data + n * c->u.stride[0] + i * c->u.stride[1];
}

static inline const real *FN(s_of)(const fl_reconstruct_args *c, int64_t n)
{
    return (const real *)c->s.data + n * c->s.stride[0];
}

static inline const real *FN(vt_row)(const fl_reconstruct_args *c, int64_t n, int64_t p)
{
    return (const real *)c->vt.data + n * c->vt.stride[0] + p * c->vt.stride[1];
}

static inline real *FN(y_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    return (real *)c->y.data + n * c->y.stride[0] + i * c->y.stride[1];
}

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* The textbook's loops for one row. The one over columns is innermost: its loads and stores are of neighbours, and its
 * sums do not wait for each other. */
KERNEL void FN(naive_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    const real *u = FN(u_row)(c, n, i), *s = FN(s_of)(c, n);
    real *restrict y = FN(y_row)(c, n, i);

    for (int64_t j = 0; j < columns_of(c); j++)
        y[j] = 0;
    for (int64_t p = 0; p < c->rank; p++) {
        const real *restrict vt = FN(vt_row)(c, n, p);
        const real us = u[p] * s[p];
#pragma omp simd
        for (int64_t j = 0; j < columns_of(c); j++)
            y[j] += us * vt[j];
    }
}

static fl_status FN(naive)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    (void)context, (void)launch;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows_of(c); i++)
            FN(naive_row)(c, n, i);
    return FL_OK;
}

/* ----------------------------------------------------------------------------------------------- library ---- */

static void FN(scale_row)(const fl_reconstruct_args *c, int64_t n, int64_t i, real *restrict to)
{
    const real *restrict u = FN(u_row)(c, n, i), *restrict s = FN(s_of)(c, n);

#pragma omp simd
    for (int64_t p = 0; p < c->rank; p++)
        to[p] = u[p] * s[p];
}

static fl_status FN(library)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    const int64_t rows = rows_of(c), rank = c->rank;
    blas_product product = {.dtype = c->y.dtype,
                            .m = rows,
                            .n = columns_of(c),
                            .k = rank,
                            .alpha = 1,
                            .b = c->vt.data,
                            .c = c->y.data,
                            .a_stride = rank,
                            .b_stride = max64(c->vt.stride[1], columns_of(c)), /* of a single row it may be anything */
                            .c_stride = max64(c->y.stride[1], columns_of(c)),
                            .batch = batch_of(c),
                            .a_step = rows * rank,
                            .b_step = c->vt.stride[0],
                            .c_step = c->y.stride[0]};
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)(batch_of(c) * rows * rank) * sizeof(real), &memory);

    if (status != FL_OK)
        return status;
    product.a = memory;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, (double)(rows * rank)))
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows; i++)
            FN(scale_row)(c, n, i, (real *)memory + (n * rows + i) * rank);
    return cpu_blas_multiply(context->host, cpu_team(context, launch->flops), &product);
}

/* --------------------------------------------------------------------------------------------- reference ---- */

#ifdef CPU_REFERENCE
/* Strips of a row, so that vt is read along its rows too; the sums are the definition's, term by term. */
static fl_status FN(reference)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    (void)context, (void)launch;
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows_of(c); i++)
            for (int64_t j = 0; j < columns_of(c); j += STRIP) {
                const int64_t width = min64(STRIP, columns_of(c) - j);
                wide sum[STRIP] = {0};
                for (int64_t p = 0; p < c->rank; p++)
                    for (int64_t x = 0; x < width; x++)
                        sum[x] += (wide)FN(u_row)(c, n, i)[p] * FN(s_of)(c, n)[p] * FN(vt_row)(c, n, p)[j + x];
                for (int64_t x = 0; x < width; x++)
                    FN(y_row)(c, n, i)[j + x] = (real)sum[x];
            }
    return FL_OK;
}
#endif
