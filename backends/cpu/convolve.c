/* SPDX-License-Identifier: MIT
 *
 * convolve.c - 2-D convolution: what each variant costs, its tiles, and the rows. The loops are in convolve_typed.h,
 * the transforms in convolve_fft_typed.h.
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
    NAIVE_STRIP = 2048,   /* columns at a time: that much of an output row stays in the first cache */
    TILE_BYTES = 2048,    /* of a row of a tile: TILE_ROWS of them and a row of the image stay in the first cache */
    TILE_HEIGHT = 128,    /* separable sums (kernel rows - 1) more; a tile of that height stays in the second cache */
    TILES_PER_THREAD = 8, /* at least, where the output has the rows for it: so that no thread waits long for another */
    TILE_ROWS = 4,        /* rows that tiled sums at a time */
    FIR_TAPS = 4,         /* taps that separable adds at a time */
    FFT_EDGE = 16,        /* of the smallest tile that is transformed */
    FFT_LONGEST = 512,    /* edge of a tile, or FFT_TIMES the kernel's: flynn.h promises no longer ones */
    FFT_TIMES = 4,
    FFT_BYTES = 1 << 20, /* of a tile that stays in the second cache */
    FFT_MOST = 1 << 28,  /* elements of a tile: FFTW counts in an int */
    FEW_COLUMNS = 16,    /* that are summed again together: one of them by itself takes as long */
};

/* Output rows i0 to i1 and columns j0 to j1, the ends excluded. */
typedef struct area {
    int64_t i0, i1, j0, j1;
} area;

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static inline double outputs_of(const fl_convolve_args *c)
{
    return (double)c->out.shape[0] * (double)c->out.shape[1];
}

static inline double taps_of(const fl_convolve_args *c)
{
    return (double)c->kernel.shape[0] * (double)c->kernel.shape[1];
}

/* How many threads `separable` takes: fewer than its multiply-adds would occupy, because rows that two tiles have in
 * common are summed twice. */
static inline int separable_team(const cpu_device *device, const fl_convolve_args *c)
{
    return cpu_team_on(device, outputs_of(c) * (double)(c->kernel.shape[0] + c->kernel.shape[1]));
}

static void CPU_NAME(plan_separable)(void *device, const void *args, fl_launch *launch);

/* The n-th tile, row by row. */
static inline area tile_of(const fl_convolve_args *c, const fl_launch *launch, int64_t n)
{
    int64_t i = n / launch->grid[0] * launch->block[1], j = n % launch->grid[0] * launch->block[0];

    return (area){i, min64(i + launch->block[1], c->out.shape[0]), j, min64(j + launch->block[0], c->out.shape[1])};
}

/* How a result is cut into tiles for the FFT, in both dimensions. */
typedef struct fft_cut {
    int64_t edge[2], step[2], tiles[2]; /* of a tile; its outputs; all tiles. edge 0: the kernel is too large */
} fft_cut;

static inline double fft_log2(const fft_cut *cut)
{
    return cpu_fft_log2(cut->edge[0]) + cpu_fft_log2(cut->edge[1]);
}

/* Elements of all tiles that are transformed. */
static inline double fft_elements(const fft_cut *cut)
{
    return (double)cut->tiles[0] * (double)cut->tiles[1] * (double)cut->edge[0] * (double)cut->edge[1];
}

/* A real FFT takes about half of the 5 n log2(n) operations of a complex one; a product is 6 for two numbers. */
static inline double fft_flops(const fft_cut *cut)
{
    return fft_elements(cut) * (2 * 2.5 * fft_log2(cut) + 3);
}

static inline area fft_area(const fl_convolve_args *c, const fft_cut *cut, int64_t n)
{
    const int64_t i = n / cut->tiles[1] * cut->step[0], j = n % cut->tiles[1] * cut->step[1];

    return (area){i, min64(i + cut->step[0], c->out.shape[0]), j, min64(j + cut->step[1], c->out.shape[1])};
}

/* Sets a dimension's edge; returns whether the kernel fits into it. */
static inline bool fft_cut_edge(const fl_convolve_args *c, fft_cut *cut, int d, int64_t edge)
{
    const int64_t step = edge - c->kernel.shape[d] + 1;

    if (step < 1)
        return false;
    cut->edge[d] = edge;
    cut->step[d] = min64(step, c->out.shape[d]);
    cut->tiles[d] = (c->out.shape[d] + step - 1) / step;
    return true;
}

