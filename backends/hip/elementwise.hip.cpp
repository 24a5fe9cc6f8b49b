/* SPDX-License-Identifier: MIT
 *
 * elementwise.hip.cpp - increment, sqrt, maximum and log_of_sum on a GPU: which kernel of elementwise_kernels.h runs,
 * in which blocks.
 */
#include "elementwise_kernels.h"

#include <algorithm>

namespace
{

/* ------------------------------------------------------------------------------------------------ the arrays ---- */

/* An operation of one input has it twice. */
struct operands {
    const fl_buffer *x, *y, *out;
};

template <typename F>
operands operands_of(const void *arguments)
{
    if (F::inputs == 2) {
        const fl_binary_args *args = static_cast<const fl_binary_args *>(arguments);
        return {&args->x, &args->y, &args->out};
    }
    const fl_unary_args *args = static_cast<const fl_unary_args *>(arguments);
    return {&args->in, &args->in, &args->out};
}

int64_t elements_of(const fl_buffer *buffer)
{
    int64_t elements = 1;
    for (int d = 0; d < buffer->ndim; d++)
        elements *= buffer->shape[d];
    return elements;
}

/* Where the elements are, innermost dimension first. Dimensions that follow each other without a gap in all arrays are
 * one: where there is one dimension in the end, the arrays are packed. */
strided<int64_t> layout_of(const operands &o)
{
    strided<int64_t> l = {1, 1, {1}, {1}, {1}, {1}};
    for (int d = o.out->ndim - 1; d >= 0; d--) {
        const int64_t shape = o.out->shape[d], x = o.x->stride[d], y = o.y->stride[d], out = o.out->stride[d];
        const int last = l.dimensions - 1;
        const int64_t length = l.shape[last];
        l.elements *= shape;
        if (shape == 1)
            continue;
        if (x == length * l.x[last] && y == length * l.y[last] && out == length * l.out[last]) {
            l.shape[last] *= shape;
            continue;
        }
        l.shape[l.dimensions] = shape;
        l.x[l.dimensions] = x;
        l.y[l.dimensions] = y;
        l.out[l.dimensions++] = out;
    }
    return l;
}

/* Whether 32 bits count the elements, those of blocks beyond the end included, and reach the furthest one. */
bool is_short(const strided<int64_t> &l, int64_t packs)
{
    int64_t x = 0, y = 0, out = 0;
    for (int d = 0; d < l.dimensions; d++) {
        x += (l.shape[d] - 1) * l.x[d];
        y += (l.shape[d] - 1) * l.y[d];
        out += (l.shape[d] - 1) * l.out[d];
    }
    return std::max({x, y, out, l.elements, packs}) < INT32_MAX;
}

strided<uint32_t> shortened(const strided<int64_t> &l)
{
    strided<uint32_t> s = {l.elements, l.dimensions, {}, {}, {}, {}};
    std::copy_n(l.shape, FL_MAX_DIMS, s.shape);
    std::copy_n(l.x, FL_MAX_DIMS, s.x);
    std::copy_n(l.y, FL_MAX_DIMS, s.y);
    std::copy_n(l.out, FL_MAX_DIMS, s.out);
    return s;
}

size_t size_of(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

/* -------------------------------------------------------------------------------------------------- the grid ---- */

/* The grid of naive-2d and naive-3d: x along the last dimension, y along the one before it, z or y along all others. An
 * array of fewer dimensions is folded: into rows, or into planes of rows, of a power of two elements. */
mapping coalesced(const fl_buffer *out, int dimensions)
{
    const int64_t elements = elements_of(out);
    int64_t shape[3] = {1, 1, 1}; /* of x, y, z */
    if (out->ndim == 1) {
        int64_t edge = 1;
        while ((dimensions == 3 ? edge * edge * edge : edge * edge) < elements)
            edge *= 2;
        shape[0] = edge;
        shape[1] = dimensions == 3 ? edge : (elements + edge - 1) / edge;
        shape[2] = dimensions == 3 ? (elements + edge * edge - 1) / (edge * edge) : 1;
    } else {
        shape[0] = out->shape[out->ndim - 1];
        shape[1] = dimensions == 3 ? out->shape[out->ndim - 2] : elements / shape[0];
        shape[2] = elements / shape[0] / shape[1];
    }
    return {{shape[0], shape[1], shape[2]}, {1, shape[0], shape[0] * shape[1]}};
}

/* The same grid turned round: x along the slowest axis. */
mapping uncoalesced(const fl_buffer *out)
{
    const int dimensions = out->ndim < 3 ? 2 : 3, slowest = dimensions - 1;
    mapping m = coalesced(out, dimensions);
    std::swap(m.length[0], m.length[slowest]);
    std::swap(m.step[0], m.step[slowest]);
    return m;
}

enum class variant { naive, grid_2d, grid_3d, uncoalesced, grid_stride, vector };

mapping mapping_of(const fl_buffer *out, variant v)
{
    return v == variant::uncoalesced ? uncoalesced(out) : coalesced(out, v == variant::grid_2d ? 2 : 3);
}

/* Packs of sixteen bytes in a row, wherever the first aligned one lies. */
int64_t packs_of(const strided<int64_t> &l, const fl_buffer *out)
{
    const int64_t size = (int64_t)(sizeof(pack<float>) / size_of(out->dtype));
    if (l.dimensions > 1)
        return (l.shape[0] + 2 * size - 2) / size;
    const int64_t lead = (int64_t)(reinterpret_cast<uintptr_t>(out->data) % 16 / size_of(out->dtype));
    return (l.elements + lead + size - 1) / size;
}

/* Threads in all: one an element, or one a pack. */
int64_t threads_of(const operands &o, variant v)
{
    const int64_t elements = elements_of(o.out);
    if (v != variant::vector)
        return elements;
    const strided<int64_t> l = layout_of(o);
    return l.dimensions == 1 ? packs_of(l, o.out) : packs_of(l, o.out) * (l.elements / l.shape[0]);
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* The requested block, each edge at least 1, or the variant's default: a multiple of a warp, as in the course. */
void settle_block(const operands &o, variant v, int32_t *block)
{
    const bool asked = block[0] > 0 || block[1] > 0 || block[2] > 0;
    const bool box = v == variant::grid_2d || v == variant::grid_3d || v == variant::uncoalesced;
    const int32_t line[3] = {v == variant::grid_stride ? 512 : 256, 1, 1}, plane[3] = {16, 16, 1}, cube[3] = {8, 8, 8};
    if (!asked)
        std::copy_n(!box ? line : mapping_of(o.out, v).length[2] > 1 ? cube : plane, 3, block);
    for (int d = 0; d < 3; d++)
        block[d] = std::max(block[d], 1);
}

constexpr int64_t blocks_per_multiprocessor = 4; /* of grid-stride: enough to hide what loads take */

template <typename F, variant v>
void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const operands o = operands_of<F>(arguments);
    const double elements = (double)elements_of(o.out);
    settle_block(o, v, launch->block);
    constexpr int most = 1 << 20; /* more than any device allows, which core refuses */
    int64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= std::min(launch->block[d], most);
    std::fill_n(launch->grid, 3, 1);
    if (v == variant::grid_2d || v == variant::grid_3d || v == variant::uncoalesced) {
        const mapping m = mapping_of(o.out, v);
        for (int d = 0; d < 3; d++) /* what is beyond the device's limits is done by the same threads */
            launch->grid[d] =
                hip_grid(device, d, (m.length[d] + launch->block[d] - 1) / launch->block[d], launch->block[d]);
    } else {
        launch->grid[0] = hip_grid(device, 0, (threads_of(o, v) + threads - 1) / threads, launch->block[0]);
        if (v == variant::grid_stride)
            launch->grid[0] = std::min(launch->grid[0], device->multiprocessors * blocks_per_multiprocessor);
    }
    launch->shared_bytes = 0;
    launch->flops = o.out->dtype == FL_F32 || o.out->dtype == FL_F64 ? F::flops * elements : 0;
    launch->bytes_requested = (F::inputs + 1) * elements * (double)size_of(o.out->dtype);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

dim3 dim3_of(const int64_t *grid)
{
    return dim3((unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]);
}

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

template <typename F, variant v, typename T, typename Layout>
fl_status launch_by_element(const fl_context *context, const operands &o, const arrays<T> &a, const Layout &layout,
                            const fl_launch *launch)
{
    const dim3 grid = dim3_of(launch->grid), block = dim3_of(launch->block);
    const int64_t threads = launch->grid[0] * block.x * block.y * block.z;
    fl_status status = FL_OK;
    if (v == variant::naive) {
        for (int64_t first = 0; first < layout.elements && status == FL_OK; first += threads)
            status = hip_queue(context, naive_kernel<F, T, Layout>, grid, block, 0, a, layout, first);
        return status;
    }
    if (v == variant::grid_stride)
        return hip_queue(context, stride_kernel<F, T, Layout>, grid, block, 0, a, layout);
    return hip_queue(context, grid_kernel<F, T, Layout>, grid, block, 0, a, layout, mapping_of(o.out, v));
}

template <typename F, typename T, typename Index>
fl_status launch_rows(const fl_context *context, const arrays<T> &a, const strided<Index> &layout, int64_t in_row,
                      int64_t packs, const fl_launch *launch)
{
    return hip_queue(context, vector_rows_kernel<F, T, Index>, dim3_of(launch->grid), dim3_of(launch->block), 0, a,
                     layout, (Index)in_row, packs);
}

template <typename F, variant v, typename T>
fl_status launch_in(const fl_context *context, const operands &o, const fl_launch *launch)
{
    const arrays<T> a = {static_cast<const T *>(o.x->data), static_cast<const T *>(o.y->data),
                         static_cast<T *>(o.out->data)};
    const strided<int64_t> l = layout_of(o);
    if constexpr (v == variant::vector) {
        const int64_t in_row = packs_of(l, o.out);
        if (l.dimensions == 1)
            return hip_queue(context, vector_kernel<F, T>, dim3_of(launch->grid), dim3_of(launch->block), 0, a,
                             packed{l.elements}, in_row);
        const int64_t packs = in_row * (l.elements / l.shape[0]);
        return is_short(l, packs) ? launch_rows<F>(context, a, shortened(l), in_row, packs, launch)
                                  : launch_rows<F>(context, a, l, in_row, packs, launch);
    } else {
        if (l.dimensions == 1)
            return launch_by_element<F, v>(context, o, a, packed{l.elements}, launch);
        return is_short(l, l.elements) ? launch_by_element<F, v>(context, o, a, shortened(l), launch)
                                       : launch_by_element<F, v>(context, o, a, l, launch);
    }
}

/* fl_row.run of operations on any numbers. */
template <typename F, variant v>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const operands o = operands_of<F>(arguments);
    switch (o.out->dtype) {
    case FL_I32: return launch_in<F, v, int32_t>(context, o, launch);
    case FL_I64: return launch_in<F, v, int64_t>(context, o, launch);
    case FL_F32: return launch_in<F, v, float>(context, o, launch);
    default: return launch_in<F, v, double>(context, o, launch);
    }
}

/* The same of operations on floating-point numbers alone. */
template <typename F, variant v>
fl_status run_real(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const operands o = operands_of<F>(arguments);
    return (o.out->dtype == FL_F32 ? launch_in<F, v, float> : launch_in<F, v, double>)(context, o, launch);
}

/* ------------------------------------------------------------------------------------------------------ rows ---- */

constexpr uint32_t reals = 1u << FL_F32 | 1u << FL_F64, numbers = reals | 1u << FL_I32 | 1u << FL_I64;

#define ROW(F, run, dtypes, name, v, summary) \
    {F::operation, name, dtypes, summary, plan<F, variant::v>, run<F, variant::v>, nullptr, false, nullptr},
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
