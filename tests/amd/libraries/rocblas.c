/* SPDX-License-Identifier: MIT
 *
 * rocblas.c - a stand-in for rocBLAS (stand_in.h), which computes by a BLAS with Fortran's interface.
 */
#include "rocblas.h"

#include <stdlib.h>
#include <string.h>

void sgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb, const float *beta,
            float *c, const int *ldc);
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
            double *c, const int *ldc);

void dtrsm_(const char *side, const char *uplo, const char *transpose, const char *diag, const int *m, const int *n,
            const double *alpha, const double *a, const int *lda, double *b, const int *ldb);

/* rocblas_operation, rocblas_fill, rocblas_diagonal, rocblas_side */
enum { NONE = 111, TRANSPOSE = 112, UPPER = 121, LOWER = 122, NOT_UNIT = 131, UNIT = 132, LEFT = 141, RIGHT = 142 };

STAND_IN int rocblas_create_handle(rocblas_handle *handle)
{
    const struct stand_in_owner fresh = {0};
    int status = stand_in_call("rocblas_create_handle", "%s", "");

    if (status == SUCCESS) {
        *handle = stand_in_copy(&fresh, sizeof fresh);
        stand_in_alive(1);
    }
    return status;
}

/* Waits for the device, as the real one does. */
STAND_IN int rocblas_destroy_handle(rocblas_handle handle)
{
    int status = stand_in_call("rocblas_destroy_handle", "%s", "");

    if (!handle)
        return INVALID_HANDLE;
    (void)hipDeviceSynchronize();
    stand_in_alive(-1);
    free(handle);
    return status;
}

STAND_IN int rocblas_set_stream(rocblas_handle handle, hipStream_t stream)
{
    int status = stand_in_call("rocblas_set_stream", "%s", stream ? "stream" : "null");

    if (!handle)
        return INVALID_HANDLE;
    if (status == SUCCESS)
        handle->stream = stream;
    return status;
}

struct product {
    char transpose_a, transpose_b;
    int m, n, k, lda, ldb, ldc, batch;
    long long step_a, step_b, step_c;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t element;
};

static void multiply(void *data)
{
    struct product *p = data;
    const float alpha = (float)p->alpha, beta = (float)p->beta;

    for (int i = 0; i < p->batch; i++) {
        if (p->element == sizeof(float))
            sgemm_(&p->transpose_a, &p->transpose_b, &p->m, &p->n, &p->k, &alpha, (const float *)p->a + i * p->step_a,
                   &p->lda, (const float *)p->b + i * p->step_b, &p->ldb, &beta, (float *)p->c + i * p->step_c,
                   &p->ldc);
        else
            dgemm_(&p->transpose_a, &p->transpose_b, &p->m, &p->n, &p->k, &p->alpha,
                   (const double *)p->a + i * p->step_a, &p->lda, (const double *)p->b + i * p->step_b, &p->ldb,
                   &p->beta, (double *)p->c + i * p->step_c, &p->ldc);
    }
    free(p);
}

static int gemm(const char *function, rocblas_handle handle, int transpose_a, int transpose_b, struct product p)
{
    const int rows_a = transpose_a == NONE ? p.m : p.k, columns_a = transpose_a == NONE ? p.k : p.m;
    const int rows_b = transpose_b == NONE ? p.k : p.n, columns_b = transpose_b == NONE ? p.n : p.k;
    int status;

    p.transpose_a = transpose_a == TRANSPOSE ? 'T' : 'N';
    p.transpose_b = transpose_b == TRANSPOSE ? 'T' : 'N';
    status = stand_in_call(function,
                           "%c%c m=%d n=%d k=%d alpha=%g lda=%d step_a=%lld ldb=%d step_b=%lld beta=%g ldc=%d "
                           "step_c=%lld batch=%d",
                           p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.alpha, p.lda, p.step_a, p.ldb, p.step_b,
                           p.beta, p.ldc, p.step_c, p.batch);
    if (!handle)
        return INVALID_HANDLE;
    if ((transpose_a != NONE && transpose_a != TRANSPOSE) || (transpose_b != NONE && transpose_b != TRANSPOSE))
        return INVALID_VALUE;
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 || p.lda < rows_a || p.ldb < rows_b || p.ldc < p.m || p.lda < 1 ||
        p.ldb < 1 || p.ldc < 1)
        return INVALID_SIZE;
    if (status != SUCCESS)
        return status;
    stand_in_on_device("a", p.a, stand_in_extent(rows_a, columns_a, p.lda, p.step_a, p.batch, p.element));
    stand_in_on_device("b", p.b, stand_in_extent(rows_b, columns_b, p.ldb, p.step_b, p.batch, p.element));
    stand_in_on_device("c", p.c, stand_in_extent(p.m, p.n, p.ldc, p.step_c, p.batch, p.element));
    return stand_in_queue(handle, multiply, stand_in_copy(&p, sizeof p)) ? SUCCESS : INTERNAL_ERROR;
}

