/* SPDX-License-Identifier: MIT
 *
 * product.hpp - which kernel of product_kernels.h runs, in which blocks, what it loads, and its launch: for reconstruct
 * and matmul.
 */
#ifndef FLYNN_HIP_PRODUCT_HPP
#define FLYNN_HIP_PRODUCT_HPP

#include "blas.hpp"
#include "product_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

/* How large a product is. `scaled`: with factors on a diagonal. */
struct product_size {
    int64_t batch, rows, columns, terms;
    size_t element;
    bool scaled;

    double outputs() const
    {
        return (double)batch * (double)rows * (double)columns;
    }

    double a_elements() const
    {
        return (double)batch * (double)rows * (double)terms;
    }

    double b_elements() const
    {
        return (double)batch * (double)terms * (double)columns;
    }

    double flops() const
    {
        return 2 * outputs() * (double)terms;
    }
};

/* ------------------------------------------------------------------------------------------- blocks, tiles ---- */

inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The requested block, whose z multiplies y, or `x` x `y`. */
inline void settle_block(int x, int y, fl_launch *launch)
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
inline void cut_grid(const hip_device *device, const product_size &size, int64_t width, int64_t height,
                     fl_launch *launch)
{
    launch->grid[0] = hip_grid(device, 0, blocks_of(size.columns, width), launch->block[0]);
    launch->grid[1] = hip_grid(device, 1, blocks_of(size.rows, height), launch->block[1]);
    launch->grid[2] = hip_grid(device, 2, size.batch, 1);
}

inline dim3 block_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1]);
}

/* Outputs of a thread of `register` in blocks that are not a patch's. */
template <product_form form>
constexpr int rows_of_any = form == product_form::turned ? any_turned_rows : any_rows;
template <product_form form>
constexpr int columns_of_any = form == product_form::turned ? any_turned_columns : any_columns;

/* Terms of a tile of `tiled`: as many as a block's shared memory takes without asking for more. */
template <product_form form>
int depth_of(const hip_device *device, int64_t width, int64_t height, size_t element)
{
    int depth = 32;
    while (depth > 1 && (size_t)tiled_shared<form>(width, height, depth) * element > device->usual_shared)
        depth /= 2;
    return depth;
}

/* The time of the multiprocessor that has the most tiles; infinite where the patch is not for this block. */
template <typename P>
double time_of(const hip_device *device, const product_size &size, const int32_t *block, tile_times times)
{
    if (block[0] != 0 && (block[0] != P::x || block[1] != P::y))
        return INFINITY;
    const double tiles =
        (double)size.batch * (double)blocks_of(size.rows, P::height) * (double)blocks_of(size.columns, P::width);
    const double most = std::ceil(tiles / device->multiprocessors), rounds = std::floor(most / P::blocks);
    const double left = most - rounds * P::blocks;
    const double last = left > 0 ? times.alone + (times.together - times.alone) * (left - 1) / (P::blocks - 1) : 0;
    return rounds * times.together + last;
}

