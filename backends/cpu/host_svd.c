/* SPDX-License-Identifier: MIT */
#include "host_svd.h"

#define CPU_ISA host
#include "cpu.h"
#include "lapack.h"
#include "svd_jacobi.h"

#include "../shared/svd_sketch.h"

#define KERNEL static

#define real float
#define FN(name) CPU_TYPED(name, f32)
#include "svd_typed.h"
#undef real
#undef FN
#define real double
#define FN(name) CPU_TYPED(name, f64)
#include "svd_typed.h"
#undef real
#undef FN

static fl_status jacobi_or_error(const fl_host *host, const fl_svd_args *args)
{
    const fl_context context = {.host = host};
    int sweeps;

    if (args->a.dtype == FL_F32)
        return jacobi_f32_host(&context, args, 1, &sweeps);
    return jacobi_f64_host(&context, args, 1, &sweeps);
}

fl_status host_svd(const fl_host *host, const fl_svd_args *args)
{
    char why[256];

    if (!(args->a.dtype == FL_F32 ? is_finite_f32_host(&args->a) : is_finite_f64_host(&args->a)))
        return host->error(FL_E_ARGUMENT, "svd: an element of a is not finite");
    if (cpu_lapack_ready(NULL, why, sizeof why) == FL_OK)
        return cpu_lapack_svd(host, threads_default(), args);
    return jacobi_or_error(host, args);
}

void host_orthonormalize(fl_dtype dtype, void *rows, int64_t count, int64_t width)
{
    if (dtype == FL_F32)
        orthonormalize_f32_host((rows_of_f32_host){rows, count, width, width}, 1);
    else
        orthonormalize_f64_host((rows_of_f64_host){rows, count, width, width}, 1);
}
