/* SPDX-License-Identifier: MIT
 *
 * convolve_fft.hip.cpp - FL_OP_CONVOLVE and FL_OP_CONVOLVE1D on a GPU by FFTs of tiles: the variants fft and fft-wide.
 * The FFT is our own for kernels of usual sizes (convolve_fft_own.hpp, convolve1d_fft_own.hpp), else a library's
 * (gpu_fft.h). A signal is an image of one row.
 *
 * Overlap-save (Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 8.7.3): a tile of the image
 * is convolved with the kernel as if both were periodic. Its first rows and columns, one less than the kernel has, have
 * wrapped around and are dropped; the others are outputs, and the next tile starts that much earlier. As many tiles as
 * stay in the last cache are transformed at once, so that an image of any size is done in the same memory.
 */
#include "convolve_fft.hpp"

#include "convolve_fft_library.hpp"

#include <cfloat>
#include <cstring>

namespace
{

/* The edges that a tile may have are powers of two. flynn.h states the bound of the error for edges up to `longest`, or
 * `times` the kernel's. */
struct edges {
    int64_t shortest, longest, times;
};
constexpr edges of_image = {64, 512, 4}, of_signal = {4096, 65536, 16};
constexpr int64_t most = INT64_C(1) << 28;    /* elements of a tile: the libraries count in an int */
constexpr int64_t at_once = INT64_C(1) << 22; /* elements of the tiles that a library transforms at once */

static_assert(of_image.shortest * of_image.shortest % fft_chunk == 0 && of_signal.shortest % fft_chunk == 0,
              "a tile has whole chunks");

/* The cost of direct sums by which auto chooses, measured on an H200. */
struct direct_sums {
    double cost;    /* of one multiply-add; transforms of n elements to and fro cost n (log2(n) + 4) */
    double least;   /* multiply-adds: with fewer, an FFT's launches take as long as the sums, or longer */
    double outputs; /* fewer outputs take as long as this many, because they do not fill the GPU */
};
constexpr direct_sums for_image = {0.03, 4e8, 2e5}, for_signal = {0.043, 3.4e8, 2.2e5};

/* ----------------------------------------------------------------------------------------------------- tiles ---- */

fl_buffer row_of(fl_buffer line)
{
    line.ndim = 2;
    line.shape[1] = line.shape[0];
    line.stride[0] = line.shape[0];
    line.stride[1] = line.shape[0] = 1;
    return line;
}

fl_convolve_args image_of(const fl_convolve1d_args *line)
{
    return {row_of(line->signal), row_of(line->kernel), row_of(line->out), {0, line->origin}};
}

/* Returns whether a dimension may have an edge: not if a shorter one holds all of it. */
bool goes_on(const fl_convolve_args &args, const edges &e, int d, int64_t edge)
{
    const int64_t taps = args.kernel.shape[d];
    return edge <= most && edge <= std::max(e.longest, taps > most / e.times ? most : e.times * taps) &&
           edge / 2 < std::max(args.out.shape[d] + taps - 1, e.shortest);
}

/* At most so many units of rounding is a sum off, times the tile's norm and the kernel's (docs/accuracy.md). */
double units_of(const fft_cut &c)
{
    return 20 * (std::log2(c.elements()) + 2);
}

/* The tiles that cost least. */
fft_cut cut_of(const fl_convolve_args &args, bool signal)
{
    const edges &e = signal ? of_signal : of_image;
    fft_cut best = signal ? hip_fft_signal_cut(args) : hip_fft_own_cut(args), c = {};
    if (best.edge[0] != 0)
        return best;
    for (int64_t rows = signal ? 1 : e.shortest; signal ? rows == 1 : goes_on(args, e, 0, rows); rows *= 2)
        for (int64_t columns = e.shortest; goes_on(args, e, 1, columns) && rows * columns <= most; columns *= 2)
            if (c.set(args, 0, rows) && c.set(args, 1, columns) && (best.edge[0] == 0 || c.cost() < best.cost()))
                best = c;
    if (best.edge[0] != 0)
        best.count =
            (int)least(best.tiles[0] * best.tiles[1], std::max(at_once / (best.edge[0] * best.edge[1]), INT64_C(1)));
    return best;
}

/* The same, with no more tiles at once than a grid has blocks, one of which may be for the kernel. */
fft_cut cut_for(const hip_device *device, const fl_convolve_args &args, bool signal)
{
    fft_cut c = cut_of(args, signal);
    const int others = c.own ? 1 : 0; /* the kernel's tile */
    c.count = (int)std::max(hip_grid(device, 1, (int64_t)c.count + others, 1) - others, INT64_C(1));
    return c;
}

/* A grid for so many elements of each tile at once. */
dim3 grid_for(const hip_device *device, const fft_cut &c, int64_t elements)
{
    return dim3((unsigned)hip_grid(device, 0, (elements + fft_chunk - 1) / fft_chunk, fft_threads), (unsigned)c.count);
}

/* The launch of our own transforms that loads the image and stores norms. */
fft_own_launch first_lines(const fft_cut &c, bool signal, bool wide)
{
    return signal ? hip_fft_signal_columns(c, wide) : hip_fft_own_rows(c, wide);
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* Operations of a real FFT are about half of the 5 n log2(n) of a complex one; a product is 6 for two numbers, and 2
 * for the scale. Of the bytes that the library moves only the least is known: each transform loads and stores its tile
 * once in each dimension. The blocks are no choice of the caller's, so that results have the same bits. */
void plan_tiles(const void *device, const fl_convolve_args &args, bool signal, size_t work, fl_launch *launch)
{
    const fft_cut c = cut_for(static_cast<const hip_device *>(device), args, signal);
    if (c.edge[0] == 0)
        return;
    const double n = c.elements(), tiles = c.all(), passes = signal ? 1 : 2;
    const double element = args.out.dtype == FL_F32 ? sizeof(float) : sizeof(double), wide = (double)work;
    launch->block[0] = fft_threads;
    launch->block[1] = launch->block[2] = 1;
    const dim3 grid = grid_for(static_cast<const hip_device *>(device), c, c.edge[0] * c.edge[1]);
    launch->grid[0] = grid.x;
    launch->grid[1] = grid.y;
    launch->grid[2] = 1;
    launch->shared_bytes = fft_threads * sizeof(fft_norms);
    if (c.own) {
        const fft_own_launch lines = first_lines(c, signal, work == sizeof(double));
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

template <typename W>
void plan_image(void *device, const void *args, fl_launch *launch)
{
    plan_tiles(device, *static_cast<const fl_convolve_args *>(args), false, sizeof(W), launch);
}

template <typename W>
void plan_signal(void *device, const void *args, fl_launch *launch)
{
    plan_tiles(device, image_of(static_cast<const fl_convolve1d_args *>(args)), true, sizeof(W), launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

/* A convolution in tiles, with its memory. */
template <typename T, typename W>
struct fft_work {
    convolution<T> c;
    fft_cut tiling;
    fft_plans *plans;
    W *spectrum, *tiles;
    fft_norms *kernel_norms, *tile_norms;
    int chunks;        /* parts of a tile; each has norms */
    fft_found found;   /* with a tolerance */
    fft_limit *limits; /* each tile has one; for our own transforms alone */
    fft_marks marks;   /* which say whether outputs are left to hip_sum_marked */

    fft_tiles<W> tiles_from(W *data, int64_t first) const
    {
        return {data,           tiling.edge[0],  tiling.edge[1], __builtin_ctzll((unsigned long long)tiling.edge[1]),
                first,          tiling.tiles[1], tiling.step[0], tiling.step[1],
                marks.rank_one, marks.found};
    }
};

constexpr size_t norms_shared = fft_threads * sizeof(fft_norms);

template <typename T, typename W>
fft_own_work<T, W> own_work(const fft_work<T, W> &work, int64_t first, const fft_accuracy &accuracy)
{
    return {work.c,
            work.tiles_from(work.tiles, first),
            (int)least<int64_t>(work.tiling.count, work.tiling.tiles[0] * work.tiling.tiles[1] - first),
            work.tiling.count,
            work.chunks,
            work.spectrum,
            work.kernel_norms,
            work.limits,
            accuracy,
            work.found};
}

template <typename T, typename W>
fl_status take_memory(const fl_context *context, fft_work<T, W> *work)
{
    const size_t tile = (size_t)work->tiling.edge[0] * (size_t)(work->tiling.edge[1] + 2) * sizeof(W);
    const size_t norms = (size_t)work->chunks * sizeof(fft_norms),
                 limits = (size_t)work->tiling.count * sizeof(fft_limit);
    void *spectrum, *tiles, *norm, *limit = nullptr, *marked = nullptr;
    fl_status status = context->host->scratch(context, tile, &spectrum);
    if (status == FL_OK)
        status =
            context->host->scratch(context, tile * (size_t)(work->tiling.count + (work->tiling.own ? 1 : 0)), &tiles);
    if (status == FL_OK)
        status = context->host->scratch(context, norms * (size_t)(work->tiling.count + 1), &norm);
    if (status == FL_OK && work->tiling.own)
        status = context->host->scratch(context, limits, &limit);
    if (status == FL_OK)
        status = context->host->scratch(context, sizeof(fft_marked), &marked);
    if (status != FL_OK)
        return status;
    work->marks.found = static_cast<fft_marked *>(marked);
    work->limits = static_cast<fft_limit *>(limit);
    work->spectrum = static_cast<W *>(spectrum);
    work->tiles = static_cast<W *>(tiles);
    work->kernel_norms = static_cast<fft_norms *>(norm);
    work->tile_norms = work->kernel_norms + work->chunks;
    return FL_OK;
}

template <typename T, typename W>
fl_status transform_kernel(const fl_context *context, const fft_work<T, W> &work)
{
    if (work.tiling.own)
        return hip_fft_own_start(context, own_work(work, 0, {}));
    const dim3 grid = grid_for(hip_device_of(context), work.tiling, work.tiling.edge[0] * work.tiling.edge[1]);
    const fl_status status =
        hip_queue(context, load_tiles_kernel<T, W>, dim3(grid.x), dim3(fft_threads), norms_shared,
                  work.tiles_from(work.spectrum, 0), work.c.kernel, INT64_C(0), INT64_C(0), work.kernel_norms);
    if (status != FL_OK)
        return status;
    const int error = work.plans->kernel.run(work.spectrum, hip_stream_of(context)->queue);
    return error == 0 ? FL_OK : fft_failed(context, error, "transform");
}

/* The tiles from number `first` on. Those past the last tile have no outputs. */
template <bool signal, typename T, typename W>
fl_status convolve_tiles(const fl_context *context, const fft_work<T, W> &work, int64_t first,
                         const fft_accuracy &accuracy)
{
    const fft_cut &c = work.tiling;
    if (c.own)
        return signal ? hip_fft_signal_pairs(context, own_work(work, first, accuracy))
                      : hip_fft_own_tiles(context, own_work(work, first, accuracy));
    const fft_tiles<W> tiles = work.tiles_from(work.tiles, first);
    const hip_device *device = hip_device_of(context);
    const dim3 grid = grid_for(device, c, c.edge[0] * c.edge[1]), block(fft_threads);
    const hipStream_t queue = hip_stream_of(context)->queue;
    fl_status status = hip_queue(context, load_tiles_kernel<T, W>, grid, block, norms_shared, tiles, work.c.image,
                                 work.c.top, work.c.left, work.tile_norms);
    int error = status == FL_OK ? work.plans->forward.run(work.tiles, queue) : 0;
    if (status == FL_OK && error == 0)
        status =
            hip_queue(context, multiply_tiles_kernel<W>, grid, block, 0, tiles, static_cast<const W *>(work.spectrum));
    if (status == FL_OK && error == 0)
        error = work.plans->inverse.run(work.tiles, queue);
    if (status == FL_OK && error == 0)
        status = hip_queue(context, store_tiles_kernel<T, W>, grid_for(device, c, c.step[0] * c.step[1]), block,
                           norms_shared, tiles, work.c, static_cast<const fft_norms *>(work.tile_norms),
                           static_cast<const fft_norms *>(work.kernel_norms), work.chunks, accuracy, work.found);
    return error == 0 ? status : fft_failed(context, error, "transform");
}

/* Queues the sums of the outputs that are marked when all tiles are stored. The kernel that stored them stays the one
 * that fl_device_api.last_kernel describes. */
template <bool signal, typename T, typename W>
fl_status sum_marked(const fl_context *context, const fft_work<T, W> &work)
{
    const hip_launched stored = hip_stream_of(context)->last;
    fl_status status;
    if constexpr (signal)
        status = hip_sum_marked(context, line_of(work.c), work.marks);
    else
        status = hip_sum_marked(context, work.c, work.marks);
    hip_stream_of(context)->last = stored;
    return status;
}

/* Takes memory for what a call with a tolerance finds of each tile, and clears it. */
template <typename T, typename W>
fl_status start_finding(const fl_context *context, fft_work<T, W> *work)
{
    const int64_t tiles = work->tiling.tiles[0] * work->tiling.tiles[1];
    void *memory;
    const fl_status status = context->host->scratch(context, (size_t)(tiles + 1) * sizeof *work->found.error, &memory);
    if (status != FL_OK)
        return status;
    work->found.largest = static_cast<unsigned long long *>(memory);
    work->found.error = work->found.largest + 1;
    const int64_t blocks = hip_grid(hip_device_of(context), 0, (tiles + fft_threads - 1) / fft_threads, fft_threads);
    return hip_queue(context, clear_found_kernel, dim3((unsigned)blocks), dim3(fft_threads), 0, work->found, tiles);
}

template <bool signal, typename T, typename W>
fl_status convolve(const fl_context *context, const fl_convolve_args &args, double tolerance,
                   const int *rank_one = nullptr)
{
    fft_work<T, W> work = {convolution_of<T>(&args),
                           cut_for(hip_device_of(context), args, signal),
                           nullptr,
                           nullptr,
                           nullptr,
                           nullptr,
                           nullptr,
                           0,
                           {},
                           nullptr,
                           {nullptr, rank_one}};
    const fft_cut &c = work.tiling;
    if (c.edge[0] == 0)
        return context->host->error(
            FL_E_UNSUPPORTED, "fft takes kernels of up to %lld elements in a tile, this one has %lldx%lld: use tiled",
            (long long)most, (long long)args.kernel.shape[0], (long long)args.kernel.shape[1]);
    work.chunks =
        c.own ? first_lines(c, signal, sizeof(W) == sizeof(double)).blocks : (int)(c.edge[0] * c.edge[1] / fft_chunk);
    const double kernel_elements = (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    const double image_elements = (double)args.image.shape[0] * (double)args.image.shape[1];
    const fft_accuracy accuracy = {units_of(c), std::min(kernel_elements, image_elements), c.elements(), tolerance};
    fl_status status = c.own ? FL_OK : plans_for(context, sizeof(W) == sizeof(float) ? FL_F32 : FL_F64, c, &work.plans);
    if (status == FL_OK)
        status = take_memory(context, &work);
    if (status == FL_OK && !(c.own && signal)) /* which transforms it with the first tiles */
        status = transform_kernel(context, work);
    if (status == FL_OK && tolerance > 0)
        status = start_finding(context, &work);
    const int64_t tiles = c.tiles[0] * c.tiles[1];
    for (int64_t first = 0; first < tiles && status == FL_OK; first += c.count)
        status = convolve_tiles<signal>(context, work, first, accuracy);
    if (tolerance == 0 && status == FL_OK)
        return sum_marked<signal>(context, work);
    for (int64_t first = 0; first < tiles && status == FL_OK; first += c.count)
        status = hip_queue(context, repair_tiles_kernel<signal, T, W>,
                           grid_for(hip_device_of(context), c, c.step[0] * c.step[1]), dim3(fft_threads), 0,
                           work.tiles_from(work.tiles, first), work.c, tolerance, work.found);
    return status;
}

template <typename T, typename W>
fl_status run_image(const fl_context *context, const void *args, const fl_launch *launch)
{
    return convolve<false, T, W>(context, *static_cast<const fl_convolve_args *>(args), launch->tolerance);
}

/* hip_fft.run_unless. */
template <typename T, typename W>
fl_status run_image_unless(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch,
                           const int *rank_one)
{
    return convolve<false, T, W>(context, *args, launch->tolerance, rank_one);
}

template <typename T, typename W>
fl_status run_signal(const fl_context *context, const void *args, const fl_launch *launch)
{
    return convolve<true, T, W>(context, image_of(static_cast<const fl_convolve1d_args *>(args)), launch->tolerance);
}

/* ------------------------------------------------------------------------------------------------------ rows ---- */

/* What auto knows of a variant by FFT. */
struct weighed {
    const hip_fft *fft;
    fl_dtype transformed;
    double cost; /* in the unit of direct_sums */
    double bound;
};

/* The least tolerance: the roots of the sums of the tile's squares and of the kernel's are at most the root of the
 * tile's elements times the largest magnitude of a result in which no terms cancel, if its tiles are alike. A tile of
 * which that is not true is computed again. */
double bound_of(const fft_cut &c, fl_dtype transformed, bool wide, double direct)
{
    const double unit = (transformed == FL_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
    if (c.edge[0] == 0)
        return (double)INFINITY;
    const double transforms = units_of(c) * unit * std::sqrt(c.elements());
    return wide ? transforms + FLT_EPSILON / 2 : std::max(transforms, direct);
}

/* The choice among those that can run. Numbers of f64 take twice the time in sums as in transforms. */
hip_fft_choice choose(const fl_convolve_args &args, const direct_sums &of, const weighed (&all)[2], bool own,
                      double direct, double tolerance)
{
    const double sums = std::max((double)args.out.shape[0] * (double)args.out.shape[1], of.outputs) *
                        (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    hip_fft_choice choice = {nullptr, tolerance == 0 || direct <= tolerance, own, direct};
    double least = choice.direct ? of.cost * sums * (args.out.dtype == FL_F32 ? 1 : 2) : (double)INFINITY;
    char why[256];
    if (tolerance == 0 && (args.out.dtype != FL_F32 || sums < of.least))
        return choice;
    for (const weighed &w : all) {
        const bool exact = std::strcmp(w.fft->variant, "fft-wide") == 0; /* as exact as direct sums */
        if (w.bound == INFINITY || (tolerance == 0 && !exact) ||
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
                                 run_image_unless<float, double>};
    const bool f32 = args.out.dtype == FL_F32;
    const double direct = device->host->bound(signal ? FL_OP_CONVOLVE1D : FL_OP_CONVOLVE, "tiled", given);
    const fft_cut c = tolerance == 0 && !f32 ? fft_cut{} : cut_of(args, signal);
    const weighed all[2] = {
        {f32 ? &single : &twice, f32 ? FL_F32 : FL_F64, c.cost() * (f32 ? 0.5 : 1),
         bound_of(c, f32 ? FL_F32 : FL_F64, false, direct)},
        {&wide, FL_F64, f32 ? c.cost() : (double)INFINITY, f32 ? bound_of(c, FL_F64, true, direct) : (double)INFINITY}};
    return choose(args, signal ? for_signal : for_image, all, c.own, direct, tolerance);
}

/* fl_row.bound of the rows below. */
template <bool signal, fl_dtype transformed, bool wide>
double bound(void *self, const void *args)
{
    const fl_host *host = static_cast<const hip_device *>(self)->host;
    const double direct = host->bound(signal ? FL_OP_CONVOLVE1D : FL_OP_CONVOLVE, "tiled", args);
    const fft_cut c = signal ? cut_of(image_of(static_cast<const fl_convolve1d_args *>(args)), true)
                             : cut_of(*static_cast<const fl_convolve_args *>(args), false);
    return bound_of(c, transformed, wide, direct);
}

constexpr const char *summary = "FFTs of tiles; the error is relative to the largest sums of a tile",
                     *wide_summary = "the same in f64, and sums that are small against their tile again directly: as "
                                     "accurate as the others";
constexpr uint32_t f32 = 1u << FL_F32, f64 = 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_CONVOLVE, "fft-wide", f32, wide_summary, plan_image<double>, run_image<float, double>, nullptr, false,
     nullptr, bound<false, FL_F64, true>},
    {FL_OP_CONVOLVE, "fft", f32, summary, plan_image<float>, run_image<float, float>, nullptr, true, nullptr,
     bound<false, FL_F32, false>},
    {FL_OP_CONVOLVE, "fft", f64, summary, plan_image<double>, run_image<double, double>, nullptr, true, nullptr,
     bound<false, FL_F64, false>},
    {FL_OP_CONVOLVE1D, "fft-wide", f32, wide_summary, plan_signal<double>, run_signal<float, double>, nullptr, false,
     nullptr, bound<true, FL_F64, true>},
    {FL_OP_CONVOLVE1D, "fft", f32, summary, plan_signal<float>, run_signal<float, float>, nullptr, true, nullptr,
     bound<true, FL_F32, false>},
    {FL_OP_CONVOLVE1D, "fft", f64, summary, plan_signal<double>, run_signal<double, double>, nullptr, true, nullptr,
     bound<true, FL_F64, false>},
};

} // namespace

bool hip_fft_found(char *why, size_t size)
{
    char cause[256];
    for (const fl_dtype dtype : {FL_F32, FL_F64})
        if (!gpu_fft::found(dtype, cause, sizeof cause)) {
            explain_library(dtype, cause, why, size);
            return false;
        }
    return true;
}

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
