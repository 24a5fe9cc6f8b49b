/* SPDX-License-Identifier: MIT
 *
 * reduce.hip.cpp - FL_OP_REDUCE on a GPU: by kernels of our own (reduce_kernels.h), or by CUB or rocPRIM.
 */
#include "gpu/gpu_reduce.h"
#include "reduce_kernels.h"

#include <algorithm>
#include <limits>

namespace
{

double size_of(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_I32 || dtype == FL_F32 ? 4 : 8;
}

/* Calls f with the operation of a sum. */
template <typename F>
fl_status with_sum(const fl_reduce_args *args, F f)
{
    const void *x = args->x.data, *y = args->y.data;
    const bool real = args->out.dtype == FL_F64;
#define CALL(element, few, sum) \
    f(sum_operation<element, few, sum>{static_cast<const element *>(x), static_cast<const element *>(y)})
    switch (args->x.dtype) {
    case FL_U8: return real ? CALL(uint8_t, uint32_t, double) : CALL(uint8_t, uint32_t, uint64_t);
    case FL_I32: return real ? CALL(int32_t, double, double) : CALL(int32_t, uint64_t, uint64_t);
    case FL_I64: return real ? CALL(int64_t, double, double) : CALL(int64_t, uint64_t, uint64_t);
    case FL_F32: return real ? CALL(float, double, double) : CALL(float, float, float);
    default: return CALL(double, double, double);
    }
#undef CALL
}

/* Calls f with the operation of an extreme, or of its place. */
template <template <typename> class Operation, typename F>
fl_status with_extreme(const fl_reduce_args *args, F f)
{
    const bool most = args->reduction == FL_MAXIMUM || args->reduction == FL_ARGMAX;
#define CALL(element) f(Operation<element>{static_cast<const element *>(args->x.data), nullptr, most})
    switch (args->x.dtype) {
    case FL_U8: return CALL(uint8_t);
    case FL_I32: return CALL(int32_t);
    case FL_I64: return CALL(int64_t);
    case FL_F32: return CALL(float);
    default: return CALL(double);
    }
#undef CALL
}

template <typename F>
fl_status with_operation(const fl_reduce_args *args, F f)
{
    switch (args->reduction) {
    case FL_SUM: return with_sum(args, f);
    case FL_MINIMUM:
    case FL_MAXIMUM: return with_extreme<value_operation>(args, f);
    default: return with_extreme<place_operation>(args, f);
    }
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

constexpr int64_t most_counters = 8192; /* of chunks that are put together from parts */
constexpr int usual_columns = 64;       /* of a chunk: loads of neighbours, and enough threads along the axis */
/* Blocks of a multiprocessor: of columns as many as run at once; of lines, whose threads load more at a time, fewer,
 * since each adds a sum for the last block. */
constexpr int64_t blocks_of_columns = 4, blocks_of_lines = 2;
constexpr int64_t most_of_a_block = 1 << 18; /* elements: the sums of a thread stay short */

int64_t divided_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

int threads_of(const fl_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

/* As many parts as give all `blocks` a task, or keep a block's part short; but none shorter than `least`. The columns
 * of all slices alone are `chunks` tasks. */
int64_t parts_of(int64_t blocks, int64_t chunks, int64_t length, int64_t columns, int64_t least)
{
    const int64_t fill = divided_up(blocks, chunks);
    const int64_t parts = std::max(fill, divided_up(length * columns, most_of_a_block));
    return chunks > most_counters ? 1 : std::max<int64_t>(std::min(parts, length / least), 1);
}

reduce_shape shape_of(const hip_device *device, const fl_reduce_args *args, int threads)
{
    reduce_shape s = {args->x.shape[0], args->x.shape[1], args->x.shape[2], 1, 1, 1, threads};
    s.chunks = divided_up(s.inner, std::min(usual_columns, threads));
    s.across = (int)divided_up(s.inner, s.chunks);
    s.along = threads / s.across;
    s.parts = parts_of(device->multiprocessors * blocks_of_columns, s.outer * s.chunks, s.length, s.across,
                       (int64_t)reduce_rows * s.along);
    return s;
}

/* Whether lines_kernel gives each warp a row: where there are enough rows, or they are short. */
bool by_warps(const hip_device *device, const fl_reduce_args *args, int threads)
{
    const int64_t warps = divided_up(threads, device->lanes), rows = args->x.shape[0];
    return rows > most_counters || args->x.shape[1] <= 64 * device->lanes ||
           rows >= device->multiprocessors * blocks_of_lines * warps;
}

reduce_shape shape_of_lines(const hip_device *device, const fl_reduce_args *args, int threads)
{
    reduce_shape s = {args->x.shape[0], args->x.shape[1], 1, 1, 1, 1, threads};
    const int64_t width = 16 / (int64_t)size_of(args->x.dtype);
    if (!by_warps(device, args, threads))
        s.parts = parts_of(device->multiprocessors * blocks_of_lines, s.outer, s.length, 1,
                           reduce_vectors<float> * width * threads);
    return s;
}

/* All kernels load each element once. */
void set_counts(const fl_reduce_args *args, double partials, fl_launch *launch)
{
    const double elements = (double)args->x.shape[0] * (double)args->x.shape[1] * (double)args->x.shape[2];
    const double results = (double)args->out.shape[0] * (double)args->out.shape[1];
    const int inputs = args->y.data ? 2 : 1;
    launch->flops = inputs * elements;
    launch->bytes_requested = inputs * size_of(args->x.dtype) * elements + size_of(args->out.dtype) * results +
                              2 * partials * size_of(args->out.dtype);
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    launch->shared_bytes = 0;
    set_counts(args, 0, launch);
    if (hip_block(device, 256, launch))
        launch->grid[0] = hip_grid(device, 0, divided_up(args->out.shape[0] * args->out.shape[1], threads_of(launch)),
                                   launch->block[0]);
}

/* Shared memory has a state for each thread, and a word. */
void plan_blocks(const hip_device *device, const fl_reduce_args *args, const reduce_shape &s, int64_t blocks,
                 fl_launch *launch)
{
    launch->grid[0] = hip_grid(device, 0, blocks, launch->block[0]);
    launch->shared_bytes = threads_of(launch) * reduce_largest_state + 16;
    set_counts(args, s.parts > 1 ? (double)s.outer * (double)s.parts * (double)s.inner : 0, launch);
}

void plan_tree(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    if (!hip_block(device, 256, launch))
        return;
    const reduce_shape s = shape_of(device, args, threads_of(launch));
    plan_blocks(device, args, s, s.outer * s.chunks * s.parts, launch);
}

void plan_warp(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    if (args->x.shape[2] > 1) {
        plan_tree(self, arguments, launch);
        return;
    }
    if (!hip_block(device, 256, launch))
        return;
    const int threads = threads_of(launch);
    const reduce_shape s = shape_of_lines(device, args, threads);
    const int64_t blocks =
        by_warps(device, args, threads) ? divided_up(s.outer, divided_up(threads, device->lanes)) : s.outer * s.parts;
    plan_blocks(device, args, s, blocks, launch);
}

/* ------------------------------------------------------------------------------------------------------ runs ---- */

dim3 block_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
}

/* The stream's counters, which kernels leave as they found them: 0. */
fl_status counters_of(const fl_context *context, unsigned **counters)
{
    hip_stream *stream = hip_stream_of(context);
    const fl_status status = hip_make_counters(hip_device_of(context), stream);
    *counters = static_cast<unsigned *>(stream->arrived.get());
    return status;
}

/* Room for the states of parts, where there are several. */
fl_status partials_of(const fl_context *context, const reduce_shape &s, void **partials)
{
    *partials = nullptr;
    return s.parts == 1 ? FL_OK
                        : context->host->scratch(
                              context, (size_t)(s.outer * s.parts * s.inner) * (size_t)reduce_largest_state, partials);
}

fl_status run_naive(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    return with_operation(args, [&](auto operation) {
        using Operation = decltype(operation);
        return hip_queue(context, one_by_one_kernel<Operation>, dim3((unsigned)launch->grid[0]), block_of(launch), 0,
                         operation, args->x.shape[0], args->x.shape[1], args->x.shape[2],
                         static_cast<typename Operation::result *>(args->out.data));
    });
}

/* In one launch, or, without counters, in two. */
fl_status run_tree(const fl_context *context, const fl_reduce_args *args, const fl_launch *launch, bool counts)
{
    const dim3 grid((unsigned)launch->grid[0]), block = block_of(launch);
    const size_t shared = (size_t)launch->shared_bytes;
    const reduce_shape s = shape_of(hip_device_of(context), args, threads_of(launch));
    unsigned *arrived = nullptr;
    void *partials;
    fl_status status = partials_of(context, s, &partials);
    if (status == FL_OK && counts && s.parts > 1)
        status = counters_of(context, &arrived);
    if (status != FL_OK)
        return status;
    return with_operation(args, [&](auto operation) {
        using Operation = decltype(operation);
        auto *partial = static_cast<typename Operation::state *>(partials);
        auto *out = static_cast<typename Operation::result *>(args->out.data);
        static_assert(sizeof(typename Operation::state) <= reduce_largest_state, "there is room for it");
        const fl_status queued =
            hip_queue(context, tree_kernel<Operation>, grid, block, shared, operation, s, partial, arrived, out);
        if (queued != FL_OK || s.parts == 1 || counts)
            return queued;
        const int64_t blocks = hip_grid(hip_device_of(context), 0, s.outer * s.chunks, launch->block[0]);
        return hip_queue(context, finish_kernel<Operation>, dim3((unsigned)blocks), block, shared, operation, s,
                         static_cast<const typename Operation::state *>(partial), out);
    });
}

fl_status run_shared(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return run_tree(context, static_cast<const fl_reduce_args *>(arguments), launch, false);
}

fl_status run_atomic(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return run_tree(context, static_cast<const fl_reduce_args *>(arguments), launch, true);
}

fl_status run_warp(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    const hip_device *device = hip_device_of(context);
    const int threads = threads_of(launch);
    if (args->x.shape[2] > 1)
        return run_tree(context, args, launch, true);
    const reduce_shape s = shape_of_lines(device, args, threads);
    unsigned *arrived = nullptr;
    void *partials;
    fl_status status = partials_of(context, s, &partials);
    if (status == FL_OK && !by_warps(device, args, threads))
        status = counters_of(context, &arrived);
    if (status != FL_OK)
        return status;
    return with_operation(args, [&](auto operation) {
        using Operation = decltype(operation);
        const dim3 grid((unsigned)launch->grid[0]), block = block_of(launch);
        auto *out = static_cast<typename Operation::result *>(args->out.data);
        if (!arrived)
            return hip_queue(context, line_a_warp_kernel<Operation>, grid, block, 0, operation, s, out);
        return hip_queue(context, lines_kernel<Operation>, grid, block, (size_t)launch->shared_bytes, operation, s,
                         static_cast<typename Operation::state *>(partials), arrived, out);
    });
}

/* --------------------------------------------------------------------------------------------------- library ---- */

#if GPU_HAS_REDUCE
/* The library chooses block and grid, which are unknown. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    std::fill_n(launch->block, 3, 0);
    std::fill_n(launch->grid, 3, 0);
    launch->shared_bytes = 0;
    set_counts(static_cast<const fl_reduce_args *>(arguments), 0, launch);
}

/* NaN stays. */
template <typename T>
struct extreme_of_two {
    bool most;
    __device__ T operator()(const T &a, const T &b) const
    {
        return beats(b, a, most) ? b : a;
    }
};

template <typename Sum>
struct sum_of_two {
    __device__ Sum operator()(const Sum &a, const Sum &b) const
    {
        return a + b;
    }
};

template <typename T>
T least_of_all()
{
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
}

template <typename T>
T most_of_all()
{
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

template <typename T, typename Result, typename Combine>
fl_status reduce_by_library(const fl_context *context, const fl_reduce_args *args, Combine combine, Result start)
{
    const hip_device *device = hip_device_of(context);
    const hipStream_t queue = hip_stream_of(context)->queue;
    const T *x = static_cast<const T *>(args->x.data);
    Result *out = static_cast<Result *>(args->out.data);
    const int64_t rows = args->x.shape[0], length = args->x.shape[1];
    size_t bytes = 0;
    void *memory;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, gpu_reduce(nullptr, &bytes, x, out, rows, length, combine, start, queue));
    const fl_status status = context->host->scratch(context, bytes > 0 ? bytes : 1, &memory);
    if (status != FL_OK)
        return status;
    HIP_TRY(device->host, device->number, gpu_reduce(memory, &bytes, x, out, rows, length, combine, start, queue));
    return FL_OK;
}

template <typename T, typename Sum>
fl_status sum_by_library(const fl_context *context, const fl_reduce_args *args)
{
    return reduce_by_library<T>(context, args, sum_of_two<Sum>(), Sum(0));
}

template <typename T>
fl_status extreme_by_library(const fl_context *context, const fl_reduce_args *args)
{
    const bool most = args->reduction == FL_MAXIMUM;
    return reduce_by_library<T>(context, args, extreme_of_two<T>{most}, most ? least_of_all<T>() : most_of_all<T>());
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_reduce_args *args = static_cast<const fl_reduce_args *>(arguments);
    const fl_host *host = hip_device_of(context)->host;
    if (args->x.shape[2] > 1)
        return host->error(FL_E_UNSUPPORTED, "reduce: library takes all elements or the last axis; use auto");
    if (args->x.shape[0] > INT32_MAX)
        return host->error(FL_E_UNSUPPORTED, "reduce: library takes less than 2^31 rows; use auto");
    if (args->y.data || args->reduction > FL_MAXIMUM ||
        (args->reduction == FL_SUM && args->out.dtype == FL_F64 && args->x.dtype != FL_F64))
        return host->error(FL_E_UNSUPPORTED,
                           "reduce: library takes sum, minimum and maximum, and no other dtype of the "
                           "result than the usual; use auto");
    const bool sums = args->reduction == FL_SUM;
    switch (args->x.dtype) {
    case FL_U8:
        return sums ? sum_by_library<uint8_t, uint64_t>(context, args) : extreme_by_library<uint8_t>(context, args);
    case FL_I32:
        return sums ? sum_by_library<int32_t, uint64_t>(context, args) : extreme_by_library<int32_t>(context, args);
    case FL_I64:
        return sums ? sum_by_library<int64_t, uint64_t>(context, args) : extreme_by_library<int64_t>(context, args);
    case FL_F32: return sums ? sum_by_library<float, float>(context, args) : extreme_by_library<float>(context, args);
    default: return sums ? sum_by_library<double, double>(context, args) : extreme_by_library<double>(context, args);
    }
}
#endif

constexpr uint32_t dtypes = 1u << FL_U8 | 1u << FL_I32 | 1u << FL_I64 | 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_REDUCE, "warp", dtypes,
     "16 bytes a load, sums within a warp by shuffles; the last block puts the blocks' results together", plan_warp,
     run_warp, nullptr, false, nullptr, nullptr},
    {FL_OP_REDUCE, "atomic", dtypes,
     "a tree in shared memory; the block that a counter finds to be the last puts the blocks' results together",
     plan_tree, run_atomic, nullptr, false, nullptr, nullptr},
    {FL_OP_REDUCE, "shared", dtypes, "a tree in shared memory; a second launch puts the blocks' results together",
     plan_tree, run_shared, nullptr, false, nullptr, nullptr},
#if GPU_HAS_REDUCE
    {FL_OP_REDUCE, "library", dtypes, "by CUB or rocPRIM; all elements or the last axis", plan_library, run_library,
     nullptr, true, nullptr, nullptr},
#endif
    {FL_OP_REDUCE, "naive", dtypes, "one thread for each result, element after element", plan_naive, run_naive, nullptr,
     false, nullptr, nullptr},
};

} // namespace

fl_status hip_make_counters(const hip_device *device, hip_stream *stream)
{
    static const unsigned zeros[most_counters] = {};
    if (stream->arrived)
        return FL_OK;
    void *memory;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, hipMalloc(&memory, sizeof zeros));
    stream->arrived.reset(memory);
    const hipError_t error = hipMemcpyAsync(memory, zeros, sizeof zeros, hipMemcpyHostToDevice, stream->queue);
    if (error != hipSuccess)
        stream->arrived.reset();
    HIP_TRY(device->host, device->number, error);
    return FL_OK;
}

hip_rows hip_reduce_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
