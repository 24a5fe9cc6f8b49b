/* SPDX-License-Identifier: MIT
 *
 * convolve1d.c - convolution of vectors: what each variant costs, its tiles, and the rows. The loops are in
 * convolve1d_typed.h, the transforms in convolve1d_fft_typed.h.
 */
#include "fft_check.h"
#include "operation.h"
#include "openmp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* The hot loops stay functions of their own: inlined into what calls them, their addresses leave the registers. */
#define KERNEL static __attribute__((noinline))

enum {
    STRIP_BYTES = 8192, /* naive: outputs at a time, which stay in the first cache while all taps pass over them */
    TILE_BYTES = 8192,  /* tiled: the same; the signal under a tile and a piece stays there, too */
    PIECE_BYTES = 4096, /* tiled: of the kernel */
    SUMS = 4,           /* tiled: sums (vectors of them, with vectors) in registers at a time */
    FFT_SHORTEST = 1024,
    FFT_LONGEST = 65536, /* block, or FFT_TIMES the kernel: flynn.h promises no longer ones */
    FFT_TIMES = 16,
    FFT_MOST = 1 << 30, /* FFTW counts in an int */
    FEW_SUMS = 64,      /* that are summed again together: one of them by itself takes as long */
};

static inline double fft_terms(const fl_convolve1d_args *c)
{
    return (double)min64(c->kernel.shape[0], c->signal.shape[0]);
}

/* Elements of the signal that a block has at most. */
static inline double fft_inside(const fl_convolve1d_args *c, int64_t length)
{
    return (double)min64(length, c->signal.shape[0]);
}

/* Returns the cost of the direct sums of fft-checked, for each output, which the transforms do not include. */
static inline double CPU_NAME(checked_cost)(const fl_convolve1d_args *c, double share)
{
    const double outputs = (double)c->out.shape[0];
    const double inner = fmin((double)max64(0, c->signal.shape[0] - c->kernel.shape[0] + 1), outputs);

    return 1.5 * fft_checked_cost(share, fft_terms(c), outputs, outputs - inner) / outputs;
}

/* The length of a block, a power of two: that for which an output costs the least, or all in one where that is no
 * longer; 0: the kernel is too long for FFTW. */
static int64_t CPU_NAME(block_length)(const fl_convolve1d_args *c, bool checked)
{
    const int64_t taps = c->kernel.shape[0], full = c->out.shape[0] + taps - 1;
    const int64_t longest = taps > FFT_MOST / FFT_TIMES ? FFT_MOST : max64(FFT_LONGEST, FFT_TIMES * taps);
    double least = INFINITY;
    int64_t best = 0;

    for (int64_t n = FFT_SHORTEST; n <= longest; n *= 2) {
        double cost = n < taps ? INFINITY : cpu_fft_cost((double)n, cpu_fft_log2(n)) / (double)(n - taps + 1);
        if (checked)
            cost += CPU_NAME(checked_cost)(c, fft_share_of_random(cpu_fft_log2(n), fft_inside(c, n), fft_terms(c)));
        if (cost < least) {
            least = cost;
            best = n;
        }
        if (n >= full)
            break;
    }
    return best;
}

#define real float
#define wide double
#define FN(name) CPU_TYPED(name, f32)
#include "convolve1d_typed.h"
#undef wide
#define FT(name) CPU_TYPED(name, fft_f32)
#define work float
#include "convolve1d_fft_typed.h"
#undef FT
#undef work
#define FT(name) CPU_TYPED(name, fft_wide)
#define work double
#include "convolve1d_fft_typed.h"
#undef FT
#undef real
#undef FN
#define real double
#define wide long double
#define FN(name) CPU_TYPED(name, f64)
#include "convolve1d_typed.h"
#undef wide
#define FT(name) CPU_TYPED(name, fft_f64)
#include "convolve1d_fft_typed.h"
#undef FT
#undef work
#undef real
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

/* Elements of all blocks. */
static inline double fft_elements(const fl_convolve1d_args *c, int64_t length)
{
    const int64_t step = length - c->kernel.shape[0] + 1;

    return (double)((c->out.shape[0] + step - 1) / step) * (double)length;
}

/* Operations of a real FFT are about half of the 5 n log2(n) of a complex one; a product is 6. Of the bytes that the
 * library moves only the least is known: each transform loads and stores its block once. */
static void CPU_NAME(plan_transforms)(const fl_convolve1d_args *c, double element, bool checked, fl_launch *launch)
{
    const int64_t length = CPU_NAME(block_length)(c, checked);
    const double n = (double)length;

    memset(launch->block, 0, sizeof launch->block);
    if (length == 0)
        return;
    launch->flops = (2 * fft_elements(c, length) + n) * 2.5 * cpu_fft_log2(length) + 3 * fft_elements(c, length);
    launch->bytes_requested = element * ((2 * fft_elements(c, length) + n) * 2 + 7 * fft_elements(c, length));
}

static void CPU_NAME(plan_fft)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    CPU_NAME(plan_transforms)(args, size_of(args), false, launch);
}

static void CPU_NAME(plan_fft_wide)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    CPU_NAME(plan_transforms)(args, sizeof(double), false, launch);
}

static void CPU_NAME(plan_fft_checked)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    CPU_NAME(plan_transforms)(args, sizeof(double), true, launch);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

