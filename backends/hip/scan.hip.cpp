/* SPDX-License-Identifier: MIT
 *
 * scan.hip.cpp - FL_OP_SCAN on a GPU. The kernels are in scan_look_back_kernels.h and scan_kernels.h; the library is
 * CUB or rocPRIM.
 */
#include "gpu/gpu_scan.h"
#include "scan_look_back_kernels.h"

#include <algorithm>
#include <iterator>

namespace
{

double size_of(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

dim3 dim3_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
}

int threads_of(const fl_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

int64_t tiles_of(const fl_scan_args *args, int64_t each)
{
    return (args->in.shape[0] + each - 1) / each;
}

/* Calls f with what is put together. */
template <typename F>
fl_status with_operation(const fl_scan_args *args, F f)
{
    const bool sum = args->reduction == FL_SUM;
    switch (args->in.dtype) {
    case FL_U8: return sum ? f(scan_of<uint8_t, uint64_t, false>()) : f(scan_of<uint8_t, uint8_t, true>());
    case FL_I32: return sum ? f(scan_of<int32_t, uint64_t, false>()) : f(scan_of<int32_t, int32_t, true>());
    case FL_I64: return sum ? f(scan_of<uint64_t, uint64_t, false>()) : f(scan_of<int64_t, int64_t, true>());
    case FL_F32: return sum ? f(scan_of<float, float, false>()) : f(scan_of<float, float, true>());
    default: return sum ? f(scan_of<double, double, false>()) : f(scan_of<double, double, true>());
    }
}

/* The bytes of each element once, and the additions of one loop. */
void plan_once(const fl_scan_args *args, fl_launch *launch)
{
    const double n = (double)args->in.shape[0];
    launch->bytes_requested = n * (size_of(args->in.dtype) + size_of(args->out.dtype));
    launch->flops = args->reduction == FL_SUM && (args->out.dtype == FL_F32 || args->out.dtype == FL_F64) ? n : 0;
}

/* ------------------------------------------------------------------------------------------------ look-back ---- */

/* Calls f with a constant: whether a block has more threads than the usual one. */
template <typename F>
void with_large(int threads, F f)
{
    if (threads > scan_usual_threads)
        f(std::true_type());
    else
        f(std::false_type());
}

/* Returns the words of all tiles and fields, and the counter before them. */
int64_t published_words(int64_t tiles, int64_t words, int threads)
{
    return 1 + words * (tiles + tiles / scan_field(threads));
}

void plan_look_back(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    if (!hip_block(device, scan_usual_threads, launch))
        return;
    const int threads = threads_of(launch), warps = (threads + device->lanes - 1) / device->lanes;
    int64_t tiles = 0;
    int usual_blocks = 0;
    with_operation(args, [&](auto op) {
        using value = typename decltype(op)::value;
        usual_blocks = scan_usual_blocks<value>;
        with_large(threads, [&](auto large) {
            const int items = scan_items<value, decltype(large)::value>;
            tiles = tiles_of(args, (int64_t)threads * items);
            launch->shared_bytes =
                (int64_t)(scan_kept_offset<value>(warps) + (size_t)(threads * items) * sizeof(value));
        });
        return FL_OK;
    });
    /* As many blocks as run at a time: each takes tiles until there are none. */
    const int together = std::min(device->resident_threads, usual_blocks * scan_usual_threads) / threads;
    const int64_t resident = (int64_t)device->multiprocessors * std::max(together, 1);
    launch->grid[0] = hip_grid(device, 0, std::min(tiles, resident), launch->block[0]);
    plan_once(args, launch);
    if (tiles > 1) { /* a tile's number is cleared, written, and read by half of its field */
        const double words = size_of(args->out.dtype) == 8 ? 2 : 1;
        launch->bytes_requested += 8 * words * (double)tiles * (2 + scan_field(threads) / 2);
    }
}

template <typename Op, bool Large>
fl_status look_back(const fl_context *context, const fl_scan_args *args, const fl_launch *launch)
{
    using value = typename Op::value;
    using in_pack = scan_neighbours<typename Op::from, scan_pack<value>>;
    using out_pack = scan_neighbours<value, scan_pack<value>>;
    const int64_t tiles = tiles_of(args, (int64_t)threads_of(launch) * scan_items<value, Large>);
    const int64_t count = published_words(tiles, scan_words<value>, threads_of(launch));
    looking_back<Op> a = {};
    a.in = static_cast<const typename Op::from *>(args->in.data);
    a.out = static_cast<value *>(args->out.data);
    a.length = args->in.shape[0];
    a.tiles = tiles;
    a.exclusive = args->exclusive;
    a.in_packs = reinterpret_cast<uintptr_t>(a.in) % alignof(in_pack) == 0;
    a.out_packs = reinterpret_cast<uintptr_t>(a.out) % alignof(out_pack) == 0;
    if (tiles > 1) {
        void *memory;
        fl_status status = context->host->scratch(context, (size_t)count * sizeof(uint64_t), &memory);
        if (status != FL_OK)
            return status;
        uint64_t *const words = static_cast<uint64_t *>(memory);
        a.taken = reinterpret_cast<unsigned long long *>(words);
        a.tile = words + 1;
        a.next = a.tile + tiles * scan_words<value>;
        const int64_t clearing = std::min<int64_t>((count + 255) / 256, 1024);
        status = hip_queue(context, clear_kernel, dim3((unsigned)clearing), dim3(256), 0, words, count);
        if (status != FL_OK)
            return status;
    }
    constexpr int most = Large ? 1024 : scan_usual_threads;
    return hip_queue(context, look_back_kernel<Op, most>, dim3((unsigned)launch->grid[0]), dim3_of(launch),
                     (size_t)launch->shared_bytes, a);
}

fl_status run_look_back(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    return with_operation(args, [&](auto op) {
        fl_status status = FL_OK;
        with_large(threads_of(launch), [&](auto large) {
            status = look_back<decltype(op), decltype(large)::value>(context, args, launch);
        });
        return status;
    });
}

/* ---------------------------------------------------------------------------------------------------- block ---- */

void plan_block(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    if (!hip_block(device, 512, launch))
        return;
    const double n = (double)args->in.shape[0], bytes = size_of(args->out.dtype);
    const int size = scan_tree(threads_of(launch));
    const int64_t tiles = tiles_of(args, size);
    launch->grid[0] = hip_grid(device, 0, tiles, launch->block[0]);
    launch->shared_bytes = scan_padded(size) * (int64_t)bytes;
    plan_once(args, launch);
    if (tiles > 1) /* the results are read and written again, the sums written, scanned and read for each result */
        launch->bytes_requested += 3 * n * bytes + 3 * (double)tiles * bytes;
}

template <typename Op>
fl_status by_tree(const fl_context *context, const fl_scan_args *args, const fl_launch *launch)
{
    using value = typename Op::value;
    using of_values = typename Op::of_values;
    const hip_device *device = hip_device_of(context);
    const int64_t length = args->in.shape[0], tiles = tiles_of(args, scan_tree(threads_of(launch)));
    const dim3 grid((unsigned)launch->grid[0]), block = dim3_of(launch);
    /* However small the block: a chain of the sums' own trees, of which one is as large as can be. */
    const int threads = std::min(device->max_threads, 1024);
    const size_t shared = (size_t)scan_padded(scan_tree(threads)) * sizeof(value);
    value *const out = static_cast<value *>(args->out.data);
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)tiles * sizeof(value), &memory);
    if (status != FL_OK)
        return status;
    value *const sums = static_cast<value *>(memory);
    status = hip_queue(context, tree_kernel<Op>, grid, block, (size_t)launch->shared_bytes,
                       static_cast<const typename Op::from *>(args->in.data), out, length, args->exclusive, sums);
    if (status == FL_OK && tiles > 1)
        status = hip_queue(context, sums_kernel<of_values>, dim3(1), dim3((unsigned)threads), shared, sums, tiles);
    if (status == FL_OK && tiles > 1)
        status = hip_queue(context, add_kernel<of_values>, grid, block, 0, out, length, sums);
    return status;
}

