/* SPDX-License-Identifier: MIT
 *
 * convolve.hip.cpp - FL_OP_CONVOLVE on a GPU: which kernel of convolve_kernels.h runs, in which blocks.
 *
 * A first kernel tests the rank and leaves its verdict and the factors in device memory, where the next kernels read
 * it, so that the host need not wait. `auto` does little work by `tiled`, without that test. Where an FFT pays
 * (convolve_fft.hip.cpp), it queues the kernels of `separable` and those of the FFT, and one of the two does nothing.
 * The host waits only for a library's FFT.
 */
#include "convolve_fft.hpp"
#include "convolve_tiles.hpp"

#include <algorithm>

namespace
{

/* ---------------------------------------------------------------------------------------- what kernels get ---- */

template <typename T>
matrix<const T> read_only(const matrix<T> &m)
{
    return {m.data, m.stride, m.rows, m.columns};
}

/* -------------------------------------------------------------------------------------------------- launches ---- */

/* The grid for these outputs. If it exceeds the limit in y, each block computes several tiles in turn; in x, by_columns
 * launches it several times. */
void cut_grid(const hip_device *device, const int32_t *block, int outputs, int64_t rows, int64_t columns, int64_t *grid)
{
    const int64_t height = (int64_t)block[1] * outputs, y = (rows + height - 1) / height;
    grid[0] = hip_grid(device, 0, (columns + block[0] - 1) / block[0], block[0]);
    grid[1] = hip_grid(device, 1, y, block[1]);
    grid[2] = 1;
}

dim3 dim3_of(const int64_t *grid)
{
    return dim3((unsigned)grid[0], (unsigned)grid[1]);
}

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1]);
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* The requested block, or `width` x `height`; a third dimension's threads lie along the second. False if it is too
 * large to run, which core refuses. */
bool settle_block(const hip_device *device, int width, int height, fl_launch *launch)
{
    int32_t *block = launch->block;
    if (block[0] <= 0 && block[1] <= 0 && block[2] <= 0) {
        block[0] = width;
        block[1] = height;
    }
    for (int d = 0; d < 3; d++)
        block[d] = block[d] > 1 ? block[d] : 1;
    if ((int64_t)block[1] * block[2] > INT32_MAX)
        return false;
    block[1] *= block[2];
    block[2] = 1;
    return (int64_t)block[0] * block[1] <= device->max_threads;
}

/* Settles the block of a kernel with tiles. Where a thread has few outputs, a block 64 threads wide has a flat tile,
 * which loads more of the image around it than one of 32. */
bool settle_tile(const hip_device *device, const fl_convolve_args *args, fl_launch *launch)
{
    const int32_t wide[] = {64, 2};
    const bool few = outputs_of(device, wide, args->out.shape[0], args->out.shape[1]) == 4;
    return settle_block(device, few ? 32 : wide[0], few ? 4 : wide[1], launch);
}

/* Pixels that all sums along one dimension take from the image: for each tap, the outputs under which it has one. */
double pixels_inside(int64_t image, int64_t kernel, int64_t out, int64_t origin)
{
    double pixels = 0;
    for (int64_t p = 0; p < kernel; p++) {
        const int64_t first = p - origin > 0 ? p - origin : 0, end = least(image + p - origin, out);
        pixels += end > first ? (double)(end - first) : 0;
    }
    return pixels;
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const fl_convolve_args *args = static_cast<const fl_convolve_args *>(arguments);
    const int64_t *image = args->image.shape, *kernel = args->kernel.shape, *out = args->out.shape;
    const hip_device *device = static_cast<hip_device *>(self);
    (void)settle_block(device, 32, 8, launch);
    cut_grid(device, launch->block, 1, out[0], out[1], launch->grid);
    const double outputs = (double)out[0] * (double)out[1], terms = outputs * (double)kernel[0] * (double)kernel[1];
    const double pixels = pixels_inside(image[0], kernel[0], out[0], args->origin[0]) *
                          pixels_inside(image[1], kernel[1], out[1], args->origin[1]);
    launch->shared_bytes = 0;
    launch->flops = 2 * terms;
    launch->bytes_requested = (pixels + terms + outputs) * (double)element_of(args);
}

