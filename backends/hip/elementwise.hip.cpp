/* SPDX-License-Identifier: MIT
 *
 * elementwise.hip.cpp - increment, sqrt, maximum and log_of_sum on a GPU: the rows.
 */
#include "elementwise_kernels.h"

namespace
{

template <typename F>
hip_walk walk_of(const void *arguments)
{
    if (F::inputs == 2) {
        const fl_binary_args *args = static_cast<const fl_binary_args *>(arguments);
        const fl_buffer *const buffers[] = {&args->x, &args->y, &args->out};
        return hip_walk_along(buffers, 3);
    }
    const fl_unary_args *args = static_cast<const fl_unary_args *>(arguments);
    const fl_buffer *const buffers[] = {&args->in, &args->out};
    return hip_walk_along(buffers, 2);
}

template <typename F, walk_variant v>
void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_walk walk = walk_of<F>(arguments);
    const bool real = walk.out->dtype == FL_F32 || walk.out->dtype == FL_F64;
    hip_walk_plan(static_cast<hip_device *>(self), walk, v, launch);
    launch->flops = real ? F::flops * (double)walk.layout.elements : 0;
}

/* The kernels of walk_kernels.h for one function, for hip_walk_run. */
template <typename Arrays>
struct kernels {
    static constexpr int operands = Arrays::operands;
    const fl_context *context;
    dim3 grid_size, block;
    Arrays a;

    template <typename Kernel, typename... Arguments>
    fl_status queue(Kernel kernel, const Arguments &...arguments) const
    {
        return hip_queue(context, kernel, grid_size, block, 0, a, arguments...);
    }
    template <typename Layout>
    fl_status naive(const Layout &layout, int64_t first) const
    {
        return queue(naive_kernel<Arrays, Layout>, layout, first);
    }
    template <typename Layout>
    fl_status grid_stride(const Layout &layout) const
    {
        return queue(stride_kernel<Arrays, Layout>, layout);
    }
    template <typename Layout>
    fl_status grid(const Layout &layout, const flynn_walk::mapping &m) const
    {
        return queue(grid_kernel<Arrays, Layout>, layout, m);
    }
    template <typename Layout>
    fl_status vector(const Layout &layout, int64_t packs) const
    {
        return queue(vector_kernel<Arrays, Layout>, layout, packs);
    }
    template <typename Layout, typename Index>
    fl_status vector_rows(const Layout &layout, Index packs_in_row, int64_t packs) const
    {
        return queue(vector_rows_kernel<Arrays, Layout, Index>, layout, packs_in_row, packs);
    }
};

template <typename F, walk_variant v, typename T>
fl_status run_in(const fl_context *context, const hip_walk &walk, const fl_launch *launch)
{
    const dim3 grid((unsigned)launch->grid[0], (unsigned)launch->grid[1], (unsigned)launch->grid[2]);
    const dim3 block((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
    if constexpr (F::inputs == 2) {
        using arrays = flynn_walk::arrays<F, T, T, T>;
        const kernels<arrays> k = {
            context, grid, block, {{walk.data[0], walk.data[1]}, static_cast<T *>(walk.data[2])}};
        return hip_walk_run(k, walk, v, launch);
    } else {
        using arrays = flynn_walk::arrays<F, T, T>;
        const kernels<arrays> k = {context, grid, block, {{walk.data[0]}, static_cast<T *>(walk.data[1])}};
        return hip_walk_run(k, walk, v, launch);
    }
}

/* fl_row.run of operations on any numbers. */
template <typename F, walk_variant v>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const hip_walk walk = walk_of<F>(arguments);
    switch (walk.out->dtype) {
    case FL_I32: return run_in<F, v, int32_t>(context, walk, launch);
    case FL_I64: return run_in<F, v, int64_t>(context, walk, launch);
    case FL_F32: return run_in<F, v, float>(context, walk, launch);
    default: return run_in<F, v, double>(context, walk, launch);
    }
}

/* fl_row.run of operations on floating-point numbers alone. */
template <typename F, walk_variant v>
fl_status run_real(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const hip_walk walk = walk_of<F>(arguments);
    return (walk.out->dtype == FL_F32 ? run_in<F, v, float> : run_in<F, v, double>)(context, walk, launch);
}

/* ------------------------------------------------------------------------------------------------------ rows ---- */

constexpr uint32_t reals = 1u << FL_F32 | 1u << FL_F64, numbers = reals | 1u << FL_I32 | 1u << FL_I64;

#define ROW(F, run, dtypes, name, v, summary) \
    {F::operation, name,  dtypes,  summary, plan<F, walk_variant::v>, run<F, walk_variant::v>, \
     nullptr,      false, nullptr, nullptr},
#define ROWS(F, run, dtypes) \
    ROW(F, run, dtypes, "vector", vector, "16 bytes per load, one load per thread") \
    ROW(F, run, dtypes, "naive", naive, "one thread per element in a 1-D grid") \
    ROW(F, run, dtypes, "naive-2d", grid_2d, "one thread per element in a 2-D grid") \
    ROW(F, run, dtypes, "naive-3d", grid_3d, "one thread per element in a 3-D grid") \
    ROW(F, run, dtypes, "grid-stride", grid_stride, "four blocks per multiprocessor, whose threads loop") \
    ROW(F, run, dtypes, "uncoalesced", uncoalesced, "threadIdx.x along the slowest axis, to measure its cost")

const fl_row rows[] = {ROWS(increment, run, numbers) ROWS(square_root, run_real, reals) ROWS(maximum, run, numbers)
                           ROWS(log_of_sum, run_real, reals)};

} // namespace

hip_rows hip_elementwise_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
