/* SPDX-License-Identifier: MIT
 *
 * matrix_product.c - the fast variants of products of matrices: their tiles, what they cost, and their loops for each
 * dtype, which are in matrix_product_typed.h.
 */
#include "matrix_product.h"

#include <string.h>

#define KERNEL static __attribute__((noinline))

/* Elements of the processor's vectors: 1 where it is to have none. */
#define LANES(type) (CPU_VECTOR_BITS > 64 ? CPU_VECTOR_BITS / 8 / (int)sizeof(type) : 1)

enum {
    DEPTH = 128,       /* terms of the sums that `tiled` adds while a tile of b stays in the second cache */
    TILED_WIDTH = 512, /* columns of that tile */
    TILED_HEIGHT = 64, /* rows of c that meet it */
    TERMS = 4,         /* rows of b that `tiled` adds at a time */
    PANEL_DEPTH = 256, /* terms that `register` adds while a panel of b stays in the first cache */
    PANEL_VECTORS = 2, /* vectors of columns that it keeps in registers, for each of */
    PANEL_ROWS =
        CPU_VECTOR_BITS == 512 ? 14 : 6, /* rows: 2 * 6 sums leave 4 of 16 registers for factors, 2 * 14 of 32 */
    REGISTER_WIDTH = 8,                  /* panels of a tile of `register`, side by side */
    REGISTER_HEIGHT =
        CPU_VECTOR_BITS == 512 ? 392 : 192, /* rows of one, about: what it needs of a stays in the second cache */
    TILES_PER_THREAD = 4, /* at least, where the output has room for them: so that no thread waits long for another */
    PACKED_BYTES = 64 << 20, /* memory for rearranged factors: for one pair, or for as many of a batch as fit */
    LITTLE = 512, /* multiply-adds of a result; if it has no more, they take less time than to rearrange the factors */
};

static inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return blocks_of(n, multiple) * multiple;
}

/* A part of the n-th result of the batch: rows i0 to i1 and columns j0 to j1, the ends excluded. */
typedef struct tile {
    int64_t n, i0, i1, j0, j1;
} tile;

/* The index-th tile, row by row, result by result. */
static inline tile tile_of(const matrix_product *m, const fl_launch *launch, int64_t index)
{
    int64_t across = launch->grid[0], down = launch->grid[1], n = index / (across * down);
    int64_t i = index / across % down * launch->block[1], j = index % across * launch->block[0];

    return (tile){n, i, min64(i + launch->block[1], m->rows), j, min64(j + launch->block[0], m->columns)};
}

/* The threads of `register`. They wait for each other between the factors' rearrangement and the product: below 3 x
 * 10^6 flops, and with few threads below 6 x 10^6, that and their start take longer than one thread takes for all. */
static inline int blocked_team(const cpu_device *device, double flops)
{
    const int team = cpu_team_on(device, flops);

    return flops < 3e6 || (flops < 6e6 && team < 8) ? 1 : team;
}

/* Returns whether `register` takes the loops of `tiled`, which rearrange nothing. */
static inline bool is_little(const matrix_product *m)
{
    return m->b_column == 1 && (double)m->rows * (double)m->columns * (double)m->terms <= LITTLE;
}

#define real float
#define FN(name) CPU_TYPED(name, f32)
#include "matrix_product_typed.h"
#undef real
#undef FN
#define real double
#define FN(name) CPU_TYPED(name, f64)
#include "matrix_product_typed.h"
#undef real
#undef FN
#define real uint32_t
#define FN(name) CPU_TYPED(name, i32)
#include "matrix_product_typed.h"
#undef real
#undef FN
#define real uint64_t
#define FN(name) CPU_TYPED(name, i64)
#include "matrix_product_typed.h"
#undef real
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

/* Tiles of `width` x `height`, or the requested ones rounded to whole steps; lower for many threads. */
static void plan_tiles(int team, const matrix_product *m, int64_t width, int64_t height, int64_t step_x, int64_t step_y,
                       fl_launch *launch)
{
    if (launch->block[0] > 0) {
        width = launch->block[0];
        height = launch->block[1];
    } else {
        double tiles = team > 1 ? (double)team * TILES_PER_THREAD : 1;
        while (height > step_y &&
               (double)m->batch * (double)blocks_of(m->columns, width) * (double)blocks_of(m->rows, height) < tiles)
            height = round_up(height / 2, step_y);
    }
    launch->block[0] = (int32_t)round_up(min64(width, m->columns), step_x);
    launch->block[1] = (int32_t)round_up(min64(height, m->rows), step_y);
    launch->block[2] = 1;
    launch->grid[0] = blocks_of(m->columns, launch->block[0]);
    launch->grid[1] = blocks_of(m->rows, launch->block[1]);
    launch->grid[2] = m->batch;
}

/* Loads of a, and of s for it. */
static double a_loads(const matrix_product *m)
{
    return product_a_elements(m) * (m->s ? 2 : 1);
}

/* An element of b is loaded once for each row, a sum once for TERMS terms; s is multiplied into a for each column of
 * tiles. */
void CPU_NAME(plan_product_tiled)(const cpu_device *device, const matrix_product *m, fl_launch *launch)
{
    plan_tiles(cpu_team_on(device, product_flops(m)), m, TILED_WIDTH, TILED_HEIGHT, 1, 1, launch);
    launch->flops = (m->s ? product_a_elements(m) * (double)(launch->grid[0] - 1) : 0) + product_flops(m);
    launch->bytes_requested =
        (double)dtype_size(m->dtype) *
        (a_loads(m) * (double)launch->grid[0] + product_outputs(m) * (double)m->terms * (TERMS + 2) / TERMS);
}

/* The factors are rearranged: loaded and stored. Then an element of a is loaded once for a panel's columns, one of b
 * once for its rows; sums are loaded and stored once for PANEL_DEPTH terms. */
void CPU_NAME(plan_product_register)(const cpu_device *device, const matrix_product *m, fl_launch *launch)
{
    const int64_t width = PANEL_VECTORS * (dtype_size(m->dtype) == 4 ? LANES(float) : LANES(double));
    const double passes = (double)blocks_of(m->terms, PANEL_DEPTH), terms = product_outputs(m) * (double)m->terms;

    if (is_little(m)) {
        CPU_NAME(plan_product_tiled)(device, m, launch);
        return;
    }
    plan_tiles(blocked_team(device, product_flops(m)), m, REGISTER_WIDTH * width, round_up(REGISTER_HEIGHT, PANEL_ROWS),
               width, PANEL_ROWS, launch);
    launch->flops = product_flops(m);
    launch->bytes_requested = (double)dtype_size(m->dtype) *
                              (a_loads(m) + product_a_elements(m) + 2 * product_b_elements(m) + terms / (double)width +
                               terms / PANEL_ROWS + product_outputs(m) * (2 * passes - 1));
}

/* -------------------------------------------------------------------------------------------------- runs ---- */

#define CALL(variant) \
    switch (m->dtype) { \
    case FL_F32: return CPU_TYPED(variant, f32)(context, m, launch); \
    case FL_F64: return CPU_TYPED(variant, f64)(context, m, launch); \
    case FL_I32: return CPU_TYPED(variant, i32)(context, m, launch); \
    default: return CPU_TYPED(variant, i64)(context, m, launch); \
    }

fl_status CPU_NAME(product_tiled)(const fl_context *context, const matrix_product *m,
                                  const fl_launch *launch){CALL(tiled)}

fl_status CPU_NAME(product_register)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    CALL(register)
}
