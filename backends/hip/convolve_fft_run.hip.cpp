/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_run.hip.cpp - cuts images and signals into tiles and queues their FFTs on a GPU. The FFT is our own for
 * kernels of usual sizes (convolve_fft_own.hpp, convolve1d_fft_own.hpp), else a library's (gpu_fft.h).
 *
 * Overlap-save (Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 8.7.3): a tile of the image
 * is convolved with the kernel as if both were periodic. Its first rows and columns, one less than the kernel has, have
 * wrapped around and are dropped; the others are outputs, and the next tile starts that much earlier. As many tiles as
 * stay in the last cache are transformed at once, so that an image of any size is done in the same memory.
 */
#include "convolve_fft_run.hpp"

#include "convolve_fft_library.hpp"

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

/* ----------------------------------------------------------------------------------------------------- tiles ---- */

fl_buffer row_of(fl_buffer line)
{
    line.ndim = 2;
    line.shape[1] = line.shape[0];
    line.stride[0] = line.shape[0];
    line.stride[1] = line.shape[0] = 1;
    return line;
}

/* Returns whether a dimension may have an edge: not if a shorter one holds all of it. */
bool goes_on(const fl_convolve_args &args, const edges &e, int d, int64_t edge)
{
    const int64_t taps = args.kernel.shape[d];
    return edge <= most && edge <= std::max(e.longest, taps > most / e.times ? most : e.times * taps) &&
           edge / 2 < std::max(args.out.shape[d] + taps - 1, e.shortest);
}

} // namespace

fl_convolve_args hip_fft_image_of(const fl_convolve1d_args *line)
{
    return {row_of(line->signal), row_of(line->kernel), row_of(line->out), {0, line->origin}};
}

double hip_fft_units(const fft_cut &c)
{
    return 20 * (std::log2(c.elements()) + 2);
}

fft_cut hip_fft_cut_of(const fl_convolve_args &args, bool signal)
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

fft_cut hip_fft_cut_for(const hip_device *device, const fl_convolve_args &args, bool signal)
{
    fft_cut c = hip_fft_cut_of(args, signal);
    const int others = c.own ? 1 : 0; /* the kernel's tile */
    c.count = (int)std::max(hip_grid(device, 1, (int64_t)c.count + others, 1) - others, INT64_C(1));
    return c;
}

dim3 hip_fft_grid(const hip_device *device, const fft_cut &c, int64_t elements)
{
    return dim3((unsigned)hip_grid(device, 0, (elements + fft_chunk - 1) / fft_chunk, fft_threads), (unsigned)c.count);
}

fft_own_launch hip_fft_first_lines(const fft_cut &c, bool signal, bool wide)
{
    return signal ? hip_fft_signal_columns(c, wide) : hip_fft_own_rows(c, wide);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

namespace
{

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
    const dim3 grid = hip_fft_grid(hip_device_of(context), work.tiling, work.tiling.edge[0] * work.tiling.edge[1]);
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
    const dim3 grid = hip_fft_grid(device, c, c.edge[0] * c.edge[1]), block(fft_threads);
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
        status = hip_queue(context, store_tiles_kernel<T, W>, hip_fft_grid(device, c, c.step[0] * c.step[1]), block,
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

} // namespace

template <bool signal, typename T, typename W>
fl_status hip_fft_convolve(const fl_context *context, const fl_convolve_args &args, double tolerance,
                           const int *rank_one)
{
    fft_work<T, W> work = {convolution_of<T>(&args),
                           hip_fft_cut_for(hip_device_of(context), args, signal),
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
    work.chunks = c.own ? hip_fft_first_lines(c, signal, sizeof(W) == sizeof(double)).blocks
                        : (int)(c.edge[0] * c.edge[1] / fft_chunk);
    const double kernel_elements = (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    const double image_elements = (double)args.image.shape[0] * (double)args.image.shape[1];
    const fft_accuracy accuracy = {hip_fft_units(c), std::min(kernel_elements, image_elements), c.elements(),
                                   tolerance};
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
                           hip_fft_grid(hip_device_of(context), c, c.step[0] * c.step[1]), dim3(fft_threads), 0,
                           work.tiles_from(work.tiles, first), work.c, tolerance, work.found);
    return status;
}

template fl_status hip_fft_convolve<false, float, float>(const fl_context *, const fl_convolve_args &, double,
                                                         const int *);
template fl_status hip_fft_convolve<false, float, double>(const fl_context *, const fl_convolve_args &, double,
                                                          const int *);
template fl_status hip_fft_convolve<false, double, double>(const fl_context *, const fl_convolve_args &, double,
                                                           const int *);
template fl_status hip_fft_convolve<true, float, float>(const fl_context *, const fl_convolve_args &, double,
                                                        const int *);
template fl_status hip_fft_convolve<true, float, double>(const fl_context *, const fl_convolve_args &, double,
                                                         const int *);
template fl_status hip_fft_convolve<true, double, double>(const fl_context *, const fl_convolve_args &, double,
                                                          const int *);

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
