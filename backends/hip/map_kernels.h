/* SPDX-License-Identifier: MIT
 * The kernels of map for one layout, after walk_kernels.h and the user's text. flynn_arrays: the type of the arrays;
 * FLYNN_LAYOUT: 0 packed, 1 strided, 2 strided with indices of 64 bits. map.hip.cpp has the kernels' names. */
#if FLYNN_LAYOUT == 0
typedef flynn_walk::packed<flynn_arrays::operands> flynn_layout;
#else
#if FLYNN_LAYOUT == 1
typedef uint32_t flynn_index;
#else
typedef int64_t flynn_index;
#endif
typedef flynn_walk::strided<flynn_index, flynn_arrays::operands> flynn_layout;
#endif
#define FLYNN_KERNEL extern "C" __global__ __launch_bounds__(1024) void
FLYNN_KERNEL flynn_naive(flynn_arrays a, flynn_layout l, int64_t first)
{
    flynn_walk::naive(a, l, first);
}
FLYNN_KERNEL flynn_grid_stride(flynn_arrays a, flynn_layout l)
{
    flynn_walk::grid_stride(a, l);
}
FLYNN_KERNEL flynn_grid(flynn_arrays a, flynn_layout l, flynn_walk::mapping m)
{
    flynn_walk::grid(a, l, m);
}
#if FLYNN_LAYOUT == 0
FLYNN_KERNEL flynn_vector(flynn_arrays a, flynn_layout l, int64_t packs)
{
    flynn_walk::vector(a, l, packs);
}
#else
FLYNN_KERNEL flynn_vector(flynn_arrays a, flynn_layout l, flynn_index packs_in_row, int64_t packs)
{
    flynn_walk::vector_rows(a, l, packs_in_row, packs);
}
#endif
