/* SPDX-License-Identifier: MIT
 *
 * allclose.hip.cpp - np.allclose on a GPU: how many elements differ, and which of them the most. A first kernel leaves
 * what each block found in scratch memory, a second one puts it together: in an order that is always the same.
 */
#include "device.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace
{

/* The worst element is the one furthest beyond its bound; of equals, the one of the lowest index. */
struct findings {
    int64_t differing, worst_index; /* -1: none */
    double worst_excess;
};

template <typename T>
struct rule {
    T relative, absolute;
    bool equal_nan;
};

/* Arrays of up to four dimensions, outermost first, as core gives them. */
template <typename T>
struct comparison {
    const T *a, *b;
    rule<T> close;
    int64_t elements;
    int dimensions; /* 0: both are packed */
    int64_t shape[FL_MAX_DIMS], a_stride[FL_MAX_DIMS], b_stride[FL_MAX_DIMS];
};

__device__ inline bool is_worse(const findings &f, const findings &than)
{
    if (f.worst_index < 0 || than.worst_index < 0)
        return f.worst_index >= 0;
    return f.worst_excess > than.worst_excess ||
           (f.worst_excess == than.worst_excess && f.worst_index < than.worst_index);
}

__device__ inline void add(findings &f, const findings &part)
{
    f.differing += part.differing;
    if (is_worse(part, f)) {
        f.worst_index = part.worst_index;
        f.worst_excess = part.worst_excess;
    }
}

/* numpy.isclose, rounded after each step as NumPy rounds. An infinity is close to itself alone, however wide the
 * bound. */
template <typename T>
__device__ inline void compare(const rule<T> &r, T a, T b, int64_t index, findings &f)
{
    const T largest = sizeof(T) == sizeof(float) ? (T)FLT_MAX : (T)DBL_MAX;
    const T size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
    const T bound = r.absolute + gpu_multiply(r.relative, size_b), difference = a < b ? b - a : a - b;
    const bool near = difference <= bound && size_a <= largest && size_b <= largest,
               both_nan = a != a && b != b && r.equal_nan;
    if (near || a == b || both_nan)
        return;
    const bool finite = difference <= largest && bound <= largest && bound > 0;
    add(f, {1, index, finite ? (double)difference / (double)bound : (double)INFINITY});
}

/* Returns the findings of all threads of the block, in its first thread. */
__device__ inline findings gather(const findings &mine)
{
    GPU_DYNAMIC_SHARED(memory);
    findings *all = reinterpret_cast<findings *>(memory);
    const unsigned thread = threadIdx.x;
    all[thread] = mine;
    __syncthreads();
    for (unsigned count = blockDim.x; count > 1;) {
        const unsigned half = (count + 1) / 2;
        if (thread + half < count)
            add(all[thread], all[thread + half]);
        __syncthreads();
        count = half;
    }
    return all[0];
}

template <typename T>
__global__ __launch_bounds__(1024) void compare_kernel(comparison<T> c, findings *blocks)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    findings mine = {0, -1, 0};
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < c.elements; e += step) {
        int64_t rest = e, in_a = c.dimensions == 0 ? e : 0, in_b = in_a;
        for (int d = c.dimensions - 1; d >= 0; d--) {
            const int64_t outer = rest / c.shape[d], at = rest - outer * c.shape[d];
            in_a += at * c.a_stride[d];
            in_b += at * c.b_stride[d];
            rest = outer;
        }
        compare(c.close, c.a[in_a], c.b[in_b], e, mine);
    }
    const findings all = gather(mine);
    if (threadIdx.x == 0)
        blocks[blockIdx.x] = all;
}

__global__ __launch_bounds__(1024) void gather_kernel(const findings *blocks, int64_t count, int64_t *found)
{
    findings mine = {0, -1, 0};
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        add(mine, blocks[i]);
    const findings all = gather(mine);
    if (threadIdx.x != 0)
        return;
    found[0] = all.differing;
    found[1] = all.worst_index;
    *reinterpret_cast<double *>(found + 2) = all.worst_excess;
}

/* ----------------------------------------------------------------------------------------------------- plans ---- */

int64_t elements_of(const fl_buffer &buffer)
{
    int64_t elements = 1;
    for (int d = 0; d < buffer.ndim; d++)
        elements *= buffer.shape[d];
    return elements;
}

bool is_packed(const fl_buffer &buffer)
{
    int64_t stride = 1;
    for (int d = buffer.ndim - 1; d >= 0; d--) {
        if (buffer.shape[d] > 1 && buffer.stride[d] != stride)
            return false;
        stride *= buffer.shape[d];
    }
    return true;
}

constexpr int64_t blocks_per_multiprocessor = 8;

void plan(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_allclose_args *args = static_cast<const fl_allclose_args *>(arguments);
    const int64_t elements = elements_of(args->a);
    constexpr int most = 1 << 20; /* more than any device allows, which core refuses */
    int64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= std::min(std::max(launch->block[d], 1), most);
    if (launch->block[0] <= 0 && launch->block[1] <= 0 && launch->block[2] <= 0)
        threads = 256;
    launch->block[0] = (int32_t)std::min<int64_t>(threads, most);
    launch->block[1] = launch->block[2] = 1;
    launch->grid[0] = std::min((elements + threads - 1) / threads, device->multiprocessors * blocks_per_multiprocessor);
    launch->grid[1] = launch->grid[2] = 1;
    launch->shared_bytes = launch->block[0] * (int64_t)sizeof(findings);
    launch->bytes_requested = 2 * (double)elements * (args->a.dtype == FL_F32 ? 4 : 8);
    launch->flops = 4 * (double)elements; /* a difference, a product, a sum, a comparison */
}

template <typename T>
comparison<T> comparison_of(const fl_allclose_args *args)
{
    comparison<T> c = {static_cast<const T *>(args->a.data),
                       static_cast<const T *>(args->b.data),
                       {(T)args->relative, (T)args->absolute, args->equal_nan != 0},
                       elements_of(args->a),
                       is_packed(args->a) && is_packed(args->b) ? 0 : args->a.ndim,
                       {},
                       {},
                       {}};
    std::copy_n(args->a.shape, FL_MAX_DIMS, c.shape);
    std::copy_n(args->a.stride, FL_MAX_DIMS, c.a_stride);
    std::copy_n(args->b.stride, FL_MAX_DIMS, c.b_stride);
    return c;
}

fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_allclose_args *args = static_cast<const fl_allclose_args *>(arguments);
    const dim3 grid((unsigned)launch->grid[0]), block((unsigned)launch->block[0]);
    const size_t shared = (size_t)launch->shared_bytes;
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)launch->grid[0] * sizeof(findings), &memory);
    if (status != FL_OK)
        return status;
    findings *blocks = static_cast<findings *>(memory);
    if (args->a.dtype == FL_F32)
        status = hip_queue(context, compare_kernel<float>, grid, block, shared, comparison_of<float>(args), blocks);
    else
        status = hip_queue(context, compare_kernel<double>, grid, block, shared, comparison_of<double>(args), blocks);
    if (status != FL_OK)
        return status;
    return hip_queue(context, gather_kernel, dim3(1), block, shared, blocks, launch->grid[0],
                     static_cast<int64_t *>(args->found.data));
}

const fl_row rows[] = {
    {FL_OP_ALLCLOSE, "naive", 1u << FL_F32 | 1u << FL_F64, "a few elements per thread, then a tree reduction per block",
     plan, run, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_allclose_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
