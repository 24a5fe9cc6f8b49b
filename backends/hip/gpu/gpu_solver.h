/* SPDX-License-Identifier: MIT
 *
 * gpu_solver.h - the interface to the vendors' solvers: cuSOLVER and rocSOLVER. The libraries are loaded at run time;
 * the declarations here are from their documentation (docs.nvidia.com/cuda/cusolver,
 * rocm.docs.amd.com/projects/rocSOLVER). Operations call solver.hpp. The emulation has no solver.
 */
#ifndef FLYNN_HIP_GPU_SOLVER_H
#define FLYNN_HIP_GPU_SOLVER_H

#include "gpu_library.h"

#include <vector>

#if !defined(GPU_EMULATION)

/* Allocates workspace of the routines on the device; null if memory is short. */
struct gpu_solver_room {
    void *(*take)(void *self, size_t bytes);
    void *self;
};

/* -------------------------------------------------------------------------------------------------- cuSOLVER ---- */

#if defined(__CUDACC__)

constexpr const char *gpu_solver_name = "cuSOLVER";
constexpr const char *gpu_solver_files =
#if CUDART_VERSION >= 13000
    "libcusolver.so.12 libcusolver.so.11";
#else
    "libcusolver.so.11 libcusolver.so.12";
#endif
constexpr const char *gpu_solver_cure = "install CUDA's cuSOLVER, or add its folder to LD_LIBRARY_PATH";
constexpr int gpu_solver_no_memory = 2; /* CUSOLVER_STATUS_ALLOC_FAILED */
constexpr bool gpu_solver_has_fast = true;

struct gpu_solver {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, hipStream_t stream);
    int (*create_params)(void **params);
    int (*destroy_params)(void *params);
    int (*syevd_size)(void *handle, void *params, int jobz, int uplo, int64_t n, int type, const void *a, int64_t lda,
                      int type_w, const void *w, int compute, size_t *device, size_t *host);
    int (*syevd)(void *handle, void *params, int jobz, int uplo, int64_t n, int type, void *a, int64_t lda, int type_w,
                 void *w, int compute, void *device, size_t device_size, void *host, size_t host_size, int *info);
    int (*potrf_size)(void *handle, void *params, int uplo, int64_t n, int type, const void *a, int64_t lda,
                      int compute, size_t *device, size_t *host);
    int (*potrf)(void *handle, void *params, int uplo, int64_t n, int type, void *a, int64_t lda, int compute,
                 void *device, size_t device_size, void *host, size_t host_size, int *info);
    int (*geqrf_size)(void *handle, void *params, int64_t m, int64_t n, int type, const void *a, int64_t lda,
                      int type_tau, const void *tau, int compute, size_t *device, size_t *host);
    int (*geqrf)(void *handle, void *params, int64_t m, int64_t n, int type, void *a, int64_t lda, int type_tau,
                 void *tau, int compute, void *device, size_t device_size, void *host, size_t host_size, int *info);
    int (*sorgqr_size)(void *handle, int m, int n, int k, const float *a, int lda, const float *tau, int *size);
    int (*sorgqr)(void *handle, int m, int n, int k, float *a, int lda, const float *tau, float *work, int size,
                  int *info);
    int (*dorgqr_size)(void *handle, int m, int n, int k, const double *a, int lda, const double *tau, int *size);
    int (*dorgqr)(void *handle, int m, int n, int k, double *a, int lda, const double *tau, double *work, int size,
                  int *info);
    int (*gesvdp_size)(void *handle, void *params, int jobz, int econ, int64_t m, int64_t n, int type, const void *a,
                       int64_t lda, int type_s, const void *s, int type_u, const void *u, int64_t ldu, int type_v,
                       const void *v, int64_t ldv, int compute, size_t *device, size_t *host);
    int (*gesvdp)(void *handle, void *params, int jobz, int econ, int64_t m, int64_t n, int type, void *a, int64_t lda,
                  int type_s, void *s, int type_u, void *u, int64_t ldu, int type_v, void *v, int64_t ldv, int compute,
                  void *device, size_t device_size, void *host, size_t host_size, int *info, double *doubt);
    int (*gesvd_size)(void *handle, void *params, signed char jobu, signed char jobvt, int64_t m, int64_t n, int type,
                      const void *a, int64_t lda, int type_s, const void *s, int type_u, const void *u, int64_t ldu,
                      int type_vt, const void *vt, int64_t ldvt, int compute, size_t *device, size_t *host);
    int (*gesvd)(void *handle, void *params, signed char jobu, signed char jobvt, int64_t m, int64_t n, int type,
                 void *a, int64_t lda, int type_s, void *s, int type_u, void *u, int64_t ldu, int type_vt, void *vt,
                 int64_t ldvt, int compute, void *device, size_t device_size, void *host, size_t host_size, int *info);
};

