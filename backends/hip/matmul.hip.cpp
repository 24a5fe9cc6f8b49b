/* SPDX-License-Identifier: MIT
 *
 * matmul.hip.cpp - FL_OP_MATMUL on a GPU: its rows, of kernels in product_kernels.h and matmul_kernels.h, and when the
 * vendor's BLAS does it.
 */
#include "../shared/matmul.h"
#include "matmul_kernels.h"
#include "product.hpp"
#include "split.hpp"

namespace
{

constexpr product_form plain = product_form::plain, turned = product_form::turned;

size_t element_of(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

template <typename T>
factors<T> factors_of(const blas_product &p)
{
    return {static_cast<const T *>(p.a),
            nullptr,
            static_cast<const T *>(p.b),
            static_cast<T *>(p.c),
            p.a_stride,
            p.b_stride,
            p.c_stride,
            p.a_step,
            0,
            p.b_step,
            p.c_step,
            p.batch,
            p.m,
            p.n,
            p.k,
            p.transpose_a,
            p.transpose_b};
}

product_size size_of(const blas_product &p)
{
    return {p.batch, p.m, p.n, p.k, element_of(p.dtype), false};
}

/* Calls f with a null pointer to the type that p is computed in: integers wrap. */
template <typename F>
auto with_type(const blas_product &p, F f)
{
    switch (p.dtype) {
    case FL_F32: return f((float *)nullptr);
    case FL_F64: return f((double *)nullptr);
    case FL_I32: return f((uint32_t *)nullptr);
    default: return f((uint64_t *)nullptr);
    }
}

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* As written: two loads a term, and a store. */
void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const product_size size = size_of(matmul_product(arguments));
    settle_block(32, 8, launch);
    cut_grid(static_cast<hip_device *>(self), size, launch->block[0], launch->block[1], launch);
    launch->flops = size.flops();
    launch->bytes_requested = size.outputs() * (2 * (double)size.terms + 1) * (double)size.element;
}

fl_status run_naive(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const blas_product p = matmul_product(arguments);
    return with_type(p, [&](auto *type) {
        using T = std::remove_pointer_t<decltype(type)>;
        return by_columns(context, launch, launch->block[0], factors_of<T>(p), matmul_naive_kernel<T>);
    });
}

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

void plan_tiled(void *self, const void *arguments, fl_launch *launch)
{
    plan_one_each<turned>(static_cast<hip_device *>(self), size_of(matmul_product(arguments)), launch);
}

fl_status run_tiled(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const blas_product p = matmul_product(arguments);
    return with_type(p, [&](auto *type) {
        return launch_any<turned, 1, 1>(context, factors_of<std::remove_pointer_t<decltype(type)>>(p), launch);
    });
}

/* -------------------------------------------------------------------------------------------------- register ---- */

/* Few outputs of many terms would leave most multiprocessors without a tile. Their sums are cut into parts, of which
 * each has its tiles, as a matrix of a batch has. The parts depend on the shape and the GPU, not on the block, which
 * thus changes no bit of the result. */
product_size in_parts(const hip_device *device, const product_size &size)
{
    constexpr int64_t edge = 64, least_terms = 128, whole = 8; /* terms: a multiple, so that parts are aligned */
    const int64_t tiles = std::max<int64_t>(blocks_of(size.rows, edge) * blocks_of(size.columns, edge), 1);
    const int64_t parts = std::min(2 * (int64_t)device->multiprocessors / tiles, size.terms / least_terms);
    product_size cut = size;
    if (size.batch == 1 && parts > 1) {
        cut.batch = parts;
        cut.terms = size.terms / parts / whole * whole;
    }
    return cut;
}

/* The shared memory of the form that needs more. */
void plan_register(void *self, const void *arguments, fl_launch *launch)
{
    const blas_product p = matmul_product(arguments);
    const hip_device *device = static_cast<hip_device *>(self);
    const product_size size = size_of(p), cut = in_parts(device, size);
    with_type(p, [&](auto *type) {
        using T = std::remove_pointer_t<decltype(type)>;
        plan_patch<turned, turned, T>(device, cut, launch);
    });
    launch->flops = size.flops();
    if (cut.batch > size.batch)
        launch->bytes_requested += (cut.outputs() + size.outputs()) * (double)size.element;
}

/* Chooses the patch by `size`, as the plan does. The kernel for matrices that are not transposed is for aligned floats
 * alone: the other one is nearly as fast. */
template <typename T>
fl_status launch_register(const fl_context *context, const product_size &size, const factors<T> &m,
                          const fl_launch *launch)
{
    if (!are_aligned(m))
        return launch_patch<turned, turned, false>(context, size, m, launch);
    if constexpr (std::is_floating_point_v<T>)
        if (!m.turned_a && !m.turned_b)
            return launch_patch<plain, turned, true>(context, size, m, launch);
    return launch_patch<turned, turned, true>(context, size, m, launch);
}

/* The sums of each part, those of the terms that are left after equal parts, and the sums of them all. */
template <typename T>
fl_status run_parts(const fl_context *context, const product_size &cut, const factors<T> &m, const fl_launch *launch)
{
    constexpr int width = pack<T>::width;
    const int64_t left = m.terms - cut.batch * cut.terms, parts = cut.batch + (left > 0 ? 1 : 0);
    factors<T> part = m;
    void *memory;
    part.c_stride = blocks_of(m.columns, width) * width;
    part.c_step = m.rows * part.c_stride;
    fl_status status = context->host->scratch(context, (size_t)(parts * part.c_step) * sizeof(T), &memory);
    if (status != FL_OK)
        return status;
    part.c = static_cast<T *>(memory);
    part.a_step = cut.terms * (m.turned_a ? m.a_stride : 1);
    part.b_step = cut.terms * (m.turned_b ? 1 : m.b_stride);
    part.batch = cut.batch;
    part.terms = cut.terms;
    status = launch_register(context, cut, part, launch);
    if (status == FL_OK && left > 0) {
        factors<T> last = part;
        last.a += cut.batch * part.a_step;
        last.b += cut.batch * part.b_step;
        last.c += cut.batch * part.c_step;
        last.batch = 1;
        last.terms = left;
        status = launch_register(context, cut, last, launch);
    }
    const int64_t blocks = std::min<int64_t>(blocks_of(m.rows * m.columns, 256), 1 << 16);
    return status != FL_OK ? status
                           : hip_queue(context, add_parts_kernel<T>, dim3((unsigned)blocks), dim3(256), 0, part, parts,
                                       m.c, m.c_stride);
}

fl_status run_register(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const blas_product p = matmul_product(arguments);
    const product_size size = size_of(p), cut = in_parts(hip_device_of(context), size);
    return with_type(p, [&](auto *type) {
        const auto m = factors_of<std::remove_pointer_t<decltype(type)>>(p);
        return cut.batch > size.batch ? run_parts(context, cut, m, launch) : launch_register(context, size, m, launch);
    });
}

/* ----------------------------------------------------------------------------------------- library ---- */

/* The library's own loads and stores are unknown: counted are the matrices and the result once. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    const product_size size = size_of(matmul_product(arguments));
    std::memset(launch->block, 0, sizeof launch->block);
    launch->flops = size.flops();
    launch->bytes_requested = (size.a_elements() + size.b_elements() + size.outputs()) * (double)size.element;
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    return hip_blas_multiply(context, matmul_product(arguments));
}

/* ------------------------------------------------------------------------------------------ split and auto ---- */

double bound_of_others(const hip_device *device, const void *arguments)
{
    return device->host->bound(FL_OP_MATMUL, "register", arguments);
}

#if defined(FLYNN_GPU_SPLIT)
/* `register` where the error would be above that of the other variants, and for transposed matrices. */
void plan_split(void *self, const void *arguments, fl_launch *launch)
{
    const factors<float> m = factors_of<float>(matmul_product(arguments));
    if (hip_split_takes(m))
        hip_split_plan(m, launch);
    else
        plan_register(self, arguments, launch);
}

double bound_split(void *self, const void *arguments)
{
    const factors<float> m = factors_of<float>(matmul_product(arguments));
    return hip_split_takes(m) ? hip_split_bound(m.terms) : bound_of_others(static_cast<hip_device *>(self), arguments);
}
#endif

fl_status run_split(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return hip_split_planned(launch) ? hip_split_multiply(context, factors_of<float>(matmul_product(arguments)), launch)
                                     : run_register(context, arguments, launch);
}

bool worth_split(const hip_device *device, const blas_product &p)
{
    return p.dtype == FL_F32 && hip_split_worth(device, factors_of<float>(p));
}

/* fl_row.bound of `auto`. */
double bound_auto(void *self, const void *arguments)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const blas_product p = matmul_product(arguments);
    const double others = bound_of_others(device, arguments);
    return worth_split(device, p) ? std::min(others, hip_split_bound(p.k)) : others;
}

