/* SPDX-License-Identifier: MIT
 *
 * transpose.hip.cpp - FL_OP_TRANSPOSE on a GPU. The kernels are in transpose_kernels.h.
 */
#include "device.hpp"
#include "transpose_kernels.h"

#include <algorithm>
#include <utility>

namespace
{

const fl_transpose_args *args_of(const void *arguments)
{
    return static_cast<const fl_transpose_args *>(arguments);
}

int size_of(const fl_transpose_args *args)
{
    const fl_dtype dtype = args->in.dtype;
    return dtype == FL_U8 ? 1 : dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

/* Calls f with an integer of the size of the elements. */
template <typename F>
auto with_bits(const fl_transpose_args *args, F f)
{
    const int size = size_of(args);
    return size == 1 ? f(uint8_t()) : size == 4 ? f(uint32_t()) : f(uint64_t());
}

int64_t elements_of(const fl_buffer &b)
{
    return b.shape[0] * b.shape[1] * b.shape[2] * b.shape[3];
}

int64_t blocks_for(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

/* An element's place in `out` goes by out's strides, of which the last two change their parts. */
transposing problem_of(const fl_transpose_args *args)
{
    transposing t = {args->in.data, args->out.data, {}, {}, {}};
    for (int d = 0; d < 4; d++) {
        t.shape[d] = args->in.shape[d];
        t.in_stride[d] = args->in.stride[d];
        t.out_stride[d] = args->out.stride[d < 2 ? d : 5 - d];
    }
    return t;
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

int64_t tiles_of(const fl_transpose_args *args, int edge)
{
    const int64_t *shape = args->in.shape;
    return shape[0] * shape[1] * blocks_for(shape[2], edge) * blocks_for(shape[3], edge);
}

int edge_of(const fl_transpose_args *args)
{
    return with_bits(args, [](auto bits) { return transpose_layout<decltype(bits)>::edge; });
}

/* A grid for that many blocks, of 256 threads if none is requested, each with so many bytes of shared memory. `blocks`
 * is called with the threads of one. */
template <typename F>
void plan_blocks(void *self, const fl_transpose_args *args, fl_launch *launch, int64_t shared, F blocks)
{
    const hip_device *device = static_cast<hip_device *>(self);
    if (!hip_block(device, 256, launch))
        return;
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    launch->grid[0] = hip_grid(device, 0, blocks(threads), launch->block[0]);
    launch->shared_bytes = shared;
    launch->bytes_requested = 2.0 * size_of(args) * (double)elements_of(args->in);
}

void plan_elements(void *self, const void *arguments, fl_launch *launch)
{
    const fl_transpose_args *args = args_of(arguments);
    plan_blocks(self, args, launch, 0, [&](int threads) { return blocks_for(elements_of(args->in), threads); });
}

void plan_tiled(void *self, const void *arguments, fl_launch *launch)
{
    const fl_transpose_args *args = args_of(arguments);
    plan_blocks(self, args, launch, simple_edge * simple_edge * size_of(args),
                [&](int) { return tiles_of(args, simple_edge); });
}

void plan_padded(void *self, const void *arguments, fl_launch *launch)
{
    const fl_transpose_args *args = args_of(arguments);
    const int64_t shared = with_bits(args, [](auto bits) {
        using layout = transpose_layout<decltype(bits)>;
        return (int64_t)(layout::cells * sizeof(typename layout::cell));
    });
    plan_blocks(self, args, launch, shared, [&](int) { return tiles_of(args, edge_of(args)); });
}

/* Whether a tile of `padded` would be mostly empty. */
bool is_thin(const fl_transpose_args *args)
{
    const int64_t edge = edge_of(args), *shape = args->in.shape;
    return std::min(shape[2], edge) * std::min(shape[3], edge) <= edge * edge / 8;
}

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    (is_thin(args_of(arguments)) ? plan_elements : plan_padded)(self, arguments, launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

dim3 block_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
}

/* In the order of `t.shape`. */
fl_status run_in_order(const fl_context *context, const fl_transpose_args *args, const transposing &t,
                       const fl_launch *launch)
{
    return with_bits(args, [&](auto bits) {
        return hip_queue(context, naive_transpose<decltype(bits)>, dim3((unsigned)launch->grid[0]), block_of(launch), 0,
                         t);
    });
}

fl_status run_naive(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return run_in_order(context, args_of(arguments), problem_of(args_of(arguments)), launch);
}

/* If the matrix is wide, the rows of `out` are short, and the order is its: a warp then reads from few rows of `in`. */
fl_status run_linear(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    transposing t = problem_of(args_of(arguments));
    if (t.shape[2] <= t.shape[3]) {
        std::swap(t.shape[2], t.shape[3]);
        std::swap(t.in_stride[2], t.in_stride[3]);
        std::swap(t.out_stride[2], t.out_stride[3]);
    }
    return run_in_order(context, args_of(arguments), t, launch);
}

fl_status run_tiled(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_transpose_args *args = args_of(arguments);
    return with_bits(args, [&](auto bits) {
        return hip_queue(context, tiled_transpose<decltype(bits)>, dim3((unsigned)launch->grid[0]), block_of(launch),
                         (size_t)launch->shared_bytes, problem_of(args), tiles_of(args, simple_edge));
    });
}

fl_status run_padded(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_transpose_args *args = args_of(arguments);
    return with_bits(args, [&](auto bits) {
        return hip_queue(context, padded_transpose<decltype(bits)>, dim3((unsigned)launch->grid[0]), block_of(launch),
                         (size_t)launch->shared_bytes, problem_of(args), tiles_of(args, edge_of(args)));
    });
}

fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return (is_thin(args_of(arguments)) ? run_linear : run_padded)(context, arguments, launch);
}

const char *chosen(const fl_context *, const void *arguments, fl_launch *)
{
    return is_thin(args_of(arguments)) ? "linear" : "padded";
}

constexpr uint32_t any = (1u << FL_DTYPE_COUNT) - 1;

const fl_row rows[] = {
    {FL_OP_TRANSPOSE, "auto", any, "padded, but linear for matrices with few rows or columns", plan_auto, run_auto,
     chosen, false, nullptr, nullptr},
    {FL_OP_TRANSPOSE, "padded", any, "tiles in shared memory without bank conflicts, 16 bytes a thread at a time",
     plan_padded, run_padded, nullptr, false, nullptr, nullptr},
    {FL_OP_TRANSPOSE, "linear", any, "one element a thread, in the order of the array with the shorter rows",
     plan_elements, run_linear, nullptr, false, nullptr, nullptr},
    {FL_OP_TRANSPOSE, "tiled", any, "tiles of 32 x 32 without padding, to measure the cost of bank conflicts",
     plan_tiled, run_tiled, nullptr, false, nullptr, nullptr},
    {FL_OP_TRANSPOSE, "naive", any, "one element a thread: neighbours read together, and write a row apart",
     plan_elements, run_naive, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_transpose_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
