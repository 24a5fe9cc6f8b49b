/* SPDX-License-Identifier: MIT
 *
 * gpu_blas.h - the interface to the vendors' BLAS: cuBLAS, rocBLAS, and for the emulation the host's. The libraries are
 * loaded at run time; the declarations here are from their documentation (docs.nvidia.com/cuda/cublas,
 * rocm.docs.amd.com/projects/rocBLAS). Operations call blas.hpp.
 */
#ifndef FLYNN_HIP_GPU_BLAS_H
#define FLYNN_HIP_GPU_BLAS_H

#include "gpu_library.h"

#include "../../cpu/blas.h"

#include <cmath>

/* The two libraries' functions have the same parameters; their handles are pointers, their enumerations ints. Matrices
 * are column-major. */
template <typename T>
using gpu_gemm_function = int(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const T *alpha,
                              const T *a, int a_stride, long long a_step, const T *b, int b_stride, long long b_step,
                              const T *beta, T *c, int c_stride, long long c_step, int batch);

using gpu_trsm_function = int(void *handle, int side, int uplo, int transpose, int diag, int m, int n,
                              const double *alpha, const double *a, int a_stride, double *b, int b_stride);

struct gpu_blas {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, hipStream_t stream);
    gpu_gemm_function<float> *sgemm;
    gpu_gemm_function<double> *dgemm;
    gpu_trsm_function *dtrsm;
};

/* hip_blas_worth's numbers (blas.hpp). On an H200 our own f32 is as fast as cuBLAS, whose f64 is twice as fast on
 * matrix units. An MI200 has matrix units for both. The emulation's number is small, for quick tests. */
#if defined(__CUDACC__)
constexpr double gpu_blas_worth_f32 = 1e10, gpu_blas_worth_f64 = 2e9;
#elif !defined(GPU_EMULATION)
constexpr double gpu_blas_worth_f32 = 2e9, gpu_blas_worth_f64 = 2e9;
#else
constexpr double gpu_blas_worth_f32 = HUGE_VAL, gpu_blas_worth_f64 = 1e6;
#endif

#if !defined(GPU_EMULATION)

struct gpu_blas_names {
    const char *library, *files, *cure; /* files: cuBLAS's first one is that of the runtime of this build */
    const char *create, *destroy, *set_stream, *sgemm, *dgemm, *dtrsm;
    int none, transpose; /* cublasOperation_t, rocblas_operation */
    int right, upper, not_unit;
    int no_memory; /* its status code */
};

#if defined(__CUDACC__)
constexpr gpu_blas_names gpu_blas_library = {
    "cuBLAS",
#if CUDART_VERSION >= 13000
    "libcublas.so.13 libcublas.so.12",
#elif CUDART_VERSION >= 12000
    "libcublas.so.12 libcublas.so.13",
#else
    "libcublas.so.11 libcublas.so.12",
#endif
    "install CUDA's cuBLAS, or add its folder to LD_LIBRARY_PATH",
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasSetStream_v2",
    "cublasSgemmStridedBatched",
    "cublasDgemmStridedBatched",
    "cublasDtrsm_v2",
    0,
    1,
    1,
    1,
    0,
    3, /* CUBLAS_STATUS_ALLOC_FAILED */
};
#else
constexpr gpu_blas_names gpu_blas_library = {
    "rocBLAS",
    "librocblas.so.5 librocblas.so.4 librocblas.so.3 librocblas.so.0",
    "install it from the same ROCm, or set LD_LIBRARY_PATH",
    "rocblas_create_handle",
    "rocblas_destroy_handle",
    "rocblas_set_stream",
    "rocblas_sgemm_strided_batched",
    "rocblas_dgemm_strided_batched",
    "rocblas_dtrsm",
    111,
    112,
    142,
    121,
    131,
    5, /* rocblas_status_memory_error */
};
#endif

/* True if the library was found; does not load it. */
static inline bool gpu_blas_find(char *why, size_t size)
{
    char reason[200];
    if (gpu_library_find(gpu_blas_library.files, reason, sizeof reason))
        return true;
    std::snprintf(why, size, "library variants are unavailable without %s (%.110s); %s", gpu_blas_library.library,
                  reason, gpu_blas_library.cure);
    return false;
}

/* Loads it; false with the reason in `why`. */
static inline bool gpu_blas_load(gpu_blas *blas, char *why, size_t size)
{
    const gpu_blas_names &names = gpu_blas_library;
    void *library = gpu_library_load(names.files, why, size);
    if (!library)
        return false;
    std::snprintf(why, size, "the installed %s lacks a documented function", names.library);
    return library_function(library, names.create, &blas->create, sizeof blas->create) &&
           library_function(library, names.destroy, &blas->destroy, sizeof blas->destroy) &&
           library_function(library, names.set_stream, &blas->set_stream, sizeof blas->set_stream) &&
           library_function(library, names.sgemm, &blas->sgemm, sizeof blas->sgemm) &&
           library_function(library, names.dgemm, &blas->dgemm, sizeof blas->dgemm) &&
           library_function(library, names.dtrsm, &blas->dtrsm, sizeof blas->dtrsm);
}

/* c' = b' a' for column-major libraries, in full f32 or f64, which is the default of both (TF32 is an option). */
template <typename T>
static inline int gpu_blas_gemm(gpu_gemm_function<T> *gemm, void *handle, const blas_product &p)
{
    const int none = gpu_blas_library.none, transpose = gpu_blas_library.transpose;
    const T alpha = (T)p.alpha, beta = (T)p.beta;
    return gemm(handle, p.transpose_b ? transpose : none, p.transpose_a ? transpose : none, (int)p.n, (int)p.m,
                (int)p.k, &alpha, static_cast<const T *>(p.b), (int)p.b_stride, p.b_step, static_cast<const T *>(p.a),
                (int)p.a_stride, p.a_step, &beta, static_cast<T *>(p.c), (int)p.c_stride, p.c_step, (int)p.batch);
}

/* The packed rows b of `length` elements become inv(l) b, l the lower triangle of the packed `count` x `count` matrix:
 * for column-major libraries b' inv(u), u = l' above the diagonal. */
static inline int gpu_blas_solve(gpu_trsm_function *trsm, void *handle, int64_t count, int64_t length, const double *l,
                                 double *b)
{
    const gpu_blas_names &names = gpu_blas_library;
    const double one = 1;
    return trsm(handle, names.right, names.upper, names.none, names.not_unit, (int)length, (int)count, &one, l,
                (int)count, b, (int)length);
}

#endif
#endif
