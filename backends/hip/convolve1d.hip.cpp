/* SPDX-License-Identifier: MIT
 *
 * convolve1d.hip.cpp - FL_OP_CONVOLVE1D on a GPU: which kernel of convolve1d_kernels.h runs, in which blocks.
 * convolve_fft.hip.cpp has the variants by FFT.
 */
#include "convolve1d_kernels.h"
#include "convolve_fft.hpp"

namespace
{

constexpr int most_taps = 256; /* of a piece of the kernel */

template <typename T>
line_convolution<T> convolution_of(const fl_convolve1d_args *args)
{
    return {static_cast<const T *>(args->signal.data),
            static_cast<const T *>(args->kernel.data),
            static_cast<T *>(args->out.data),
            args->signal.shape[0],
            args->kernel.shape[0],
            args->out.shape[0],
            args->origin};
}

int element_of(const fl_convolve1d_args *args)
{
    return args->out.dtype == FL_F32 ? (int)sizeof(float) : (int)sizeof(double);
}

/* Taps of a piece: pieces as equal as can be. */
int piece_of(int64_t taps)
{
    const int64_t pieces = (taps + most_taps - 1) / most_taps;
    return (int)((taps + pieces - 1) / pieces);
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* Sets the requested block, or one of `usual` threads; returns its threads, 0 if it is too large to run, which core
 * refuses. */
int settle_block(const hip_device *device, int usual, fl_launch *launch)
{
    int32_t *block = launch->block;
    if (block[0] <= 0 && block[1] <= 0 && block[2] <= 0)
        block[0] = usual;
    for (int d = 0; d < 3; d++)
        block[d] = block[d] > 1 ? block[d] : 1;
    const int64_t threads = (int64_t)block[0] * block[1] * block[2];
    return threads <= device->max_threads ? (int)threads : 0;
}

/* Terms of the first n sums of the full result: sum m has min(m + 1, kernel, signal + kernel - 1 - m) of them. */
double terms_before(const fl_convolve1d_args *args, int64_t n)
{
    const double s = (double)args->signal.shape[0], k = (double)args->kernel.shape[0], m = (double)n;
    const double rest = s + k - 1 - m;
    return m <= k ? m * (m + 1) / 2 : m <= s ? k * (k + 1) / 2 + (m - k) * k : s * k - rest * (rest + 1) / 2;
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_convolve1d_args *args = static_cast<const fl_convolve1d_args *>(arguments);
    const int64_t outputs = args->out.shape[0];
    const int threads = settle_block(device, 256, launch);
    if (threads == 0)
        return;
    const double terms = terms_before(args, args->origin + outputs) - terms_before(args, args->origin);
    launch->grid[0] = hip_grid(device, 0, (outputs + threads - 1) / threads, launch->block[0]);
    launch->grid[1] = launch->grid[2] = 1;
    launch->shared_bytes = 0;
    launch->flops = 2 * terms;
    launch->bytes_requested = (2 * terms + (double)outputs) * element_of(args);
}

/* Each output's sum in full, filled up to whole pieces; each tile's part of the signal once for each piece. */
void plan_tiled(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_convolve1d_args *args = static_cast<const fl_convolve1d_args *>(arguments);
    const int64_t outputs = args->out.shape[0], taps = args->kernel.shape[0];
    const int threads = settle_block(device, 128, launch), R = line_outputs(threads), piece = piece_of(taps);
    if (threads == 0)
        return;
    const int64_t width = (int64_t)threads * R, from_aligned = outputs + 16 / element_of(args) - 1;
    const double pieces = (double)((taps + piece - 1) / piece);
    const int elements = element_of(args) == 4 ? piece_room<float>(piece) + tile_room<float>(threads, R, piece)
                                               : piece_room<double>(piece) + tile_room<double>(threads, R, piece);
    launch->grid[0] = hip_grid(device, 0, (from_aligned + width - 1) / width, launch->block[0]);
    launch->grid[1] = launch->grid[2] = 1;
    launch->shared_bytes = (int64_t)elements * element_of(args);
    launch->flops = 2 * (double)outputs * pieces * round_up(piece, line_taps);
    launch->bytes_requested = (double)outputs *
                              (1 + (pieces * (double)(width + piece - 1) + (double)taps) / (double)width) *
                              element_of(args);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

template <typename T>
fl_status launch_naive(const fl_context *context, const fl_convolve1d_args *args, const fl_launch *launch)
{
    return hip_queue(context, naive_line_kernel<T>, dim3((unsigned)launch->grid[0]), dim3_of(launch->block), 0,
                     convolution_of<T>(args));
}

/* Calls f(blocks, part, shift, aligned) for launches of tiles of `width` outputs of a part of c: one launch, or several
 * for the outputs that are more than a grid of `most` blocks has room for: a loop in the kernel would take registers
 * from it. The first launch starts `shift` outputs before the first one, the next ones where it ends. */
template <typename T, typename F>
fl_status by_outputs(const line_convolution<T> &c, int64_t width, int64_t most, F f)
{
    const bool aligned = width % pack<T>::size == 0;
    const int shift = aligned ? past_alignment(c.out, 0) : 0;
    fl_status status = FL_OK;
    int64_t blocks;
    for (int64_t done = -shift; done < c.outputs && status == FL_OK; done += blocks * width) {
        const int64_t from = done > 0 ? done : 0;
        blocks = least((c.outputs - done + width - 1) / width, most);
        status =
            f(dim3((unsigned)blocks),
              line_convolution<T>{c.signal, c.kernel, c.out + from, c.size, c.taps, c.outputs - from, c.origin + from},
              done < 0 ? shift : 0, aligned);
    }
    return status;
}

template <int R, typename T>
fl_status launch_outputs(const fl_context *context, const fl_convolve1d_args *args, const fl_launch *launch,
                         int threads)
{
    return by_outputs(convolution_of<T>(args), (int64_t)threads * R, launch->grid[0],
                      [&](dim3 blocks, const line_convolution<T> &part, int shift, bool aligned) {
                          return hip_queue(context, tiled_line_kernel<R, T>, blocks, dim3_of(launch->block),
                                           (size_t)launch->shared_bytes, part, piece_of(part.taps), shift, aligned);
                      });
}

template <typename T>
fl_status launch_tiled(const fl_context *context, const fl_convolve1d_args *args, const fl_launch *launch)
{
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    return (line_outputs(threads) == 7 ? launch_outputs<7, T> : launch_outputs<3, T>)(context, args, launch, threads);
}

template <fl_status (*in_f32)(const fl_context *, const fl_convolve1d_args *, const fl_launch *),
          fl_status (*in_f64)(const fl_context *, const fl_convolve1d_args *, const fl_launch *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_convolve1d_args *args = static_cast<const fl_convolve1d_args *>(arguments);
    return (args->out.dtype == FL_F32 ? in_f32 : in_f64)(context, args, launch);
}

constexpr auto run_tiled = run<launch_tiled<float>, launch_tiled<double>>;

hip_fft_choice choose(const void *device, const void *args, double tolerance)
{
    return hip_choose_fft(static_cast<const hip_device *>(device), static_cast<const fl_convolve1d_args *>(args),
                          tolerance);
}

fl_status run_automatic(const fl_context *context, const void *args, const fl_launch *launch)
{
    const hip_fft_choice choice = choose(context->device, args, launch->tolerance);
    return (choice.fft ? choice.fft->run : run_tiled)(context, args, launch);
}

const char *chosen(const fl_context *context, const void *args, fl_launch *launch)
{
    const hip_fft_choice choice = choose(context->device, args, launch->tolerance);
    if (!choice.fft)
        return "tiled";
    choice.fft->plan(context->device, args, launch);
    return choice.fft->variant;
}

double bound_auto(void *device, const void *args)
{
    return choose(device, args, 1).least;
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_CONVOLVE1D, "auto", dtypes,
     "tiled, or for long kernels fft-wide (f32) or fft-checked (f64); fft with a tolerance", plan_tiled, run_automatic,
     chosen, false, nullptr, bound_auto},
    {FL_OP_CONVOLVE1D, "tiled", dtypes, "signal and kernel in shared memory, several outputs per thread in registers",
     plan_tiled, run_tiled, nullptr, false, nullptr, nullptr},
    {FL_OP_CONVOLVE1D, "naive", dtypes, "one thread per output, reads from global memory only", plan_naive,
     run<launch_naive<float>, launch_naive<double>>, nullptr, false, nullptr, nullptr},
};

} // namespace

template <typename T>
fl_status hip_sum_marked(const fl_context *context, const line_convolution<T> &c, const fft_marks &marks)
{
    constexpr int threads = 128, R = line_outputs(threads), width = threads * R;
    const hip_device *device = hip_device_of(context);
    const int piece = piece_of(c.taps);
    const size_t map = nonzero_map(1, width + c.taps - 1).bytes(),
                 tile = (size_t)(piece_room<T>(piece) + tile_room<T>(threads, R, piece)) * sizeof(T);
    const bool looks = map <= device->usual_shared;
    return by_outputs(c, width, hip_grid(device, 0, (c.outputs + 2 * width) / width, threads),
                      [&](dim3 blocks, const line_convolution<T> &part, int shift, bool aligned) {
                          return hip_queue(context, sum_marked_line_kernel<R, T>, blocks, dim3(threads),
                                           looks ? std::max(map, tile) : tile, part, marks, piece, shift, aligned,
                                           looks);
                      });
}

template fl_status hip_sum_marked(const fl_context *, const line_convolution<float> &, const fft_marks &);
template fl_status hip_sum_marked(const fl_context *, const line_convolution<double> &, const fft_marks &);

hip_rows hip_convolve1d_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