/* The library's handle and parameters of one device. */
struct gpu_solver_handle {
    void *handle, *params;
};

static inline bool gpu_solver_functions(void *library, gpu_solver *s)
{
#define GPU_FIND(member, name) library_function(library, name, &s->member, sizeof s->member)
    return GPU_FIND(create, "cusolverDnCreate") && GPU_FIND(destroy, "cusolverDnDestroy") &&
           GPU_FIND(set_stream, "cusolverDnSetStream") && GPU_FIND(create_params, "cusolverDnCreateParams") &&
           GPU_FIND(destroy_params, "cusolverDnDestroyParams") && GPU_FIND(syevd_size, "cusolverDnXsyevd_bufferSize") &&
           GPU_FIND(syevd, "cusolverDnXsyevd") && GPU_FIND(potrf_size, "cusolverDnXpotrf_bufferSize") &&
           GPU_FIND(potrf, "cusolverDnXpotrf") && GPU_FIND(geqrf_size, "cusolverDnXgeqrf_bufferSize") &&
           GPU_FIND(geqrf, "cusolverDnXgeqrf") && GPU_FIND(sorgqr_size, "cusolverDnSorgqr_bufferSize") &&
           GPU_FIND(sorgqr, "cusolverDnSorgqr") && GPU_FIND(dorgqr_size, "cusolverDnDorgqr_bufferSize") &&
           GPU_FIND(dorgqr, "cusolverDnDorgqr") && GPU_FIND(gesvdp_size, "cusolverDnXgesvdp_bufferSize") &&
           GPU_FIND(gesvdp, "cusolverDnXgesvdp") && GPU_FIND(gesvd_size, "cusolverDnXgesvd_bufferSize") &&
           GPU_FIND(gesvd, "cusolverDnXgesvd");
#undef GPU_FIND
}

static inline int gpu_solver_open(const gpu_solver &s, gpu_solver_handle *h)
{
    const int status = s.create(&h->handle);
    return status != 0 ? status : s.create_params(&h->params);
}

static inline void gpu_solver_close(const gpu_solver &s, gpu_solver_handle *h)
{
    if (h->params)
        (void)s.destroy_params(h->params);
    if (h->handle)
        (void)s.destroy(h->handle);
}

template <typename T>
constexpr int gpu_solver_type = sizeof(T) == sizeof(float) ? 0 : 1; /* CUDA_R_32F, CUDA_R_64F */

/* Runs call(device memory, its size, host memory, its size); frees the host memory when the stream is done with it. */
template <typename Call>
static inline int gpu_solver_with(const gpu_solver_room &room, hipStream_t queue, size_t device, size_t host, Call call)
{
    std::vector<char> on_host(host);
    void *on_device = device ? room.take(room.self, device) : nullptr;
    if (device && !on_device)
        return gpu_solver_no_memory;
    const int status = call(on_device, device, on_host.data(), host);
    if (host && status == 0)
        (void)hipStreamSynchronize(queue);
    return status;
}

/* Eigenvalues, ascending, of a symmetric matrix; the eigenvectors overwrite it, as columns. */
static inline int gpu_solver_eigen(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                   hipStream_t queue, int64_t n, double *a, double *values, int *info)
{
    constexpr int vectors = 1, lower = 0, type = gpu_solver_type<double>;
    size_t device = 0, host = 0;
    const int status =
        s.syevd_size(h.handle, h.params, vectors, lower, n, type, a, n, type, values, type, &device, &host);
    if (status != 0)
        return status;
    return gpu_solver_with(room, queue, device, host, [&](void *d, size_t d_size, void *c, size_t c_size) {
        return s.syevd(h.handle, h.params, vectors, lower, n, type, a, n, type, values, type, d, d_size, c, c_size,
                       info);
    });
}