/* Returns whether a dimension may have a tile's next longer edge: not if a shorter one holds all of it. */
static inline bool fft_goes_on(const fl_convolve_args *c, int d, int64_t edge)
{
    return edge <= max64(FFT_LONGEST, FFT_TIMES * c->kernel.shape[d]) && edge <= FFT_MOST &&
           edge / 2 < max64(c->out.shape[d] + c->kernel.shape[d] - 1, FFT_EDGE);
}

/* A tile has at most so many elements of the image, and a sum at most fft_terms. */
static inline double fft_inside(const fl_convolve_args *c, const fft_cut *cut)
{
    return fmin((double)cut->edge[0] * (double)cut->edge[1], (double)elements_of(&c->image));
}

static inline double fft_terms(const fl_convolve_args *c)
{
    return (double)min64(elements_of(&c->kernel), elements_of(&c->image));
}

/* Outputs that have fewer terms than others have. */
static inline double outputs_at_border(const fl_convolve_args *c)
{
    double inner = 1;

    for (int d = 0; d < 2; d++)
        inner *= (double)min64(max64(0, c->image.shape[d] - c->kernel.shape[d] + 1), c->out.shape[d]);
    return outputs_of(c) - inner;
}

/* Returns the cost of a cut in the unit of cpu_fft_cost. fft-checked is weighed for a kernel of random numbers, so that
 * its tiles depend on shapes alone. */
static inline double CPU_NAME(cost_of_cut)(const fl_convolve_args *c, const fft_cut *cut, size_t element, bool checked)
{
    const bool fits = cut->edge[0] * cut->edge[1] <= FFT_BYTES / (int64_t)element;
    const double transforms = cpu_fft_cost(fft_elements(cut), fft_log2(cut)) * (fits ? 1 : 1.4);

    if (!checked)
        return transforms;
    const double terms = fft_terms(c), share = fft_share_of_random(fft_log2(cut), fft_inside(c, cut), terms);
    return transforms + fft_checked_cost(share, terms, outputs_of(c), outputs_at_border(c));
}

/* The tiles that cost least. */
static fft_cut CPU_NAME(fft_cut)(const fl_convolve_args *c, size_t element, bool checked)
{
    fft_cut best = {{0, 0}, {0, 0}, {0, 0}}, cut = best;
    double least = INFINITY;

    for (int64_t rows = FFT_EDGE; fft_goes_on(c, 0, rows); rows *= 2)
        for (int64_t columns = FFT_EDGE; fft_goes_on(c, 1, columns) && rows * columns <= FFT_MOST; columns *= 2) {
            if (!fft_cut_edge(c, &cut, 0, rows) || !fft_cut_edge(c, &cut, 1, columns))
                continue;
            const double cost = CPU_NAME(cost_of_cut)(c, &cut, element, checked);
            if (cost < least) {
                least = cost;
                best = cut;
            }
        }
    return best;
}

#define real float
#define wide double
#define EPSILON FLT_EPSILON
#define FN(name) CPU_TYPED(name, f32)
#include "convolve_typed.h"
#define FT(name) CPU_TYPED(name, fft_f32)
#define work float
#include "convolve_fft_typed.h"
#undef FT
#undef work
#define FT(name) CPU_TYPED(name, fft_wide)
#define work double
#include "convolve_fft_typed.h"
#undef FT
#undef real
#undef wide
#undef EPSILON
#undef FN
#define real double
#define wide long double
#define EPSILON DBL_EPSILON
#define FN(name) CPU_TYPED(name, f64)
#include "convolve_typed.h"
#define FT(name) CPU_TYPED(name, fft_f64)
#include "convolve_fft_typed.h"
#undef FT
#undef work
#undef real
#undef wide
#undef EPSILON
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

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

