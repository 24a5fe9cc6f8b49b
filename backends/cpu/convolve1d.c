/* SPDX-License-Identifier: MIT
 *
 * convolve1d.c - convolution of vectors: what each variant costs, its tiles, and the rows. The loops are in
 * convolve1d_typed.h; the variant fft is in convolve1d_fft.c.
 */
#include "cpu.h"

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

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

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

#define RUN(variant) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        const fl_convolve1d_args *c = args; \
        return c->out.dtype == FL_F32 ? CPU_TYPED(variant, f32)(context, c, launch) \
                                      : CPU_TYPED(variant, f64)(context, c, launch); \
    }
RUN(naive)
RUN(tiled)
#ifdef CPU_REFERENCE
RUN(reference)
#endif

#define FLOATS (1u << FL_F32 | 1u << FL_F64)

static const fl_row rows[] = {
    {.operation = FL_OP_CONVOLVE1D,
     .variant = "tiled",
     .dtypes = FLOATS,
     .summary = "blocks that stay in the cache, four sums in registers, the kernel in pieces",
     .plan = CPU_NAME(plan_tiled),
     .run = CPU_NAME(run_tiled)},
    {.operation = FL_OP_CONVOLVE1D,
     .variant = "naive",
     .dtypes = FLOATS,
     .summary = "the textbook's two loops, outputs innermost",
     .plan = CPU_NAME(plan_naive),
     .run = CPU_NAME(run_naive)},
#ifdef CPU_REFERENCE
    {.operation = FL_OP_CONVOLVE1D,
     .variant = "reference",
     .dtypes = FLOATS,
     .summary = "the oracle: the definition, f32 summed in f64, f64 in long double",
     .plan = CPU_NAME(plan_naive),
     .run = CPU_NAME(run_reference)},
#endif
};

const cpu_operation CPU_NAME(cpu_convolve1d) = {.rows = rows, .count = sizeof rows / sizeof *rows};