/* Counts the work of the variants with tiles: each output's sum in full, and each tile's part of the image once. */
void count_tiled(const fl_convolve_args *args, const tiling &t, fl_launch *launch)
{
    const double rows = (double)args->kernel.shape[0], columns = (double)args->kernel.shape[1];
    const double outputs = (double)args->out.shape[0] * (double)args->out.shape[1];
    const double width = launch->block[0], height = (double)launch->block[1] * t.outputs;
    const double chunks = std::ceil(rows / t.largest.rows) * std::ceil(columns / t.largest.columns);
    const double loads = chunks * (width + t.largest.columns - 1) * (height + t.largest.rows - 1) + rows * columns;
    launch->flops = 2 * outputs * rows * columns;
    launch->bytes_requested = outputs * (loads / (width * height) + 1) * (double)element_of(args);
}

void count_separable(const fl_convolve_args *args, const tiling &t, fl_launch *launch)
{
    const double rows = (double)args->kernel.shape[0], columns = (double)args->kernel.shape[1];
    const double outputs = (double)args->out.shape[0] * (double)args->out.shape[1];
    const double width = launch->block[0], height = (double)launch->block[1] * t.outputs;
    const double loads_across = (width + columns - 1) / width, loads_down = (height + rows - 1) / height;
    if (t.fused) { /* sums down the columns, for each thread's outputs straight from the image, then along the rows */
        const double column_sums = outputs * loads_across, loads = column_sums * (t.outputs + rows - 1) / t.outputs;
        launch->flops = 2 * (column_sums * rows + outputs * columns);
        launch->bytes_requested = (outputs + loads) * (double)element_of(args);
        return;
    }
    /* The sums of all the image's rows are written and read once more. */
    const double row_sums = (double)args->image.shape[0] * (double)args->out.shape[1];
    const double loads = row_sums * (1 + loads_across) + outputs * loads_down;
    launch->flops = 2 * (row_sums * columns + outputs * rows);
    launch->bytes_requested = (outputs + loads) * (double)element_of(args);
}

enum class method { tiled, separable, automatic };

void plan_tiles(void *self, const void *arguments, fl_launch *launch, method how)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_convolve_args *args = static_cast<const fl_convolve_args *>(arguments);
    if (!settle_tile(device, args, launch))
        return;
    if (how == method::automatic && is_little(device, args, launch->block))
        how = method::tiled;
    const tiling t = tiling_of(device, args, launch->block);
    int64_t elements = t.tiled_shared;
    if (how != method::tiled && t.fused)
        elements = how == method::separable || t.separable_shared > elements ? t.separable_shared : elements;
    launch->shared_bytes = elements * (int64_t)element_of(args);
    cut_grid(device, launch->block, t.outputs, args->out.shape[0], args->out.shape[1], launch->grid);
    if (how == method::separable)
        count_separable(args, t, launch);
    else
        count_tiled(args, t, launch);
}

void plan_tiled(void *self, const void *args, fl_launch *launch)
{
    plan_tiles(self, args, launch, method::tiled);
}

void plan_separable(void *self, const void *args, fl_launch *launch)
{
    plan_tiles(self, args, launch, method::separable);
}