CPU_RUN_FLOATS(naive, fl_convolve1d_args, out)
CPU_RUN_FLOATS(tiled, fl_convolve1d_args, out)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_convolve1d_args, out)
#endif

CPU_FFT_RUNS

/* Returns the cost of fft-checked with this kernel, or INFINITY if most sums would be computed directly. */
static double CPU_NAME(weigh_checked)(const fl_convolve1d_args *c)
{
    const int64_t length = CPU_NAME(block_length)(c, true);
    const double log2_of_block = length > 0 ? cpu_fft_log2(length) : 0;
    const double terms = fft_terms(c), inside = fft_inside(c, length);

    if (length == 0 || terms_of(c) < CPU_FFT_LEAST ||
        fft_share_of_random(log2_of_block, inside, terms) > fft_most_share)
        return INFINITY;
    const fft_kernel kernel = CPU_NAME(fft_kernel_of)(&c->kernel, terms);
    const double share = fft_share_of(&kernel, log2_of_block, inside, terms);
    return !(share <= fft_most_share) ? INFINITY
                                      : cpu_fft_cost(fft_elements(c, length), log2_of_block) +
                                            CPU_NAME(checked_cost)(c, share) * (double)c->out.shape[0];
}

/* A multiply-add costs half as much again as in two dimensions. */
static cpu_methods CPU_NAME(methods)(const cpu_device *device, const fl_convolve1d_args *c)
{
    const int64_t length = CPU_NAME(block_length)(c, false);
    const bool single = c->out.dtype == FL_F32;
    const double log2_of_block = length > 0 ? cpu_fft_log2(length) : 0;
    const double cost = length == 0 ? INFINITY
                                    : cpu_fft_cost(fft_elements(c, length), log2_of_block) +
                                          (terms_of(c) < CPU_FFT_LEAST ? DBL_MAX / 4 : 0);

    const double direct = device->host->bound(FL_OP_CONVOLVE1D, "tiled", c); /* also of blocks that are, within fft */

    return (cpu_methods){.dtype = c->out.dtype,
                         .cost = {1.5 * CPU_FFT_SUM * terms_of(c) * (single ? 1 : 2), cost * (single ? 0.5 : 1),
                                  single ? cost : INFINITY,
                                  single ? INFINITY : fmax(CPU_NAME(weigh_checked)(c), cost)}, /* fft does less */
                         .bound = {direct,
                                   fmax(direct, cpu_fft_bound(log2_of_block, (single ? FLT_EPSILON : DBL_EPSILON) / 2)),
                                   cpu_fft_bound(log2_of_block, DBL_EPSILON / 2) + FLT_EPSILON / 2, direct}};
}

static double CPU_NAME(bound_auto)(void *device, const void *args)
{
    const cpu_methods m = CPU_NAME(methods)(device, args);

    return cpu_fft_least_bound(&m);
}

static double CPU_NAME(bound_fft)(void *device, const void *args)
{
    return CPU_NAME(methods)(device, args).bound[CPU_FFT];
}

static double CPU_NAME(bound_fft_wide)(void *device, const void *args)
{
    return CPU_NAME(methods)(device, args).bound[CPU_FFT_WIDE];
}

static cpu_method CPU_NAME(choose)(const cpu_device *device, const fl_convolve1d_args *c, double tolerance)
{
    if (tolerance == 0 && terms_of(c) < CPU_FFT_LEAST)
        return CPU_DIRECT; /* without weighing the others, which takes longer than a small convolution */
    return cpu_fft_choose(CPU_NAME(methods)(device, c), tolerance);
}

static fl_status CPU_NAME(run_automatic)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const bool single = ((const fl_convolve1d_args *)args)->out.dtype == FL_F32;

    switch (CPU_NAME(choose)(context->device, args, launch->tolerance)) {
    case CPU_FFT: return (single ? CPU_NAME(run_fft_f32) : CPU_NAME(run_fft_f64))(context, args, launch);
    case CPU_FFT_WIDE: return CPU_NAME(run_fft_wide)(context, args, launch);
    case CPU_FFT_CHECKED: return CPU_NAME(run_fft_checked)(context, args, launch);
    default: return CPU_NAME(run_tiled)(context, args, launch);
    }
}

/* The choice is made again, because it costs next to nothing. */
static const char *CPU_NAME(chosen)(const fl_context *context, const void *args, fl_launch *launch)
{
    switch (CPU_NAME(choose)(context->device, args, launch->tolerance)) {
    case CPU_FFT: CPU_NAME(plan_fft)(context->device, args, launch); return "fft";
    case CPU_FFT_WIDE: CPU_NAME(plan_fft_wide)(context->device, args, launch); return "fft-wide";
    case CPU_FFT_CHECKED: CPU_NAME(plan_fft_checked)(context->device, args, launch); return "fft-checked";
    default: return "tiled";
    }
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_CONVOLVE1D, "auto", CPU_FLOATS, plan_tiled, run_automatic,
             "tiled, or for long kernels fft-wide (f32) and fft-checked (f64); fft with a tolerance"),
     .chosen = CPU_NAME(chosen), .bound = CPU_NAME(bound_auto)},
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

CPU_FFT_OPERATIONS(FL_OP_CONVOLVE1D, cpu_convolve1d,
                   "FFTs of blocks by FFTW; the error is relative to the largest sums",
                   "fft in f64, and sums that are small against their block directly: as accurate as tiled",
                   "fft, and sums whose terms may be too small for its error directly: as accurate as tiled")
