/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_own.hip.cpp - queues the kernels of fft_own_kernels.h: convolutions of images by FFTs of tiles without a
 * library.
 */
#include "convolve_fft_own.hpp"

namespace
{

constexpr int64_t edges[] = {64, 128, 256, 512};

/* Elements of the tiles that are transformed at once, at most; in the emulation what stays in a processor's cache. */
#if defined(GPU_EMULATION)
constexpr int64_t at_once = INT64_C(1) << 19;
#else
constexpr int64_t at_once = INT64_C(1) << 26;
#endif

/* Calls f with the shape of lines of that length, one of `edges`; of 512 numbers: `Longest`. */
template <typename Longest = fft_line_shape<32, 16>, typename F>
auto with_line(int64_t length, F f)
{
    if (length == 64)
        return f(fft_line_shape<8, 8>());
    if (length == 128)
        return f(fft_line_shape<16, 8>());
    if (length == 256)
        return f(fft_line_shape<16, 16>());
    return f(Longest());
}

/* For the kernel that stores: a thread has few numbers of type double, because it needs registers for other things. */
template <typename W>
using longest_stored = std::conditional_t<sizeof(W) == sizeof(double), fft_line_shape<8, 64>, fft_line_shape<32, 16>>;

/* Queues a kernel with a block for each group of lines of each tile. `across`: lines of a tile. */
template <typename Shape, typename... Parameters, typename... Arguments>
fl_status queue_lines(const fl_context *context, int64_t across, int tiles, void (*kernel)(Parameters...),
                      Arguments... arguments)
{
    return hip_queue(context, kernel, dim3((unsigned)(across / Shape::lines), (unsigned)tiles),
                     dim3((unsigned)Shape::threads), Shape::shared, arguments...);
}

template <typename W>
fft_own_launch rows_launch(const fft_cut &cut)
{
    return with_line(cut.edge[1], [&](auto line) {
        using shape = fft_row_lines<W, decltype(line)::numbers, decltype(line)::threads>;
        return fft_own_launch{shape::threads, (int)(cut.edge[0] / 2 / shape::lines), shape::shared};
    });
}

/* The rows of `count` tiles, of which number `last` is of the kernel. */
template <typename T, typename W>
fl_status queue_rows(const fl_context *context, const fft_own_work<T, W> &work, int count, int last)
{
    const fft_tiles<W> &tiles = work.tiles;
    return with_line(tiles.width, [&](auto line) {
        constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
        return queue_lines<fft_row_lines<W, E, G>>(context, tiles.height / 2, count, fft_rows_kernel<T, W, E, G>, tiles,
                                                   work.c, last, work.norms);
    });
}

} // namespace

fft_cut hip_fft_own_cut(const fl_convolve_args &args, fft_cost *cost)
{
    fft_cheapest found;
    fft_cut c = {};
    c.own = true;
    if (args.kernel.shape[0] > hip_fft_own_taps || args.kernel.shape[1] > hip_fft_own_taps)
        return found.cut;
    for (int64_t rows : edges)
        for (int64_t columns : edges)
            if (c.set(args, 0, rows) && c.set(args, 1, columns))
                found.see(c, cost(c, args));
    fft_cut best = found.cut;
    if (best.edge[0] == 0)
        return best;
    const int64_t tiles = best.tiles[0] * best.tiles[1], most = at_once / (best.edge[0] * best.edge[1]);
    const int64_t times = (tiles + most - 1) / most;
    best.count = (int)((tiles + times - 1) / times);
    return best;
}

/* Image and kernel there, and back. Rows have a product for the half frequency, and an addition where two of them are
 * taken apart. The product of the spectra has less than 3 (sqrt(5)). */
double hip_fft_own_units(const fft_cut &cut)
{
    return 3 * (hip_fft_line_units(cut.edge[0]) + hip_fft_line_units(cut.edge[1]) + 5) + 3;
}

fft_own_launch hip_fft_own_rows(const fft_cut &cut, bool wide)
{
    return wide ? rows_launch<double>(cut) : rows_launch<float>(cut);
}

template <typename T, typename W>
fl_status hip_fft_own_start(const fl_context *context, const fft_own_work<T, W> &work)
{
    const fl_status status = queue_rows(context, work, work.most + 1, work.most);
    if (status != FL_OK)
        return status;
    fft_tiles<W> tile = work.tiles;
    tile.data += work.most * tile.height * tile.width;
    return with_line(tile.height, [&](auto line) {
        constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
        return queue_lines<fft_lines<W, E, G>>(context, tile.width / 2, 1, fft_spectrum_kernel<W, E, G>, tile,
                                               reinterpret_cast<fft_complex<W> *>(work.spectrum));
    });
}

template <typename T, typename W>
fl_status hip_fft_own_tiles(const fl_context *context, const fft_own_work<T, W> &work)
{
    const fft_tiles<W> &tiles = work.tiles;
    const fft_norms *const norms = work.norms, *const of_kernel = norms + (int64_t)work.most * work.chunks;
    fl_status status = tiles.first == 0 ? FL_OK : queue_rows(context, work, work.count, -1);
    if (status == FL_OK)
        status = with_line(tiles.height, [&](auto line) {
            constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
            return queue_lines<fft_lines<W, E, G>>(context, tiles.width / 2, work.count, fft_columns_kernel<T, W, E, G>,
                                                   tiles, reinterpret_cast<const fft_complex<W> *>(work.spectrum),
                                                   norms, of_kernel, work.chunks, work.accuracy, work.limits);
        });
    if (status == FL_OK)
        status = with_line<longest_stored<W>>(tiles.width, [&](auto line) {
            constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
            return queue_lines<fft_row_lines<W, E, G>>(
                context, tiles.height / 2, work.count, fft_store_kernel<T, W, E, G>, tiles, work.c,
                static_cast<const fft_limit *>(work.limits), work.accuracy, work.found);
        });
    return status;
}

template fl_status hip_fft_own_start(const fl_context *, const fft_own_work<float, float> &);
template fl_status hip_fft_own_start(const fl_context *, const fft_own_work<float, double> &);
template fl_status hip_fft_own_start(const fl_context *, const fft_own_work<double, double> &);
template fl_status hip_fft_own_tiles(const fl_context *, const fft_own_work<float, float> &);
template fl_status hip_fft_own_tiles(const fl_context *, const fft_own_work<float, double> &);
template fl_status hip_fft_own_tiles(const fl_context *, const fft_own_work<double, double> &);