/* The requested tiles, or wide ones of about the same width, lower for many threads, but of at least `least` rows. */
static void CPU_NAME(plan_tiles)(const fl_convolve_args *c, int team, int64_t least, fl_launch *launch)
{
    const int64_t rows = c->out.shape[0], columns = c->out.shape[1];
    int64_t width = launch->block[0], height = launch->block[1];

    if (width == 0) {
        int64_t most = TILE_BYTES / (int64_t)size_of(c), across = (columns + most - 1) / most;
        width = round_up((columns + across - 1) / across, CPU_LINE / (int64_t)size_of(c));
        height = TILE_HEIGHT;
        while (team > 1 && height / 2 >= least && (rows + height - 1) / height * across < team * TILES_PER_THREAD)
            height /= 2;
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

    launch->flops = 2 * outputs_of(c) * taps_of(c);
    CPU_NAME(plan_tiles)(c, cpu_team_on(device, launch->flops), TILE_ROWS, launch);
    launch->bytes_requested = size_of(c) * outputs_of(c) * (taps_of(c) / TILE_ROWS + 2 * (double)c->kernel.shape[0]);
}

/* FIR_TAPS multiply-adds load that many elements and a sum, and store it. The first pass has (kernel rows - 1) more
 * rows in each tile, so tiles are not lower than the kernel. `auto` calls it with the tiles that `tiled` has planned;
 * they are replaced, because the caller did not request them. */
static void CPU_NAME(plan_separable)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve_args *c = args;
    const double kh = (double)round_up(c->kernel.shape[0], FIR_TAPS),
                 kw = (double)round_up(c->kernel.shape[1], FIR_TAPS);
    fl_launch tiled = {0};
    double height, taps;

    CPU_NAME(plan_tiled)(device, args, &tiled);
    if (memcmp(launch->block, tiled.block, sizeof tiled.block) == 0)
        memset(launch->block, 0, sizeof launch->block);
    CPU_NAME(plan_tiles)(c, separable_team(device, c), max64(TILE_ROWS, c->kernel.shape[0]), launch);
    height = launch->block[1];
    taps = outputs_of(c) * (kw * (height + kh - 1) / height + kh);
    launch->flops = 2 * taps;
    launch->bytes_requested = size_of(c) * taps * (FIR_TAPS + 2) / FIR_TAPS;
}

/* Of the bytes that the library moves only the least is known: each of the two transforms loads and stores its tile
 * twice, along rows and along columns. */
static void CPU_NAME(plan_transforms)(const void *args, size_t element, bool checked, fl_launch *launch)
{
    const fft_cut cut = CPU_NAME(fft_cut)(args, element, checked);

    memset(launch->block, 0, sizeof launch->block);
    if (cut.edge[0] == 0)
        return;
    launch->flops = fft_flops(&cut);
    launch->bytes_requested = (double)element * fft_elements(&cut) * (2 * 4 + 3);
}

static void CPU_NAME(plan_fft)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    CPU_NAME(plan_transforms)(args, (size_t)size_of(args), false, launch);
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

CPU_RUN_FLOATS(naive, fl_convolve_args, out)
CPU_RUN_FLOATS(tiled, fl_convolve_args, out)
CPU_RUN_FLOATS(separable, fl_convolve_args, out)
CPU_RUN_FLOATS(by_rank, fl_convolve_args, out)
#ifdef CPU_REFERENCE
CPU_RUN_FLOATS(reference, fl_convolve_args, out)
#endif

CPU_FFT_RUNS

/* The cost and the bound of one of the variants by FFT; `transformed`: the type that is. */
static void CPU_NAME(weigh_fft)(const fl_convolve_args *c, fl_dtype transformed, double *cost, double *bound)
{
    const bool single = transformed == FL_F32, wide = transformed != c->out.dtype;
    const double sums = outputs_of(c) * taps_of(c);
    const fft_cut cut = CPU_NAME(fft_cut)(c, single ? sizeof(float) : sizeof(double), false);

    *cost = *bound = INFINITY;
    if (cut.edge[0] == 0)
        return;
    *cost = cpu_fft_cost(fft_elements(&cut), fft_log2(&cut)) * (single ? 0.5 : 1) +
            (sums < CPU_FFT_LEAST ? DBL_MAX / 4 : 0);
    *bound = cpu_fft_bound(fft_log2(&cut), (single ? FLT_EPSILON : DBL_EPSILON) / 2) + (wide ? FLT_EPSILON / 2 : 0);
}

/* Returns the cost of fft-checked with this kernel, or INFINITY if most sums would be computed directly. */
static double CPU_NAME(weigh_checked)(const fl_convolve_args *c)
{
    const fft_cut cut = CPU_NAME(fft_cut)(c, sizeof(double), true);
    const double terms = fft_terms(c), inside = fft_inside(c, &cut);

    if (cut.edge[0] == 0 || outputs_of(c) * taps_of(c) < CPU_FFT_LEAST ||
        fft_share_of_random(fft_log2(&cut), inside, terms) > fft_most_share)
        return INFINITY;
    const fft_kernel kernel = CPU_NAME(fft_kernel_of)(&c->kernel, terms);
    const double share = fft_share_of(&kernel, fft_log2(&cut), inside, terms);
    return !(share <= fft_most_share) ? INFINITY
                                      : cpu_fft_cost(fft_elements(&cut), fft_log2(&cut)) +
                                            fft_checked_cost(share, terms, outputs_of(c), outputs_at_border(c));
}