/* The upper triangle of a = u'u becomes u. */
static inline int gpu_solver_cholesky(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                      hipStream_t queue, int64_t n, double *a, int *info)
{
    constexpr int upper = 1, type = gpu_solver_type<double>;
    size_t device = 0, host = 0;
    const int status = s.potrf_size(h.handle, h.params, upper, n, type, a, n, type, &device, &host);
    if (status != 0)
        return status;
    return gpu_solver_with(room, queue, device, host, [&](void *d, size_t d_size, void *c, size_t c_size) {
        return s.potrf(h.handle, h.params, upper, n, type, a, n, type, d, d_size, c, c_size, info);
    });
}

/* The triangle and the reflectors of a (m x n), with the factors of the reflectors. */
template <typename T>
static inline int gpu_solver_qr(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                hipStream_t queue, int64_t m, int64_t n, T *a, T *tau, int *info)
{
    constexpr int type = gpu_solver_type<T>;
    size_t device = 0, host = 0;
    const int status = s.geqrf_size(h.handle, h.params, m, n, type, a, m, type, tau, type, &device, &host);
    if (status != 0)
        return status;
    return gpu_solver_with(room, queue, device, host, [&](void *d, size_t d_size, void *c, size_t c_size) {
        return s.geqrf(h.handle, h.params, m, n, type, a, m, type, tau, type, d, d_size, c, c_size, info);
    });
}

template <typename T, typename Size, typename Form>
static inline int gpu_solver_orgqr(Size size, Form form, void *handle, const gpu_solver_room &room, int m, int n, T *a,
                                   const T *tau, int *info)
{
    int elements = 0;
    const int status = size(handle, m, n, n, a, m, tau, &elements);
    if (status != 0)
        return status;
    T *work = static_cast<T *>(room.take(room.self, (size_t)elements * sizeof(T) + 1));
    return work ? form(handle, m, n, n, a, m, tau, work, elements, info) : gpu_solver_no_memory;
}

/* Forms the columns of q from the reflectors. */
static inline int gpu_solver_form_q(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                    int64_t m, int64_t n, float *a, const float *tau, int *info)
{
    return gpu_solver_orgqr(s.sorgqr_size, s.sorgqr, h.handle, room, (int)m, (int)n, a, tau, info);
}

static inline int gpu_solver_form_q(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                    int64_t m, int64_t n, double *a, const double *tau, int *info)
{
    return gpu_solver_orgqr(s.dorgqr_size, s.dorgqr, h.handle, room, (int)m, (int)n, a, tau, info);
}

/* The thin decomposition of a (m x n, m >= n, overwritten). fast: by the polar decomposition, which returns v; `doubt`
 * bounds the error of its values. Else by bidiagonalization, which returns v transposed. */
static inline int gpu_solver_svd(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                 hipStream_t queue, bool fast, int64_t m, int64_t n, double *a, double *values,
                                 double *u, double *v, int *info, double *doubt)
{
    constexpr int type = gpu_solver_type<double>, vectors = 1, thin = 1;
    size_t device = 0, host = 0;
    *doubt = 0;
    const int status = fast ? s.gesvdp_size(h.handle, h.params, vectors, thin, m, n, type, a, m, type, values, type, u,
                                            m, type, v, n, type, &device, &host)
                            : s.gesvd_size(h.handle, h.params, 'S', 'S', m, n, type, a, m, type, values, type, u, m,
                                           type, v, n, type, &device, &host);
    if (status != 0)
        return status;
    return gpu_solver_with(room, queue, device, host, [&](void *d, size_t d_size, void *c, size_t c_size) {
        if (fast)
            return s.gesvdp(h.handle, h.params, vectors, thin, m, n, type, a, m, type, values, type, u, m, type, v, n,
                            type, d, d_size, c, c_size, info, doubt);
        return s.gesvd(h.handle, h.params, 'S', 'S', m, n, type, a, m, type, values, type, u, m, type, v, n, type, d,
                       d_size, c, c_size, info);
    });
}

/* ------------------------------------------------------------------------------------------------- rocSOLVER ---- */

#else

constexpr const char *gpu_solver_name = "rocSOLVER";
constexpr const char *gpu_solver_files = "librocsolver.so.0";
constexpr const char *gpu_solver_cure = "install it from the same ROCm, or set LD_LIBRARY_PATH";
constexpr int gpu_solver_no_memory = 5; /* rocblas_status_memory_error */
constexpr bool gpu_solver_has_fast = false;

