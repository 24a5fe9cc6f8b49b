/* SPDX-License-Identifier: MIT
 *
 * svd.c - singular value decompositions: what each variant costs, and the rows. The loops are in svd_jacobi.h,
 * svd_typed.h, svd_single.h and svd_randomized_typed.h, the library's in lapack.c.
 */
#include "operation.h"
#include "lapack.h"
#include "svd_jacobi.h"
#include "svd_single.h"

#include "../shared/svd_single.h"
#include "../shared/svd_sketch.h"

/* The hot loops stay functions of their own: inlined into what calls them, their addresses leave the registers. */
#define KERNEL static __attribute__((noinline))

enum { STRIP = 512 }; /* columns that `times` sums at a time: four rows of them stay in the first cache */

#define real float
#define FN(name) CPU_TYPED(name, f32)
#include "svd_typed.h"
#include "svd_randomized_typed.h"
#undef real
#undef FN
#define real double
#define FN(name) CPU_TYPED(name, f64)
#include "svd_typed.h"
#include "svd_randomized_typed.h"
#undef real
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

/* How many sweeps the last decomposition of this thread took: nobody knows before. */
static _Thread_local int CPU_NAME(last_sweeps);

static inline double size_of(const fl_svd_args *args)
{
    return args->a.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

static inline int64_t shorter(const fl_svd_args *args)
{
    return min64(args->a.shape[0], args->a.shape[1]);
}

static inline int64_t longer(const fl_svd_args *args)
{
    return args->a.shape[0] + args->a.shape[1] - shorter(args);
}

/* Counts a QR factorization, then the decomposition of the triangle: Golub and Van Loan, "Matrix computations", 4th
 * ed., figure 8.6.1. */
static inline double library_flops(const fl_svd_args *args)
{
    const double p = (double)shorter(args), q = (double)longer(args);

    return 6 * q * p * p + 20 * p * p * p;
}

static void CPU_NAME(plan_library)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = library_flops(args);
    launch->bytes_requested = launch->flops / 2 * size_of(args); /* at least: an element for each multiply-add */
}

/* Each operation has its operand from memory; of a rotation two are stored besides. */
static inline void count_jacobi(int64_t count, int64_t length, int sweeps, fl_launch *launch)
{
    launch->flops = jacobi_flops(count, length, sweeps);
    launch->bytes_requested = launch->flops * sizeof(double) * 10 / 12;
}

static void CPU_NAME(plan_jacobi)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    count_jacobi(shorter(args), longer(args), 1, launch);
}

/* Products with a, the sketch's rows made orthonormal twice, and u; the decomposition comes on top. */
static void CPU_NAME(plan_randomized)(void *device, const void *arguments, fl_launch *launch)
{
    const fl_svd_args *args = arguments;
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1], l = (double)svd_sketch(args);
    const double products = 2 * (SVD_POWERS + 1) * 2 * m * n * l;
    const double orthonormal = 4 * l * l * (SVD_POWERS * (m + n) + m);
    fl_launch jacobi;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    count_jacobi(svd_sketch(args), args->a.shape[1], CPU_NAME(last_sweeps), &jacobi);
    launch->flops = products + orthonormal + 2 * m * l * (double)args->s.shape[0] + jacobi.flops;
    launch->bytes_requested = (products * 5 / 8 + orthonormal) * size_of(arguments) + jacobi.bytes_requested;
}

static const char *CPU_NAME(jacobi_ran)(const fl_context *context, const void *args, fl_launch *launch)
{
    (void)context;
    count_jacobi(shorter(args), longer(args), CPU_NAME(last_sweeps), launch);
    return "jacobi";
}

static const char *CPU_NAME(randomized_ran)(const fl_context *context, const void *args, fl_launch *launch)
{
    CPU_NAME(plan_randomized)(context->device, args, launch);
    return "randomized";
}

static double CPU_NAME(bound_randomized)(void *device, const void *args)
{
    return svd_sketch_bound(((const cpu_device *)device)->host, args);
}

