/* SPDX-License-Identifier: MIT
 *
 * convolve.c - 2-D convolution: what each variant costs, its tiles, and the rows. The loops are in convolve_typed.h.
 */
#include "operation.h"
#include "openmp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* The hot loops stay functions of their own: inlined into what calls them, their addresses leave the registers. */
#define KERNEL static __attribute__((noinline))

enum {
    NAIVE_STRIP = 2048,   /* columns at a time: that much of an output row stays in the first cache */
    TILE_BYTES = 2048,    /* of a row of a tile: TILE_ROWS of them and a row of the image stay in the first cache */
    TILE_HEIGHT = 128,    /* separable sums (kernel rows - 1) more; a tile of that height stays in the second cache */
    TILES_PER_THREAD = 8, /* at least, where the output has the rows for it: so that no thread waits long for another */
    TILE_ROWS = 4,        /* rows that tiled sums at a time */
    FIR_TAPS = 4,         /* taps that separable adds at a time */
};

/* Output rows i0 to i1 and columns j0 to j1, the ends excluded. */
typedef struct area {
    int64_t i0, i1, j0, j1;
} area;

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* The n-th tile, row by row. */
static inline area tile_of(const fl_convolve_args *c, const fl_launch *launch, int64_t n)
{
    int64_t i = n / launch->grid[0] * launch->block[1], j = n % launch->grid[0] * launch->block[0];

    return (area){i, min64(i + launch->block[1], c->out.shape[0]), j, min64(j + launch->block[0], c->out.shape[1])};
}

#define real float
#define wide double
#define EPSILON FLT_EPSILON
#define FN(name) CPU_TYPED(name, f32)
#include "convolve_typed.h"
#undef real
#undef wide
#undef EPSILON
#undef FN
#define real double
#define wide long double
#define EPSILON DBL_EPSILON
#define FN(name) CPU_TYPED(name, f64)
#include "convolve_typed.h"
#undef real
#undef wide
#undef EPSILON
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

static inline double outputs_of(const fl_convolve_args *c)
{
    return (double)c->out.shape[0] * (double)c->out.shape[1];
}

static inline double taps_of(const fl_convolve_args *c)
{
    return (double)c->kernel.shape[0] * (double)c->kernel.shape[1];
}

static inline double size_of(const fl_convolve_args *c)
{
    return c->out.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

/* Each multiply-add loads an element of the image and a sum, and stores the sum. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = 2 * outputs_of(c) * taps_of(c);
    launch->bytes_requested = size_of(c) * (3 * outputs_of(c) * taps_of(c));
}

/* The requested tiles, or wide ones of about the same width, lower for many threads. */
static void CPU_NAME(plan_tiles)(const cpu_device *device, const fl_convolve_args *c, fl_launch *launch)
{
    const int64_t rows = c->out.shape[0], columns = c->out.shape[1];
    int64_t width = launch->block[0], height = launch->block[1];

    if (width == 0) {
        int64_t most = TILE_BYTES / (int64_t)size_of(c), across = (columns + most - 1) / most;
        width = round_up((columns + across - 1) / across, CPU_LINE / (int64_t)size_of(c));
        for (height = TILE_HEIGHT; height > TILE_ROWS; height /= 2)
            if ((rows + height - 1) / height * across >= device->threads * TILES_PER_THREAD || device->threads == 1)
                break;
    }
    launch->block[0] = (int32_t)min64(width, columns);
    launch->block[1] = (int32_t)min64(height, rows);
    launch->block[2] = 1;
    launch->grid[0] = (columns + launch->block[0] - 1) / launch->block[0];
    launch->grid[1] = (rows + launch->block[1] - 1) / launch->block[1];
    launch->grid[2] = 1;
}

/* An element of the image is loaded once for TILE_ROWS multiply-adds, a sum once for a row of the kernel. */
static void CPU_NAME(plan_tiled)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve_args *c = args;

    CPU_NAME(plan_tiles)(device, c, launch);
    launch->flops = 2 * outputs_of(c) * taps_of(c);
    launch->bytes_requested = size_of(c) * outputs_of(c) * (taps_of(c) / TILE_ROWS + 2 * (double)c->kernel.shape[0]);
}

/* FIR_TAPS multiply-adds load that many elements and a sum, and store it. The first pass has more rows. */
static void CPU_NAME(plan_separable)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve_args *c = args;
    double height, kh = (double)round_up(c->kernel.shape[0], FIR_TAPS),
                   kw = (double)round_up(c->kernel.shape[1], FIR_TAPS), taps;

    CPU_NAME(plan_tiles)(device, c, launch);
    height = launch->block[1];
    taps = outputs_of(c) * (kw * (height + kh - 1) / height + kh);
    launch->flops = 2 * taps;
    launch->bytes_requested = size_of(c) * taps * (FIR_TAPS + 2) / FIR_TAPS;
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_FLOATS(naive, fl_convolve_args, out)
CPU_RUN_FLOATS(tiled, fl_convolve_args, out)
CPU_RUN_FLOATS(separable, fl_convolve_args, out)
CPU_RUN_FLOATS(automatic, fl_convolve_args, out)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_convolve_args, out)
#endif

/* The test of the kernel is done again, because it costs next to nothing: no result is saved between the two calls. */
static const char *CPU_NAME(chosen)(const fl_context *context, const void *args, fl_launch *launch)
{
    const fl_convolve_args *c = args;
    bool separable = c->out.dtype == FL_F32 ? CPU_TYPED(takes_separable, f32)(c) : CPU_TYPED(takes_separable, f64)(c);

    if (separable)
        CPU_NAME(plan_separable)(context->device, args, launch);
    return separable ? "separable" : "tiled";
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_CONVOLVE, "auto", CPU_FLOATS, plan_tiled, run_automatic,
             "separable if the kernel is of rank one, else tiled"),
     .chosen = CPU_NAME(chosen)},
    {CPU_ROW(FL_OP_CONVOLVE, "tiled", CPU_FLOATS, plan_tiled, run_tiled,
             "blocks that stay in the cache; each loaded element is used for four rows of sums in registers")},
    {CPU_ROW(FL_OP_CONVOLVE, "separable", CPU_FLOATS, plan_separable, run_separable,
             "along rows, then along columns; only for kernels of rank one"),
     .restricted = true},
    {CPU_ROW(FL_OP_CONVOLVE, "naive", CPU_FLOATS, plan_naive, run_naive,
             "the textbook's four loops, columns innermost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_CONVOLVE, "reference", CPU_FLOATS, plan_naive, run_reference,
             "the oracle: the definition, f32 summed in f64, f64 in long double")},
#endif
};

CPU_OPERATION(cpu_convolve, rows);
