/* SPDX-License-Identifier: MIT
 *
 * convert.hip.cpp - FL_OP_CONVERT on a GPU: any dtype to f32 or f64, integers to i64, with strides in up to four
 * dimensions.
 */
#include "device.hpp"

#include <algorithm>

namespace
{

/* Where the elements are. Dimensions that follow each other in both arrays without a gap are one. */
struct strided_pair {
    int dimensions;
    int64_t elements;
    int64_t shape[FL_MAX_DIMS], in_stride[FL_MAX_DIMS], out_stride[FL_MAX_DIMS]; /* innermost first */
    int64_t in_outermost, out_outermost;                                         /* strides */
};

strided_pair pair_of(const fl_convert_args *args)
{
    const fl_buffer &in = args->in, &out = args->out;
    strided_pair p = {1, 1, {1}, {1}, {1}, 1, 1};
    for (int d = out.ndim - 1; d >= 0; d--) {
        int64_t &length = p.shape[p.dimensions - 1];
        const int64_t in_end = length * p.in_stride[p.dimensions - 1];
        const int64_t out_end = length * p.out_stride[p.dimensions - 1];
        p.elements *= out.shape[d];
        if (out.shape[d] == 1)
            continue;
        if (in.stride[d] == in_end && out.stride[d] == out_end) {
            length *= out.shape[d];
            continue;
        }
        p.shape[p.dimensions] = out.shape[d];
        p.in_stride[p.dimensions] = in.stride[d];
        p.out_stride[p.dimensions++] = out.stride[d];
    }
    p.in_outermost = p.in_stride[p.dimensions - 1];
    p.out_outermost = p.out_stride[p.dimensions - 1];
    return p;
}

/* One thread an element, and again a whole grid further on: a grid-stride loop. Dimensions are gone through by numbers
 * that the compiler knows: an index that it does not know would make each thread keep a copy of the strides in its
 * local memory, which took three quarters of the time on an H200. */
template <typename From, typename To>
__global__ __launch_bounds__(1024) void convert_kernel(const From *in, To *out, strided_pair p)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < p.elements; e += threads) {
        int64_t rest = e, from = 0, to = 0;
        GPU_UNROLL
        for (int d = 0; d < FL_MAX_DIMS - 1; d++) {
            if (d >= p.dimensions - 1)
                continue;
            const int64_t outer = rest / p.shape[d], at = rest - outer * p.shape[d];
            from += at * p.in_stride[d];
            to += at * p.out_stride[d];
            rest = outer;
        }
        out[to + rest * p.out_outermost] = (To)in[from + rest * p.in_outermost];
    }
}

size_t size_of(fl_dtype dtype)
{
    static const size_t sizes[FL_DTYPE_COUNT] = {1, 4, 8, 4, 8};
    return sizes[dtype];
}

void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_convert_args *args = static_cast<const fl_convert_args *>(arguments);
    const int64_t elements = pair_of(args).elements;
    if (launch->block[0] <= 0)
        launch->block[0] = 256;
    for (int d = 0; d < 3; d++) {
        launch->block[d] = std::max(launch->block[d], 1);
        launch->grid[d] = 1;
    }
    const int64_t threads = launch->block[0];
    launch->grid[0] = hip_grid(device, 0, (elements + threads - 1) / threads, threads);
    launch->shared_bytes = 0;
    launch->flops = 0;
    launch->bytes_requested = (double)elements * (double)(size_of(args->in.dtype) + size_of(args->out.dtype));
}

template <typename From, typename To>
fl_status convert(const fl_context *context, const fl_convert_args *args, const fl_launch *launch)
{
    return hip_queue(context, convert_kernel<From, To>, dim3((unsigned)launch->grid[0]),
                     dim3((unsigned)launch->block[0]), 0, static_cast<const From *>(args->in.data),
                     static_cast<To *>(args->out.data), pair_of(args));
}

fl_status convert_to_i64(const fl_context *context, const fl_convert_args *args, const fl_launch *launch)
{
    switch (args->in.dtype) {
    case FL_U8: return convert<uint8_t, int64_t>(context, args, launch);
    case FL_I32: return convert<int32_t, int64_t>(context, args, launch);
    default: /* core asks for nothing but integers */ return convert<int64_t, int64_t>(context, args, launch);
    }
}

template <typename To>
fl_status convert_to(const fl_context *context, const fl_convert_args *args, const fl_launch *launch)
{
    switch (args->in.dtype) {
    case FL_U8: return convert<uint8_t, To>(context, args, launch);
    case FL_I32: return convert<int32_t, To>(context, args, launch);
    case FL_I64: return convert<int64_t, To>(context, args, launch);
    case FL_F32: return convert<float, To>(context, args, launch);
    default: return convert<double, To>(context, args, launch);
    }
}

fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_convert_args *args = static_cast<const fl_convert_args *>(arguments);
    switch (args->out.dtype) {
    case FL_F32: return convert_to<float>(context, args, launch);
    case FL_I64: return convert_to_i64(context, args, launch);
    default: return convert_to<double>(context, args, launch);
    }
}

const fl_row rows[] = {
    {FL_OP_CONVERT, "naive", 1u << FL_F32 | 1u << FL_F64 | 1u << FL_I64, "one thread per element", plan, run, nullptr,
     false, nullptr, nullptr},
};

} // namespace

hip_rows hip_convert_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
