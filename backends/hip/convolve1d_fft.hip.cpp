/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft.hip.cpp - FL_OP_CONVOLVE1D on a GPU by a library's FFT (gpu_fft.h).
 *
 * Overlap-save (Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 8.7.3): a block of the
 * signal is convolved with the kernel as if both were periodic. Its first kernel - 1 sums have wrapped around and are
 * dropped; the others are outputs, and the next block starts that much earlier. As many blocks as stay in the last
 * cache are transformed at once, so that any signal is done in the same memory.
 */
#include "convolve1d_kernels.h"
#include "gpu/gpu_fft.h"

#include <algorithm>
#include <cmath>

namespace
{

constexpr int64_t shortest = 4096;                     /* block, a power of two: one kernel of the library's */
constexpr int64_t longest = 65536, longest_times = 16; /* block, or times the kernel: flynn.h promises no longer ones */
constexpr int64_t most = INT64_C(1) << 28;             /* a block: the libraries count in an int */
constexpr int64_t at_once = INT64_C(1) << 21;          /* elements */

/* --------------------------------------------------------------------------------------------------- kernels ---- */

template <typename T>
struct complex_number {
    T re, im;
};

/* Rows of `length` elements, two more apart. */
template <typename T>
struct block_rows {
    T *data;
    int64_t length, step; /* outputs that a row gives */
    int rows;
};

/* rows[b][x] = line[from + b * step + x], zeros beyond its ends. */
template <typename T>
__global__ __launch_bounds__(1024) void load_rows_kernel(block_rows<T> rows, const T *line, int64_t size, int64_t from)
{
    const int64_t begin = from + blockIdx.y * rows.step, next = (int64_t)gridDim.x * block_threads();
    T *row = rows.data + blockIdx.y * (rows.length + 2);
    for (int64_t x = (int64_t)blockIdx.x * block_threads() + block_thread(); x < rows.length; x += next)
        row[x] = begin + x >= 0 && begin + x < size ? line[begin + x] : T(0);
}

/* Each row's spectrum times the kernel's, over the length, by which the inverse will multiply. */
template <typename T>
__global__ __launch_bounds__(1024) void multiply_rows_kernel(block_rows<T> rows, const T *kernel)
{
    const complex_number<T> *with = reinterpret_cast<const complex_number<T> *>(kernel);
    complex_number<T> *row = reinterpret_cast<complex_number<T> *>(rows.data + blockIdx.y * (rows.length + 2));
    const int64_t next = (int64_t)gridDim.x * block_threads();
    const T scale = 1 / (T)rows.length; /* a power of two: exact */
    for (int64_t x = (int64_t)blockIdx.x * block_threads() + block_thread(); x <= rows.length / 2; x += next) {
        const complex_number<T> a = row[x], b = {with[x].re * scale, with[x].im * scale};
        row[x] = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
}

/* out[b * step + x] = the rows' last `step` elements, `outputs` of them. */
template <typename T>
__global__ __launch_bounds__(1024) void store_rows_kernel(block_rows<T> rows, T *out, int64_t outputs)
{
    const T *row = rows.data + blockIdx.y * (rows.length + 2) + (rows.length - rows.step);
    const int64_t begin = blockIdx.y * rows.step, end = least(rows.step, outputs - begin);
    const int64_t next = (int64_t)gridDim.x * block_threads();
    for (int64_t x = (int64_t)blockIdx.x * block_threads() + block_thread(); x < end; x += next)
        out[begin + x] = row[x];
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

/* How a signal is cut. */
struct cut {
    int64_t length, step; /* of a block; outputs that it gives */
    int64_t blocks;
    int rows; /* blocks at once */
};

/* The block length with the lowest cost per output, or one block for all if it is not longer. 0: the kernel is too
 * long. */
cut cut_of(const fl_convolve1d_args *args)
{
    const int64_t taps = args->kernel.shape[0], full = args->signal.shape[0] + taps - 1;
    const int64_t end = taps > most / longest_times ? most : std::max(longest, longest_times * taps);
    double least_cost = INFINITY;
    cut c = {};
    for (int64_t n = shortest; n <= end; n *= 2) {
        const double cost = n < taps ? INFINITY : (double)n * std::log2((double)n) / (double)(n - taps + 1);
        if (cost < least_cost) {
            least_cost = cost;
            c.length = n;
        }
        if (n >= full)
            break;
    }
    if (c.length == 0)
        return c;
    c.step = c.length - taps + 1;
    c.blocks = (args->out.shape[0] + c.step - 1) / c.step;
    c.rows = (int)least(c.blocks, std::max(at_once / c.length, INT64_C(1)));
    return c;
}

/* Operations of a real FFT are about half of the 5 n log2(n) of a complex one; a product is 6, and 2 for the scale. Of
 * the bytes that the library moves only the least is known: each transform loads and stores its rows once. */
void plan_fft(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_convolve1d_args *args = static_cast<const fl_convolve1d_args *>(arguments);
    const cut c = cut_of(args);
    if (c.length == 0)
        return;
    if (launch->block[0] <= 0 && launch->block[1] <= 0 && launch->block[2] <= 0)
        launch->block[0] = 256;
    int64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= launch->block[d] = std::max(launch->block[d], 1);
    const double n = (double)c.length, blocks = (double)c.blocks;
    const double element = args->out.dtype == FL_F32 ? sizeof(float) : sizeof(double);
    launch->grid[0] = hip_grid(device, 0, (c.length + threads - 1) / threads, launch->block[0]);
    launch->grid[1] = c.rows;
    launch->grid[2] = 1;
    launch->shared_bytes = 0;
    launch->flops = (2 * blocks + 1) * 2.5 * n * std::log2(n) + blocks * 4 * n;
    launch->bytes_requested = element * ((2 * blocks + 1) * 2 * n + blocks * 7 * n);
}

/* The plans of a stream, created again when the length, dtype or number of rows changes. */
struct fft_plans {
    fl_dtype dtype;
    int64_t length;
    int rows;
    gpu_fft kernel, forward, inverse;
};

fl_status fft_failed(const fl_context *context, int error, const char *what)
{
    return context->host->error(gpu_fft::status(error), "convolve1d: %s failed to %s: error %d", gpu_fft_library, what,
                                error);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

fl_status plans_for(const fl_context *context, fl_dtype dtype, const cut &c, fft_plans **plans)
{
    hip_stream *stream = hip_stream_of(context);
    const auto kept = static_cast<fft_plans *>(stream->fft.get());
    *plans = kept;
    if (kept && kept->dtype == dtype && kept->length == c.length && kept->rows == c.rows)
        return FL_OK;
    const hip_device *device = hip_device_of(context);
    HIP_SELECT(device);
    if (kept) /* what is queued still uses the old plans' memory */
        HIP_TRY(device->host, device->number, hipStreamSynchronize(stream->queue));
    stream->fft.reset();
    std::shared_ptr<fft_plans> made;
    try {
        made = std::make_shared<fft_plans>();
    } catch (const std::bad_alloc &) {
        return device->host->error(FL_E_MEMORY, "out of host memory for the plans of an FFT");
    }
    made->dtype = dtype;
    made->length = c.length;
    made->rows = c.rows;
    int error = made->kernel.plan(dtype, gpu_fft::forward, (int)c.length, 1);
    if (error == 0)
        error = made->forward.plan(dtype, gpu_fft::forward, (int)c.length, c.rows);
    if (error == 0)
        error = made->inverse.plan(dtype, gpu_fft::inverse, (int)c.length, c.rows);
    if (error != 0)
        return fft_failed(context, error, "make a plan");
    stream->fft = made;
    *plans = made.get();
    return FL_OK;
}

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

/* The kernel's spectrum. */
template <typename T>
fl_status transform_kernel(const fl_context *context, const fl_convolve1d_args *args, const cut &c, fft_plans *plans,
                           const fl_launch *launch, T *spectrum)
{
    const block_rows<T> row = {spectrum, c.length, 0, 1};
    const fl_status status =
        hip_queue(context, load_rows_kernel<T>, dim3((unsigned)launch->grid[0]), dim3_of(launch->block), 0, row,
                  static_cast<const T *>(args->kernel.data), args->kernel.shape[0], INT64_C(0));
    if (status != FL_OK)
        return status;
    const int error = plans->kernel.run(spectrum, hip_stream_of(context)->queue);
    return error == 0 ? FL_OK : fft_failed(context, error, "transform");
}

/* The blocks from output i on, as many as there are rows. Those past the last block are of zeros. */
template <typename T>
fl_status convolve_rows(const fl_context *context, const fl_convolve1d_args *args, const block_rows<T> &rows,
                        const T *spectrum, fft_plans *plans, const fl_launch *launch, int64_t i)
{
    const dim3 grid((unsigned)launch->grid[0], (unsigned)launch->grid[1]), block = dim3_of(launch->block);
    const hipStream_t queue = hip_stream_of(context)->queue;
    fl_status status =
        hip_queue(context, load_rows_kernel<T>, grid, block, 0, rows, static_cast<const T *>(args->signal.data),
                  args->signal.shape[0], i + args->origin - args->kernel.shape[0] + 1);
    int error = status == FL_OK ? plans->forward.run(rows.data, queue) : 0;
    if (status == FL_OK && error == 0)
        status = hip_queue(context, multiply_rows_kernel<T>, grid, block, 0, rows, spectrum);
    if (status == FL_OK && error == 0)
        error = plans->inverse.run(rows.data, queue);
    if (status == FL_OK && error == 0)
        status = hip_queue(context, store_rows_kernel<T>, grid, block, 0, rows, static_cast<T *>(args->out.data) + i,
                           args->out.shape[0] - i);
    return error == 0 ? status : fft_failed(context, error, "transform");
}

template <typename T>
fl_status run_fft(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_convolve1d_args *args = static_cast<const fl_convolve1d_args *>(arguments);
    const cut c = cut_of(args);
    const size_t row = ((size_t)c.length + 2) * sizeof(T);
    fft_plans *plans;
    void *spectrum = nullptr, *memory = nullptr;
    if (c.length == 0)
        return context->host->error(
            FL_E_UNSUPPORTED, "convolve1d: fft takes kernels of up to %lld elements, this one has %lld: use tiled",
            (long long)most, (long long)args->kernel.shape[0]);
    fl_status status = plans_for(context, args->out.dtype, c, &plans);
    if (status == FL_OK)
        status = context->host->scratch(context, row, &spectrum);
    if (status == FL_OK)
        status = context->host->scratch(context, row * (size_t)c.rows, &memory);
    if (status == FL_OK)
        status = transform_kernel(context, args, c, plans, launch, static_cast<T *>(spectrum));
    const block_rows<T> rows = {static_cast<T *>(memory), c.length, c.step, c.rows};
    for (int64_t b = 0; b < c.blocks && status == FL_OK; b += c.rows)
        status = convolve_rows(context, args, rows, static_cast<const T *>(spectrum), plans, launch, b * c.step);
    return status;
}

template <fl_dtype dtype>
fl_status ready(void *, char *why, size_t size)
{
    return gpu_fft::load(dtype, why, size) ? FL_OK : library_status(why);
}

constexpr const char *summary = "FFTs of blocks by a library; the error is relative to the largest sums, and "
                                "NaN spreads";

const fl_row rows[] = {
    {FL_OP_CONVOLVE1D, "fft", 1u << FL_F32, summary, plan_fft, run_fft<float>, nullptr, true, ready<FL_F32>},
    {FL_OP_CONVOLVE1D, "fft", 1u << FL_F64, summary, plan_fft, run_fft<double>, nullptr, true, ready<FL_F64>},
};

} // namespace

bool hip_fft_found(char *why, size_t size)
{
    return gpu_fft::found(FL_F32, why, size) && gpu_fft::found(FL_F64, why, size);
}

hip_rows hip_convolve1d_fft_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