fl_status run_block(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    return with_operation(args, [&](auto op) { return by_tree<decltype(op)>(context, args, launch); });
}

/* ---------------------------------------------------------------------------------------------------- naive ---- */

/* Passes of log2(length), rounded up, and at least one. They write to `out` and scratch memory in turn, the last one to
 * out. In place the first must not write to `out`, where it reads: if it would, there is one pass more, which copies.
 */
int passes_of(const fl_scan_args *args)
{
    int passes = 1;
    while (args->in.shape[0] > INT64_C(1) << passes)
        passes++;
    return args->in.data == args->out.data && passes % 2 == 1 ? passes + 1 : passes;
}

void plan_naive(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    if (!hip_block(device, 256, launch))
        return;
    const int64_t n = args->in.shape[0];
    launch->grid[0] = hip_grid(device, 0, tiles_of(args, threads_of(launch)), launch->block[0]);
    double read = size_of(args->in.dtype);
    for (int p = 0; p < passes_of(args); p++, read = size_of(args->out.dtype)) {
        const double added = (double)std::max<int64_t>(n - (INT64_C(1) << p), 0);
        launch->bytes_requested += ((double)n + added) * read + (double)n * size_of(args->out.dtype);
        launch->flops += args->reduction == FL_SUM && args->in.dtype == args->out.dtype ? added : 0;
    }
}

