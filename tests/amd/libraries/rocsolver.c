/* SPDX-License-Identifier: MIT
 *
 * rocsolver.c - a stand-in for rocSOLVER (stand_in.h), which computes by LAPACK: its routines are LAPACK's, on the
 * device, and find their own work memory. What they may use or destroy is filled with NaN at the end. Declared from
 * rocm.docs.amd.com/projects/rocSOLVER.
 */
#include "rocblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void sgeqrf_(const int *m, const int *n, float *a, const int *lda, float *tau, float *work, const int *lwork,
             int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void sorgqr_(const int *m, const int *n, const int *k, float *a, const int *lda, const float *tau, float *work,
             const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
             const int *lwork, int *info);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *info);

/* rocblas_evect, rocblas_fill, rocblas_svect, rocblas_workmode */
enum { ORIGINAL = 211, UPPER = 121, LOWER = 122, ALL = 191, SINGULAR = 192, OUT_OF_PLACE = 201, IN_PLACE = 202 };

/* The arguments of a routine; each takes what it needs. */
struct call {
    int m, n, k, lda, ldu, ldv;
    char first, second; /* LAPACK's letters */
    void *a, *tau;
    double *values, *u, *v, *e;
    int *info;
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static size_t of_doubles(long long count)
{
    return (size_t)count * sizeof(double);
}

static void *memory(size_t bytes)
{
    void *m = malloc(bytes);

    if (!m)
        stand_in_mistake("out of memory");
    return m;
}

static void spoil(double *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = NAN;
}

/* The check that all have in common; then the call is queued. */
static int start(rocblas_handle handle, int status, bool valid, void (*work)(void *), struct call c)
{
    if (!handle)
        return INVALID_HANDLE;
    if (!valid)
        return INVALID_SIZE;
    if (status != SUCCESS)
        return status;
    return stand_in_queue(handle, work, stand_in_copy(&c, sizeof c)) ? SUCCESS : INTERNAL_ERROR;
}

static void eigen(void *data)
{
    struct call *c = data;
    const int size = 1 + 6 * c->n + 2 * c->n * c->n, integers = 3 + 5 * c->n;
    double *work = memory(of_doubles(size));
    int *more = memory((size_t)integers * sizeof(int));

    dsyevd_("V", c->second == 'U' ? "U" : "L", &c->n, c->a, &c->lda, c->values, work, &size, more, &integers, c->info);
    if (stand_in_skews("dsyevd") && c->n > 1) /* the first two columns */
        memcpy(c->a, (double *)c->a + c->lda, of_doubles(c->n));
    spoil(c->e, c->n);
    free(work);
    free(more);
    free(c);
}

STAND_IN int rocsolver_dsyevd(rocblas_handle handle, int evect, int uplo, int n, double *a, int lda, double *d,
                              double *e, int *info)
{
    const struct call c = {
        .n = n, .lda = lda, .second = uplo == UPPER ? 'U' : 'L', .a = a, .values = d, .e = e, .info = info};
    int status = stand_in_call("rocsolver_dsyevd", "evect=%d uplo=%d n=%d lda=%d", evect, uplo, n, lda);

    if (evect != ORIGINAL || (uplo != UPPER && uplo != LOWER))
        return INVALID_VALUE;
    if (n >= 0 && lda >= n) {
        stand_in_on_device("a", a, stand_in_extent(n, n, lda, 0, 1, sizeof *a));
        stand_in_on_device("d", d, of_doubles(n));
        stand_in_on_device("e", e, of_doubles(n));
        stand_in_on_device("info", info, sizeof *info);
    }
    return start(handle, status, n >= 0 && lda >= n, eigen, c);
}

static void factor(void *data)
{
    struct call *c = data;

    dpotrf_(c->second == 'U' ? "U" : "L", &c->n, c->a, &c->lda, c->info);
    free(c);
}

STAND_IN int rocsolver_dpotrf(rocblas_handle handle, int uplo, int n, double *a, int lda, int *info)
{
    const struct call c = {.n = n, .lda = lda, .second = uplo == UPPER ? 'U' : 'L', .a = a, .info = info};
    int status = stand_in_call("rocsolver_dpotrf", "uplo=%d n=%d lda=%d", uplo, n, lda);

    if (uplo != UPPER && uplo != LOWER)
        return INVALID_VALUE;
    if (n >= 0 && lda >= n) {
        stand_in_on_device("a", a, stand_in_extent(n, n, lda, 0, 1, sizeof *a));
        stand_in_on_device("info", info, sizeof *info);
    }
    return start(handle, status, n >= 0 && lda >= n, factor, c);
}

/* geqrf and orgqr in one dtype: the same arguments, `k` reflectors. */
#define QR(letter, type) \
    static void letter##_factor(void *data) \
    { \
        struct call *c = data; \
        const int size = 64 * (c->n + 1); \
        type *work = memory((size_t)size * sizeof(type)); \
        int info; \
        letter##geqrf_(&c->m, &c->n, c->a, &c->lda, c->tau, work, &size, &info); \
        free(work); \
        free(c); \
    } \
    static void letter##_form(void *data) \
    { \
        struct call *c = data; \
        const int size = 64 * (c->n + 1); \
        type *work = memory((size_t)size * sizeof(type)); \
        int info; \
        letter##orgqr_(&c->m, &c->n, &c->k, c->a, &c->lda, c->tau, work, &size, &info); \
        free(work); \
        free(c); \
    } \
    STAND_IN int rocsolver_##letter##geqrf(rocblas_handle handle, int m, int n, type *a, int lda, type *tau) \
    { \
        const struct call c = {.m = m, .n = n, .lda = lda, .a = a, .tau = tau}; \
        const bool valid = m >= 0 && n >= 0 && lda >= m; \
        int status = stand_in_call("rocsolver_" #letter "geqrf", "m=%d n=%d lda=%d", m, n, lda); \
        if (valid) { \
            stand_in_on_device("a", a, stand_in_extent(m, n, lda, 0, 1, sizeof *a)); \
            stand_in_on_device("ipiv", tau, (size_t)least(m, n) * sizeof *tau); \
        } \
        return start(handle, status, valid, letter##_factor, c); \
    } \
    STAND_IN int rocsolver_##letter##orgqr(rocblas_handle handle, int m, int n, int k, type *a, int lda, type *tau) \
    { \
        const struct call c = {.m = m, .n = n, .k = k, .lda = lda, .a = a, .tau = tau}; \
        const bool valid = m >= n && n >= k && k >= 0 && lda >= m; \
        int status = stand_in_call("rocsolver_" #letter "orgqr", "m=%d n=%d k=%d lda=%d", m, n, k, lda); \
        if (valid) { \
            stand_in_on_device("a", a, stand_in_extent(m, n, lda, 0, 1, sizeof *a)); \
            stand_in_on_device("ipiv", tau, (size_t)k * sizeof *tau); \
        } \
        return start(handle, status, valid, letter##_form, c); \
    }

QR(s, float)
QR(d, double)

static void decompose(void *data)
{
    struct call *c = data;
    const int size = 64 * (c->m + c->n + 1);
    double *work = memory(of_doubles(size));

    dgesvd_(&c->first, &c->second, &c->m, &c->n, c->a, &c->lda, c->values, c->u, &c->ldu, c->v, &c->ldv, work, &size,
            c->info);
    if (stand_in_skews("dgesvd") && c->n > 1)
        memcpy(c->u, c->u + c->ldu, of_doubles(c->m));
    for (int i = 0; i < c->n; i++)
        spoil((double *)c->a + (size_t)i * (size_t)c->lda, c->m);
    spoil(c->e, least(c->m, c->n) - 1);
    free(work);
    free(c);
}

STAND_IN int rocsolver_dgesvd(rocblas_handle handle, int left, int right, int m, int n, double *a, int lda, double *s,
                              double *u, int ldu, double *v, int ldv, double *e, int mode, int *info)
{
    const int p = least(m, n);
    const struct call c = {.m = m,
                           .n = n,
                           .lda = lda,
                           .ldu = ldu,
                           .ldv = ldv,
                           .first = left == ALL ? 'A' : 'S',
                           .second = right == ALL ? 'A' : 'S',
                           .a = a,
                           .values = s,
                           .u = u,
                           .v = v,
                           .e = e,
                           .info = info};
    const bool valid = m >= 0 && n >= 0 && lda >= m && ldu >= m && ldv >= (right == ALL ? n : p);
    int status = stand_in_call("rocsolver_dgesvd", "left=%d right=%d m=%d n=%d lda=%d ldu=%d ldv=%d mode=%d", left,
                               right, m, n, lda, ldu, ldv, mode);

    if ((left != ALL && left != SINGULAR) || (right != ALL && right != SINGULAR) ||
        (mode != OUT_OF_PLACE && mode != IN_PLACE))
        return INVALID_VALUE;
    if (valid) {
        stand_in_on_device("a", a, stand_in_extent(m, n, lda, 0, 1, sizeof *a));
        stand_in_on_device("s", s, of_doubles(p));
        stand_in_on_device("u", u, stand_in_extent(m, left == ALL ? m : p, ldu, 0, 1, sizeof *u));
        stand_in_on_device("v", v, stand_in_extent(right == ALL ? n : p, n, ldv, 0, 1, sizeof *v));
        stand_in_on_device("e", e, of_doubles(p > 0 ? p - 1 : 0));
        stand_in_on_device("info", info, sizeof *info);
    }
    return start(handle, status, valid, decompose, c);
}
