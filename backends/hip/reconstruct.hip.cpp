/* SPDX-License-Identifier: MIT
 *
 * reconstruct.hip.cpp - FL_OP_RECONSTRUCT on a GPU: which kernel of reconstruct_kernels.h runs, in which blocks, and
 * when the vendor's BLAS does it.
 */
#include "blas.hpp"
#include "reconstruct_kernels.h"

#include <algorithm>
#include <cmath>

namespace
{

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
            args->rank};
}

size_t size_of(const fl_reconstruct_args *args)
{
    return args->y.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

double outputs_of(const fl_reconstruct_args *args)
{
    return (double)args->y.shape[0] * (double)args->y.shape[1] * (double)args->y.shape[2];
}

double u_elements_of(const fl_reconstruct_args *args)
{
    return (double)args->y.shape[0] * (double)args->y.shape[1] * (double)args->rank;
}

double vt_elements_of(const fl_reconstruct_args *args)
{
    return (double)args->y.shape[0] * (double)args->rank * (double)args->y.shape[2];
}

/* ------------------------------------------------------------------------------------------- blocks, tiles ---- */

int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The requested block, whose z multiplies y, or `x` x `y`. */
void settle_block(int x, int y, fl_launch *launch)
{
    int32_t *block = launch->block;
    if (block[0] <= 0) {
        block[0] = x;
        block[1] = y;
    } else if ((int64_t)block[1] * block[2] <= INT32_MAX) { /* else core refuses it as it is */
        block[1] *= block[2];
    }
    block[2] = 1;
}

/* Blocks for tiles of `width` x `height`. Those that do not fit in y and z are taken by the same blocks one after the
 * other; in x, by_columns launches the grid several times. */
void cut_grid(const hip_device *device, const fl_reconstruct_args *args, int64_t width, int64_t height,
              fl_launch *launch)
{
    launch->grid[0] = hip_grid(device, 0, blocks_of(args->y.shape[2], width), launch->block[0]);
    launch->grid[1] = hip_grid(device, 1, blocks_of(args->y.shape[1], height), launch->block[1]);
    launch->grid[2] = hip_grid(device, 2, args->y.shape[0], 1);
}

dim3 block_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1]);
}

/* Terms of a tile of `tiled`: as many as a block's shared memory takes without asking for more. */
int depth_of(const hip_device *device, int64_t width, int64_t height, size_t element)
{
    int depth = 32;
    while (depth > 1 && (size_t)tiled_shared(width, height, depth) * element > device->usual_shared)
        depth /= 2;
    return depth;
}

/* The time of the multiprocessor that has the most tiles; infinite where the patch is not for this block. */
template <typename P>
double time_of(const hip_device *device, const fl_reconstruct_args *args, const int32_t *block, tile_times times)
{
    if (block[0] != 0 && (block[0] != P::x || block[1] != P::y))
        return INFINITY;
    const double tiles = (double)args->y.shape[0] * (double)blocks_of(args->y.shape[1], P::height) *
                         (double)blocks_of(args->y.shape[2], P::width);
    const double most = std::ceil(tiles / device->multiprocessors), rounds = std::floor(most / P::blocks);
    const double left = most - rounds * P::blocks;
    const double last = left > 0 ? times.alone + (times.together - times.alone) * (left - 1) / (P::blocks - 1) : 0;
    return rounds * times.together + last;
}