template <typename Op>
fl_status naive(const fl_context *context, const fl_scan_args *args, const fl_launch *launch)
{
    using value = typename Op::value;
    const int64_t length = args->in.shape[0];
    const int passes = passes_of(args);
    const dim3 grid((unsigned)launch->grid[0]), block = dim3_of(launch);
    void *memory = nullptr;
    fl_status status = FL_OK;
    if (passes > 1)
        status = context->host->scratch(context, (size_t)length * sizeof(value), &memory);
    if (status != FL_OK)
        return status;
    value *const buffers[2] = {static_cast<value *>(args->out.data), static_cast<value *>(memory)};
    const value *from = nullptr;
    for (int p = 0; p < passes && status == FL_OK; p++) {
        value *const to = buffers[(passes - 1 - p) % 2];
        const int shift = args->exclusive && p == passes - 1;
        if (p == 0)
            status = hip_queue(context, step_kernel<Op>, grid, block, 0,
                               static_cast<const typename Op::from *>(args->in.data), to, length, INT64_C(1), shift);
        else
            status = hip_queue(context, step_kernel<typename Op::of_values>, grid, block, 0, from, to, length,
                               INT64_C(1) << p, shift);
        from = to;
    }
    return status;
}

fl_status run_naive(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    return with_operation(args, [&](auto op) { return naive<decltype(op)>(context, args, launch); });
}

/* -------------------------------------------------------------------------------------------------- library ---- */

#if GPU_HAS_SCAN
/* The library chooses block and grid, which are unknown. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    for (int d = 0; d < 3; d++) {
        launch->block[d] = 0;
        launch->grid[d] = 0;
    }
    launch->shared_bytes = 0;
    plan_once(static_cast<const fl_scan_args *>(arguments), launch);
}

/* Integers of any dtype as u64: one instance of the library instead of three. */
struct integers {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = uint64_t;
    using difference_type = int64_t;
    using pointer = const uint64_t *;
    using reference = uint64_t;
    const void *data;
    fl_dtype dtype;
    int64_t at;

    __host__ __device__ uint64_t operator[](int64_t i) const
    {
        i += at;
        return dtype == FL_U8    ? (uint64_t) static_cast<const uint8_t *>(data)[i]
               : dtype == FL_I32 ? (uint64_t) static_cast<const int32_t *>(data)[i]
                                 : static_cast<const uint64_t *>(data)[i];
    }
    __host__ __device__ uint64_t operator*() const
    {
        return (*this)[0];
    }
    __host__ __device__ integers operator-(int64_t i) const
    {
        return integers{data, dtype, at - i};
    }
    __host__ __device__ integers operator+(int64_t i) const
    {
        return *this - -i; /* in terms of what rocPRIM uses and CUB does not, which nvcc would call unused */
    }
};

/* Floats and integers of one size by their bits. */
template <typename Bits, typename Integer, typename Float>
struct larger {
    bool floats;