struct gpu_solver {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, hipStream_t stream);
    int (*syevd)(void *handle, int evect, int uplo, int n, double *a, int lda, double *d, double *e, int *info);
    int (*potrf)(void *handle, int uplo, int n, double *a, int lda, int *info);
    int (*sgeqrf)(void *handle, int m, int n, float *a, int lda, float *tau);
    int (*dgeqrf)(void *handle, int m, int n, double *a, int lda, double *tau);
    int (*sorgqr)(void *handle, int m, int n, int k, float *a, int lda, float *tau);
    int (*dorgqr)(void *handle, int m, int n, int k, double *a, int lda, double *tau);
    int (*gesvd)(void *handle, int left, int right, int m, int n, double *a, int lda, double *s, double *u, int ldu,
                 double *v, int ldv, double *e, int mode, int *info);
};

struct gpu_solver_handle {
    void *handle;
};

/* The handle is rocBLAS's, which rocSOLVER loads. */
static inline bool gpu_solver_functions(void *library, gpu_solver *s)
{
#define GPU_FIND(member, name) library_function(library, name, &s->member, sizeof s->member)
    return GPU_FIND(create, "rocblas_create_handle") && GPU_FIND(destroy, "rocblas_destroy_handle") &&
           GPU_FIND(set_stream, "rocblas_set_stream") && GPU_FIND(syevd, "rocsolver_dsyevd") &&
           GPU_FIND(potrf, "rocsolver_dpotrf") && GPU_FIND(sgeqrf, "rocsolver_sgeqrf") &&
           GPU_FIND(dgeqrf, "rocsolver_dgeqrf") && GPU_FIND(sorgqr, "rocsolver_sorgqr") &&
           GPU_FIND(dorgqr, "rocsolver_dorgqr") && GPU_FIND(gesvd, "rocsolver_dgesvd");
#undef GPU_FIND
}

static inline int gpu_solver_open(const gpu_solver &s, gpu_solver_handle *h)
{
    return s.create(&h->handle);
}

static inline void gpu_solver_close(const gpu_solver &s, gpu_solver_handle *h)
{
    if (h->handle)
        (void)s.destroy(h->handle);
}

static inline int gpu_solver_eigen(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                   hipStream_t, int64_t n, double *a, double *values, int *info)
{
    constexpr int original = 211, lower = 122; /* rocblas_evect, rocblas_fill */
    double *off_diagonal = static_cast<double *>(room.take(room.self, (size_t)n * sizeof(double)));
    if (!off_diagonal)
        return gpu_solver_no_memory;
    return s.syevd(h.handle, original, lower, (int)n, a, (int)n, values, off_diagonal, info);
}

static inline int gpu_solver_cholesky(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &,
                                      hipStream_t, int64_t n, double *a, int *info)
{
    constexpr int upper = 121; /* rocblas_fill */
    return s.potrf(h.handle, upper, (int)n, a, (int)n, info);
}

static inline int gpu_solver_qr(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &, hipStream_t,
                                int64_t m, int64_t n, float *a, float *tau, int *)
{
    return s.sgeqrf(h.handle, (int)m, (int)n, a, (int)m, tau);
}

static inline int gpu_solver_qr(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &, hipStream_t,
                                int64_t m, int64_t n, double *a, double *tau, int *)
{
    return s.dgeqrf(h.handle, (int)m, (int)n, a, (int)m, tau);
}

static inline int gpu_solver_form_q(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &, int64_t m,
                                    int64_t n, float *a, float *tau, int *)
{
    return s.sorgqr(h.handle, (int)m, (int)n, (int)n, a, (int)m, tau);
}

static inline int gpu_solver_form_q(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &, int64_t m,
                                    int64_t n, double *a, double *tau, int *)
{
    return s.dorgqr(h.handle, (int)m, (int)n, (int)n, a, (int)m, tau);
}

static inline int gpu_solver_svd(const gpu_solver &s, const gpu_solver_handle &h, const gpu_solver_room &room,
                                 hipStream_t, bool, int64_t m, int64_t n, double *a, double *values, double *u,
                                 double *v, int *info, double *doubt)
{
    constexpr int singular = 192, out_of_place = 201; /* rocblas_svect, rocblas_workmode */
    double *off_diagonal = static_cast<double *>(room.take(room.self, (size_t)n * sizeof(double)));
    *doubt = 0;
    if (!off_diagonal)
        return gpu_solver_no_memory;
    return s.gesvd(h.handle, singular, singular, (int)m, (int)n, a, (int)m, values, u, (int)m, v, (int)n, off_diagonal,
                   out_of_place, info);
}

#endif
#endif
#endif
