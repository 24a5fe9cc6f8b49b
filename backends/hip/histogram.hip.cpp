/* SPDX-License-Identifier: MIT
 *
 * histogram.hip.cpp - FL_OP_HISTOGRAM on a GPU: by the kernels of histogram_kernels.h, or by CUB.
 */
#include "gpu/gpu_histogram.h"
#include "histogram_kernels.h"

#include <algorithm>

namespace
{

const fl_histogram_args *args_of(const void *arguments)
{
    return static_cast<const fl_histogram_args *>(arguments);
}

int size_of(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_I32 || dtype == FL_F32 ? 4 : 8;
}

/* A launch counts at most so many elements: none of its 32-bit counters overflows. A multiple of 16, so that the next
 * launch's part is aligned as this one's. */
constexpr int64_t most_counted = INT64_C(1) << 31;

int64_t bytes_requested(const fl_histogram_args *args)
{
    return args->in.shape[0] * size_of(args->in.dtype) + args->out.shape[0] * (int64_t)sizeof(int64_t);
}

/* ----------------------------------------------------------------------------------------------------- bins ---- */

/* The least float that is not below x, and the largest that is not above it. */
float float_from(double x)
{
    const float near = (float)x;
    return (double)near < x ? std::nextafter(near, INFINITY) : near;
}

float float_upto(double x)
{
    return -float_from(-x);
}

/* True if f32 is exact enough to find the nearest edge, and if what is clipped to `lower` or `upper` is in the first or
 * last bin. */
template <typename T>
bool fill(const histogram_rule &rule, T lower, T upper, float_bins<T> *bins)
{
    const double tolerance = histogram_tolerance(&rule, 0x1p-24), last = (double)(rule.bins - 1);
    const bool clips = rule.lo + rule.width > (double)lower && rule.lo + last * rule.width <= (double)upper;
    *bins = {lower,
             upper,
             (float)rule.scale,
             (float)(((double)lower - rule.lo + rule.shift) * rule.scale - 0.5),
             (float)(0.5 - tolerance),
             (int)rule.bins - 1,
             rule.clip,
             rule.lo,
             rule.width};
    return rule.nearest && tolerance < 0.5 && rule.scale > 0x1p-100 && rule.scale < 0x1p100 && (clips || !rule.clip);
}

bool bins_in_float(const histogram_rule &rule, float_bins<float> *bins)
{
    return std::max(std::fabs(rule.lo), std::fabs(rule.hi)) < 0x1p100 &&
           fill(rule, float_from(rule.lo), float_upto(rule.hi), bins);
}

bool bins_in_float(const histogram_rule &rule, float_bins<int32_t> *bins)
{
    const double lower = std::ceil(rule.lo), upper = std::floor(rule.hi);
    return lower >= INT32_MIN && upper <= INT32_MAX && lower <= upper &&
           fill(rule, (int32_t)lower, (int32_t)upper, bins);
}

template <typename T>
double_bins<T> bins_of(const histogram_rule &rule)
{
    return {rule, rule.nearest ? 0.5 - rule.tolerance : -1};
}

/* Calls f with the Bins of the arguments, and with the first element. */
template <typename T, typename F>
fl_status with_either(const fl_histogram_args *args, F f)
{
    const histogram_rule rule = histogram_rule_of(args);
    float_bins<T> bins;
    if (bins_in_float(rule, &bins))
        return f(bins, static_cast<const T *>(args->in.data));
    return f(bins_of<T>(rule), static_cast<const T *>(args->in.data));
}

/* Not of u8. */
template <typename F>
fl_status with_bins(const fl_histogram_args *args, F f)
{
    switch (args->in.dtype) {
    case FL_F32: return with_either<float>(args, f);
    case FL_I32: return with_either<int32_t>(args, f);
    case FL_F64: return f(bins_of<double>(histogram_rule_of(args)), static_cast<const double *>(args->in.data));
    default: return f(bins_of<int64_t>(histogram_rule_of(args)), static_cast<const int64_t *>(args->in.data));
    }
}

double_bins<uint8_t> bins_of_bytes(const fl_histogram_args *args)
{
    return bins_of<uint8_t>(histogram_rule_of(args));
}

fl_status clear(const fl_context *context, int64_t *out, int64_t bins)
{
    const int64_t threads = std::min(hip_device_of(context)->max_threads, 256);
    const int64_t blocks = hip_grid(hip_device_of(context), 0, (bins + threads - 1) / threads, threads);
    return hip_queue(context, clear_kernel, dim3((unsigned)blocks), dim3((unsigned)threads), 0, out, bins);
}

int64_t threads_of(const fl_launch *launch)
{
    return (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

dim3 block_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
}

/* ---------------------------------------------------------------------------------------------------- naive ---- */

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<const hip_device *>(self);
    const fl_histogram_args *args = args_of(arguments);
    const int64_t length = args->in.shape[0];
    launch->bytes_requested = (double)bytes_requested(args) + 2 * sizeof(int64_t) * (double)length;
    if (!hip_block(device, 256, launch))
        return;
    const int64_t threads = threads_of(launch);
    launch->grid[0] = hip_grid(device, 0, (length + threads - 1) / threads, launch->block[0]);
}

fl_status run_naive(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_histogram_args *args = args_of(arguments);
    int64_t *out = static_cast<int64_t *>(args->out.data);
    const fl_status status = clear(context, out, args->out.shape[0]);
    if (status != FL_OK)
        return status;
    const auto count = [&](auto bins, auto in) {
        return hip_queue(context, naive_kernel<decltype(bins)>, dim3((unsigned)launch->grid[0]), block_of(launch), 0,
                         bins, in, args->in.shape[0], out, args->out.shape[0]);
    };
    if (args->in.dtype == FL_U8)
        return count(bins_of_bytes(args), static_cast<const uint8_t *>(args->in.data));
    return with_bins(args, count);
}

/* --------------------------------------------------------------------------------------- shared, replicated ---- */

enum { MOST_COPIES = 32 }; /* as many as shared memory has banks */

/* Shared memory for copies: so little that the blocks which a multiprocessor can hold find room. */
constexpr int64_t copies_bytes = 32 * 1024;

/* A block's counters, and the ranges of bins that blocks of different y count: as few as possible. */
struct division {
    histogram_copies copies;
    int64_t ranges;
};

division divide(const hip_device *device, const fl_histogram_args *args, int most_copies)
{
    const int64_t bins = args->in.dtype == FL_U8 ? UINT8_MAX + 1 : args->out.shape[0];
    const int64_t room = (int64_t)(device->most_shared / sizeof(uint32_t));
    division d = {{0, 1, bins, false}, (bins + room - 1) / room};
    d.copies.counters = (int)((bins + d.ranges - 1) / d.ranges);
    while (d.copies.copies < most_copies &&
           2 * d.copies.copies * d.copies.counters * (int64_t)sizeof(uint32_t) <= copies_bytes)
        d.copies.copies *= 2;
    return d;
}

template <int Copies>
void plan_shared(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<const hip_device *>(self);
    const fl_histogram_args *args = args_of(arguments);
    const division d = divide(device, args, Copies);
    launch->bytes_requested =
        (double)(bytes_requested(args)) + (double)(d.ranges - 1) * (double)args->in.shape[0] * size_of(args->in.dtype);
    if (!hip_block(device, 512, launch))
        return;
    const int64_t threads = threads_of(launch), tile = threads * pack_rounds * 16 / size_of(args->in.dtype);
    const int64_t tiles = (std::min(args->in.shape[0], most_counted) + tile - 1) / tile;
    /* The kernels' registers leave room for half of the threads. */
    const int64_t resident = device->multiprocessors * std::max<int64_t>(device->resident_threads / 2 / threads, 1);
    launch->grid[0] = hip_grid(device, 0, std::min(tiles, resident), launch->block[0]);
    launch->grid[1] = hip_grid(device, 1, d.ranges, launch->block[1]);
    launch->shared_bytes = d.copies.counters * d.copies.copies * (int64_t)sizeof(uint32_t);
}

/* Counts in as many launches as the counters need: of parts of the input, and of the bins if a grid has too few rows.
 */
template <typename Bins, typename Target, typename T>
fl_status count_shared(const fl_context *context, const fl_histogram_args *args, const fl_launch *launch, division d,
                       Bins bins, Target target, const T *in)
{
    const int64_t length = args->in.shape[0], out_bins = args->out.shape[0];
    int64_t *out = static_cast<int64_t *>(args->out.data);
    const dim3 grid((unsigned)launch->grid[0], (unsigned)launch->grid[1]);
    d.copies.clears = grid.x == 1 && grid.y == d.ranges && d.ranges == 1 && length <= most_counted && out_bins <= 65536;
    fl_status status = d.copies.clears ? FL_OK : clear(context, out, out_bins);
    for (int64_t first = 0; first < length && status == FL_OK; first += most_counted)
        for (int64_t row = 0; row < d.ranges && status == FL_OK; row += grid.y)
            status =
                hip_queue(context, histogram_kernel<Bins, Target>, grid, block_of(launch), (size_t)launch->shared_bytes,
                          bins, target, pack_input_of(in + first, std::min(length - first, most_counted)), d.copies,
                          row, out, out_bins);
    return status;
}

template <int Copies>
fl_status run_shared(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_histogram_args *args = args_of(arguments);
    const division d = divide(hip_device_of(context), args, Copies);
    if (args->in.dtype == FL_U8)
        return count_shared(context, args, launch, d, byte_bins{}, bin_of_byte{bins_of_bytes(args)},
                            static_cast<const uint8_t *>(args->in.data));
    return with_bins(args,
                     [&](auto bins, auto in) { return count_shared(context, args, launch, d, bins, same_bin{}, in); });
}

/* Each range of bins reads all of the input once more; atomic additions to global memory take as long as so many. */
constexpr int64_t most_ranges = 6;

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<const hip_device *>(self);
    if (divide(device, args_of(arguments), MOST_COPIES).ranges > most_ranges)
        plan_naive(self, arguments, launch);
    else
        plan_shared<MOST_COPIES>(self, arguments, launch);
}

fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return (launch->shared_bytes == 0 ? run_naive : run_shared<MOST_COPIES>)(context, arguments, launch);
}

const char *chosen(const fl_context *, const void *, fl_launch *launch)
{
    return launch->shared_bytes == 0 ? "naive" : "replicated";
}

/* -------------------------------------------------------------------------------------------------- library ---- */

#if GPU_HAS_HISTOGRAM
/* The library chooses block and grid, which are unknown. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    *launch = {};
    launch->bytes_requested = (double)bytes_requested(args_of(arguments));
}

/* out = counts, of which the last one is of elements equal to hi, which belong to the last bin. */
__global__ void close_last_kernel(const int64_t *counts, int64_t *out, int64_t bins)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; b < bins; b += step)
        out[b] = counts[b] + (b == bins - 1 ? counts[bins] : 0);
}

/* The bins in the library's form. */
struct library_bins {
    int32_t lower, upper;
    int bins;
    bool closes; /* the last one is hi alone */
};

/* The library's bins are half open and not clipped, and its arithmetic is exact for integers alone. False if that is
 * not what the arguments say. */
bool library_takes(const fl_histogram_args *args, library_bins *asked)
{
    const histogram_rule rule = histogram_rule_of(args);
    const bool never_hi = args->in.dtype == FL_U8 && args->hi > UINT8_MAX, ones = rule.width == 1;
    if (args->clip || rule.shift == 0 || rule.lo < INT32_MIN || rule.hi > INT32_MAX - 1 || !(never_hi || ones))
        return false;
    *asked = {(int32_t)rule.lo, (int32_t)rule.hi + (never_hi ? 0 : 1), (int)rule.bins + (never_hi ? 0 : 1), !never_hi};
    return true;
}

