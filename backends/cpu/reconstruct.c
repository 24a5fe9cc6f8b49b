/* SPDX-License-Identifier: MIT
 *
 * reconstruct.c - y = u diag(s) vt: what each variant costs, its tiles, and the rows. The loops are in
 * reconstruct_typed.h.
 */
#include "blas.h"
#include "operation.h"

#include <string.h>

#define KERNEL static __attribute__((noinline))

/* Elements of the processor's vectors: 1 where it is to have none. */
#define LANES(type) (CPU_VECTOR_BITS > 64 ? CPU_VECTOR_BITS / 8 / (int)sizeof(type) : 1)

enum {
    DEPTH = 128,       /* terms of the sums that `tiled` adds while a tile of vt stays in the second cache */
    TILED_WIDTH = 512, /* columns of that tile */
    TILED_HEIGHT = 64, /* rows of y that meet it */
    TERMS = 4,         /* rows of vt that `tiled` adds at a time */
    PANEL_DEPTH = 192, /* terms that `register` adds while a panel of vt stays in the first cache */
    PANEL_VECTORS = 2, /* vectors of columns that it keeps in registers, for each of */
    PANEL_ROWS =
        CPU_VECTOR_BITS == 512 ? 14 : 6, /* rows: 2 * 6 sums leave 4 of 16 registers for factors, 2 * 14 of 32 */
    REGISTER_WIDTH = 8,                  /* panels of a tile of `register`, side by side */
    REGISTER_HEIGHT = 96,                /* rows of one, about: what it needs of u stays in the second cache */
    TILES_PER_THREAD = 4, /* at least, where the output has room for them: so that no thread waits long for another */
    STRIP = 256,          /* columns that `reference` sums at a time */
    PACKED_BYTES = 64 << 20, /* of factors rearranged at a time: one pair of them, or as many of a batch as fit */
};

static inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return blocks_of(n, multiple) * multiple;
}

static inline int64_t batch_of(const fl_reconstruct_args *c)
{
    return c->y.shape[0];
}

static inline int64_t rows_of(const fl_reconstruct_args *c)
{
    return c->y.shape[1];
}

static inline int64_t columns_of(const fl_reconstruct_args *c)
{
    return c->y.shape[2];
}

/* A part of the n-th result of the batch: rows i0 to i1 and columns j0 to j1, the ends excluded. */
typedef struct tile {
    int64_t n, i0, i1, j0, j1;
} tile;

/* The index-th tile, row by row, result by result. */
static inline tile tile_of(const fl_reconstruct_args *c, const fl_launch *launch, int64_t index)
{
    int64_t across = launch->grid[0], down = launch->grid[1], n = index / (across * down);
    int64_t i = index / across % down * launch->block[1], j = index % across * launch->block[0];

    return (tile){n, i, min64(i + launch->block[1], rows_of(c)), j, min64(j + launch->block[0], columns_of(c))};
}

#define real float
#define FN(name) CPU_TYPED(name, f32)
#define wide double
#include "reconstruct_typed.h"
#undef real
#undef wide
#undef FN
#define real double
#define wide long double
#define FN(name) CPU_TYPED(name, f64)
#include "reconstruct_typed.h"
#undef real
#undef wide
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

