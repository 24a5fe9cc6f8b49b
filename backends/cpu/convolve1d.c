/* SPDX-License-Identifier: MIT
 *
 * convolve1d.c - convolution of vectors: what each variant costs, its tiles, and the rows. The loops are in
 * convolve1d_typed.h; the variant fft is in convolve1d_fft.c.
 */
#include "operation.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* The hot loops stay functions of their own: inlined into what calls them, their addresses leave the registers. */
#define KERNEL static __attribute__((noinline))

enum {
    STRIP_BYTES = 8192, /* naive: outputs at a time, which stay in the first cache while all taps pass over them */
    TILE_BYTES = 8192,  /* tiled: the same; the signal under a tile and a piece stays there, too */
    PIECE_BYTES = 4096, /* tiled: of the kernel */
    SUMS = 4,           /* tiled: sums (vectors of them, with vectors) in registers at a time */
};

#define real float
#define wide double
#define FN(name) CPU_TYPED(name, f32)
#include "convolve1d_typed.h"
#undef real
#undef wide
#undef FN
#define real double
#define wide long double
#define FN(name) CPU_TYPED(name, f64)
#include "convolve1d_typed.h"
#undef real
#undef wide
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

static inline double size_of(const fl_convolve1d_args *c)
{
    return c->out.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

/* Terms of the first n sums of the full result: sum m has min(m + 1, kernel, signal + kernel - 1 - m) of them. */
static inline double terms_before(const fl_convolve1d_args *c, int64_t n)
{
    const double s = (double)c->signal.shape[0], k = (double)c->kernel.shape[0], m = (double)n, rest = s + k - 1 - m;

    return m <= k ? m * (m + 1) / 2 : m <= s ? k * (k + 1) / 2 + (m - k) * k : s * k - rest * (rest + 1) / 2;
}

static inline double terms_of(const fl_convolve1d_args *c)
{
    return terms_before(c, c->origin + c->out.shape[0]) - terms_before(c, c->origin);
}

/* Each multiply-add loads an element of the signal and a sum, and stores the sum. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve1d_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = 2 * terms_of(c);
    launch->bytes_requested = size_of(c) * 3 * terms_of(c);
}

/* Each multiply-add loads an element of the signal, and SUMS of them share one of the kernel. A piece of the kernel
 * loads and stores the sums, but for the first, which only stores them. */
static void CPU_NAME(plan_tiled)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve1d_args *c = args;
    const int64_t element = (int64_t)size_of(c), piece = PIECE_BYTES / element, n = c->out.shape[0];
    const double pieces = (double)((c->kernel.shape[0] + piece - 1) / piece);

    (void)device;
    if (launch->block[0] == 0)
        launch->block[0] = (int32_t)(TILE_BYTES / element);
    launch->block[0] = (int32_t)min64(launch->block[0], n);
    launch->block[1] = launch->block[2] = 1;
    launch->grid[0] = (n + launch->block[0] - 1) / launch->block[0];
    launch->grid[1] = launch->grid[2] = 1;
    launch->flops = 2 * terms_of(c);
    launch->bytes_requested = size_of(c) * (terms_of(c) * (SUMS + 1) / SUMS + (double)n * (2 * pieces - 1));
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_FLOATS(naive, fl_convolve1d_args, out)
CPU_RUN_FLOATS(tiled, fl_convolve1d_args, out)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_convolve1d_args, out)
#endif

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_CONVOLVE1D, "tiled", CPU_FLOATS, plan_tiled, run_tiled,
             "blocks that stay in the cache, four sums in registers, the kernel in pieces")},
    {CPU_ROW(FL_OP_CONVOLVE1D, "naive", CPU_FLOATS, plan_naive, run_naive,
             "the textbook's two loops, outputs innermost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_CONVOLVE1D, "reference", CPU_FLOATS, plan_naive, run_reference,
             "the oracle: the definition, f32 summed in f64, f64 in long double")},
#endif
};

CPU_OPERATION(cpu_convolve1d, rows);
