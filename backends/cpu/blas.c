/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "blas.h"

#include "../shared/library.h"
#include "../shared/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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
static const char files[] = CPU_OPENBLAS_FILES " libblas.so.3";
static const char missing[] =
    "BLAS not found (libopenblas.so.0, libblas.so.3): library variants are unavailable; install "
    "OpenBLAS (libopenblas0, openblas)";

static bool load(char *why, size_t size)
{
    void *library = library_load_threadless(files, why, size);

    if (!library || !library_function(library, "sgemm_", &blas.sgemm, sizeof blas.sgemm) ||
        !library_function(library, "dgemm_", &blas.dgemm, sizeof blas.dgemm))
        return false;
    if (!library_function(library, "openblas_get_num_threads", &blas.get_threads, sizeof blas.get_threads) ||
        !library_function(library, "openblas_set_num_threads", &blas.set_threads, sizeof blas.set_threads))
        blas.set_threads = NULL;
    blas.shared = blas.set_threads && can_be_shared(library);
    blas.library = library;
    return true;
}

bool cpu_blas_found(char *why, size_t size)
{
    if (library_find(files))
        return true;
    snprintf(why, size, "%s", missing);
    return false;
}

fl_status cpu_blas_ready(void *device, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char words[256];
    fl_status status = library_once(&state, load, words, sizeof words);

    (void)device;
    if (status == FL_E_MEMORY || (status == FL_E_UNAVAILABLE && library_find(files)))
        snprintf(why, size, "BLAS cannot be loaded (%.200s)", words);
    else if (status != FL_OK)
        snprintf(why, size, "%s", missing);
    return status;
}

void *cpu_blas_library(void)
{
    char why[8];

    return cpu_blas_ready(NULL, why, sizeof why) == FL_OK ? blas.library : NULL;
}

/* ------------------------------------------------------------------------------------- threads and memory ---- */

/* What OpenBLAS maps for each of its threads, and some more. */
enum { BUFFER = 136 << 20 };

/* Whether so many buffers can be mapped at once. */
static bool memory_for(int buffers)
{
    void **last = NULL;
    int mapped = 0;

    for (; mapped < buffers; mapped++) {
        void **next = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (next == MAP_FAILED)
            break;
        *next = last;
        last = next;
    }
    while (last) {
        void **next = *last;
        munmap(last, BUFFER);
        last = next;
    }
    return mapped == buffers;
}

/* Threads of all callers that are inside or wait, and the most of them that there was room for. */
static struct {
    pthread_mutex_t lock;
    int now, most;
} used = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* OpenBLAS returns no error if it gets no memory or no thread: it tries forever, or raises SIGINT. So both are tried
 * before it needs more of them at once than ever before. */
static fl_status reserve(const fl_host *host, int threads)
{
    bool memory = true;
    int error = 0;

    pthread_mutex_lock(&used.lock);
    used.now += threads;
    if (used.now > used.most) {
        memory = memory_for(used.now - used.most);
        error = memory ? threads_try(threads - 1) : 0;
        if (memory && error == 0)
            used.most = used.now;
        else
            used.now -= threads;
    }
    pthread_mutex_unlock(&used.lock);
    if (!memory)
        return host->error(FL_E_MEMORY, "out of memory: OpenBLAS needs %d MiB for each of %d threads", BUFFER >> 20,
                           threads);
    if (error != 0)
        return host->error(FL_E_MEMORY, "OpenBLAS's %d threads cannot be started: %s", threads, strerror(error));
    return FL_OK;
}

/* Several threads of an OpenBLAS are one team for all callers: theirs would wait for each other inside. Another BLAS is
 * called by all at once: the reference one and LAPACK's routines keep nothing between calls, MKL and BLIS say that they
 * may be. */
fl_status cpu_blas_begin(const fl_host *host, int threads)
{
    fl_status status = FL_OK;

    if (cpu_blas_library() && blas.set_threads)
        status = reserve(host, threads);
    if (status == FL_OK && blas.set_threads)
        host->enter(threads, threads > 1 || !blas.shared, blas.get_threads, blas.set_threads);
    return status;
}

void cpu_blas_end(const fl_host *host, int threads)
{
    if (!blas.set_threads)
        return;
    host->leave();
    pthread_mutex_lock(&used.lock);
    used.now -= threads;
    pthread_mutex_unlock(&used.lock);
}

/* ---------------------------------------------------------------------------------------------- products ---- */

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
    fl_status status;

    if (!blas_can_count(p))
        return host->error(FL_E_LIMIT, "the BLAS has 32-bit sizes, and a matrix is larger: use another variant");
    status = cpu_blas_begin(host, threads);
    if (status != FL_OK)
        return status;
    for (int64_t i = 0; i < p->batch; i++)
        multiply_one(p, (const char *)p->a + i * p->a_step * size, (const char *)p->b + i * p->b_step * size,
                     (char *)p->c + i * p->c_step * size);
    cpu_blas_end(host, threads);
    return FL_OK;
}
