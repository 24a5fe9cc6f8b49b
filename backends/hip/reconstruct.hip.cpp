/* SPDX-License-Identifier: MIT
 *
 * reconstruct.hip.cpp - FL_OP_RECONSTRUCT on a GPU: its rows, of kernels in product_kernels.h and
 * reconstruct_kernels.h, and when the vendor's BLAS does it.
 */
#include "blas.hpp"
#include "product.hpp"
#include "reconstruct_kernels.h"
#include "split.hpp"

namespace
{

constexpr product_form scaled = product_form::scaled;

const fl_reconstruct_args *args_of(const void *arguments)
{
    return static_cast<const fl_reconstruct_args *>(arguments);
}

template <typename T>
factors<T> factors_of(const fl_reconstruct_args *args)
{
    const fl_buffer &u = args->u, &s = args->s, &vt = args->vt, &y = args->y;
    return {static_cast<const T *>(u.data),
            static_cast<const T *>(s.data),
            static_cast<const T *>(vt.data),
            static_cast<T *>(y.data),
            u.stride[1],
            vt.stride[1],
            y.stride[1],
            u.stride[0],
            s.stride[0],
            vt.stride[0],
            y.stride[0],
            y.shape[0],
            y.shape[1],
            y.shape[2],
            args->rank,
            false,
            false};
}

product_size size_of(const fl_reconstruct_args *args)
{
    const int64_t *shape = args->y.shape;
    return {shape[0], shape[1], shape[2], args->rank, args->y.dtype == FL_F32 ? sizeof(float) : sizeof(double), true};
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* As written: three loads and three operations a term, and a store. */
void count_naive(const product_size &size, fl_launch *launch)
{
    launch->flops = 3 * size.outputs() * (double)size.terms;
    launch->bytes_requested = size.outputs() * (3 * (double)size.terms + 1) * (double)size.element;
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const product_size size = size_of(args_of(arguments));
    settle_block(32, 8, launch);
    cut_grid(static_cast<hip_device *>(self), size, launch->block[0], launch->block[1], launch);
    count_naive(size, launch);
}

void plan_uncoalesced(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const product_size size = size_of(args_of(arguments));
    settle_block(32, 8, launch);
    cut_grid(device, size, 1, 1, launch);
    launch->grid[0] = hip_grid(device, 0, blocks_of(size.rows, launch->block[0]), launch->block[0]);
    launch->grid[1] = hip_grid(device, 1, blocks_of(size.columns, launch->block[1]), launch->block[1]);
    count_naive(size, launch);
}

void plan_tiled(void *self, const void *arguments, fl_launch *launch)
{
    plan_one_each<scaled>(static_cast<hip_device *>(self), size_of(args_of(arguments)), launch);
}

void plan_register(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reconstruct_args *args = args_of(arguments);
    if (args->y.dtype == FL_F32)
        plan_patch<scaled, scaled, float>(device, size_of(args), launch);
    else
        plan_patch<scaled, scaled, double>(device, size_of(args), launch);
}

/* The library's own loads and stores are unknown: counted are the factors and the result once, u with s in it once
 * more. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    const product_size size = size_of(args_of(arguments));
    std::memset(launch->block, 0, sizeof launch->block);
    launch->flops = size.a_elements() + size.flops();
    launch->bytes_requested = (4 * size.a_elements() + size.b_elements() + size.outputs()) * (double)size.element;
}

/* Of the packed copy of u times s, and vt and y as they are stored. */
blas_product product_of(const fl_reconstruct_args *args, const void *scaled_u)
{
    const product_size size = size_of(args);
    blas_product product = {};
    product.dtype = args->y.dtype;
    product.m = size.rows;
    product.n = size.columns;
    product.k = size.terms;
    product.alpha = 1;
    product.a = scaled_u;
    product.b = args->vt.data;
    product.c = args->y.data;
    product.a_stride = size.terms;
    product.b_stride = std::max(args->vt.stride[1], size.columns); /* of a single row it may be anything */
    product.c_stride = std::max(args->y.stride[1], size.columns);
    product.batch = size.batch;
    product.a_step = size.rows * size.terms;
    product.b_step = args->vt.stride[0];
    product.c_step = args->y.stride[0];
    return product;
}

double bound_of_others(const hip_device *device, const fl_reconstruct_args *args)
{
    return device->host->bound(FL_OP_RECONSTRUCT, "register", args);
}

bool worth_split(const hip_device *device, const fl_reconstruct_args *args)
{
    return args->y.dtype == FL_F32 && hip_split_worth(device, factors_of<float>(args));
}

/* fl_row.bound of `auto`. */
double bound_auto(void *self, const void *arguments)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reconstruct_args *args = args_of(arguments);
    const double others = bound_of_others(device, args);
    return worth_split(device, args) ? std::min(others, hip_split_bound(args->rank)) : others;
}

/* A requested block is one of `register`, unless no other variant than `split` keeps the tolerance. */
void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reconstruct_args *args = args_of(arguments);
    const bool others = launch->tolerance == 0 || launch->tolerance >= bound_of_others(device, args);
    if (worth_split(device, args) && (launch->block[0] == 0 || !others))
        hip_split_plan(factors_of<float>(args), launch);
    else if (takes_library(product_of(args, nullptr), launch))
        plan_library(self, arguments, launch);
    else
        plan_register(self, arguments, launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

template <typename T>
fl_status launch_naive(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    return by_columns(context, launch, launch->block[0], factors_of<T>(args), naive_kernel<T>);
}

template <typename T>
fl_status launch_uncoalesced(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    const factors<T> m = factors_of<T>(args);
    return launches(launch, m.rows, launch->block[0], [&](dim3 grid, int64_t first) {
        factors<T> rest = m;
        rest.a += first * m.a_stride;
        rest.c += first * m.c_stride;
        rest.rows -= first;
        return hip_queue(context, uncoalesced_kernel<T>, grid, block_of(launch), 0, rest);
    });
}

template <typename T>
fl_status launch_tiled(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    return launch_any<scaled, 1, 1>(context, factors_of<T>(args), launch);
}

template <typename T>
fl_status launch_register(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    const factors<T> m = factors_of<T>(args);
    return (are_aligned(m) ? launch_patch<scaled, scaled, true, T>
                           : launch_patch<scaled, scaled, false, T>)(context, size_of(args), m, launch);
}

template <typename T>
fl_status launch_library(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *)
{
    const factors<T> m = factors_of<T>(args);
    const hip_device *device = hip_device_of(context);
    const int64_t count = m.batch * m.rows * m.terms;
    const dim3 block(32, 8), grid((unsigned)hip_grid(device, 0, blocks_of(m.terms, block.x), block.x),
                                  (unsigned)hip_grid(device, 1, blocks_of(m.rows, block.y), block.y),
                                  (unsigned)hip_grid(device, 2, m.batch, 1));
    void *scaled_u;
    fl_status status = context->host->scratch(context, (size_t)count * sizeof(T), &scaled_u);
    if (status == FL_OK)
        status = hip_queue(context, scale_kernel<T>, grid, block, 0, m, static_cast<T *>(scaled_u));
    return status == FL_OK ? hip_blas_multiply(context, product_of(args, scaled_u)) : status;
}

/* fl_row.run: one of the above, in the dtype computed in. */
template <fl_status (*in_f32)(const fl_context *, const fl_reconstruct_args *, const fl_launch *),
          fl_status (*in_f64)(const fl_context *, const fl_reconstruct_args *, const fl_launch *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_reconstruct_args *args = args_of(arguments);
    return (args->y.dtype == FL_F32 ? in_f32 : in_f64)(context, args, launch);
}

/* The plan of `auto` for the library is the one without a block. */
template <typename T>
fl_status launch_auto(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    if (std::is_same_v<T, float> && hip_split_planned(launch))
        return hip_split_multiply(context, factors_of<float>(args), launch);
    return launch->block[0] == 0 ? launch_library<T>(context, args, launch) : launch_register<T>(context, args, launch);
}

const char *chosen(const fl_context *, const void *, fl_launch *launch)
{
    return hip_split_planned(launch) ? "split" : launch->block[0] == 0 ? "library" : "register";
}

#if defined(FLYNN_GPU_SPLIT)
/* `register` where the error would be above that of the other variants. */
void plan_split(void *self, const void *arguments, fl_launch *launch)
{
    const factors<float> m = factors_of<float>(args_of(arguments));
    if (hip_split_takes(m))
        hip_split_plan(m, launch);
    else
        plan_register(self, arguments, launch);
}

fl_status run_split(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_reconstruct_args *args = args_of(arguments);
    return hip_split_planned(launch) ? hip_split_multiply(context, factors_of<float>(args), launch)
                                     : launch_register<float>(context, args, launch);
}

double bound_split(void *self, const void *arguments)
{
    const fl_reconstruct_args *args = args_of(arguments);
    return hip_split_takes(factors_of<float>(args)) ? hip_split_bound(args->rank)
                                                    : bound_of_others(static_cast<hip_device *>(self), args);
}
#endif

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_RECONSTRUCT, "auto", dtypes, "split or library for large products if available, else register", plan_auto,
     run<launch_auto<float>, launch_auto<double>>, chosen, false, nullptr, bound_auto},
#if defined(FLYNN_GPU_SPLIT)
    {FL_OP_RECONSTRUCT, "split", 1u << FL_F32,
     "on tensor cores: each f32 as the sum of two TF32; register below 96 terms", plan_split, run_split, nullptr, false,
     hip_split_ready, bound_split},
#endif
    {FL_OP_RECONSTRUCT, "register", dtypes, "tiles in shared memory, a block of outputs in each thread's registers",
     plan_register, run<launch_register<float>, launch_register<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_RECONSTRUCT, "tiled", dtypes, "tiles of u and vt in shared memory, one thread per output", plan_tiled,
     run<launch_tiled<float>, launch_tiled<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_RECONSTRUCT, "naive", dtypes, "one thread per output, reads from global memory only", plan_naive,
     run<launch_naive<float>, launch_naive<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_RECONSTRUCT, "uncoalesced", dtypes, "naive with threadIdx.x along the rows, to measure its cost",
     plan_uncoalesced, run<launch_uncoalesced<float>, launch_uncoalesced<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_RECONSTRUCT, "library", dtypes, "multiplies a copy of u by s, then calls cuBLAS or rocBLAS", plan_library,
     run<launch_library<float>, launch_library<double>>, nullptr, false, hip_blas_ready, nullptr},
};

} // namespace

hip_rows hip_reconstruct_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