/* A requested block is one of `register`, unless no other variant than `split` keeps the tolerance. */
void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const blas_product p = matmul_product(arguments);
    const bool others = launch->tolerance == 0 || launch->tolerance >= bound_of_others(device, arguments);
    if (worth_split(device, p) && (launch->block[0] == 0 || !others))
        hip_split_plan(factors_of<float>(p), launch);
    else if (takes_library(p, launch))
        plan_library(self, arguments, launch);
    else
        plan_register(self, arguments, launch);
}

/* The plan of `auto` for the library is the one without a block. */
fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return (launch->block[0] == 0 ? run_library : run_split)(context, arguments, launch);
}

const char *chosen(const fl_context *, const void *, fl_launch *launch)
{
    return hip_split_planned(launch) ? "split" : launch->block[0] == 0 ? "library" : "register";
}

constexpr uint32_t floats = 1u << FL_F32 | 1u << FL_F64, numbers = floats | 1u << FL_I32 | 1u << FL_I64;

/* Without an `auto` for integers: it is `register`. */
const fl_row rows[] = {
    {FL_OP_MATMUL, "auto", floats, "split or library for large products if available, else register", plan_auto,
     run_auto, chosen, false, nullptr, bound_auto},
#if defined(FLYNN_GPU_SPLIT)
    {FL_OP_MATMUL, "split", 1u << FL_F32, "on tensor cores: each f32 as the sum of two TF32; register below 96 terms",
     plan_split, run_split, nullptr, false, hip_split_ready, bound_split},
#endif
    {FL_OP_MATMUL, "register", numbers, "tiles in shared memory, a block of outputs in each thread's registers",
     plan_register, run_register, nullptr, false, nullptr, nullptr},
    {FL_OP_MATMUL, "tiled", numbers, "tiles of a and b in shared memory, one thread per output", plan_tiled, run_tiled,
     nullptr, false, nullptr, nullptr},
    {FL_OP_MATMUL, "naive", numbers, "one thread per output, reads from global memory only", plan_naive, run_naive,
     nullptr, false, nullptr, nullptr},
    {FL_OP_MATMUL, "library", floats, "calls cuBLAS or rocBLAS", plan_library, run_library, nullptr, false,
     hip_blas_ready, nullptr},
};

} // namespace

hip_rows hip_matmul_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
