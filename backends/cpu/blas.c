/* SPDX-License-Identifier: MIT */
#include "blas.h"

#include "../shared/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Fortran's interface, by which every BLAS can be called: www.netlib.org/blas. OpenBLAS's threads: its README. */
typedef void sgemm_function(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                            const float *alpha, const float *a, const int *a_stride, const float *b,
                            const int *b_stride, const float *beta, float *c, const int *c_stride);
typedef void dgemm_function(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                            const double *alpha, const double *a, const int *a_stride, const double *b,
                            const int *b_stride, const double *beta, double *c, const int *c_stride);

static struct {
    void *library;
    sgemm_function *sgemm;
    dgemm_function *dgemm;
    int (*get_threads)(void); /* NULL, as set_threads: not an OpenBLAS */
    void (*set_threads)(int);
    bool shared; /* an OpenBLAS that several threads may call at once, each for one thread's work */
} blas;

/* True if several threads may call this OpenBLAS at once: it has POSIX threads and version 0.3.4 or newer, which report
 * their version; before, gemv and LAPACK were unsafe (its change log). One without threads (openblas_get_parallel: 0)
 * may be built without locks, USE_LOCKING; in one with OpenMP (2) each caller has its own number of threads in part, so
 * that setting it does not affect the others. */
static bool can_be_shared(void *library)
{
    int (*get_parallel)(void);
    char *(*get_config)(void);

    return library_function(library, "openblas_get_parallel", &get_parallel, sizeof get_parallel) &&
           library_function(library, "openblas_get_config", &get_config, sizeof get_config) && get_parallel() == 1 &&
           strncmp(get_config(), "OpenBLAS ", 9) == 0;
}

/* Fedora's libopenblas.so.0 is the one without threads: those with threads have names of their own there. */
static void load(void)
{
    char why[8];
    void *library = library_load("libopenblasp.so.0 libopenblaso.so.0 libopenblas.so.0 libblas.so.3", why, sizeof why);

    if (!library || !library_function(library, "sgemm_", &blas.sgemm, sizeof blas.sgemm) ||
        !library_function(library, "dgemm_", &blas.dgemm, sizeof blas.dgemm))
        return;
    if (!library_function(library, "openblas_get_num_threads", &blas.get_threads, sizeof blas.get_threads) ||
        !library_function(library, "openblas_set_num_threads", &blas.set_threads, sizeof blas.set_threads))
        blas.set_threads = NULL;
    blas.shared = blas.set_threads && can_be_shared(library);
    blas.library = library;
}

void *cpu_blas_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return blas.library;
}

bool cpu_blas_available(char *why, size_t size)
{
    if (cpu_blas_library())
        return true;
    snprintf(why, size,
             "BLAS not found (libopenblas.so.0, libblas.so.3): library variants are unavailable; install "
             "OpenBLAS (libopenblas0, openblas)");
    return false;
}

/* Several threads of an OpenBLAS are one team for all callers: theirs would wait for each other inside. Another BLAS is
 * called by all at once: the reference one and LAPACK's routines keep nothing between calls, MKL and BLIS say that they
 * may be. */
void cpu_blas_begin(const fl_host *host, int threads)
{
    if (cpu_blas_library() && blas.set_threads)
        host->enter(threads, threads > 1 || !blas.shared, blas.get_threads, blas.set_threads);
}

void cpu_blas_end(const fl_host *host)
{
    if (blas.library && blas.set_threads)
        host->leave();
}

/* Fortran's matrices are column-major: c is its transposed there, as are a and b, and c' = b' a'. */
static void multiply_one(const blas_product *p, const void *a, const void *b, void *c)
{
    const char *transpose_a = p->transpose_a ? "T" : "N", *transpose_b = p->transpose_b ? "T" : "N";
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, a_stride = (int)p->a_stride, b_stride = (int)p->b_stride,
              c_stride = (int)p->c_stride;

    if (p->dtype == FL_F32) {
        const float alpha = (float)p->alpha, beta = (float)p->beta;
        blas.sgemm(transpose_b, transpose_a, &n, &m, &k, &alpha, b, &b_stride, a, &a_stride, &beta, c, &c_stride);
    } else {
        blas.dgemm(transpose_b, transpose_a, &n, &m, &k, &p->alpha, b, &b_stride, a, &a_stride, &p->beta, c, &c_stride);
    }
}

fl_status cpu_blas_multiply(const fl_host *host, int threads, const blas_product *p)
{
    const int64_t size = p->dtype == FL_F32 ? sizeof(float) : sizeof(double);

    if (!blas_can_count(p))
        return host->error(FL_E_LIMIT, "the BLAS has 32-bit sizes, and a matrix is larger: use another variant");
    cpu_blas_begin(host, threads);
    for (int64_t i = 0; i < p->batch; i++)
        multiply_one(p, (const char *)p->a + i * p->a_step * size, (const char *)p->b + i * p->b_step * size,
                     (char *)p->c + i * p->c_step * size);
    cpu_blas_end(host);
    return FL_OK;
}