static double CPU_NAME(bound_single)(void *device, const void *args)
{
    return svd_single_bound(((const cpu_device *)device)->host, args);
}

/* Returns whether LAPACK decomposes; loads it. */
static bool CPU_NAME(has_library)(void)
{
    char why[512];

    return cpu_lapack_ready(NULL, why, sizeof why) == FL_OK;
}

/* Returns whether the exact variants call LAPACK. */
static bool CPU_NAME(takes_library)(const fl_svd_args *args)
{
    return !jacobi_pays(shorter(args), longer(args)) && CPU_NAME(has_library)();
}

static void CPU_NAME(plan_exact)(void *device, const void *args, fl_launch *launch)
{
    (CPU_NAME(takes_library)(args) ? CPU_NAME(plan_library) : CPU_NAME(plan_jacobi))(device, args, launch);
}

static const char *CPU_NAME(exact_ran)(const fl_context *context, const void *args, fl_launch *launch)
{
    if (!CPU_NAME(takes_library)(args))
        return CPU_NAME(jacobi_ran)(context, args, launch);
    CPU_NAME(plan_library)(context->device, args, launch);
    return "library";
}

static const char *CPU_NAME(single_ran)(const fl_context *context, const void *args, fl_launch *launch)
{
    fl_svd_args in_f32 = *(const fl_svd_args *)args;

    in_f32.a.dtype = FL_F32;
    (void)CPU_NAME(exact_ran)(context, &in_f32, launch);
    return "single";
}

/* Twice orthonormal, and a product. */
static void CPU_NAME(plan_qr)(void *device, const void *arguments, fl_launch *launch)
{
    const fl_qr_args *args = arguments;
    const double m = (double)args->a.shape[0], n = (double)args->a.shape[1], k = (double)args->qt.shape[0];

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = 4 * m * k * k + 2 * m * n * k;
    launch->bytes_requested = launch->flops * (args->a.dtype == FL_F32 ? sizeof(float) : sizeof(double));
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

static bool CPU_NAME(is_finite)(const fl_buffer *a)
{
    return a->dtype == FL_F32 ? CPU_TYPED(is_finite, f32)(a) : CPU_TYPED(is_finite, f64)(a);
}

static fl_status CPU_NAME(not_finite)(const fl_context *context, const char *operation)
{
    return context->host->error(FL_E_ARGUMENT, "%s: an element of a is not finite", operation);
}

/* The library's threads gain from about 400 x 400 elements on (16 cores); 128 x 128 takes them 1.4 times as long as
 * one. */
static fl_status CPU_NAME(run_library)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const int threads = shorter(args) * longer(args) < 400 * 400 ? 1 : ((const cpu_device *)context->device)->threads;

    (void)launch;
    if (!CPU_NAME(is_finite)(&((const fl_svd_args *)args)->a))
        return CPU_NAME(not_finite)(context, "svd");
    return cpu_lapack_svd(context->host, threads, args);
}

#define RUN(variant, operations) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        const int threads = cpu_team(context, operations); \
        (void)launch; \
        if (!CPU_NAME(is_finite)(&((const fl_svd_args *)args)->a)) \
            return CPU_NAME(not_finite)(context, "svd"); \
        return ((const fl_svd_args *)args)->a.dtype == FL_F32 \
                   ? CPU_TYPED(variant, f32)(context, args, threads, &CPU_NAME(last_sweeps)) \
                   : CPU_TYPED(variant, f64)(context, args, threads, &CPU_NAME(last_sweeps)); \
    }
/* The work of a round, or of a product of one row: between them the threads wait for each other. */
RUN(jacobi, 9 * (double)shorter(args) * (double)longer(args))
RUN(randomized, 2 * (double)svd_sketch(args) * (double)longer(args))

static fl_status CPU_NAME(run_exact)(const fl_context *context, const void *args, const fl_launch *launch)
{
    return (CPU_NAME(takes_library)(args) ? CPU_NAME(run_library) : CPU_NAME(run_jacobi))(context, args, launch);
}

