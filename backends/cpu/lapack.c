/* SPDX-License-Identifier: MIT */
#include "lapack.h"

#include "../shared/library.h"
#include "blas.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fortran's interface: www.netlib.org/lapack, xGESDD. The length of `jobz`, which some compilers pass, comes last. */
typedef void gesdd_function(const char *jobz, const int *m, const int *n, void *a, const int *a_stride, void *s,
                            void *u, const int *u_stride, void *vt, const int *vt_stride, void *work,
                            const int *work_size, int *integers, int *info, size_t jobz_length);

static struct {
    gesdd_function *sgesdd, *dgesdd;
} lapack;

static bool find(void *library)
{
    return library && library_function(library, "sgesdd_", &lapack.sgesdd, sizeof lapack.sgesdd) &&
           library_function(library, "dgesdd_", &lapack.dgesdd, sizeof lapack.dgesdd);
}

static const char missing[] = "LAPACK not found (libopenblas.so.0, liblapack.so.3), which svd's variants library and "
                              "host use; install OpenBLAS (libopenblas0, openblas) or liblapack3";

/* The BLAS's own first: its threads are the ones that cpu_blas_begin sets. */
static bool load(char *why, size_t size)
{
    return find(cpu_blas_library()) || find(library_load_threadless("liblapack.so.3", why, size));
}

bool cpu_lapack_found(char *why, size_t size)
{
    if (library_find(CPU_OPENBLAS_FILES " liblapack.so.3"))
        return true;
    snprintf(why, size, "%s", missing);
    return false;
}

fl_status cpu_lapack_ready(void *device, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char words[256];
    fl_status status = library_once(&state, load, words, sizeof words);

    (void)device;
    if (status == FL_E_MEMORY)
        snprintf(why, size, "LAPACK cannot be loaded (%.200s)", words);
    else if (status != FL_OK)
        snprintf(why, size, "%s", missing);
    return status;
}

/* One decomposition: a (column-major, m x n, overwritten) = u diag(s) vt, all of them thin. */
typedef struct problem {
    fl_dtype dtype;
    int m, n, least;
    void *a, *s, *u, *vt, *work;
    int *integers;
} problem;

static int call(const problem *p, int work_size)
{
    gesdd_function *gesdd = p->dtype == FL_F32 ? lapack.sgesdd : lapack.dgesdd;
    int info = 0;

    gesdd("S", &p->m, &p->n, p->a, &p->m, p->s, p->u, &p->m, p->vt, &p->least, p->work, &work_size, p->integers, &info,
          1);
    return info;
}

/* The size of the workspace that the routine asks for. The routine returns it in the matrix's dtype: f32 may have
 * rounded it down, so it is rounded up. -1: it exceeds 32 bits. */
static int work_size_of(const problem *p)
{
    double size;

    if (call(p, -1) != 0)
        return -1;
    size = p->dtype == FL_F32 ? nextafterf(*(float *)p->work, INFINITY) : *(double *)p->work;
    return size < INT_MAX ? (int)size + 1 : -1;
}

/* The first `columns` of each row. */
static void take(const fl_buffer *to, const char *from, int64_t from_stride, size_t element)
{
    for (int64_t i = 0; i < to->shape[0]; i++)
        memcpy((char *)to->data + (size_t)(i * to->stride[0]) * element, from + (size_t)(i * from_stride) * element,
               (size_t)to->shape[1] * element);
}

/* LAPACK is column-major, where a is its transpose, n x m, and what it returns as u and vt are our vt and u. */
static fl_status decompose(const fl_host *host, int threads, const fl_svd_args *args, problem *p, size_t element)
{
    const fl_buffer packed = {p->a, p->dtype, 2, {args->a.shape[0], args->a.shape[1]}, {args->a.shape[1], 1}};
    double size[1]; /* room for the answer of the query */
    int work_size, info = 0;
    fl_status status;

    take(&packed, args->a.data, args->a.stride[0], element);
    p->work = size;
    work_size = work_size_of(p);
    if (work_size < 0)
        return host->error(FL_E_LIMIT, "svd: LAPACK has 32-bit sizes, and its workspace for this matrix is larger");
    p->work = malloc((size_t)work_size * element);
    if (!p->work)
        return host->error(FL_E_MEMORY, "svd: out of memory: LAPACK needs %zu bytes", (size_t)work_size * element);
    status = cpu_blas_begin(host, threads);
    if (status == FL_OK) {
        info = call(p, work_size);
        cpu_blas_end(host, threads);
    }
    free(p->work);
    if (status != FL_OK)
        return status;
    if (info != 0)
        return host->error(FL_E_DEVICE, "svd: LAPACK's gesdd did not converge (info = %d)", info);
    take(&args->u, p->vt, p->least, element);
    take(&args->vt, p->u, args->a.shape[1], element);
    memcpy(args->s.data, p->s, (size_t)args->s.shape[0] * element);
    return FL_OK;
}

fl_status cpu_lapack_svd(const fl_host *host, int threads, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], least = m < n ? m : n;
    const size_t element = args->a.dtype == FL_F32 ? sizeof(float) : sizeof(double);
    problem p = {.dtype = args->a.dtype, .m = (int)n, .n = (int)m, .least = (int)least};
    char *memory;
    fl_status status;

    if (m > INT_MAX || n > INT_MAX)
        return host->error(FL_E_LIMIT, "svd: LAPACK has 32-bit sizes, and the matrix is larger");
    memory = malloc((size_t)(m * n + least * (1 + m + n)) * element);
    p.integers = malloc((size_t)least * 8 * sizeof *p.integers);
    if (memory && p.integers) {
        p.a = memory;
        p.u = memory + (size_t)(m * n) * element;
        p.vt = (char *)p.u + (size_t)(least * n) * element;
        p.s = (char *)p.vt + (size_t)(least * m) * element;
        status = decompose(host, threads, args, &p, element);
    } else {
        status = host->error(FL_E_MEMORY, "svd: out of memory for LAPACK's matrices");
    }
    free(memory);
    free(p.integers);
    return status;
}