void plan_auto(void *self, const void *args, fl_launch *launch)
{
    plan_tiles(self, args, launch, method::automatic);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

/* Calls f(grid, first) for launches that compute the output's columns from `first` on: one launch, unless the columns
 * are more than a grid may have threads. (A loop in the kernels would take registers from them.) */
template <typename F>
fl_status by_columns(const fl_context *context, const fl_launch *launch, int outputs, int64_t rows, int64_t columns,
                     F f)
{
    fl_status status = FL_OK;
    int64_t grid[3];
    for (int64_t first = 0; first < columns && status == FL_OK; first += grid[0] * launch->block[0]) {
        cut_grid(hip_device_of(context), launch->block, outputs, rows, columns - first, grid);
        status = f(dim3_of(grid), first);
    }
    return status;
}

/* The convolution without the output's columns before `first`; nothing stays nothing. */
template <typename T>
convolution<T> columns_from(convolution<T> c, int64_t first)
{
    if (c.out.rows == 0)
        return c;
    c.out.data += first;
    c.out.columns -= first;
    c.left += first;
    return c;
}

template <typename T>
fl_status launch_naive(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch)
{
    const convolution<T> c = convolution_of<T>(args);
    return by_columns(context, launch, 1, c.out.rows, c.out.columns, [&](dim3 grid, int64_t first) {
        return hip_queue(context, naive_kernel<T>, grid, dim3_of(launch->block), 0, columns_from(c, first));
    });
}

/* Queues tiled_kernel in a grid for these outputs. */
template <typename T>
fl_status launch_choice(const fl_context *context, const choice<T> &c, int outputs, int64_t kernel_rows, int64_t rows,
                        int64_t columns, const fl_launch *launch)
{
    return with_shape(outputs, kernel_rows, [&](auto shape) {
        constexpr int R = decltype(shape)::outputs, Q = decltype(shape)::taps;
        const size_t shared = (size_t)tiled_shared<R, Q>(launch->block[0], launch->block[1], c.largest) * sizeof(T);
        return by_columns(context, launch, R, rows, columns, [&](dim3 grid, int64_t first) {
            const choice<T> rest = {c.rank_one, columns_from(c.of_rank_one, first), columns_from(c.otherwise, first),
                                    columns_from(c.exact, first), c.largest};
            return hip_queue(context, tiled_kernel<R, Q, T>, grid, dim3_of(launch->block), shared, rest);
        });
    });
}

template <typename T>
fl_status launch_tiled(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(context->device);
    const convolution<T> c = convolution_of<T>(args);
    const tiling t = tiling_of(device, args, launch->block);
    const choice<T> always = {nullptr, c, c, c, t.largest};
    return launch_choice(context, always, t.outputs, c.kernel.rows, c.out.rows, c.out.columns, launch);
}

/* Queues the test for rank one. Its verdict and the factors are in scratch memory from then on. */
template <typename T>
fl_status launch_rank(const fl_context *context, const matrix<const T> &kernel, bool columns_first, bool needed,
                      factors<T> *f)
{
    constexpr size_t head = 16; /* the verdict, and room up to the next aligned address */
    void *memory;
    const size_t bytes = head + (size_t)(kernel.rows + kernel.columns) * sizeof(T);
    const fl_status status = context->host->scratch(context, bytes, &memory);
    if (status != FL_OK)
        return status;
    f->rank_one = static_cast<int *>(memory);
    f->column = reinterpret_cast<T *>(static_cast<char *>(memory) + head);
    f->row = f->column + kernel.rows;
    const auto queue = [&](auto kernel_function, int width) {
        return hip_queue(context, kernel_function, dim3(1), dim3((unsigned)width, (unsigned)width),
                         rank_shared<T>(width), kernel, *f, columns_first, hip_stream_of(context)->report, needed);
    };
    if constexpr (sizeof(T) == sizeof(float)) /* in f64 each of 1024 threads would have too few registers */
        if (std::max(kernel.rows, kernel.columns) > 64)
            return queue(rank_kernel<32, T>, 32);
    return queue(rank_kernel<16, T>, 16);
}

/* Both passes of `separable` through scratch memory, rows first, each a convolution by `tiled`, or by `tiled` at once
 * if `automatic` and the kernel is not of rank one. */
template <typename T>
fl_status launch_two_passes(const fl_context *context, const convolution<T> &c, const factors<T> &f, bool automatic,
                            const tiling &t, const fl_launch *launch)
{
    void *memory;
    const size_t bytes = (size_t)c.image.rows * (size_t)c.out.columns * sizeof(T);
    fl_status status = context->host->scratch(context, bytes, &memory);
    if (status != FL_OK)
        return status;
    const matrix<T> sums = {static_cast<T *>(memory), c.out.columns, c.image.rows, c.out.columns};
    const matrix<const T> row = {f.row, c.kernel.columns, 1, c.kernel.columns};
    const matrix<const T> column = {f.column, 1, c.kernel.rows, 1};
    const convolution<T> along_rows = {c.image, row, sums, 0, c.left};
    const convolution<T> down_columns = {read_only(sums), column, c.out, c.top, 0};
    const choice<T> first = {f.rank_one, along_rows, {}, along_rows, {1, t.largest.columns}};
    const choice<T> second = {f.rank_one, down_columns, automatic ? c : convolution<T>(), c, t.largest};
    status = launch_choice(context, first, t.outputs, 1, sums.rows, sums.columns, launch);
    return status != FL_OK
               ? status
               : launch_choice(context, second, t.outputs, c.kernel.rows, c.out.rows, c.out.columns, launch);
}

/* Queues the kernels that read the verdict and the factors. */
template <bool automatic, typename T>
fl_status launch_passes(const fl_context *context, const fl_convolve_args *args, const tiling &t, const factors<T> &f,
                        const fl_launch *launch)
{
    const convolution<T> c = convolution_of<T>(args);
    if (!t.fused)
        return launch_two_passes(context, c, f, automatic, t, launch);
    return with_shape(t.outputs, c.kernel.rows, [&](auto shape) {
        constexpr int R = decltype(shape)::outputs, Q = decltype(shape)::taps;
        return by_columns(context, launch, R, c.out.rows, c.out.columns, [&](dim3 grid, int64_t first) {
            return hip_queue(context, separable_kernel<R, Q, automatic, T>, grid, dim3_of(launch->block),
                             (size_t)launch->shared_bytes, columns_from(c, first), f, t.largest);
        });
    });
}

template <bool automatic, typename T>
fl_status launch_separable(const fl_context *context, const fl_convolve_args *args, const fl_launch *launch)
{
    const tiling t = tiling_of(hip_device_of(context), args, launch->block);
    factors<T> f;
    const fl_status status = launch_rank(context, convolution_of<T>(args).kernel, t.fused, !automatic, &f);
    return status != FL_OK ? status : launch_passes<automatic>(context, args, t, f, launch);
}

fl_status wait_for(const fl_context *context)
{
    const hip_device *device = hip_device_of(context);
    if (hip_leaves_graph(context) != FL_OK)
        return FL_E_UNSUPPORTED;
    HIP_TRY(device->host, device->number, hipStreamSynchronize(hip_stream_of(context)->queue));
    return FL_OK;
}

/* `separable`, or an FFT where the kernel is not of rank one. A library's FFT is queued by the host, which waits for
 * the verdict before. */
template <typename T>
fl_status launch_separable_or(const hip_fft_choice &choice, const fl_context *context, const fl_convolve_args *args,
                              const fl_launch *launch)
{
    const hip_report *report = hip_stream_of(context)->report;
    const tiling t = tiling_of(hip_device_of(context), args, launch->block);
    factors<T> f;
    fl_status status = launch_rank(context, convolution_of<T>(args).kernel, t.fused, false, &f);
    if (status == FL_OK && !choice.own)
        status = wait_for(context);
    if (status == FL_OK && !choice.own && !report->rank_one)
        return choice.fft->run(context, args, launch);
    if (status == FL_OK)
        status = launch_passes<false>(context, args, t, f, launch);
    if (status != FL_OK || !choice.own)
        return status;
    status = choice.fft->run_unless(context, args, launch, f.rank_one);
    if (status != FL_E_MEMORY) /* else the FFT's memory may not be needed */
        return status;
    const fl_status waited = wait_for(context);
    return waited == FL_OK && report->rank_one ? FL_OK : status;
}

fl_status run_automatic(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_convolve_args *args = static_cast<const fl_convolve_args *>(arguments);
    const bool f32 = args->out.dtype == FL_F32;
    if (is_little(hip_device_of(context), args, launch->block))
        return (f32 ? launch_tiled<float> : launch_tiled<double>)(context, args, launch);
    const hip_fft_choice choice = hip_choose_fft(hip_device_of(context), args, launch->tolerance);
    if (choice.fft && !choice.direct)
        return choice.fft->run(context, args, launch);
    if (choice.fft)
        return (f32 ? launch_separable_or<float> : launch_separable_or<double>)(choice, context, args, launch);
    return (f32 ? launch_separable<true, float> : launch_separable<true, double>)(context, args, launch);
}

/* fl_row.run: one of the above, in the dtype computed in. */
template <fl_status (*in_f32)(const fl_context *, const fl_convolve_args *, const fl_launch *),
          fl_status (*in_f64)(const fl_context *, const fl_convolve_args *, const fl_launch *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_convolve_args *args = static_cast<const fl_convolve_args *>(arguments);
    return (args->out.dtype == FL_F32 ? in_f32 : in_f64)(context, args, launch);
}

/* Makes fl_device_api.last_kernel describe the last kernel of `separable`: the kernels of an FFT, which did nothing,
 * were queued after it. */
template <typename T>
void describe_separable(const fl_context *context, const fl_convolve_args *args, const tiling &t,
                        const fl_launch *launch)
{
    const int threads = launch->block[0] * launch->block[1];
    hip_stream_of(context)->last = with_shape(t.outputs, args->kernel.shape[0], [&](auto shape) {
        constexpr int R = decltype(shape)::outputs, Q = decltype(shape)::taps;
        return hip_launched{t.fused ? reinterpret_cast<const void *>(separable_kernel<R, Q, false, T>)
                                    : reinterpret_cast<const void *>(tiled_kernel<R, Q, T>),
                            gpu_use_of, threads,
                            t.fused ? (size_t)launch->shared_bytes : (size_t)t.tiled_shared * sizeof(T)};
    });
}

const char *chosen(const fl_context *context, const void *arguments, fl_launch *launch)
{
    const fl_convolve_args *args = static_cast<const fl_convolve_args *>(arguments);
    if (is_little(hip_device_of(context), args, launch->block))
        return "tiled";
    const hip_fft_choice choice = hip_choose_fft(hip_device_of(context), args, launch->tolerance);
    const bool separable = choice.direct && hip_stream_of(context)->report->rank_one;
    if (choice.fft && !separable) {
        choice.fft->plan(context->device, arguments, launch);
        return choice.fft->variant;
    }
    if (!separable)
        return "tiled";
    const tiling t = tiling_of(hip_device_of(context), args, launch->block);
    if (choice.fft)
        (args->out.dtype == FL_F32 ? describe_separable<float> : describe_separable<double>)(context, args, t, launch);
    count_separable(args, t, launch);
    return "separable";
}

double bound_auto(void *device, const void *args)
{
    return hip_choose_fft(static_cast<const hip_device *>(device), static_cast<const fl_convolve_args *>(args), 1)
        .least;
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_CONVOLVE, "auto", dtypes,
     "tiled for little work; else separable if the GPU finds that the kernel is of rank one, tiled if not, or for "
     "large kernels fft-wide (f32) or fft-checked (f64); fft with a tolerance",
     plan_auto, run_automatic, chosen, false, nullptr, bound_auto},
    {FL_OP_CONVOLVE, "naive", dtypes, "one thread per output, reads from global memory only", plan_naive,
     run<launch_naive<float>, launch_naive<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_CONVOLVE, "tiled", dtypes, "image and kernel in shared memory, several outputs per thread", plan_tiled,
     run<launch_tiled<float>, launch_tiled<double>>, nullptr, false, nullptr, nullptr},
    {FL_OP_CONVOLVE, "separable", dtypes, "along columns, then along rows; only for kernels of rank one",
     plan_separable, run<launch_separable<false, float>, launch_separable<false, double>>, nullptr, true, nullptr,
     nullptr},
};

} // namespace

