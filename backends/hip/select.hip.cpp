/* SPDX-License-Identifier: MIT
 *
 * select.hip.cpp - FL_OP_SELECT on a GPU: by a scan of our own (compact_kernels.h), or by CUB or rocPRIM.
 */
#include "compact_kernels.h"
#include "gpu/gpu_select.h"

namespace
{

/* Tests for zero by the bits of an element: `mask` excludes the sign of a float, since -0 is zero. */
template <typename Bits>
struct nonzero {
    using value = Bits;
    const Bits *in;
    Bits mask;

    __device__ bool get(int64_t i, Bits *element) const
    {
        *element = in[i];
        return (*element & mask) != 0;
    }
    __device__ bool operator()(const Bits &element) const
    {
        return (element & mask) != 0;
    }
};

template <typename Bits>
nonzero<Bits> nonzero_of(const fl_select_args *args)
{
    const bool sign = args->in.dtype == FL_F32 || args->in.dtype == FL_F64;
    const Bits all = static_cast<Bits>(~Bits(0));
    return {static_cast<const Bits *>(args->in.data), sign ? static_cast<Bits>(all >> 1) : all};
}

/* Calls f with an integer of the size of in's elements. */
template <typename F>
fl_status with_bits(const fl_select_args *args, F f)
{
    switch (args->in.dtype) {
    case FL_U8: return f(uint8_t());
    case FL_I32:
    case FL_F32: return f(uint32_t());
    default: return f(uint64_t());
    }
}

double in_bytes(const fl_select_args *args)
{
    const int size = args->in.dtype == FL_U8 ? 1 : args->in.dtype == FL_I32 || args->in.dtype == FL_F32 ? 4 : 8;
    return size * (double)args->in.shape[0];
}

/* ----------------------------------------------------------------------------------------------------- scan ---- */

void plan_scan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_select_args *args = static_cast<const fl_select_args *>(arguments);
    if (!hip_block(device, 128, launch))
        return;
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    const double blocks = (double)compact_grid(threads, args->in.shape[0]);
    launch->grid[0] = (int64_t)blocks;
    launch->shared_bytes = compact_shared(device, threads);
    launch->flops = 0;
    /* Reads each element twice; all later blocks read a block's count. */
    launch->bytes_requested = 2 * in_bytes(args) + sizeof(int64_t) * (2 + blocks + blocks * blocks / 2);
}

fl_status run_scan(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_select_args *args = static_cast<const fl_select_args *>(arguments);
    const dim3 block((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
    void *counts;
    const fl_status status = context->host->scratch(context, compact_most_blocks * sizeof(int64_t), &counts);
    if (status != FL_OK)
        return status;
    return with_bits(args, [&](auto bits) {
        using Bits = decltype(bits);
        return compact(context, block, nonzero_of<Bits>(args), args->in.shape[0], static_cast<int64_t *>(counts),
                       static_cast<const int64_t *>(nullptr), static_cast<Bits *>(args->out.data),
                       static_cast<int64_t *>(args->count.data));
    });
}

/* -------------------------------------------------------------------------------------------------- library ---- */

#if GPU_HAS_SELECT
/* The library chooses block and grid, which are unknown. */
void plan_library(void *, const void *arguments, fl_launch *launch)
{
    const fl_select_args *args = static_cast<const fl_select_args *>(arguments);
    for (int d = 0; d < 3; d++) {
        launch->block[d] = 0;
        launch->grid[d] = 0;
    }
    launch->shared_bytes = 0;
    launch->flops = 0;
    launch->bytes_requested = in_bytes(args) + sizeof(int64_t);
}

template <typename Bits>
fl_status select_by_library(const fl_context *context, const fl_select_args *args)
{
    const hip_device *device = hip_device_of(context);
    const nonzero<Bits> keeps = nonzero_of<Bits>(args);
    Bits *out = static_cast<Bits *>(args->out.data);
    int64_t *count = static_cast<int64_t *>(args->count.data);
    const hipStream_t queue = hip_stream_of(context)->queue;
    size_t bytes = 0;
    void *memory;
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_select(nullptr, &bytes, keeps.in, out, count, args->in.shape[0], keeps, queue));
    const fl_status status = context->host->scratch(context, bytes > 0 ? bytes : 1, &memory);
    if (status != FL_OK)
        return status;
    HIP_TRY(device->host, device->number,
            gpu_select(memory, &bytes, keeps.in, out, count, args->in.shape[0], keeps, queue));
    return FL_OK;
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_select_args *args = static_cast<const fl_select_args *>(arguments);
    return with_bits(args, [&](auto bits) { return select_by_library<decltype(bits)>(context, args); });
}
#endif

constexpr uint32_t dtypes = 1u << FL_U8 | 1u << FL_I32 | 1u << FL_I64 | 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
#if GPU_HAS_SELECT
    {FL_OP_SELECT, "library", dtypes, "by CUB or rocPRIM: one pass in which each block waits for the previous one",
     plan_library, run_library, nullptr, false, nullptr, nullptr},
#endif
    {FL_OP_SELECT, "scan", dtypes, "each block counts its elements, adds the counts of earlier blocks, then copies",
     plan_scan, run_scan, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_select_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
