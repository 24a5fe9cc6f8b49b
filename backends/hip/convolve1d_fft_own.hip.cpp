/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft_own.hip.cpp - queues the kernels of fft_signal_kernels.h: convolutions of signals by FFTs without a
 * library.
 */
#include "convolve1d_fft_own.hpp"

#include "fft_signal_kernels.h"

namespace
{

/* The matrix of a block of rows x columns numbers. */
struct block_shape {
    int rows, columns;
};
constexpr block_shape blocks[] = {{64, 64}, {128, 64}, {64, 256}, {128, 256}, {256, 256}, {512, 256}};

/* Elements of the pairs that are transformed at once, at most: 256 MiB of numbers of type double; in the emulation what
 * stays in a processor's cache. */
#if defined(GPU_EMULATION)
constexpr int64_t at_once = INT64_C(1) << 19;
#else
constexpr int64_t at_once = INT64_C(1) << 25;
#endif
/* The bound in flynn.h holds for pairs of at most `longest` elements, or `times` as many as the kernel has. */
constexpr int64_t longest = 65536, times = 16;
constexpr int64_t aligned = 16; /* elements: outputs that neighbours store are neighbours in memory */

block_shape shape_of(int64_t edge)
{
    int b = 0;
    while (2 * (int64_t)blocks[b].rows * blocks[b].columns < edge)
        b++;
    return blocks[b];
}

/* Elements that a segment has before its outputs. */
int64_t dropped_of(int64_t taps)
{
    return (taps - 1 + aligned - 1) / aligned * aligned;
}

/* Calls f with the shape of lines of that length. */
template <typename F>
auto with_line(int length, F f)
{
    if (length == 64)
        return f(fft_line_shape<8, 8>());
    if (length == 128)
        return f(fft_line_shape<16, 8>());
    if (length == 256)
        return f(fft_line_shape<16, 16>());
    return f(fft_line_shape<32, 16>());
}

/* Calls f with the shape of rows of that length, 64 or 256. */
template <typename F>
auto with_row(int length, F f)
{
    if (length == 64)
        return f(fft_line_shape<8, 8>());
    return f(fft_line_shape<16, 16>());
}

/* Queues a kernel with a block of threads for each group of lines of each block of numbers. `across`: its lines. */
template <typename Shape, typename... Parameters, typename... Arguments>
fl_status queue_lines(const fl_context *context, int64_t across, int count, void (*kernel)(Parameters...),
                      Arguments... arguments)
{
    return hip_queue(context, kernel,
                     hip_fft_signal_grid(hip_device_of(context), across / Shape::lines, Shape::threads, count),
                     dim3((unsigned)Shape::threads), Shape::shared, arguments...);
}

template <typename W>
fft_own_launch columns_launch(const block_shape &block)
{
    return with_line(block.rows, [&](auto line) {
        using shape = fft_signal_lines<W, decltype(line)::numbers, decltype(line)::threads>;
        return fft_own_launch{shape::threads, block.columns / shape::lines, shape::shared};
    });
}

} // namespace

fft_cut hip_fft_signal_cut(const fl_convolve_args &args, fft_cost *cost)
{
    const int64_t taps = args.kernel.shape[1], outputs = args.out.shape[1], dropped = dropped_of(taps);
    fft_cheapest found;
    fft_cut c = {};
    c.own = true;
    c.edge[0] = c.step[0] = c.tiles[0] = 1;
    for (const block_shape &block : blocks) {
        const int64_t length = (int64_t)block.rows * block.columns;
        if (taps > hip_fft_signal_taps || dropped >= length ||
            2 * length > (times * taps > longest ? times * taps : longest))
            continue;
        c.edge[1] = 2 * length;
        c.step[1] = 2 * (length - dropped);
        c.tiles[1] = (outputs + c.step[1] - 1) / c.step[1];
        found.see(c, cost(c, args));
    }
    fft_cut best = found.cut;
    if (best.edge[0] == 0)
        return best;
    const int64_t pairs = at_once / best.edge[1], turns = (best.tiles[1] + pairs - 1) / pairs;
    best.count = (int)((best.tiles[1] + turns - 1) / turns);
    return best;
}

/* Between columns and rows each number is turned, by a product of four roots. */
double hip_fft_signal_units(const fft_cut &cut)
{
    const block_shape block = shape_of(cut.edge[1]);
    return 3 * (hip_fft_line_units(block.rows) + hip_fft_line_units(block.columns) + 4 * 4) + 3;
}

fft_own_launch hip_fft_signal_columns(const fft_cut &cut, bool wide)
{
    const block_shape block = shape_of(cut.edge[1]);
    return wide ? columns_launch<double>(block) : columns_launch<float>(block);
}

/* Groups of lines are powers of two. */
dim3 hip_fft_signal_grid(const hip_device *device, int64_t groups, int threads, int count)
{
    int64_t x = groups;
    while (x > hip_grid(device, 0, groups, threads))
        x /= 2;
    return dim3((unsigned)x, (unsigned)count, (unsigned)(groups / x));
}

template <typename T, typename W>
fl_status hip_fft_signal_pairs(const fl_context *context, const fft_own_work<T, W> &work)
{
    const block_shape block = shape_of(work.tiles.width);
    const int length = block.rows * block.columns, segment = (int)(work.tiles.right / 2);
    const bool with_kernel = work.tiles.first == 0;
    fft_norms *const of_kernel = work.norms, *const of_pairs = of_kernel + work.chunks;
    const fft_pairs<W> pairs = {reinterpret_cast<fft_complex<W> *>(work.tiles.data),
                                reinterpret_cast<fft_complex<W> *>(work.spectrum),
                                work.tiles.first,
                                block.columns,
                                __builtin_ctz((unsigned)(fft_fine_circle / length)),
                                segment,
                                length - segment,
                                with_kernel,
                                work.tiles.idle,
                                work.tiles.marked};
    fl_status status = with_line(block.rows, [&](auto line) {
        constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
        return queue_lines<fft_signal_lines<W, E, G>>(context, block.columns, work.count + with_kernel,
                                                      fft_signal_columns_kernel<T, W, E, G>, pairs, work.c,
                                                      with_kernel ? of_kernel : of_pairs);
    });
    if (status == FL_OK && with_kernel)
        status = with_row(block.columns, [&](auto line) {
            constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
            return queue_lines<fft_signal_lines<W, E, G>>(context, block.rows, 1, fft_signal_spectrum_kernel<W, E, G>,
                                                          pairs);
        });
    if (status == FL_OK)
        status = with_row(block.columns, [&](auto line) {
            constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
            return queue_lines<fft_signal_lines<W, E, G>>(
                context, block.rows, work.count, fft_signal_rows_kernel<T, W, E, G>, pairs,
                static_cast<const fft_norms *>(of_pairs), static_cast<const fft_norms *>(of_kernel), work.chunks,
                work.accuracy, work.limits);
        });
    if (status == FL_OK)
        status = with_line(block.rows, [&](auto line) {
            constexpr int E = decltype(line)::numbers, G = decltype(line)::threads;
            return queue_lines<fft_signal_lines<W, E, G>>(
                context, block.columns, work.count, fft_signal_store_kernel<T, W, E, G>, pairs, work.c,
                static_cast<const fft_limit *>(work.limits), work.accuracy, work.found);
        });
    return status;
}

template fl_status hip_fft_signal_pairs(const fl_context *, const fft_own_work<float, float> &);
template fl_status hip_fft_signal_pairs(const fl_context *, const fft_own_work<float, double> &);
template fl_status hip_fft_signal_pairs(const fl_context *, const fft_own_work<double, double> &);