/* Calls f with the fastest patch for this block (without one: of all), else `other`. */
template <typename T, typename F, typename G>
auto with_patch(const hip_device *device, const product_size &size, const int32_t *block, F f, G other)
{
    using all = patches<T>;
    const double large = time_of<typename all::large>(device, size, block, all::of_large);
    const double medium = time_of<typename all::medium>(device, size, block, all::of_medium);
    const double small = time_of<typename all::small>(device, size, block, all::of_small);
    if (!std::isfinite(std::min({large, medium, small})))
        return other();
    if (large <= medium && large <= small)
        return f(typename all::large());
    return medium <= small ? f(typename all::medium()) : f(typename all::small());
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* Each block loads its rows of a, with s, and its columns of b. */
inline void count_tiles(const product_size &size, int64_t width, int64_t height, fl_launch *launch)
{
    const double across = (double)blocks_of(size.columns, width), down = (double)blocks_of(size.rows, height);
    launch->flops = (size.scaled ? size.a_elements() * across : 0) + size.flops();
    launch->bytes_requested =
        ((size.scaled ? 2 : 1) * size.a_elements() * across + size.b_elements() * down + size.outputs()) *
        (double)size.element;
}

template <product_form form>
void plan_any(const hip_device *device, const product_size &size, int rows, int columns, fl_launch *launch)
{
    const int64_t width = (int64_t)launch->block[0] * columns, height = (int64_t)launch->block[1] * rows;
    const int depth = depth_of<form>(device, width, height, size.element);
    launch->shared_bytes = tiled_shared<form>(width, height, depth) * (int64_t)size.element;
    cut_grid(device, size, width, height, launch);
    count_tiles(size, width, height, launch);
}

/* The plan of `tiled`. */
template <product_form form>
void plan_one_each(const hip_device *device, const product_size &size, fl_launch *launch)
{
    settle_block(32, 16, launch);
    plan_any<form>(device, size, 1, 1, launch);
}

/* The plan of `register`, whose kernel is of the form `own`, in other blocks than a patch's of the form `any`. */
template <product_form own, product_form any, typename T>
void plan_patch(const hip_device *device, const product_size &size, fl_launch *launch)
{
    if (launch->block[0] > 0)
        settle_block(0, 0, launch);
    with_patch<T>(
        device, size, launch->block,
        [&](auto shape) {
            using P = decltype(shape);
            settle_block(P::x, P::y, launch);
            launch->shared_bytes = patch_memory<P, own, T>::elements * (int64_t)sizeof(T);
            cut_grid(device, size, P::width, P::height, launch);
            count_tiles(size, P::width, P::height, launch);
        },
        [&] { plan_any<any>(device, size, rows_of_any<any>, columns_of_any<any>, launch); });
}

/* True if `auto` uses the library. A requested block is one of `register`. */
inline bool takes_library(const blas_product &product, const fl_launch *launch)
{
    const double flops = 2 * (double)product.batch * (double)product.m * (double)product.n * (double)product.k;
    return launch->block[0] == 0 && blas_can_count(&product) && flops >= hip_blas_worth(product.dtype) &&
           hip_blas_loads();
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

/* Calls f(grid, first) for launches that begin with the blocks at `first` of `n` rows or columns, `width` a block: one
 * launch, unless these are more than a grid may have. (A loop in the kernels would take registers from them.) */
template <typename F>
fl_status launches(const fl_launch *launch, int64_t n, int64_t width, F f)
{
    fl_status status = FL_OK;
    for (int64_t first = 0; first < n && status == FL_OK; first += launch->grid[0] * width) {
        const int64_t blocks = std::min(blocks_of(n - first, width), launch->grid[0]);
        status = f(dim3((unsigned)blocks, (unsigned)launch->grid[1], (unsigned)launch->grid[2]), first);
    }
    return status;
}

/* The same for the result's columns, with kernel(rest, arguments...), the rest being what begins there. */
template <typename T, typename Kernel, typename... Arguments>
fl_status by_columns(const fl_context *context, const fl_launch *launch, int64_t width, const factors<T> &m,
                     Kernel kernel, Arguments... arguments)
{
    return launches(launch, m.columns, width, [&](dim3 grid, int64_t first) {
        factors<T> rest = m;
        rest.b += first * (m.turned_b ? m.b_stride : 1);
        rest.c += first;
        rest.columns -= first;
        return hip_queue(context, kernel, grid, block_of(launch), (size_t)launch->shared_bytes, rest, arguments...);
    });
}

template <product_form form, int R, int C, typename T>
fl_status launch_any(const fl_context *context, const factors<T> &m, const fl_launch *launch)
{
    const int depth =
        depth_of<form>(hip_device_of(context), (int64_t)launch->block[0] * C, (int64_t)launch->block[1] * R, sizeof(T));
    return by_columns(context, launch, (int64_t)launch->block[0] * C, m, tiled_kernel<form, R, C, T>, depth);
}

/* Whether every row of the matrix begins at a multiple of 16 bytes. */
template <typename T>
bool is_aligned(const T *data, int64_t stride, int64_t step)
{
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 && stride % pack<T>::width == 0 && step % pack<T>::width == 0;
}

template <typename T>
bool are_aligned(const factors<T> &m)
{
    return is_aligned(m.a, m.a_stride, m.a_step) && is_aligned(m.s, 0, m.s_step) &&
           is_aligned(m.b, m.b_stride, m.b_step) && is_aligned(m.c, m.c_stride, m.c_step);
}

/* `register` by the kernel of the form `own`, in other blocks than a patch's of the form `any`. */
template <product_form own, product_form any, bool vectors, typename T>
fl_status launch_patch(const fl_context *context, const product_size &size, const factors<T> &m,
                       const fl_launch *launch)
{
    return with_patch<T>(
        hip_device_of(context), size, launch->block,
        [&](auto shape) {
            using P = decltype(shape);
            return by_columns(context, launch, P::width, m, register_kernel<own, P, vectors, T>);
        },
        [&] { return launch_any<any, rows_of_any<any>, columns_of_any<any>>(context, m, launch); });
}

#endif