static cpu_methods CPU_NAME(methods)(const cpu_device *device, const fl_convolve_args *c)
{
    const bool single = c->out.dtype == FL_F32;
    cpu_methods m = {.dtype = c->out.dtype};

    m.cost[CPU_DIRECT] = CPU_FFT_SUM * outputs_of(c) * taps_of(c) * (single ? 1 : 2);
    m.bound[CPU_DIRECT] = device->host->bound(FL_OP_CONVOLVE, "tiled", c);
    CPU_NAME(weigh_fft)(c, c->out.dtype, &m.cost[CPU_FFT], &m.bound[CPU_FFT]);
    m.bound[CPU_FFT] = fmax(m.bound[CPU_FFT], m.bound[CPU_DIRECT]); /* fft sums some tiles directly */
    m.cost[CPU_FFT_WIDE] = INFINITY;
    m.cost[CPU_FFT_CHECKED] = INFINITY;
    m.bound[CPU_FFT_CHECKED] = m.bound[CPU_DIRECT];
    if (single)
        CPU_NAME(weigh_fft)(c, FL_F64, &m.cost[CPU_FFT_WIDE], &m.bound[CPU_FFT_WIDE]);
    else
        m.cost[CPU_FFT_CHECKED] = fmax(CPU_NAME(weigh_checked)(c), m.cost[CPU_FFT]); /* which does less */
    return m;
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

static bool CPU_NAME(is_of_rank_one)(const fl_convolve_args *c)
{
    return c->out.dtype == FL_F32 ? CPU_TYPED(takes_separable, f32)(c) : CPU_TYPED(takes_separable, f64)(c);
}

/* A kernel of rank one is summed directly where that is exact enough. */
static cpu_method CPU_NAME(choose)(const cpu_device *device, const fl_convolve_args *c, double tolerance)
{
    if (tolerance == 0 && outputs_of(c) * taps_of(c) < CPU_FFT_LEAST)
        return CPU_DIRECT; /* without weighing the others, which takes longer than a small convolution */
    const cpu_methods m = CPU_NAME(methods)(device, c);
    const cpu_method best = cpu_fft_choose(m, tolerance);
    const bool direct = tolerance == 0 || m.bound[CPU_DIRECT] <= tolerance;

    return best != CPU_DIRECT && direct && CPU_NAME(is_of_rank_one)(c) ? CPU_DIRECT : best;
}

static fl_status CPU_NAME(run_automatic)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const bool single = ((const fl_convolve_args *)args)->out.dtype == FL_F32;

    switch (CPU_NAME(choose)(context->device, args, launch->tolerance)) {
    case CPU_FFT: return (single ? CPU_NAME(run_fft_f32) : CPU_NAME(run_fft_f64))(context, args, launch);
    case CPU_FFT_WIDE: return CPU_NAME(run_fft_wide)(context, args, launch);
    case CPU_FFT_CHECKED: return CPU_NAME(run_fft_checked)(context, args, launch);
    default: return CPU_NAME(run_by_rank)(context, args, launch);
    }
}

/* The tests are done again, because they cost next to nothing: no result is saved between the two calls. */
static const char *CPU_NAME(chosen)(const fl_context *context, const void *args, fl_launch *launch)
{
    switch (CPU_NAME(choose)(context->device, args, launch->tolerance)) {
    case CPU_FFT: CPU_NAME(plan_fft)(context->device, args, launch); return "fft";
    case CPU_FFT_WIDE: CPU_NAME(plan_fft_wide)(context->device, args, launch); return "fft-wide";
    case CPU_FFT_CHECKED: CPU_NAME(plan_fft_checked)(context->device, args, launch); return "fft-checked";
    default:
        if (!CPU_NAME(is_of_rank_one)(args))
            return "tiled";
        CPU_NAME(plan_separable)(context->device, args, launch);
        return "separable";
    }
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_CONVOLVE, "auto", CPU_FLOATS, plan_tiled, run_automatic,
             "separable if the kernel is of rank one, else tiled, or for large kernels fft-wide (f32) and fft-checked "
             "(f64); fft with a tolerance"),
     .chosen = CPU_NAME(chosen), .bound = CPU_NAME(bound_auto)},
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

CPU_FFT_OPERATIONS(
    FL_OP_CONVOLVE, cpu_convolve,
    "FFTs of tiles that stay in the cache, by FFTW; the error is relative to the largest sums of a tile",
    "the same in f64, and sums that are small against their tile again directly: as accurate as the others",
    "fft, and sums whose terms may be too small for its error again directly: as accurate as the others")
