/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.hip.cpp - FL_OP_CONVOLVE and FL_OP_CONVOLVE1D on a GPU by FFTs of tiles: the variants fft, fft-wide and
 * fft-checked, and which of them auto takes. convolve_fft_run.hip.cpp queues them.
 */
#include "convolve_fft.hpp"

#include "convolve_fft_run.hpp"
#include "gpu/gpu_fft.h"

#include <cfloat>

namespace
{

/* The cost of direct sums by which auto chooses, measured on an H200. */
struct direct_sums {
    double cost;    /* of one multiply-add; transforms of n elements to and fro cost n (log2(n) + 4) */
    double least;   /* multiply-adds: with fewer, an FFT's launches take as long as the sums, or longer */
    double outputs; /* fewer outputs take as long as this many, because they do not fill the GPU */
};
constexpr direct_sums for_image = {0.03, 4e8, 2e5}, for_signal = {0.043, 3.4e8, 2.2e5};

fl_buffer row_of(fl_buffer line)
{
    line.ndim = 2;
    line.shape[1] = line.shape[0];
    line.stride[0] = line.shape[0];
    line.stride[1] = line.shape[0] = 1;
    return line;
}

/* A convolution of signals as one of images of one row. */
fl_convolve_args image_of(const fl_convolve1d_args *line)
{
    return {row_of(line->signal), row_of(line->kernel), row_of(line->out), {0, line->origin}};
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* Operations of a real FFT are about half of the 5 n log2(n) of a complex one; a product is 6 for two numbers, and 2
 * for the scale. Of the bytes that the library moves only the least is known: each transform loads and stores its tile
 * once in each dimension. The check of sums is not counted: only the device knows whether it is needed. The blocks are
 * no choice of the caller's, so that results have the same bits. */
void plan_tiles(const void *device, const fl_convolve_args &args, bool signal, bool checked, size_t work,
                fl_launch *launch)
{
    const fft_cut c = hip_fft_cut_for(static_cast<const hip_device *>(device), args, signal, checked);
    if (c.edge[0] == 0)
        return;
    const double n = c.elements(), tiles = c.all(), passes = signal ? 1 : 2;
    const double element = args.out.dtype == FL_F32 ? sizeof(float) : sizeof(double), wide = (double)work;
    launch->block[0] = fft_threads;
    launch->block[1] = launch->block[2] = 1;
    const dim3 grid = hip_fft_grid(static_cast<const hip_device *>(device), c, c.edge[0] * c.edge[1]);
    launch->grid[0] = grid.x;
    launch->grid[1] = grid.y;
    launch->grid[2] = 1;
    launch->shared_bytes = fft_threads * sizeof(fft_norms);
    if (c.own) {
        const fft_own_launch lines = hip_fft_first_lines(c, signal, work == sizeof(double));
        launch->block[0] = lines.threads;
        launch->grid[0] = lines.blocks;
        if (signal) {
            const dim3 groups =
                hip_fft_signal_grid(static_cast<const hip_device *>(device), lines.blocks, lines.threads, 1);
            launch->grid[0] = groups.x;
            launch->grid[2] = groups.z;
        }
        launch->shared_bytes = (int64_t)lines.shared;
    }
    launch->flops = (2 * tiles + 1) * 2.5 * n * std::log2(n) + tiles * 4 * n;
    launch->bytes_requested = c.own ? tiles * n * (2 * element + 5 * wide)
                                    : tiles * n * (2 * element + 5 * wide) + (2 * tiles + 1) * 2 * passes * n * wide;
}

template <typename W, bool checked = false>
void plan_image(void *device, const void *args, fl_launch *launch)
{
    plan_tiles(device, *static_cast<const fl_convolve_args *>(args), false, checked, sizeof(W), launch);
}

template <typename W, bool checked = false>
void plan_signal(void *device, const void *args, fl_launch *launch)
{
    plan_tiles(device, image_of(static_cast<const fl_convolve1d_args *>(args)), true, checked, sizeof(W), launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

template <typename T, typename W>
fl_status run_image(const fl_context *context, const void *args, const fl_launch *launch)
{
    return hip_fft_convolve<false, T, W>(context, *static_cast<const fl_convolve_args *>(args), launch->tolerance);
}

/* hip_fft.run_unless. */
template <typename T, typename W>
fl_status run_image_unless(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch,
                           const int *rank_one)
{
    return hip_fft_convolve<false, T, W>(context, *args, launch->tolerance, rank_one);
}

template <typename T, typename W>
fl_status run_signal(const fl_context *context, const void *args, const fl_launch *launch)
{
    return hip_fft_convolve<true, T, W>(context, image_of(static_cast<const fl_convolve1d_args *>(args)),
                                        launch->tolerance);
}

/* fft-checked takes a tolerance as direct sums do: it is as accurate. */
fl_status run_image_checked(const fl_context *context, const void *args, const fl_launch *)
{
    return hip_fft_convolve_checked<false>(context, *static_cast<const fl_convolve_args *>(args));
}

fl_status run_image_checked_unless(const fl_context *context, const fl_convolve_args *args, const fl_launch *,
                                   const int *rank_one)
{
    return hip_fft_convolve_checked<false>(context, *args, rank_one);
}

fl_status run_signal_checked(const fl_context *context, const void *args, const fl_launch *)
{
    return hip_fft_convolve_checked<true>(context, image_of(static_cast<const fl_convolve1d_args *>(args)));
}

/* ------------------------------------------------------------------------------------------------------ rows ---- */

enum class fft_kind { plain, wide, checked };

/* What auto knows of a variant by FFT. */
struct weighed {
    const hip_fft *fft;
    fl_dtype transformed;
    double cost; /* in the unit of direct_sums */
    double bound;
    bool exact; /* as accurate as direct sums */
};

/* The least tolerance: the roots of the sums of the tile's squares and of the kernel's are at most the root of the
 * tile's elements times the largest magnitude of a result in which no terms cancel, if its tiles are alike. A tile of
 * which that is not true is computed again. */
double bound_of(const fft_cut &c, fl_dtype transformed, fft_kind kind, double direct)
{
    const double unit = (transformed == FL_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
    if (c.edge[0] == 0)
        return (double)INFINITY;
    if (kind == fft_kind::checked)
        return direct;
    const double transforms = hip_fft_units(c) * unit * std::sqrt(c.elements());
    return kind == fft_kind::wide ? transforms + FLT_EPSILON / 2 : std::max(transforms, direct);
}

/* Multiply-adds of direct sums, with terms outside the image; few outputs count as of.outputs. */
double sums_of(const fl_convolve_args &args, const direct_sums &of)
{
    return std::max((double)args.out.shape[0] * (double)args.out.shape[1], of.outputs) * (double)args.kernel.shape[0] *
           (double)args.kernel.shape[1];
}

/* The choice among those that can run. Numbers of f64 take twice the time in sums as in transforms. */
hip_fft_choice choose(const fl_convolve_args &args, const direct_sums &of, const weighed (&all)[2], bool own,
                      double direct, double tolerance)
{
    const double sums = sums_of(args, of);
    hip_fft_choice choice = {nullptr, tolerance == 0 || direct <= tolerance, own, direct};
    double least = choice.direct ? of.cost * sums * (args.out.dtype == FL_F32 ? 1 : 2) : (double)INFINITY;
    char why[256];
    for (const weighed &w : all) {
        if (w.bound == INFINITY || (tolerance == 0 && !w.exact) ||
            (!own && !gpu_fft::load(w.transformed, why, sizeof why)))
            continue;
        choice.least = std::min(choice.least, w.bound);
        if ((tolerance == 0 || w.bound <= tolerance) && w.cost < least && !(choice.direct && sums < of.least)) {
            choice.fft = w.fft;
            least = w.cost;
        }
    }
    return choice;
}

/* The variants by FFT for an image, or a signal, of that dtype. */
template <bool signal>
hip_fft_choice choose_for(const hip_device *device, const fl_convolve_args &args, const void *given, double tolerance)
{
    static const hip_fft single = {"fft", signal ? plan_signal<float> : plan_image<float>,
                                   signal ? run_signal<float, float> : run_image<float, float>,
                                   run_image_unless<float, float>},
                         twice = {"fft", signal ? plan_signal<double> : plan_image<double>,
                                  signal ? run_signal<double, double> : run_image<double, double>,
                                  run_image_unless<double, double>},
                         wide = {"fft-wide", signal ? plan_signal<double> : plan_image<double>,
                                 signal ? run_signal<float, double> : run_image<float, double>,
                                 run_image_unless<float, double>},
                         checked = {"fft-checked", signal ? plan_signal<double, true> : plan_image<double, true>,
                                    signal ? run_signal_checked : run_image_checked, run_image_checked_unless};
    const double direct = device->host->bound(signal ? FL_OP_CONVOLVE1D : FL_OP_CONVOLVE, "tiled", given);
    const direct_sums &of = signal ? for_signal : for_image;
    if (tolerance == 0 && sums_of(args, of) < of.least) /* a small call does not wait for a cut into tiles */
        return {nullptr, true, false, direct};
    const fft_cut c = hip_fft_cut_of(args, signal, false);
    const double cost = c.cost();
    if (args.out.dtype == FL_F32) {
        const weighed all[2] = {{&single, FL_F32, cost / 2, bound_of(c, FL_F32, fft_kind::plain, direct), false},
                                {&wide, FL_F64, cost, bound_of(c, FL_F64, fft_kind::wide, direct), true}};
        return choose(args, of, all, c.own, direct, tolerance);
    }
    const fft_cut k = hip_fft_cut_of(args, signal, true);
    const double share = k.edge[0] != 0 ? hip_fft_share(k, args, signal) : (double)INFINITY;
    const bool pays = share <= hip_fft_most_share;
    const weighed all[2] = {{&twice, FL_F64, cost, bound_of(c, FL_F64, fft_kind::plain, direct), false},
                            {&checked, FL_F64, pays ? hip_fft_checked_cost(k, args) : (double)INFINITY,
                             bound_of(c, FL_F64, fft_kind::checked, direct), true}};
    return choose(args, of, all, c.own, direct, tolerance);
}

/* fl_row.bound of the rows below. */
template <bool signal, fl_dtype transformed, fft_kind kind>
double bound(void *self, const void *args)
{
    const fl_host *host = static_cast<const hip_device *>(self)->host;
    const double direct = host->bound(signal ? FL_OP_CONVOLVE1D : FL_OP_CONVOLVE, "tiled", args);
    const fft_cut c = signal ? hip_fft_cut_of(image_of(static_cast<const fl_convolve1d_args *>(args)), true, false)
                             : hip_fft_cut_of(*static_cast<const fl_convolve_args *>(args), false, false);
    return bound_of(c, transformed, kind, direct);
}

constexpr const char *summary = "FFTs of tiles; the error is relative to the largest sums of a tile",
                     *wide_summary = "the same in f64, and sums that are small against their tile again directly: as "
                                     "accurate as the others",
                     *checked_summary =
                         "fft, and sums whose error may exceed that of direct ones again directly; an FFT "
                         "of magnitudes shows which";
constexpr uint32_t f32 = 1u << FL_F32, f64 = 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_CONVOLVE, "fft-wide", f32, wide_summary, plan_image<double>, run_image<float, double>, nullptr, false,
     nullptr, bound<false, FL_F64, fft_kind::wide>},
    {FL_OP_CONVOLVE, "fft", f32, summary, plan_image<float>, run_image<float, float>, nullptr, true, nullptr,
     bound<false, FL_F32, fft_kind::plain>},
    {FL_OP_CONVOLVE, "fft", f64, summary, plan_image<double>, run_image<double, double>, nullptr, true, nullptr,
     bound<false, FL_F64, fft_kind::plain>},
    {FL_OP_CONVOLVE, "fft-checked", f64, checked_summary, plan_image<double, true>, run_image_checked, nullptr, false,
     nullptr, bound<false, FL_F64, fft_kind::checked>},
    {FL_OP_CONVOLVE1D, "fft-wide", f32, wide_summary, plan_signal<double>, run_signal<float, double>, nullptr, false,
     nullptr, bound<true, FL_F64, fft_kind::wide>},
    {FL_OP_CONVOLVE1D, "fft", f32, summary, plan_signal<float>, run_signal<float, float>, nullptr, true, nullptr,
     bound<true, FL_F32, fft_kind::plain>},
    {FL_OP_CONVOLVE1D, "fft", f64, summary, plan_signal<double>, run_signal<double, double>, nullptr, true, nullptr,
     bound<true, FL_F64, fft_kind::plain>},
    {FL_OP_CONVOLVE1D, "fft-checked", f64, checked_summary, plan_signal<double, true>, run_signal_checked, nullptr,
     false, nullptr, bound<true, FL_F64, fft_kind::checked>},
};

} // namespace

hip_rows hip_convolve_fft_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}

hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve_args *args, double tolerance)
{
    return choose_for<false>(device, *args, args, tolerance);
}

hip_fft_choice hip_choose_fft(const hip_device *device, const fl_convolve1d_args *args, double tolerance)
{
    return choose_for<true>(device, image_of(args), args, tolerance);
}
