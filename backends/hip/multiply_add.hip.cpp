/* SPDX-License-Identifier: MIT
 *
 * multiply_add.hip.cpp - FL_OP_MULTIPLY_ADD on a GPU: measures the arithmetic throughput, for comparison.
 */
#include "device.hpp"

#include <algorithm>

namespace
{

/* R elements per thread, a grid's width apart, so that R multiply-adds are independent. */
template <int R, typename T>
__global__ void multiply_add_kernel(const T *in, T *out, T factor, T term, int64_t steps, int64_t size)
{
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; first < size; first += R * threads) {
        T x[R];
        GPU_UNROLL
        for (int r = 0; r < R; r++)
            x[r] = first + r * threads < size ? in[first + r * threads] : T(0);
        for (int64_t step = 0; step < steps; step++) {
            GPU_UNROLL
            for (int r = 0; r < R; r++)
                x[r] = x[r] * factor + term;
        }
        GPU_UNROLL
        for (int r = 0; r < R; r++)
            if (first + r * threads < size)
                out[first + r * threads] = x[r];
    }
}

constexpr int chains = 8; /* elements of a thread in `register` */

template <int R>
void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_multiply_add_args *args = static_cast<const fl_multiply_add_args *>(arguments);
    const int64_t size = args->in.shape[0];
    if (launch->block[0] <= 0)
        launch->block[0] = 256;
    for (int d = 0; d < 3; d++) {
        launch->block[d] = std::max(launch->block[d], 1);
        launch->grid[d] = 1;
    }
    const int64_t of_block = (int64_t)launch->block[0] * R;
    launch->grid[0] = hip_grid(device, 0, (size + of_block - 1) / of_block, launch->block[0]);
    launch->flops = 2 * (double)size * (double)args->steps;
    launch->bytes_requested = 2 * (double)size * (args->in.dtype == FL_F32 ? sizeof(float) : sizeof(double));
}

template <int R, typename T>
fl_status queue(const fl_context *context, const fl_multiply_add_args *args, const fl_launch *launch)
{
    return hip_queue(context, multiply_add_kernel<R, T>, dim3((unsigned)launch->grid[0]),
                     dim3((unsigned)launch->block[0]), 0, static_cast<const T *>(args->in.data),
                     static_cast<T *>(args->out.data), (T)args->factor, (T)args->term, args->steps, args->in.shape[0]);
}

template <int R>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_multiply_add_args *args = static_cast<const fl_multiply_add_args *>(arguments);
    return (args->in.dtype == FL_F32 ? queue<R, float> : queue<R, double>)(context, args, launch);
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64;

const fl_row rows[] = {
    {FL_OP_MULTIPLY_ADD, "register", dtypes, "eight elements per thread, in registers", plan<chains>, run<chains>,
     nullptr, false, nullptr, nullptr},
    {FL_OP_MULTIPLY_ADD, "naive", dtypes, "one element per thread", plan<1>, run<1>, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_multiply_add_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
