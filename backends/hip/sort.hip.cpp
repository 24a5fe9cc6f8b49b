/* SPDX-License-Identifier: MIT
 *
 * sort.hip.cpp - FL_OP_SORT on a GPU: the vendor's library, a radix sort and a bitonic one of our own. The kernels are
 * in sort_kernels.h.
 */
#include "device.hpp"
#include "gpu/gpu_sort.h"
#include "sort_kernels.h"

#include <algorithm>
#include <type_traits>

namespace
{

size_t size_of(const fl_sort_args *args)
{
    return args->in.dtype == FL_F32 || args->in.dtype == FL_I32 ? 4 : 8;
}

/* The bits of -infinity, less the sign's: all ones but for the mantissa's. */
template <typename U>
constexpr U mantissa = ((U)1 << (sizeof(U) == 4 ? 23 : 52)) - 1;

template <typename U>
order<U> order_of(const fl_sort_args *args)
{
    const bool floating = args->in.dtype == FL_F32 || args->in.dtype == FL_F64;
    return floating ? order<U>{(U)~top<U>, mantissa<U>} : order<U>{0, 0};
}

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

int threads_of(const fl_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

/* Blocks for this number of threads; a grid-stride loop does the rest. */
dim3 grid_for(const hip_device *device, int64_t threads, dim3 block)
{
    const int64_t each = (int64_t)block.x * block.y * block.z;
    return dim3((unsigned)hip_grid(device, 0, (threads + each - 1) / each, block.x));
}

/* Tiles of `size` elements. If they are more than a grid's blocks, these loop in `bitonic`; `radix`, which a loop made
 * slower by half on an H200, has several launches. */
int64_t tiles_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* ----------------------------------------------------------------------------------------------------- radix ---- */

template <typename U>
void plan_radix_of(const hip_device *device, const fl_sort_args *args, fl_launch *launch)
{
    if (!hip_block(device, 256, launch))
        return;
    const int64_t n = args->in.shape[0], tile = (int64_t)threads_of(launch) * items<U>;
    launch->grid[0] = hip_grid(device, 0, tiles_of(n, tile), launch->block[0]);
    launch->shared_bytes = (int64_t)scatter_shared<U>(threads_of(launch));
    /* A pass: elements read twice and written once; counts written, read twice and written, and read. */
    const double passes = 8.0 * sizeof(U) / digit_bits, counts = (double)digits * (double)tiles_of(n, tile);
    launch->bytes_requested = passes * (3 * (double)n * sizeof(U) + 5 * counts * sizeof(int64_t));
}

void plan_radix(void *self, const void *arguments, fl_launch *launch)
{
    const fl_sort_args *args = static_cast<const fl_sort_args *>(arguments);
    const hip_device *device = static_cast<hip_device *>(self);
    (size_of(args) == 4 ? plan_radix_of<uint32_t> : plan_radix_of<uint64_t>)(device, args, launch);
}

/* Queues the kernel for all tiles, a block each. */
template <typename U>
fl_status queue_tiles(const fl_context *context, void (*kernel)(radix_pass<U>), radix_pass<U> p,
                      const fl_launch *launch, size_t shared)
{
    fl_status status = FL_OK;
    for (; p.first < p.tiles && status == FL_OK; p.first += launch->grid[0]) {
        const dim3 grid((unsigned)std::min(p.tiles - p.first, launch->grid[0]));
        status = hip_queue(context, kernel, grid, dim3_of(launch->block), shared, p);
    }
    return status;
}

template <typename U>
fl_status queue_pass(const fl_context *context, const radix_pass<U> &p, const fl_launch *launch)
{
    const int64_t adders = std::min<int64_t>(threads_of(launch), p.tiles); /* no more than there is to add */
    fl_status status = queue_tiles(context, count_kernel<U>, p, launch, digits * sizeof(unsigned));
    if (status == FL_OK)
        status = hip_queue(context, add_up_kernel<U>, dim3(digits), dim3((unsigned)adders),
                           2 * (size_t)adders * sizeof(int64_t), p);
    if (status == FL_OK)
        status = queue_tiles(context, scatter_kernel<U>, p, launch, (size_t)launch->shared_bytes);
    return status;
}

/* An even number of passes, from the input to scratch memory to the output and back: the last ends in the output. */
template <typename U>
fl_status launch_radix(const fl_context *context, const fl_sort_args *args, const fl_launch *launch)
{
    static_assert(8 * sizeof(U) / digit_bits % 2 == 0, "the last pass would end in scratch memory");
    const int64_t n = args->in.shape[0], tiles = tiles_of(n, (int64_t)threads_of(launch) * items<U>);
    void *spare, *counts;
    fl_status status = context->host->scratch(context, (size_t)n * sizeof(U), &spare);
    if (status == FL_OK)
        status = context->host->scratch(context, (size_t)(tiles + 1) * digits * sizeof(int64_t), &counts);
    if (status != FL_OK)
        return status;
    int64_t *const totals = static_cast<int64_t *>(counts);
    radix_pass<U> p = {static_cast<const U *>(args->in.data),
                       static_cast<U *>(spare),
                       n,
                       tiles,
                       order_of<U>(args),
                       0,
                       0,
                       totals + digits,
                       totals};
    for (; p.shift < 8 * (int)sizeof(U) && status == FL_OK; p.shift += digit_bits) {
        status = queue_pass(context, p, launch);
        p.in = p.out;
        p.out = static_cast<U *>(p.out == spare ? args->out.data : spare);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- bitonic ---- */

template <typename U>
void plan_bitonic_of(const hip_device *device, const fl_sort_args *args, fl_launch *launch)
{
    if (!hip_block(device, 512, launch))
        return;
    const int64_t n = args->in.shape[0];
    launch->grid[0] = hip_grid(device, 0, tiles_of(n, bitonic_tile<U>), launch->block[0]);
    launch->shared_bytes = bitonic_tile<U> * sizeof(U);
    int merges = 0; /* of tiles; the k-th has k steps through global memory, and the rest in shared memory */
    for (int64_t sorted = bitonic_tile<U>; sorted < n; sorted *= 2)
        merges++;
    const double passes = 1 + merges * (merges + 1) / 2.0 + merges;
    launch->bytes_requested = 2 * passes * (double)n * sizeof(U);
}

void plan_bitonic(void *self, const void *arguments, fl_launch *launch)
{
    const fl_sort_args *args = static_cast<const fl_sort_args *>(arguments);
    const hip_device *device = static_cast<hip_device *>(self);
    (size_of(args) == 4 ? plan_bitonic_of<uint32_t> : plan_bitonic_of<uint64_t>)(device, args, launch);
}

/* Merges sorted runs of length / 2 elements. */
template <typename U>
fl_status queue_merge(const fl_context *context, U *data, int64_t n, const order<U> &o, int64_t length,
                      const fl_launch *launch)
{
    const dim3 block = dim3_of(launch->block);
    fl_status status = FL_OK;
    for (int64_t distance = length / 2; distance >= bitonic_tile<U> && status == FL_OK; distance /= 2) {
        const int64_t pairs = (n + 2 * distance - 1) / (2 * distance) * distance;
        status = hip_queue(context, far_step_kernel<U>, grid_for(hip_device_of(context), pairs, block), block, 0, data,
                           n, o, distance, pairs, distance == length / 2);
    }
    if (status == FL_OK)
        status = hip_queue(context, finish_tile_kernel<U>, dim3((unsigned)launch->grid[0]), block,
                           (size_t)launch->shared_bytes, data, n, o);
    return status;
}

template <typename U>
fl_status launch_bitonic(const fl_context *context, const fl_sort_args *args, const fl_launch *launch)
{
    const int64_t n = args->in.shape[0];
    const order<U> o = order_of<U>(args);
    U *const out = static_cast<U *>(args->out.data);
    fl_status status = hip_queue(context, sort_tile_kernel<U>, dim3((unsigned)launch->grid[0]), dim3_of(launch->block),
                                 (size_t)launch->shared_bytes, static_cast<const U *>(args->in.data), out, n, o);
    for (int64_t length = 2 * bitonic_tile<U>; length < 2 * n && status == FL_OK; length *= 2)
        status = queue_merge(context, out, n, o, length, launch);
    return status;
}

/* fl_row.run: one of the above, for the width of the dtype. */
template <fl_status (*in_32)(const fl_context *, const fl_sort_args *, const fl_launch *),
          fl_status (*in_64)(const fl_context *, const fl_sort_args *, const fl_launch *)>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_sort_args *args = static_cast<const fl_sort_args *>(arguments);
    return (size_of(args) == 4 ? in_32 : in_64)(context, args, launch);
}

/* --------------------------------------------------------------------------------------------------- library ---- */

#ifdef GPU_SORT_LIBRARY

/* The loads and stores of the library are not known: counted is each element, read once and written once. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    const fl_sort_args *args = static_cast<const fl_sort_args *>(arguments);
    std::fill_n(launch->block, 3, 0);
    launch->bytes_requested = 2 * (double)args->in.shape[0] * (double)size_of(args);
}

/* Calls f(temporary, bytes) without temporary memory, for its size, and with it. */
template <typename F>
fl_status with_temporary(const fl_context *context, F f)
{
    const hip_device *device = hip_device_of(context);
    size_t bytes = 0;
    void *temporary;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, f(nullptr, bytes));
    const fl_status status = context->host->scratch(context, bytes, &temporary);
    if (status != FL_OK)
        return status;
    HIP_TRY(device->host, device->number, f(temporary, bytes));
    return FL_OK;
}

template <typename T>
fl_status sort_in_place(const fl_context *context, T *data, int64_t n)
{
    const hip_device *device = hip_device_of(context);
    const hipStream_t queue = hip_stream_of(context)->queue;
    const size_t size = (size_t)n * sizeof(T);
    T *sorted = nullptr;
    void *beside;
    fl_status status = context->host->scratch(context, size, &beside);
    if (status == FL_OK)
        status = with_temporary(context, [&](void *temporary, size_t &bytes) {
            return gpu_sort_in_place(temporary, bytes, data, static_cast<T *>(beside), (uint64_t)n, &sorted, queue);
        });
    if (status == FL_OK && sorted != data)
        HIP_TRY(device->host, device->number, hipMemcpyAsync(data, sorted, size, hipMemcpyDeviceToDevice, queue));
    return status;
}

/* Enough blocks to keep a large GPU busy, but few, since most end at once without work. */
constexpr int reversing_blocks = 512, reversing_threads = 256;

template <typename U>
fl_status put_nan_last(const fl_context *context, U *data, int64_t n)
{
    const dim3 block(reversing_threads);
    const dim3 grid =
        grid_for(hip_device_of(context), std::min<int64_t>(n, reversing_blocks * reversing_threads), block);
    void *memory;
    fl_status status = context->host->scratch(context, sizeof(int), &memory);
    int *const found = static_cast<int *>(memory);
    if (status == FL_OK)
        status = hip_queue(context, reverse_rest_kernel<U>, grid, block, 0, data, n, (U)~mantissa<U>, found);
    if (status == FL_OK)
        status = hip_queue(context, reverse_all_kernel<U>, grid, block, 0, data, n, found);
    return status;
}

template <typename T>
fl_status launch_library(const fl_context *context, const fl_sort_args *args)
{
    using bits = typename std::conditional<sizeof(T) == 4, uint32_t, uint64_t>::type;
    const T *const in = static_cast<const T *>(args->in.data);
    T *const out = static_cast<T *>(args->out.data);
    const int64_t n = args->in.shape[0];
    const fl_status status =
        in == out ? sort_in_place(context, out, n) : with_temporary(context, [&](void *temporary, size_t &bytes) {
            return gpu_sort(temporary, bytes, in, out, (uint64_t)n, hip_stream_of(context)->queue);
        });
    if (status != FL_OK || std::is_integral<T>::value)
        return status;
    return put_nan_last(context, static_cast<bits *>(args->out.data), n);
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_sort_args *args = static_cast<const fl_sort_args *>(arguments);
    switch (args->in.dtype) {
    case FL_F32: return launch_library<float>(context, args);
    case FL_F64: return launch_library<double>(context, args);
    case FL_I32: return launch_library<int32_t>(context, args);
    default: return launch_library<int64_t>(context, args);
    }
}

#endif

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64 | 1u << FL_I32 | 1u << FL_I64;

const fl_row rows[] = {
#ifdef GPU_SORT_LIBRARY
    {FL_OP_SORT, "library", dtypes, GPU_SORT_LIBRARY "'s radix sort; negative NaN are then moved to the end",
     plan_library, run_library, nullptr, false, nullptr, nullptr},
#endif
    {FL_OP_SORT, "radix", dtypes, "8 bits per pass: counts tiles, orders them in shared memory and distributes them",
     plan_radix, run<launch_radix<uint32_t>, launch_radix<uint64_t>>, nullptr, false, nullptr, nullptr},
    {FL_OP_SORT, "bitonic", dtypes, "a sorting network: tiles in shared memory, longer distances in global memory",
     plan_bitonic, run<launch_bitonic<uint32_t>, launch_bitonic<uint64_t>>, nullptr, false, nullptr, nullptr},
};

} // namespace

bool hip_sort_found(char *why, size_t size)
{
#ifdef GPU_SORT_LACKS
    std::snprintf(why, size, "%s", GPU_SORT_LACKS);
    return false;
#else
    (void)why, (void)size;
    return true;
#endif
}

hip_rows hip_sort_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
