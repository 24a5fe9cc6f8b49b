/* SPDX-License-Identifier: MIT */
#include "host_svd.h"

#define CPU_ISA host
#include "cpu.h"
#include "lapack.h"
#include "svd_jacobi.h"
#include "svd_single.h"

#include "../shared/svd_single.h"
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

static bool has_lapack(void)
{
    char why[256];

    return cpu_lapack_ready(NULL, why, sizeof why) == FL_OK;
}

static bool takes_lapack(const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1];

    return !jacobi_pays(m < n ? m : n, m < n ? n : m) && has_lapack();
}

static fl_status decompose(const fl_host *host, const fl_svd_args *args)
{
    return takes_lapack(args) ? cpu_lapack_svd(host, threads_default(), args) : jacobi_or_error(host, args);
}

static bool is_finite(const fl_buffer *a)
{
    return a->dtype == FL_F32 ? is_finite_f32_host(a) : is_finite_f64_host(a);
}

static fl_status not_finite(const fl_host *host)
{
    return host->error(FL_E_ARGUMENT, "svd: an element of a is not finite");
}

fl_status host_svd(const fl_host *host, const fl_svd_args *args)
{
    return is_finite(&args->a) ? decompose(host, args) : not_finite(host);
}

fl_status host_svd_single(const fl_host *host, const fl_svd_args *args)
{
    svd_single single;
    fl_status status;

    if (!is_finite(&args->a))
        return not_finite(host);
    status = single_open(host, args, largest_f64_host(&args->a), &single);
    return status == FL_OK ? single_close(args, &single, decompose(host, &single.args)) : status;
}

bool host_svd_single_pays(const fl_svd_args *args)
{
    return svd_single_pays(args) && takes_lapack(args);
}

void host_orthonormalize(fl_dtype dtype, void *rows, int64_t count, int64_t width)
{
    if (dtype == FL_F32)
        orthonormalize_f32_host((rows_of_f32_host){rows, count, width, width}, 1);
    else
        orthonormalize_f64_host((rows_of_f64_host){rows, count, width, width}, 1);
}