/* Calls f with the fastest patch for this block (without one: of all), else `other`. */
template <typename T, typename F, typename G>
auto with_patch(const hip_device *device, const fl_reconstruct_args *args, const int32_t *block, F f, G other)
{
    using all = patches<T>;
    const double large = time_of<typename all::large>(device, args, block, all::of_large);
    const double medium = time_of<typename all::medium>(device, args, block, all::of_medium);
    const double small = time_of<typename all::small>(device, args, block, all::of_small);
    if (!std::isfinite(std::min({large, medium, small})))
        return other();
    if (large <= medium && large <= small)
        return f(typename all::large());
    return medium <= small ? f(typename all::medium()) : f(typename all::small());
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* As written: three loads and three operations a term, and a store. */
void count_naive(const fl_reconstruct_args *args, fl_launch *launch)
{
    launch->flops = 3 * outputs_of(args) * (double)args->rank;
    launch->bytes_requested = outputs_of(args) * (3 * (double)args->rank + 1) * (double)size_of(args);
}

/* Each block loads its rows of u, with s, and its columns of vt. */
void count_tiles(const fl_reconstruct_args *args, int64_t width, int64_t height, fl_launch *launch)
{
    const double across = (double)blocks_of(args->y.shape[2], width),
                 down = (double)blocks_of(args->y.shape[1], height);
    launch->flops = u_elements_of(args) * across + 2 * outputs_of(args) * (double)args->rank;
    launch->bytes_requested =
        (2 * u_elements_of(args) * across + vt_elements_of(args) * down + outputs_of(args)) * (double)size_of(args);
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const fl_reconstruct_args *args = args_of(arguments);
    settle_block(32, 8, launch);
    cut_grid(static_cast<hip_device *>(self), args, launch->block[0], launch->block[1], launch);
    count_naive(args, launch);
}

void plan_uncoalesced(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reconstruct_args *args = args_of(arguments);
    settle_block(32, 8, launch);
    cut_grid(device, args, 1, 1, launch);
    launch->grid[0] = hip_grid(device, 0, blocks_of(args->y.shape[1], launch->block[0]), launch->block[0]);
    launch->grid[1] = hip_grid(device, 1, blocks_of(args->y.shape[2], launch->block[1]), launch->block[1]);
    count_naive(args, launch);
}

void plan_any(const hip_device *device, const fl_reconstruct_args *args, int rows, int columns, fl_launch *launch)
{
    const int64_t width = (int64_t)launch->block[0] * columns, height = (int64_t)launch->block[1] * rows;
    const int depth = depth_of(device, width, height, size_of(args));
    launch->shared_bytes = tiled_shared(width, height, depth) * (int64_t)size_of(args);
    cut_grid(device, args, width, height, launch);
    count_tiles(args, width, height, launch);
}

void plan_tiled(void *self, const void *arguments, fl_launch *launch)
{
    settle_block(32, 16, launch);
    plan_any(static_cast<hip_device *>(self), args_of(arguments), 1, 1, launch);
}

template <typename T>
void plan_patch(const hip_device *device, const fl_reconstruct_args *args, fl_launch *launch)
{
    with_patch<T>(
        device, args, launch->block,
        [&](auto shape) {
            using P = decltype(shape);
            settle_block(P::x, P::y, launch);
            launch->shared_bytes = patch_memory<P, T>::elements * (int64_t)sizeof(T);
            cut_grid(device, args, P::width, P::height, launch);
            count_tiles(args, P::width, P::height, launch);
        },
        [&] { plan_any(device, args, any_rows, any_columns, launch); });
}

void plan_register(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reconstruct_args *args = args_of(arguments);
    if (launch->block[0] > 0)
        settle_block(0, 0, launch);
    if (args->y.dtype == FL_F32)
        plan_patch<float>(device, args, launch);
    else
        plan_patch<double>(device, args, launch);
}

/* What is inside the library is not ours to count: the factors and the result once, u with s in it once more. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    const fl_reconstruct_args *args = args_of(arguments);
    std::memset(launch->block, 0, sizeof launch->block);
    launch->flops = u_elements_of(args) + 2 * outputs_of(args) * (double)args->rank;
    launch->bytes_requested =
        (4 * u_elements_of(args) + vt_elements_of(args) + outputs_of(args)) * (double)size_of(args);
}

/* True if `auto` uses the library. A requested block is one of `register`. */
bool takes_library(const fl_reconstruct_args *args, const fl_launch *launch)
{
    const int64_t *shape = args->y.shape, *vt = args->vt.stride, *y = args->y.stride;
    const bool counts = shape[0] <= INT32_MAX && shape[1] <= INT32_MAX && shape[2] <= INT32_MAX &&
                        args->rank <= INT32_MAX && vt[1] <= INT32_MAX && y[1] <= INT32_MAX;
    const double flops = 2 * outputs_of(args) * (double)args->rank;
    return launch->block[0] == 0 && counts && flops >= hip_blas_worth(args->y.dtype) && hip_blas_loads();
}

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    if (takes_library(args_of(arguments), launch))
        plan_library(self, arguments, launch);
    else
        plan_register(self, arguments, launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

/* Calls f(grid, first) for launches that begin with the blocks at `first` of `n` rows or columns, `width` a block: one
 * launch, unless these are more than a grid may have. (A loop in the kernels would take registers from them.) */
template <typename F>
fl_status launches(const fl_launch *launch, int64_t n, int64_t width, F f)
{
    fl_status status = FL_OK;
    for (int64_t first = 0; first < n && status == FL_OK; first += launch->grid[0] * width) {
        const int64_t blocks = least(blocks_of(n - first, width), launch->grid[0]);
        status = f(dim3((unsigned)blocks, (unsigned)launch->grid[1], (unsigned)launch->grid[2]), first);
    }
    return status;
}

/* The same for the result's columns, with kernel(rest, arguments...), the rest being what begins there. */
template <typename T, typename Kernel, typename... Arguments>
fl_status by_columns(const fl_context *context, const fl_launch *launch, int64_t width, const factors<T> &c,
                     Kernel kernel, Arguments... arguments)
{
    return launches(launch, c.columns, width, [&](dim3 grid, int64_t first) {
        factors<T> rest = c;
        rest.vt += first;
        rest.y += first;
        rest.columns -= first;
        return hip_queue(context, kernel, grid, block_of(launch), (size_t)launch->shared_bytes, rest, arguments...);
    });
}

template <typename T>
fl_status launch_naive(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    return by_columns(context, launch, launch->block[0], factors_of<T>(args), naive_kernel<T>);
}

template <typename T>
fl_status launch_uncoalesced(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    const factors<T> c = factors_of<T>(args);
    return launches(launch, c.rows, launch->block[0], [&](dim3 grid, int64_t first) {
        factors<T> rest = c;
        rest.u += first * c.u_stride;
        rest.y += first * c.y_stride;
        rest.rows -= first;
        return hip_queue(context, uncoalesced_kernel<T>, grid, block_of(launch), 0, rest);
    });
}

template <int R, int C, typename T>
fl_status launch_any(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    const int depth =
        depth_of(hip_device_of(context), (int64_t)launch->block[0] * C, (int64_t)launch->block[1] * R, sizeof(T));
    return by_columns(context, launch, (int64_t)launch->block[0] * C, factors_of<T>(args), tiled_kernel<R, C, T>,
                      depth);
}

template <typename T>
fl_status launch_tiled(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    return launch_any<1, 1, T>(context, args, launch);
}

/* Whether every row of the matrix begins at a multiple of 16 bytes. */
template <typename T>
bool is_aligned(const T *data, int64_t stride, int64_t step)
{
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 && stride % pack<T>::width == 0 && step % pack<T>::width == 0;
}

template <typename T>
fl_status launch_register(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *launch)
{
    const factors<T> c = factors_of<T>(args);
    const bool vectors = is_aligned(c.u, c.u_stride, c.u_step) && is_aligned(c.s, 0, c.s_step) &&
                         is_aligned(c.vt, c.vt_stride, c.vt_step) && is_aligned(c.y, c.y_stride, c.y_step);
    return with_patch<T>(
        hip_device_of(context), args, launch->block,
        [&](auto shape) {
            using P = decltype(shape);
            return by_columns(context, launch, P::width, c,
                              vectors ? register_kernel<P, true, T> : register_kernel<P, false, T>);
        },
        [&] { return launch_any<any_rows, any_columns, T>(context, args, launch); });
}

template <typename T>
fl_status launch_library(const fl_context *context, const fl_reconstruct_args *args, const fl_launch *)
{
    const factors<T> c = factors_of<T>(args);
    const hip_device *device = hip_device_of(context);
    const int64_t count = c.batch * c.rows * c.rank;
    const dim3 block(32, 8), grid((unsigned)hip_grid(device, 0, blocks_of(c.rank, block.x), block.x),
                                  (unsigned)hip_grid(device, 1, blocks_of(c.rows, block.y), block.y),
                                  (unsigned)hip_grid(device, 2, c.batch, 1));
    void *scaled;
    fl_status status = context->host->scratch(context, (size_t)count * sizeof(T), &scaled);
    if (status == FL_OK)
        status = hip_queue(context, scale_kernel<T>, grid, block, 0, c, static_cast<T *>(scaled));
    if (status != FL_OK)
        return status;
    blas_product product = {};
    product.dtype = args->y.dtype;
    product.m = c.rows;
    product.n = c.columns;
    product.k = c.rank;
    product.alpha = 1;
    product.a = scaled;
    product.b = c.vt;
    product.c = c.y;
    product.a_stride = c.rank;
    product.b_stride = c.vt_stride > c.columns ? c.vt_stride : c.columns; /* of a single row it may be anything */
    product.c_stride = c.y_stride > c.columns ? c.y_stride : c.columns;
    product.batch = c.batch;
    product.a_step = c.rows * c.rank;
    product.b_step = c.vt_step;
    product.c_step = c.y_step;
    return hip_blas_multiply(context, product);
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
    return launch->block[0] == 0 ? launch_library<T>(context, args, launch) : launch_register<T>(context, args, launch);
}

const char *chosen(const fl_context *, const void *, fl_launch *launch)
{
    return launch->block[0] == 0 ? "library" : "register";
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_RECONSTRUCT, "auto", dtypes, "library for large products if available, else register", plan_auto,
     run<launch_auto<float>, launch_auto<double>>, chosen, false, nullptr},
    {FL_OP_RECONSTRUCT, "register", dtypes, "tiles in shared memory, a block of outputs in each thread's registers",
     plan_register, run<launch_register<float>, launch_register<double>>, nullptr, false, nullptr},
    {FL_OP_RECONSTRUCT, "tiled", dtypes, "tiles of u and vt in shared memory, one thread per output", plan_tiled,
     run<launch_tiled<float>, launch_tiled<double>>, nullptr, false, nullptr},
    {FL_OP_RECONSTRUCT, "naive", dtypes, "one thread per output, reads from global memory only", plan_naive,
     run<launch_naive<float>, launch_naive<double>>, nullptr, false, nullptr},
    {FL_OP_RECONSTRUCT, "uncoalesced", dtypes, "naive with threadIdx.x along the rows, to measure its cost",
     plan_uncoalesced, run<launch_uncoalesced<float>, launch_uncoalesced<double>>, nullptr, false, nullptr},
    {FL_OP_RECONSTRUCT, "library", dtypes, "multiplies a copy of u by s, then calls cuBLAS or rocBLAS", plan_library,
     run<launch_library<float>, launch_library<double>>, nullptr, false, hip_blas_ready},
};

} // namespace

hip_rows hip_reconstruct_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
