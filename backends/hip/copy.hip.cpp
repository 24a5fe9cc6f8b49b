/* SPDX-License-Identifier: MIT
 *
 * copy.hip.cpp - FL_OP_COPY on a GPU: measures the memory's bandwidth, for comparison.
 */
#include "device.hpp"

#include <algorithm>

namespace
{

/* 16 bytes, which a thread loads and stores at once. */
struct alignas(16) quad {
    uint32_t word[4];
};

/* All threads of the grid copy whole quads in a grid-stride loop, then the remaining bytes. */
template <typename Unit>
__global__ void copy_kernel(const Unit *in, Unit *out, int64_t units, const unsigned char *rest_in,
                            unsigned char *rest_out, int rest)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = thread; i < units; i += threads)
        out[i] = in[i];
    for (int64_t i = thread; i < rest; i += threads) /* a grid may have fewer threads than that */
        rest_out[i] = rest_in[i];
}

int64_t bytes_of(const fl_copy_args *args)
{
    static const int64_t sizes[FL_DTYPE_COUNT] = {1, 4, 8, 4, 8};
    return args->in.shape[0] * sizes[args->in.dtype];
}

bool are_quads(const fl_copy_args *args)
{
    return ((uintptr_t)args->in.data | (uintptr_t)args->out.data) % sizeof(quad) == 0;
}

void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_copy_args *args = static_cast<const fl_copy_args *>(arguments);
    const int64_t bytes = bytes_of(args), unit = are_quads(args) ? (int64_t)sizeof(quad) : 1;
    if (launch->block[0] <= 0)
        launch->block[0] = 256;
    for (int d = 0; d < 3; d++) {
        launch->block[d] = std::max(launch->block[d], 1);
        launch->grid[d] = 1;
    }
    const int64_t units = std::max<int64_t>(bytes / unit, (int64_t)sizeof(quad));
    launch->grid[0] = hip_grid(device, 0, (units + launch->block[0] - 1) / launch->block[0], launch->block[0]);
    launch->bytes_requested = 2 * (double)bytes;
}

void plan_library(void *, const void *arguments, fl_launch *launch)
{
    *launch = {};
    launch->bytes_requested = 2 * (double)bytes_of(static_cast<const fl_copy_args *>(arguments));
}

template <typename Unit>
fl_status copy(const fl_context *context, const fl_copy_args *args, const fl_launch *launch)
{
    const int64_t bytes = bytes_of(args), units = bytes / (int64_t)sizeof(Unit), whole = units * (int64_t)sizeof(Unit);
    const unsigned char *in = static_cast<const unsigned char *>(args->in.data);
    unsigned char *out = static_cast<unsigned char *>(args->out.data);
    return hip_queue(context, copy_kernel<Unit>, dim3((unsigned)launch->grid[0]), dim3((unsigned)launch->block[0]), 0,
                     reinterpret_cast<const Unit *>(in), reinterpret_cast<Unit *>(out), units, in + whole, out + whole,
                     (int)(bytes - whole));
}

fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_copy_args *args = static_cast<const fl_copy_args *>(arguments);
    return (are_quads(args) ? copy<quad> : copy<unsigned char>)(context, args, launch);
}

fl_status run_library(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_copy_args *args = static_cast<const fl_copy_args *>(arguments);
    const hip_device *device = hip_device_of(context);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            hipMemcpyAsync(args->out.data, args->in.data, (size_t)bytes_of(args), hipMemcpyDeviceToDevice,
                           hip_stream_of(context)->queue));
    return FL_OK;
}

constexpr uint32_t any = (1u << FL_DTYPE_COUNT) - 1;

const fl_row rows[] = {
    {FL_OP_COPY, "library", any, "the runtime's copy function", plan_library, run_library, nullptr, false, nullptr,
     nullptr},
    {FL_OP_COPY, "naive", any, "a kernel that copies 16 bytes per thread and step", plan, run, nullptr, false, nullptr,
     nullptr},
};

} // namespace

hip_rows hip_copy_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