template <typename T>
fl_status hip_sum_marked(const fl_context *context, const convolution<T> &c, const fft_marks &marks)
{
    using shape = kernel_shape<16, 16>;
    constexpr int R = shape::outputs, Q = shape::taps;
    const size_t most = hip_device_of(context)->usual_shared;
    fl_launch launch = {};
    settle_block(hip_device_of(context), 64, 2, &launch);
    const int64_t kernel[] = {c.kernel.rows, c.kernel.columns};
    const tiling t = cut_for(shape(), launch.block, kernel, sizeof(T), most);
    const size_t map = nonzero_map(2 * R + c.kernel.rows - 1, 64 + c.kernel.columns - 1).bytes(),
                 tile = (size_t)t.tiled_shared * sizeof(T);
    return by_columns(context, &launch, R, c.out.rows, c.out.columns, [&](dim3 grid, int64_t first) {
        return hip_queue(context, sum_marked_kernel<R, Q, T>, grid, dim3_of(launch.block),
                         map <= most ? std::max(map, tile) : tile, columns_from(c, first), marks, t.largest,
                         map <= most);
    });
}

template fl_status hip_sum_marked(const fl_context *, const convolution<float> &, const fft_marks &);
template fl_status hip_sum_marked(const fl_context *, const convolution<double> &, const fft_marks &);

hip_rows hip_convolve_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
