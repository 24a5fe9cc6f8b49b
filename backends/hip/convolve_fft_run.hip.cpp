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
#include "fft_check_kernels.h"

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

/* Returns whether a dimension may have an edge: not if a shorter one holds all of it. */
bool goes_on(const fl_convolve_args &args, const edges &e, int d, int64_t edge)
{
    const int64_t taps = args.kernel.shape[d];
    return edge <= most && edge <= std::max(e.longest, taps > most / e.times ? most : e.times * taps) &&
           edge / 2 < std::max(args.out.shape[d] + taps - 1, e.shortest);
}

/* hip_fft_units for fft-checked: fewer if the transforms are our own, whose steps are known. */
double checked_units(const fft_cut &c, bool signal)
{
    return !c.own ? hip_fft_units(c) : signal ? hip_fft_signal_units(c) : hip_fft_own_units(c);
}

} // namespace

double hip_fft_units(const fft_cut &c)
{
    return 20 * (std::log2(c.elements()) + 2);
}

/* Their mean magnitude is 1/2, and their mean square 1/3. */
double hip_fft_share(const fft_cut &c, const fl_convolve_args &args, bool signal)
{
    const double image = (double)args.image.shape[0] * (double)args.image.shape[1],
                 kernel = (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    const double terms = std::min(image, kernel), norms = std::sqrt(std::min(c.elements(), image) * kernel) / 3;
    return checked_units(c, signal) * norms / ((terms + 14) * terms / 4);
}

/* A sum that has less than the share of the terms, as at the border, is computed directly as well; if the share is too
 * large, any sum may be. Smaller tiles have a smaller share and cost more to transform. The factors were measured on an
 * H200. */
double hip_fft_checked_cost(const fft_cut &c, const fl_convolve_args &args)
{
    double outputs = 1, inner = 1;
    for (int d = 0; d < 2; d++) {
        outputs *= (double)args.out.shape[d];
        inner *= (double)least(std::max(args.image.shape[d] - args.kernel.shape[d] + 1, INT64_C(0)), args.out.shape[d]);
    }
    const double share = hip_fft_share(c, args, c.edge[0] == 1);
    const double terms = (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    const double direct = share > hip_fft_most_share ? outputs : outputs - inner;
    return 2.6 * c.cost() + 0.5 * share * share * terms * direct;
}

fft_cut hip_fft_cut_of(const fl_convolve_args &args, bool signal, bool checked)
{
    const edges &e = signal ? of_signal : of_image;
    fft_cost *const cost = checked ? hip_fft_checked_cost : hip_fft_cost;
    fft_cut best = signal ? hip_fft_signal_cut(args, cost) : hip_fft_own_cut(args, cost), c = {};
    if (best.edge[0] != 0)
        return best;
    fft_cheapest found; /* for a library's transforms */
    for (int64_t rows = signal ? 1 : e.shortest; signal ? rows == 1 : goes_on(args, e, 0, rows); rows *= 2)
        for (int64_t columns = e.shortest; goes_on(args, e, 1, columns) && rows * columns <= most; columns *= 2)
            if (c.set(args, 0, rows) && c.set(args, 1, columns))
                found.see(c, c.cost());
    best = found.cut;
    if (best.edge[0] != 0)
        best.count =
            (int)least(best.tiles[0] * best.tiles[1], std::max(at_once / (best.edge[0] * best.edge[1]), INT64_C(1)));
    return best;
}

fft_cut hip_fft_cut_for(const hip_device *device, const fl_convolve_args &args, bool signal, bool checked)
{
    fft_cut c = hip_fft_cut_of(args, signal, checked);
    const int others = c.own ? 1 : 0; /* the kernel's tile */
    c.count = (int)std::max(hip_grid(device, 1, (int64_t)c.count + others, 1) - others, INT64_C(1));
    return c;
}

dim3 hip_fft_grid(const hip_device *device, const fft_cut &c, int64_t elements)
{
    return dim3((unsigned)hip_grid(device, 0, (elements + fft_chunk - 1) / fft_chunk, fft_threads), (unsigned)c.count);
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
    int most_listed;   /* fft_checked.most_listed */
    fft_found found;   /* with a tolerance */
    fft_limit *limits; /* each tile of all has one */
    fft_marks marks;   /* which say whether outputs are left to hip_sum_marked */
    const int *idle;   /* fft_tiles.idle */
    fft_accuracy accuracy;

    fft_tiles<W> tiles_from(W *data, int64_t first) const
    {
        return {data,           tiling.edge[0],
                tiling.edge[1], __builtin_ctzll((unsigned long long)tiling.edge[1]),
                first,          tiling.tiles[1],
                tiling.step[0], tiling.step[1],
                marks.rank_one, idle,
                marks.found};
    }
    int64_t all() const /* tiles */
    {
        return tiling.tiles[0] * tiling.tiles[1];
    }
    size_t tile_bytes() const
    {
        return (size_t)tiling.edge[0] * (size_t)(tiling.edge[1] + 2) * sizeof(W);
    }
};

constexpr size_t norms_shared = fft_threads * sizeof(fft_norms);

template <typename T, typename W>
fft_own_work<T, W> own_work(const fft_work<T, W> &work, int64_t first)
{
    return {work.c,
            work.tiles_from(work.tiles, first),
            (int)least<int64_t>(work.tiling.count, work.all() - first),
            work.tiling.count,
            work.chunks,
            work.spectrum,
            work.kernel_norms,
            work.limits + first,
            work.accuracy,
            work.found};
}

/* Takes `count` numbers of device memory for what the call queues. */
template <typename T>
fl_status take(const fl_context *context, int64_t count, T **numbers)
{
    void *memory = nullptr;
    const fl_status status = context->host->scratch(context, (size_t)count * sizeof(T), &memory);
    *numbers = static_cast<T *>(memory);
    return status;
}

/* Sets how a tile is divided into parts with norms, and takes memory for them and for limits. */
template <bool signal, typename T, typename W>
fl_status take_findings(const fl_context *context, fft_work<T, W> *work)
{
    const fft_cut &c = work->tiling;
    work->chunks = c.own ? hip_fft_first_lines(c, signal, sizeof(W) == sizeof(double)).blocks
                         : (int)(c.edge[0] * c.edge[1] / fft_chunk);
    fl_status status = take(context, (int64_t)work->chunks * (c.count + 1), &work->kernel_norms);
    if (status == FL_OK)
        status = take(context, work->all(), &work->limits);
    work->tile_norms = work->kernel_norms + work->chunks;
    return status;
}

template <typename T, typename W>
fl_status take_tiles(const fl_context *context, fft_work<T, W> *work)
{
    const int64_t tile = (int64_t)(work->tile_bytes() / sizeof(W)), others = work->tiling.own ? 1 : 0;
    const fl_status status = take(context, tile, &work->spectrum);
    return status != FL_OK ? status : take(context, tile * (work->tiling.count + others), &work->tiles);
}

template <typename T, typename W>
fl_status transform_kernel(const fl_context *context, const fft_work<T, W> &work)
{
    if (work.tiling.own)
        return hip_fft_own_start(context, own_work(work, 0));
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
fl_status convolve_tiles(const fl_context *context, const fft_work<T, W> &work, int64_t first)
{
    const fft_cut &c = work.tiling;
    if (c.own)
        return signal ? hip_fft_signal_pairs(context, own_work(work, first))
                      : hip_fft_own_tiles(context, own_work(work, first));
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
                           static_cast<const fft_norms *>(work.kernel_norms), work.chunks, work.accuracy,
                           work.limits + first, work.found);
    return error == 0 ? status : fft_failed(context, error, "transform");
}

/* All tiles, and the kernel before. */
template <bool signal, typename T, typename W>
fl_status convolve_all(const fl_context *context, const fft_work<T, W> &work)
{
    fl_status status = FL_OK;
    if (!(work.tiling.own && signal)) /* which transforms the kernel with the first tiles */
        status = transform_kernel(context, work);
    for (int64_t first = 0; first < work.all() && status == FL_OK; first += work.tiling.count)
        status = convolve_tiles<signal>(context, work, first);
    return status;
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

/* All outputs directly, for an exact variant that has no memory for its transforms: it fails no more than `tiled`. */
template <bool signal, typename T, typename W>
fl_status sum_all(const fl_context *context, const fft_work<T, W> &work)
{
    const hip_device *device = hip_device_of(context);
    const matrix<T> &out = work.c.out;
    const dim3 grid((unsigned)hip_grid(device, 0, (out.columns + fft_threads - 1) / fft_threads, fft_threads),
                    (unsigned)hip_grid(device, 1, out.rows, 1));
    const fl_status status = hip_queue(context, mark_all_kernel<T>, grid, dim3(fft_threads), 0, out, work.marks);
    return status != FL_OK ? status : sum_marked<signal>(context, work);
}

/* Takes memory for what a call with a tolerance finds of each tile, and clears it. */
template <typename T, typename W>
fl_status start_finding(const fl_context *context, fft_work<T, W> *work)
{
    const int64_t tiles = work->all();
    const fl_status status = take(context, tiles + 1, &work->found.largest);
    if (status != FL_OK)
        return status;
    work->found.error = work->found.largest + 1;
    const int64_t blocks = hip_grid(hip_device_of(context), 0, (tiles + fft_threads - 1) / fft_threads, fft_threads);
    return hip_queue(context, clear_found_kernel, dim3((unsigned)blocks), dim3(fft_threads), 0, work->found, tiles);
}

/* ------------------------------------------------------------------------------------------------ checked sums ---- */

/* The tiles of `c` whose magnitudes are convolved together: whole rows of tiles, and of a signal any tiles, about as
 * many as are transformed at once. Their transforms are in f32 if they are our own, else in f64, with the same plans.
 */
fft_cut part_of(const hip_device *device, fft_cut c, bool signal)
{
    const int d = signal ? 1 : 0;
    const int64_t parts = (c.tiles[0] * c.tiles[1] + c.count - 1) / c.count;
    c.tiles[d] = (c.tiles[d] + parts - 1) / parts;
    if (c.own) /* numbers of half the size */
        c.count = (int)std::max(hip_grid(device, 1, least<int64_t>(c.tiles[0] * c.tiles[1], 2 * c.count) + 1, 1) - 1,
                                INT64_C(1));
    return c;
}

/* Some rows, or columns, of a convolution. */
struct fft_range {
    int64_t first, outputs, from, elements; /* outputs; elements of the image that they need */
};

/* The outputs from tile `tile` of a dimension on, with the image under them. */
fft_range range_of(int64_t tile, int64_t tiles, int64_t step, int64_t outputs, int64_t taps, int64_t before,
                   int64_t elements)
{
    const int64_t first = tile * step, end = least(first + tiles * step, outputs);
    const int64_t from = least(std::max(first + before, INT64_C(0)), elements),
                  past = least(std::max(end - 1 + before + taps, from), elements);
    return {first, end - first, from, past - from};
}

/* Marks each sum of `of` that is not known to be accurate, where the stored sums ask for it (fft_check_kernels.h). The
 * magnitudes of a part of the image are transformed as numbers of type W, in the memory of the tiles of `of`. */
template <bool signal, typename W>
fl_status check_sums(const fl_context *context, const fft_work<double, double> &of)
{
    const hip_device *device = hip_device_of(context);
    const convolution<double> &c = of.c;
    const fft_cut part = part_of(device, of.tiling, signal);
    const int *const idle = part.own ? &of.marks.found->bordering : nullptr; /* a library's FFT runs anyway */
    fft_work<float, W> work = {};
    work.tiling = part;
    work.plans = of.plans;
    work.spectrum = reinterpret_cast<W *>(of.spectrum);
    work.tiles = reinterpret_cast<W *>(of.tiles);
    work.marks.rank_one = of.marks.rank_one;
    work.idle = idle;
    work.accuracy = of.accuracy;
    work.accuracy.units = hip_fft_units(part);
    work.accuracy.checked = false;
    const int64_t outputs = least(part.tiles[0] * part.step[0], c.out.rows),
                  rows = least(outputs + c.kernel.rows - 1, c.image.rows);
    const int64_t across = least(part.tiles[1] * part.step[1], c.out.columns),
                  columns = least(across + c.kernel.columns - 1, c.image.columns);
    float *image, *kernel, *sums;
    fl_status status = take_findings<signal>(context, &work);
    if (status == FL_OK)
        status = take(context, 1, &work.marks.found);
    if (status == FL_OK)
        status = take(context, rows * columns, &image);
    if (status == FL_OK)
        status = take(context, c.kernel.rows * c.kernel.columns, &kernel);
    if (status == FL_OK)
        status = take(context, outputs * across, &sums);
    fft_place *list = nullptr;
    if (status == FL_OK)
        status = take(context, fft_listed, &list);
    const int64_t step = signal ? part.tiles[1] : part.tiles[0], all = of.tiling.tiles[signal ? 1 : 0];
    for (int64_t tile = 0; tile < all && status == FL_OK; tile += step) {
        const int64_t count = least(step, all - tile);
        work.tiling.tiles[signal ? 1 : 0] = count;
        const fft_range y = range_of(signal ? 0 : tile, work.tiling.tiles[0], part.step[0], c.out.rows, c.kernel.rows,
                                     c.top, c.image.rows),
                        x = range_of(signal ? tile : 0, work.tiling.tiles[1], part.step[1], c.out.columns,
                                     c.kernel.columns, c.left, c.image.columns);
        const matrix<const double> from = {c.image.data + y.from * c.image.stride + x.from, c.image.stride, y.elements,
                                           x.elements};
        const matrix<float> of_image = {image, x.elements, y.elements, x.elements},
                            of_kernel = {kernel, c.kernel.columns, c.kernel.rows, c.kernel.columns};
        work.c = {{image, x.elements, y.elements, x.elements},
                  {kernel, c.kernel.columns, c.kernel.rows, c.kernel.columns},
                  {sums, x.outputs, y.outputs, x.outputs},
                  y.first + c.top - y.from,
                  x.first + c.left - x.from};
        const int64_t chunks = (std::max(x.elements, c.kernel.columns) + 4 * fft_threads - 1) / (4 * fft_threads);
        const dim3 grid((unsigned)hip_grid(device, 0, chunks, fft_threads),
                        (unsigned)hip_grid(device, 1, y.elements + c.kernel.rows, 1));
        status = hip_queue(context, store_magnitudes_kernel, grid, dim3(fft_threads), 0, from, of_image, c.kernel,
                           of_kernel, of.marks, idle);
        if (status == FL_OK)
            status = convolve_all<signal>(context, work);
        const int64_t number = signal ? tile : tile * of.tiling.tiles[1], of_tile = part.step[0] * part.step[1];
        const int64_t looks = (of_tile + fft_check_chunk - 1) / fft_check_chunk;
        for (int64_t first = 0; first < work.all() && status == FL_OK; first += part.count) {
            const fft_checked with = {
                y.first, x.first, {sums, x.outputs, y.outputs, x.outputs}, work.limits + first, of.most_listed, list};
            status = hip_queue(context, check_tiles_kernel,
                               dim3((unsigned)hip_grid(device, 0, looks, fft_threads),
                                    (unsigned)least<int64_t>(part.count, work.all() - first)),
                               dim3(fft_threads), fft_check_shared, c, of.tiles_from(of.tiles, number + first),
                               static_cast<const fft_limit *>(of.limits + number + first), with);
        }
    }
    if (status != FL_OK)
        return status;
    const dim3 grid((unsigned)hip_grid(device, 0, 8 * (int64_t)device->multiprocessors, fft_threads));
    return hip_queue(context, sum_listed_kernel, grid, dim3(fft_threads), 0, c, of.marks,
                     static_cast<const fft_place *>(list));
}

/* Sets a convolution up, with its memory, of which the marks are taken first: after FL_E_MEMORY they are there, unless
 * not even they were to be had. */
template <bool signal, typename T, typename W>
fl_status start(const fl_context *context, const fl_convolve_args &args, double tolerance, bool checked,
                const int *rank_one, fft_work<T, W> *work)
{
    work->c = convolution_of<T>(&args);
    work->tiling = hip_fft_cut_for(hip_device_of(context), args, signal, checked);
    work->marks.rank_one = rank_one;
    const fft_cut &c = work->tiling;
    if (c.edge[0] == 0)
        return context->host->error(
            FL_E_UNSUPPORTED, "fft takes kernels of up to %lld elements in a tile, this one has %lldx%lld: use tiled",
            (long long)most, (long long)args.kernel.shape[0], (long long)args.kernel.shape[1]);
    const double kernel_elements = (double)args.kernel.shape[0] * (double)args.kernel.shape[1];
    const double image_elements = (double)args.image.shape[0] * (double)args.image.shape[1];
    work->accuracy = {checked ? checked_units(c, signal) : hip_fft_units(c), std::min(kernel_elements, image_elements),
                      c.elements(), tolerance, checked};
    /* Up to half of all terms, or somewhat more than sums of random numbers need to pass the check; never all. */
    const double part = std::max(0.5, 1.25 * hip_fft_share(c, args, signal));
    work->most_listed =
        (int)std::min<double>(std::min(part * work->accuracy.terms, work->accuracy.terms - 1), fft_few_terms);
    fl_status status = take(context, 1, &work->marks.found);
    if (!c.own && status == FL_OK)
        status = plans_for(context, sizeof(W) == sizeof(float) ? FL_F32 : FL_F64, c, &work->plans);
    if (status == FL_OK)
        status = take_tiles(context, work);
    return status != FL_OK ? status : take_findings<signal>(context, work);
}

} // namespace

template <bool signal, typename T, typename W>
fl_status hip_fft_convolve(const fl_context *context, const fl_convolve_args &args, double tolerance,
                           const int *rank_one)
{
    fft_work<T, W> work = {};
    fl_status status = start<signal>(context, args, tolerance, false, rank_one, &work);
    if (status == FL_E_MEMORY && tolerance == 0 && sizeof(W) > sizeof(T) && work.marks.found)
        return sum_all<signal>(context, work);
    if (status == FL_OK && tolerance > 0)
        status = start_finding(context, &work);
    if (status == FL_OK)
        status = convolve_all<signal>(context, work);
    if (tolerance == 0 && status == FL_OK)
        return sum_marked<signal>(context, work);
    const fft_cut &c = work.tiling;
    for (int64_t first = 0; first < work.all() && status == FL_OK; first += c.count)
        status = hip_queue(context, repair_tiles_kernel<signal, T, W>,
                           hip_fft_grid(hip_device_of(context), c, c.step[0] * c.step[1]), dim3(fft_threads), 0,
                           work.tiles_from(work.tiles, first), work.c, tolerance, work.found);
    return status;
}

template <bool signal>
fl_status hip_fft_convolve_checked(const fl_context *context, const fl_convolve_args &args, const int *rank_one)
{
    fft_work<double, double> work = {};
    fl_status status = start<signal>(context, args, 0, true, rank_one, &work);
    if (status == FL_OK)
        status = convolve_all<signal>(context, work);
    const hip_launched stored = hip_stream_of(context)->last;
    if (status == FL_OK)
        status = work.tiling.own ? check_sums<signal, float>(context, work) : check_sums<signal, double>(context, work);
    hip_stream_of(context)->last = stored;
    if (status == FL_E_MEMORY && work.marks.found)
        return sum_all<signal>(context, work);
    return status != FL_OK ? status : sum_marked<signal>(context, work);
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

template fl_status hip_fft_convolve_checked<false>(const fl_context *, const fl_convolve_args &, const int *);
template fl_status hip_fft_convolve_checked<true>(const fl_context *, const fl_convolve_args &, const int *);

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