static inline double size_of(const fl_reconstruct_args *c)
{
    return c->y.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

/* Elements of all results. */
static inline double outputs_of(const fl_reconstruct_args *c)
{
    return (double)batch_of(c) * (double)rows_of(c) * (double)columns_of(c);
}

/* Elements of all u that take part. */
static inline double u_elements_of(const fl_reconstruct_args *c)
{
    return (double)batch_of(c) * (double)rows_of(c) * (double)c->rank;
}

static inline double vt_elements_of(const fl_reconstruct_args *c)
{
    return (double)batch_of(c) * (double)c->rank * (double)columns_of(c);
}

/* s is multiplied into u, once, and each output is then a sum of `rank` products. */
static inline double flops_of(const fl_reconstruct_args *c)
{
    return u_elements_of(c) + 2 * outputs_of(c) * (double)c->rank;
}

/* Each multiply-add loads an element of vt and a sum, and stores the sum. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const fl_reconstruct_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = flops_of(c);
    launch->bytes_requested = size_of(c) * (2 * u_elements_of(c) + 3 * outputs_of(c) * (double)c->rank);
}

#ifdef CPU_REFERENCE
/* The oracle multiplies three numbers for each term. */
static void CPU_NAME(plan_reference)(void *device, const void *args, fl_launch *launch)
{
    const fl_reconstruct_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = 3 * outputs_of(c) * (double)c->rank;
    launch->bytes_requested = size_of(c) * outputs_of(c) * (3 * (double)c->rank + 1);
}
#endif

/* Tiles of `width` x `height`, or the requested ones rounded to whole steps; lower for many threads. */
static void CPU_NAME(plan_tiles)(const cpu_device *device, const fl_reconstruct_args *c, int64_t width, int64_t height,
                                 int64_t step_x, int64_t step_y, fl_launch *launch)
{
    const int64_t rows = rows_of(c), columns = columns_of(c);

    if (launch->block[0] > 0) {
        width = launch->block[0];
        height = launch->block[1];
    } else {
        double tiles = device->threads > 1 ? (double)device->threads * TILES_PER_THREAD : 1;
        while (height > step_y &&
               (double)batch_of(c) * (double)blocks_of(columns, width) * (double)blocks_of(rows, height) < tiles)
            height = round_up(height / 2, step_y);
    }
    launch->block[0] = (int32_t)round_up(min64(width, columns), step_x);
    launch->block[1] = (int32_t)round_up(min64(height, rows), step_y);
    launch->block[2] = 1;
    launch->grid[0] = blocks_of(columns, launch->block[0]);
    launch->grid[1] = blocks_of(rows, launch->block[1]);
    launch->grid[2] = batch_of(c);
}

/* An element of vt is loaded once for each row, a sum once for TERMS terms. */
static void CPU_NAME(plan_tiled)(void *device, const void *args, fl_launch *launch)
{
    const fl_reconstruct_args *c = args;

    CPU_NAME(plan_tiles)(device, c, TILED_WIDTH, TILED_HEIGHT, 1, 1, launch);
    launch->flops = u_elements_of(c) * (double)(launch->grid[0] - 1) + flops_of(c);
    launch->bytes_requested = size_of(c) * (2 * u_elements_of(c) * (double)launch->grid[0] +
                                            outputs_of(c) * (double)c->rank * (TERMS + 2) / TERMS);
}

/* The factors are rearranged: loaded and stored. Then an element of u is loaded once for a panel's columns, one of vt
 * once for its rows; sums are loaded and stored once for PANEL_DEPTH terms. */
static void CPU_NAME(plan_register)(void *device, const void *args, fl_launch *launch)
{
    const fl_reconstruct_args *c = args;
    const int64_t width = PANEL_VECTORS * (c->y.dtype == FL_F32 ? LANES(float) : LANES(double));
    const double passes = (double)blocks_of(c->rank, PANEL_DEPTH), terms = outputs_of(c) * (double)c->rank;

    CPU_NAME(plan_tiles)
    (device, c, REGISTER_WIDTH * width, round_up(REGISTER_HEIGHT, PANEL_ROWS), width, PANEL_ROWS, launch);
    launch->flops = flops_of(c);
    launch->bytes_requested = size_of(c) * (3 * u_elements_of(c) + 2 * vt_elements_of(c) + terms / (double)width +
                                            terms / PANEL_ROWS + outputs_of(c) * (2 * passes - 1));
}

/* What is inside the library is not ours to count: the factors and the result once, u with s in it once more. */
static void CPU_NAME(plan_library)(void *device, const void *args, fl_launch *launch)
{
    const fl_reconstruct_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = flops_of(c);
    launch->bytes_requested = size_of(c) * (3 * u_elements_of(c) + vt_elements_of(c) + outputs_of(c));
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_FLOATS(naive, fl_reconstruct_args, y)
CPU_RUN_FLOATS(tiled, fl_reconstruct_args, y)
CPU_RUN_FLOATS(blocked, fl_reconstruct_args, y)
CPU_RUN_FLOATS(library, fl_reconstruct_args, y)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_reconstruct_args, y)
#endif

/* `register` is what auto takes: nowhere was OpenBLAS found to be faster. */
static const fl_row rows[] = {
    {CPU_ROW(FL_OP_RECONSTRUCT, "register", CPU_FLOATS, plan_register, run_blocked,
             "the factors rearranged into panels, a block of sums in registers")},
    {CPU_ROW(FL_OP_RECONSTRUCT, "tiled", CPU_FLOATS, plan_tiled, run_tiled,
             "blocks of vt that stay in the cache; adds four of their rows to a row of y at a time")},
    {CPU_ROW(FL_OP_RECONSTRUCT, "naive", CPU_FLOATS, plan_naive, run_naive,
             "the textbook's three loops, columns innermost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_RECONSTRUCT, "reference", CPU_FLOATS, plan_reference, run_reference,
             "the oracle: the definition, f32 summed in f64, f64 in long double")},
#endif
};

static const fl_row library_rows[] = {
    {CPU_ROW(FL_OP_RECONSTRUCT, "library", CPU_FLOATS, plan_library, run_library,
             "multiplies a copy of u by s, then calls OpenBLAS or another BLAS"),
     .available = cpu_blas_ready},
};

CPU_OPERATION(cpu_reconstruct, rows);
const cpu_operation CPU_NAME(cpu_reconstruct_library) = {
    .rows = library_rows, .count = sizeof library_rows / sizeof *library_rows, .found = cpu_blas_found};
