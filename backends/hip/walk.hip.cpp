/* SPDX-License-Identifier: MIT
 *
 * walk.hip.cpp - the layout, the grid and the blocks of a walk.
 */
#include "walk.hpp"

#include <algorithm>

using flynn_walk::mapping;

/* ------------------------------------------------------------------------------------------------ the layout ---- */

namespace
{

int size_of(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

using strides = int64_t[walk_most];

/* Returns whether the dimension goes on where the layout's last one ends, in all operands. */
bool follows(const hip_walk &w, const strides &stride)
{
    const int last = w.layout.dimensions - 1;
    for (int k = 0; k < w.operands; k++)
        if (stride[k] != w.layout.shape[last] * w.layout.stride[k][last])
            return false;
    return true;
}

/* Returns whether the dimension can be the innermost one. */
bool is_row(const hip_walk &w, const strides &stride)
{
    for (int k = 0; k < w.operands; k++)
        if (stride[k] != 1 && (stride[k] != 0 || k == w.operands - 1))
            return false;
    return true;
}

void add_dimension(hip_walk *w, int64_t shape, const strides &stride)
{
    auto &l = w->layout;
    l.elements *= shape;
    if (shape == 1)
        return;
    if (l.elements != shape && follows(*w, stride)) {
        l.shape[l.dimensions - 1] *= shape;
        return;
    }
    const int d = l.elements == shape && is_row(*w, stride) ? 0 : l.dimensions++;
    l.shape[d] = shape;
    for (int k = 0; k < w->operands; k++)
        l.stride[k][d] = stride[k];
}

} // namespace

hip_walk hip_walk_along(const fl_buffer *const *buffers, int operands)
{
    hip_walk w; /* not filled with zeros, which takes as long as all else here */
    w.operands = operands;
    w.out = buffers[operands - 1];
    w.layout.elements = w.layout.dimensions = 1;
    w.layout.shape[0] = 1;
    w.pack_size = 16;
    w.bytes = 0;
    for (int k = 0; k < operands; k++) {
        const int size = size_of(buffers[k]->dtype);
        w.data[k] = buffers[k]->data;
        w.layout.stride[k][0] = 1;
        w.pack_size = std::min(w.pack_size, 16 / size);
        w.bytes += size;
    }
    for (int d = w.out->ndim - 1; d >= 0; d--) {
        strides stride;
        for (int k = 0; k < operands; k++)
            stride[k] = buffers[k]->stride[d];
        add_dimension(&w, w.out->shape[d], stride);
    }
    w.packed = w.layout.dimensions == 1;
    for (int k = 0; k < operands; k++)
        w.packed = w.packed && w.layout.stride[k][0] == 1;
    return w;
}

bool hip_walk_is_short(const hip_walk &w, int64_t packs)
{
    int64_t most = std::max(w.layout.elements, packs);
    for (int k = 0; k < w.operands; k++) {
        int64_t furthest = 0;
        for (int d = 0; d < w.layout.dimensions; d++)
            furthest += (w.layout.shape[d] - 1) * w.layout.stride[k][d];
        most = std::max(most, furthest);
    }
    return most < INT32_MAX;
}

int64_t hip_walk_packs(const hip_walk &w)
{
    /* Both are powers of two, and a shift takes the host less time than a division. */
    const int size = __builtin_ctz((unsigned)w.pack_size), element = __builtin_ctz((unsigned)size_of(w.out->dtype));
    if (!w.packed)
        return (w.layout.shape[0] + 2 * w.pack_size - 2) >> size;
    const uintptr_t before = reinterpret_cast<uintptr_t>(w.out->data) >> element;
    const int64_t lead = (int64_t)(before & (uintptr_t)(w.pack_size - 1));
    return (w.layout.elements + lead + w.pack_size - 1) >> size;
}

int64_t hip_walk_rows(const hip_walk &w)
{
    return w.packed ? 1 : w.layout.elements / w.layout.shape[0];
}

/* -------------------------------------------------------------------------------------------------- the grid ---- */

namespace
{

/* x along the last dimension, y along the one before it, z or y along all others. An array of fewer dimensions is
 * folded: into rows, or into planes of rows, of a power of two elements. */
mapping coalesced(const fl_buffer *out, int dimensions)
{
    int64_t elements = 1, shape[3] = {1, 1, 1}; /* of x, y, z */
    for (int d = 0; d < out->ndim; d++)
        elements *= out->shape[d];
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

/* The grid of coalesced() turned round: x along the slowest axis. */
mapping uncoalesced(const fl_buffer *out)
{
    const int dimensions = out->ndim < 3 ? 2 : 3, slowest = dimensions - 1;
    mapping m = coalesced(out, dimensions);
    std::swap(m.length[0], m.length[slowest]);
    std::swap(m.step[0], m.step[slowest]);
    return m;
}

/* Threads in all: one an element, or one a pack. */
int64_t threads_of(const hip_walk &w, walk_variant v)
{
    if (v != walk_variant::vector)
        return w.layout.elements;
    return hip_walk_packs(w) * hip_walk_rows(w);
}

/* The requested block, each edge at least 1, or the variant's default: a multiple of a warp, as in the course. */
void settle_block(const hip_walk &w, walk_variant v, bool in_box, int32_t *block)
{
    const bool asked = block[0] > 0 || block[1] > 0 || block[2] > 0;
    const int32_t line[3] = {v == walk_variant::grid_stride ? 512 : 256, 1, 1}, plane[3] = {16, 16, 1},
                  cube[3] = {8, 8, 8};
    if (!asked)
        std::copy_n(!in_box ? line : hip_walk_mapping(w.out, v).length[2] > 1 ? cube : plane, 3, block);
    for (int d = 0; d < 3; d++)
        block[d] = std::max(block[d], 1);
}

constexpr int64_t blocks_per_multiprocessor = 4; /* of grid-stride: enough to hide what loads take */

} // namespace

mapping hip_walk_mapping(const fl_buffer *out, walk_variant v)
{
    return v == walk_variant::uncoalesced ? uncoalesced(out) : coalesced(out, v == walk_variant::grid_2d ? 2 : 3);
}

void hip_walk_plan(const hip_device *device, const hip_walk &w, walk_variant v, fl_launch *launch)
{
    const bool in_box = v == walk_variant::grid_2d || v == walk_variant::grid_3d || v == walk_variant::uncoalesced;
    constexpr int most = 1 << 20; /* more than any device allows, which core refuses */
    int64_t threads = 1;
    settle_block(w, v, in_box, launch->block);
    for (int d = 0; d < 3; d++)
        threads *= std::min(launch->block[d], most);
    std::fill_n(launch->grid, 3, 1);
    if (in_box) {
        const mapping m = hip_walk_mapping(w.out, v);
        for (int d = 0; d < 3; d++) /* what is beyond the device's limits is done by the same threads */
            launch->grid[d] =
                hip_grid(device, d, (m.length[d] + launch->block[d] - 1) / launch->block[d], launch->block[d]);
    } else {
        launch->grid[0] = hip_grid(device, 0, (threads_of(w, v) + threads - 1) / threads, launch->block[0]);
        if (v == walk_variant::grid_stride)
            launch->grid[0] = std::min(launch->grid[0], device->multiprocessors * blocks_per_multiprocessor);
    }
    launch->shared_bytes = 0;
    launch->bytes_requested = (double)w.layout.elements * w.bytes;
}