static fl_status CPU_NAME(run_single)(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_svd_args *args = arguments;
    svd_single single;
    fl_status status;

    if (!CPU_NAME(is_finite)(&args->a))
        return CPU_NAME(not_finite)(context, "svd");
    status = single_open(context->host, args, CPU_TYPED(largest, f64)(&args->a), &single);
    return status == FL_OK ? single_close(args, &single, CPU_NAME(run_exact)(context, &single.args, launch)) : status;
}

/* Returns whether `auto` computes in f32: not by rotations, which are about as fast in f64. */
static bool CPU_NAME(takes_single)(const fl_context *context, const fl_svd_args *args, double tolerance)
{
    return tolerance > 0 && args->a.dtype == FL_F64 && CPU_NAME(bound_single)(context->device, args) <= tolerance &&
           svd_single_pays(args) && CPU_NAME(takes_library)(args);
}

static fl_status CPU_NAME(run_automatic)(const fl_context *context, const void *args, const fl_launch *launch)
{
    return (CPU_NAME(takes_single)(context, args, launch->tolerance) ? CPU_NAME(run_single)
                                                                     : CPU_NAME(run_exact))(context, args, launch);
}

static const char *CPU_NAME(chosen)(const fl_context *context, const void *args, fl_launch *launch)
{
    return (CPU_NAME(takes_single)(context, args, launch->tolerance) ? CPU_NAME(single_ran)
                                                                     : CPU_NAME(exact_ran))(context, args, launch);
}

static fl_status CPU_NAME(run_qr)(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_qr_args *args = arguments;
    const int threads = cpu_team(context, 2 * (double)args->qt.shape[0] * (double)args->qt.shape[1]);

    (void)launch;
    if (!CPU_NAME(is_finite)(&args->a))
        return CPU_NAME(not_finite)(context, "qr");
    if (args->a.dtype == FL_F32)
        CPU_TYPED(qr, f32)(args, threads);
    else
        CPU_TYPED(qr, f64)(args, threads);
    return FL_OK;
}

static const fl_row library_rows[] = {
    {CPU_ROW(FL_OP_SVD, "library", CPU_FLOATS, plan_library, run_library,
             "LAPACK's divide and conquer (gesdd), which computes all values; keeps the leading ones"),
     .available = cpu_lapack_ready},
};

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_SVD, "auto", CPU_FLOATS, plan_exact, run_automatic,
             "library if it loads, jacobi for few elements or without it; of f64 single, with a tolerance"),
     .chosen = CPU_NAME(chosen)},
    {CPU_ROW(FL_OP_SVD, "jacobi", CPU_FLOATS, plan_jacobi, run_jacobi,
             "one-sided Jacobi rotations in f64, written to be read"),
     .chosen = CPU_NAME(jacobi_ran)},
    {CPU_ROW(FL_OP_SVD, "single", 1u << FL_F64, plan_exact, run_single,
             "computes in f32, by library or jacobi as auto: values and vectors are exact to f32's rounding"),
     .chosen = CPU_NAME(single_ran), .restricted = true, .bound = CPU_NAME(bound_single)},
    {CPU_ROW(FL_OP_SVD, "randomized", CPU_FLOATS, plan_randomized, run_randomized,
             "decomposes a random sketch of the range: approximate leading values in a fraction of the time"),
     .chosen = CPU_NAME(randomized_ran), .restricted = true, .bound = CPU_NAME(bound_randomized)},
    {CPU_ROW(FL_OP_QR, "naive", CPU_FLOATS, plan_qr, run_qr,
             "modified Gram-Schmidt, repeated until the columns are orthonormal to rounding")},
};

const cpu_operation CPU_NAME(cpu_svd_library) = {
    .rows = library_rows, .count = sizeof library_rows / sizeof *library_rows, .found = cpu_lapack_found};
CPU_OPERATION(cpu_svd, rows);
