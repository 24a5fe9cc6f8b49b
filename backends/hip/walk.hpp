/* SPDX-License-Identifier: MIT
 *
 * walk.hpp - the walk over the elements of several arrays of one shape, as walk_kernels.h does it on a GPU: which of
 * its kernels runs for a variant, with which layout, in which blocks.
 */
#ifndef FLYNN_HIP_WALK_HPP
#define FLYNN_HIP_WALK_HPP

#include "device.hpp"
#include "walk_kernels.h"

enum class walk_variant { vector, naive, grid_2d, grid_3d, grid_stride, uncoalesced };

constexpr int walk_most = FL_MAX_INPUTS + 1; /* operands */

/* The operands, the output last. */
struct hip_walk {
    int operands;
    const fl_buffer *out;
    void *data[walk_most];
    /* Dimensions that follow each other without a gap in all arrays are one. The innermost has a step of 1, or 0 for an
     * input that has one element there. */
    flynn_walk::strided<int64_t, walk_most> layout;
    bool packed;   /* one dimension, whose steps are 1 */
    int pack_size; /* flynn_walk::arrays::pack_size */
    int bytes;     /* an element of all of them */
};

hip_walk hip_walk_along(const fl_buffer *const *buffers, int operands);

/* fl_row.plan, but for the flops. */
void hip_walk_plan(const hip_device *device, const hip_walk &walk, walk_variant v, fl_launch *launch);

/* The grid of naive-2d and naive-3d, and turned round that of uncoalesced. */
flynn_walk::mapping hip_walk_mapping(const fl_buffer *out, walk_variant v);

/* Packs in a row, wherever the first aligned one lies. */
int64_t hip_walk_packs(const hip_walk &walk);

/* Rows of the innermost dimension. */
int64_t hip_walk_rows(const hip_walk &walk);

/* Returns whether 32 bits count the elements or packs, those of blocks beyond the end included, and reach the furthest
 * element.
 */
bool hip_walk_is_short(const hip_walk &walk, int64_t packs);

template <typename Index, int operands>
flynn_walk::strided<Index, operands> hip_walk_layout(const hip_walk &walk)
{
    flynn_walk::strided<Index, operands> l = {};
    l.elements = walk.layout.elements;
    l.dimensions = walk.layout.dimensions;
    for (int d = 0; d < l.dimensions; d++) {
        l.shape[d] = (Index)walk.layout.shape[d];
        for (int k = 0; k < walk.operands; k++)
            l.stride[k][d] = (Index)walk.layout.stride[k][d];
    }
    return l;
}

template <typename Kernels, typename Layout>
fl_status hip_walk_by_element(const Kernels &kernels, const hip_walk &walk, walk_variant v, const Layout &layout,
                              const fl_launch *launch)
{
    const int32_t *block = launch->block;
    const int64_t threads = launch->grid[0] * block[0] * block[1] * block[2];
    fl_status status = FL_OK;
    if (v == walk_variant::naive) {
        for (int64_t first = 0; first < layout.elements && status == FL_OK; first += threads)
            status = kernels.naive(layout, first);
        return status;
    }
    return v == walk_variant::grid_stride ? kernels.grid_stride(layout)
                                          : kernels.grid(layout, hip_walk_mapping(walk.out, v));
}

/* Queues the variant. `kernels` queues each walk of walk_kernels.h, by the function of its name, which takes what the
 * walk takes but for the arrays; Kernels::operands is the number in its layouts. */
template <typename Kernels>
fl_status hip_walk_run(const Kernels &kernels, const hip_walk &walk, walk_variant v, const fl_launch *launch)
{
    constexpr int operands = Kernels::operands;
    const flynn_walk::packed<operands> line = {walk.layout.elements};
    if (v != walk_variant::vector) {
        if (walk.packed)
            return hip_walk_by_element(kernels, walk, v, line, launch);
        return hip_walk_is_short(walk, 0)
                   ? hip_walk_by_element(kernels, walk, v, hip_walk_layout<uint32_t, operands>(walk), launch)
                   : hip_walk_by_element(kernels, walk, v, hip_walk_layout<int64_t, operands>(walk), launch);
    }
    const int64_t in_row = hip_walk_packs(walk), packs = in_row * hip_walk_rows(walk);
    if (walk.packed)
        return kernels.vector(line, packs);
    return hip_walk_is_short(walk, packs)
               ? kernels.vector_rows(hip_walk_layout<uint32_t, operands>(walk), (uint32_t)in_row, packs)
               : kernels.vector_rows(hip_walk_layout<int64_t, operands>(walk), in_row, packs);
}

#endif