    template <typename T>
    __host__ __device__ static Bits of(Bits a, Bits b)
    {
        T x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x = scan_of<T, T, true>::put(x, y);
        memcpy(&a, &x, sizeof a);
        return a;
    }
    __host__ __device__ Bits operator()(Bits a, Bits b) const
    {
        return floats ? of<Float>(a, b) : of<Integer>(a, b);
    }
    template <typename T>
    static Bits lowest_of()
    {
        const T value = scan_of<T, T, true>::lowest();
        Bits bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    Bits lowest() const
    {
        return floats ? lowest_of<Float>() : lowest_of<Integer>();
    }
};

struct added {
    __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const
    {
        return a + b;
    }
};

template <typename In, typename T, typename Put>
fl_status by_library(const fl_context *context, const fl_scan_args *args, In in, T lowest, Put put)
{
    const hip_device *device = hip_device_of(context);
    const hipStream_t queue = hip_stream_of(context)->queue;
    T *const out = static_cast<T *>(args->out.data);
    size_t bytes = 0;
    void *memory;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_scan(nullptr, &bytes, in, out, lowest, args->exclusive != 0, args->in.shape[0], put, queue));
    const fl_status status = context->host->scratch(context, bytes > 0 ? bytes : 1, &memory);
    if (status != FL_OK)
        return status;
    HIP_TRY(device->host, device->number,
            gpu_scan(memory, &bytes, in, out, lowest, args->exclusive != 0, args->in.shape[0], put, queue));
    return FL_OK;
}

template <typename Bits, typename Integer, typename Float>
fl_status maxima_by_library(const fl_context *context, const fl_scan_args *args)
{
    const larger<Bits, Integer, Float> put = {args->in.dtype == FL_F32 || args->in.dtype == FL_F64};
    return by_library(context, args, static_cast<const Bits *>(args->in.data), put.lowest(), put);
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    const fl_dtype dtype = args->in.dtype;
    if (args->reduction == FL_SUM && (dtype == FL_F32 || dtype == FL_F64))
        return context->host->error(FL_E_UNSUPPORTED,
                                    "scan: the library's sums of %s differ from call to call; choose "
                                    "the variant look-back, block or naive",
                                    dtype == FL_F32 ? "f32" : "f64");
    if (args->reduction == FL_SUM)
        return by_library(context, args, integers{args->in.data, dtype, 0}, UINT64_C(0), added());
    switch (dtype) {
    case FL_U8: return maxima_by_library<uint8_t, uint8_t, uint8_t>(context, args);
    case FL_I32:
    case FL_F32: return maxima_by_library<gpu_scan_word, int32_t, float>(context, args);
    default: return maxima_by_library<uint64_t, int64_t, double>(context, args);
    }
}

/* ----------------------------------------------------------------------------------------------------- auto ---- */

/* From so many elements on the library is the faster one on an H200 (docs/performance/scan.md). */
constexpr int64_t library_from = 1 << 15;

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    const fl_scan_args *args = static_cast<const fl_scan_args *>(arguments);
    const bool float_sums = args->reduction == FL_SUM && (args->in.dtype == FL_F32 || args->in.dtype == FL_F64);
    const bool block_asked = launch->block[0] > 0;
    (float_sums || block_asked || args->in.shape[0] < library_from ? plan_look_back : plan_library)(self, arguments,
                                                                                                    launch);
}

/* The library has no block of ours. */
fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return (launch->block[0] > 0 ? run_look_back : run_library)(context, arguments, launch);
}

const char *chosen(const fl_context *, const void *, fl_launch *launch)
{
    return launch->block[0] > 0 ? "look-back" : "library";
}
#endif

constexpr uint32_t dtypes = 1u << FL_U8 | 1u << FL_I32 | 1u << FL_I64 | 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
#if GPU_HAS_SCAN
    {FL_OP_SCAN, "auto", dtypes, "library for integers and maxima of many elements, else look-back", plan_auto,
     run_auto, chosen, false, nullptr, nullptr},
#endif
    {FL_OP_SCAN, "look-back", dtypes, "one pass: each tile waits for the sums of those before it", plan_look_back,
     run_look_back, nullptr, false, nullptr, nullptr},
#if GPU_HAS_SCAN
    {FL_OP_SCAN, "library", dtypes, "by CUB or rocPRIM, in one pass; not for sums of floats", plan_library, run_library,
     nullptr, true, nullptr, nullptr},
#endif
    {FL_OP_SCAN, "block", dtypes, "up and down a tree in shared memory, then the blocks' sums: three launches",
     plan_block, run_block, nullptr, false, nullptr, nullptr},
    {FL_OP_SCAN, "naive", dtypes, "log2 n passes over all elements, each adding one twice as far away", plan_naive,
     run_naive, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_scan_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