template <typename T>
fl_status count_by_library(const fl_context *context, const fl_histogram_args *args, const library_bins &asked)
{
    const hip_device *device = hip_device_of(context);
    const T *in = static_cast<const T *>(args->in.data);
    int64_t *out = static_cast<int64_t *>(args->out.data), *counts = out;
    const hipStream_t queue = hip_stream_of(context)->queue;
    const size_t before = asked.closes ? ((size_t)asked.bins * sizeof(int64_t) + 255) / 256 * 256 : 0;
    size_t bytes = 0;
    void *memory;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_histogram(nullptr, &bytes, in, args->in.shape[0], asked.lower, asked.upper, asked.bins, counts, queue));
    const fl_status status = context->host->scratch(context, before + bytes + 1, &memory);
    if (status != FL_OK)
        return status;
    if (asked.closes)
        counts = static_cast<int64_t *>(memory);
    HIP_TRY(device->host, device->number,
            gpu_histogram(static_cast<char *>(memory) + before, &bytes, in, args->in.shape[0], asked.lower, asked.upper,
                          asked.bins, counts, queue));
    if (!asked.closes)
        return FL_OK;
    return hip_queue(context, close_last_kernel, dim3((unsigned)std::min((asked.bins + 255) / 256, 1024)), dim3(256), 0,
                     counts, out, args->out.shape[0]);
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_histogram_args *args = args_of(arguments);
    library_bins asked;
    if (!library_takes(args, &asked))
        return context->host->error(FL_E_UNSUPPORTED,
                                    "histogram: library counts integers in bins one wide, u8 up to 256 also in bins of "
                                    "another whole width, without clip: use replicated");
    return args->in.dtype == FL_U8 ? count_by_library<uint8_t>(context, args, asked)
                                   : count_by_library<int32_t>(context, args, asked);
}
#endif

constexpr uint32_t any = (1u << FL_DTYPE_COUNT) - 1;

const fl_row rows[] = {
    {FL_OP_HISTOGRAM, "auto", any, "replicated, or naive for bins that would take many passes", plan_auto, run_auto,
     chosen, false, nullptr, nullptr},
    {FL_OP_HISTOGRAM, "replicated", any, "up to 32 histograms in each block's shared memory, a thread to one of them",
     plan_shared<MOST_COPIES>, run_shared<MOST_COPIES>, nullptr, false, nullptr, nullptr},
    {FL_OP_HISTOGRAM, "shared", any, "one histogram in each block's shared memory", plan_shared<1>, run_shared<1>,
     nullptr, false, nullptr, nullptr},
    {FL_OP_HISTOGRAM, "naive", any, "an atomic addition to global memory for each element", plan_naive, run_naive,
     nullptr, false, nullptr, nullptr},
#if GPU_HAS_HISTOGRAM
    {FL_OP_HISTOGRAM, "library", 1u << FL_U8 | 1u << FL_I32, "by CUB; bins one wide, or u8 up to 256", plan_library,
     run_library, nullptr, true, nullptr, nullptr},
#endif
};

} // namespace

hip_rows hip_histogram_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