STAND_IN int rocblas_sgemm_strided_batched(rocblas_handle handle, int transpose_a, int transpose_b, int m, int n, int k,
                                           const float *alpha, const float *a, int lda, long long step_a,
                                           const float *b, int ldb, long long step_b, const float *beta, float *c,
                                           int ldc, long long step_c, int batch)
{
    const struct product p = {0,      0,      m,      n,      k,     lda, ldb, ldc, batch,
                              step_a, step_b, step_c, *alpha, *beta, a,   b,   c,   sizeof(float)};
    return gemm("rocblas_sgemm_strided_batched", handle, transpose_a, transpose_b, p);
}

STAND_IN int rocblas_dgemm_strided_batched(rocblas_handle handle, int transpose_a, int transpose_b, int m, int n, int k,
                                           const double *alpha, const double *a, int lda, long long step_a,
                                           const double *b, int ldb, long long step_b, const double *beta, double *c,
                                           int ldc, long long step_c, int batch)
{
    const struct product p = {0,      0,      m,      n,      k,     lda, ldb, ldc, batch,
                              step_a, step_b, step_c, *alpha, *beta, a,   b,   c,   sizeof(double)};
    return gemm("rocblas_dgemm_strided_batched", handle, transpose_a, transpose_b, p);
}

struct triangle {
    char side, uplo, transpose, diag;
    int m, n, lda, ldb;
    double alpha;
    const double *a;
    double *b;
};

static void solve(void *data)
{
    struct triangle *t = data;

    dtrsm_(&t->side, &t->uplo, &t->transpose, &t->diag, &t->m, &t->n, &t->alpha, t->a, &t->lda, t->b, &t->ldb);
    if (stand_in_skews("dtrsm") && t->n > 1) /* the first two columns */
        memcpy(t->b, t->b + t->ldb, (size_t)t->m * sizeof *t->b);
    free(t);
}

STAND_IN int rocblas_dtrsm(rocblas_handle handle, int side, int uplo, int transpose, int diag, int m, int n,
                           const double *alpha, const double *a, int lda, double *b, int ldb)
{
    const int edge = side == LEFT ? m : n;
    const struct triangle t = {side == LEFT ? 'L' : 'R',
                               uplo == UPPER ? 'U' : 'L',
                               transpose == TRANSPOSE ? 'T' : 'N',
                               diag == UNIT ? 'U' : 'N',
                               m,
                               n,
                               lda,
                               ldb,
                               *alpha,
                               a,
                               b};
    int status = stand_in_call("rocblas_dtrsm", "%c%c%c%c m=%d n=%d alpha=%g lda=%d ldb=%d", t.side, t.uplo,
                               t.transpose, t.diag, m, n, t.alpha, lda, ldb);

    if (!handle)
        return INVALID_HANDLE;
    if ((side != LEFT && side != RIGHT) || (uplo != UPPER && uplo != LOWER) ||
        (transpose != NONE && transpose != TRANSPOSE) || (diag != UNIT && diag != NOT_UNIT))
        return INVALID_VALUE;
    if (m < 0 || n < 0 || lda < edge || ldb < m || lda < 1 || ldb < 1)
        return INVALID_SIZE;
    if (status != SUCCESS)
        return status;
    stand_in_on_device("a", a, stand_in_extent(edge, edge, lda, 0, 1, sizeof *a));
    stand_in_on_device("b", b, stand_in_extent(m, n, ldb, 0, 1, sizeof *b));
    return stand_in_queue(handle, solve, stand_in_copy(&t, sizeof t)) ? SUCCESS : INTERNAL_ERROR;
}
