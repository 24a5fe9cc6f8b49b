/* SPDX-License-Identifier: MIT
 *
 * elementwise_kernels.h - increment, sqrt, maximum and log_of_sum on a GPU: the functions, the positions of elements,
 * and the kernels that map threads to them. elementwise.hip.cpp chooses among these kernels.
 */
#ifndef FLYNN_HIP_ELEMENTWISE_KERNELS_H
#define FLYNN_HIP_ELEMENTWISE_KERNELS_H

#include "device.hpp"

#include <cmath>

/* ------------------------------------------------------------------------------------------------ operations ---- */

__device__ inline float next_number(float x)
{
    return x + 1;
}

__device__ inline double next_number(double x)
{
    return x + 1;
}

/* Unsigned numbers wrap around; what signed ones do at their end is undefined. */
__device__ inline int32_t next_number(int32_t x)
{
    return (int32_t)((uint32_t)x + 1);
}

__device__ inline int64_t next_number(int64_t x)
{
    return (int64_t)((uint64_t)x + 1);
}

/* Each takes the elements of its one or two inputs; with one input, y is not read. */
struct increment {
    static constexpr fl_operation operation = FL_OP_INCREMENT;
    static constexpr int inputs = 1, flops = 1;
    template <typename T>
    static __device__ T of(T x, T)
    {
        return next_number(x);
    }
};

struct square_root {
    static constexpr fl_operation operation = FL_OP_SQRT;
    static constexpr int inputs = 1, flops = 1;
    static __device__ float of(float x, float)
    {
        return sqrtf(x);
    }
    static __device__ double of(double x, double)
    {
        return sqrt(x);
    }
};

struct maximum {
    static constexpr fl_operation operation = FL_OP_MAXIMUM;
    static constexpr int inputs = 2, flops = 1;
    template <typename T>
    static __device__ T of(T x, T y)
    {
        return x > y || x != x ? x : y; /* NaN is the number that differs from itself */
    }
};

struct log_of_sum {
    static constexpr fl_operation operation = FL_OP_LOG_OF_SUM;
    static constexpr int inputs = 2, flops = 2;
    static __device__ float of(float x, float y)
    {
        return logf(x + y);
    }
    static __device__ double of(double x, double y)
    {
        return log(x + y);
    }
};

/* -------------------------------------------------------------------------------------- where elements lie ---- */

template <typename T>
struct arrays {
    const T *x, *y; /* the same for one input */
    T *out;         /* may be an input */
};

/* The same element in each array. */
struct places {
    int64_t x, y, out;
};

/* All arrays are packed: the index is the position. */
struct packed {
    int64_t elements;

    __device__ places operator()(int64_t e) const
    {
        return {e, e, e};
    }
};

/* Gaps between the rows of some dimensions: the position in each is found by division, which takes a GPU several times
 * as long in 64 bits as in 32. Innermost dimension first. */
template <typename Index>
struct strided {
    int64_t elements;
    int dimensions;
    Index shape[FL_MAX_DIMS], x[FL_MAX_DIMS], y[FL_MAX_DIMS], out[FL_MAX_DIMS];

    /* The element whose position in the dimensions from `first` on is the e-th. */
    __device__ places from(int first, int64_t e) const
    {
        Index rest = (Index)e, in_x = 0, in_y = 0, in_out = 0;
        for (int d = first; d < dimensions; d++) {
            const Index outer = d + 1 < dimensions ? rest / shape[d] : 0, at = rest - outer * shape[d];
            in_x += at * x[d];
            in_y += at * y[d];
            in_out += at * out[d];
            rest = outer;
        }
        return {(int64_t)in_x, (int64_t)in_y, (int64_t)in_out};
    }
    __device__ places operator()(int64_t e) const
    {
        return from(0, e);
    }
};

template <typename F, typename T>
__device__ inline void compute(const arrays<T> &a, const places &at)
{
    a.out[at.out] = F::of(a.x[at.x], F::inputs == 2 ? a.y[at.y] : T(0));
}

/* -------------------------------------------------------------------------------------------------- kernels ---- */

/* The thread's linear index in its block, and the block's size. */
__device__ inline unsigned thread_number()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ inline unsigned thread_count()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/* One thread an element from `first` on, neighbours for neighbours. The last block has threads without an element. (A
 * loop instead of several launches took a quarter longer on an H200.) */
template <typename F, typename T, typename Layout>
__global__ __launch_bounds__(1024) void naive_kernel(arrays<T> a, Layout layout, int64_t first)
{
    const int64_t e = first + (int64_t)blockIdx.x * thread_count() + thread_number();
    if (e < layout.elements)
        compute<F>(a, layout(e));
}

/* A few blocks for any number of elements: a thread goes on a whole grid further. */
template <typename F, typename T, typename Layout>
__global__ __launch_bounds__(1024) void stride_kernel(arrays<T> a, Layout layout)
{
    const int64_t step = (int64_t)gridDim.x * thread_count();
    for (int64_t e = (int64_t)blockIdx.x * thread_count() + thread_number(); e < layout.elements; e += step)
        compute<F>(a, layout(e));
}

/* A grid of two or three dimensions over the array: how long it is along the x, y and z of threads, and how far an
 * element is from the next one along each. Where x has a step of 1, the threads of a warp read neighbours, which come
 * in few transactions (coalesced); where it has the largest, each reads from a place of its own. */
struct mapping {
    int64_t length[3], step[3];
};

template <typename F, typename T, typename Layout>
__global__ __launch_bounds__(1024) void grid_kernel(arrays<T> a, Layout layout, mapping m)
{
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, next_x = (int64_t)gridDim.x * blockDim.x;
    const int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next_y = (int64_t)gridDim.y * blockDim.y;
    const int64_t z = (int64_t)blockIdx.z * blockDim.z + threadIdx.z, next_z = (int64_t)gridDim.z * blockDim.z;
    for (int64_t k = z; k < m.length[2]; k += next_z) /* more than once where the grid's limits are too low */
        for (int64_t j = y; j < m.length[1]; j += next_y)
            for (int64_t i = x; i < m.length[0]; i += next_x) {
                const int64_t e = i * m.step[0] + j * m.step[1] + k * m.step[2];
                if (e < layout.elements) /* the last row of a folded vector may be shorter */
                    compute<F>(a, layout(e));
            }
}

/* Sixteen bytes, which one instruction loads or stores where their address is a multiple of sixteen. */
template <typename T>
struct alignas(16) pack {
    static constexpr int size = 16 / sizeof(T);
    T value[size];
};

template <typename T>
__device__ inline pack<T> load_pack(const T *from)
{
    if (reinterpret_cast<uintptr_t>(from) % sizeof(pack<T>) == 0)
        return *reinterpret_cast<const pack<T> *>(from);
    pack<T> p;
    GPU_UNROLL
    for (int v = 0; v < pack<T>::size; v++)
        p.value[v] = from[v];
    return p;
}

/* The pack of a row that begins with its element `first`, an aligned one in `out`. At the row's ends it may hang over.
 */
template <typename F, typename T>
__device__ inline void compute_pack(const T *x, const T *y, T *out, int64_t first, int64_t width)
{
    constexpr int size = pack<T>::size;
    if (first < 0 || first + size > width) {
        for (int64_t i = first < 0 ? 0 : first; i < first + size && i < width; i++)
            out[i] = F::of(x[i], F::inputs == 2 ? y[i] : T(0));
        return;
    }
    const pack<T> in_x = load_pack(x + first), in_y = F::inputs == 2 ? load_pack(y + first) : in_x;
    pack<T> result;
    GPU_UNROLL
    for (int v = 0; v < size; v++)
        result.value[v] = F::of(in_x.value[v], in_y.value[v]);
    *reinterpret_cast<pack<T> *>(out + first) = result;
}

/* How far `out` is from the aligned address before it, in elements. */
template <typename T>
__host__ __device__ inline int lead_of(const T *out)
{
    return (int)(reinterpret_cast<uintptr_t>(out) % sizeof(pack<T>) / sizeof(T));
}

/* One thread a pack, and again a whole grid further on. */
template <typename F, typename T>
__global__ __launch_bounds__(1024) void vector_kernel(arrays<T> a, packed layout, int64_t packs)
{
    const int64_t step = (int64_t)gridDim.x * thread_count();
    for (int64_t p = (int64_t)blockIdx.x * thread_count() + thread_number(); p < packs; p += step)
        compute_pack<F>(a.x, a.y, a.out, p * pack<T>::size - lead_of(a.out), layout.elements);
}

/* The same row by row, with a number of packs per row, of which the last may be empty. */
template <typename F, typename T, typename Index>
__global__ __launch_bounds__(1024) void vector_rows_kernel(arrays<T> a, strided<Index> layout, Index packs_in_row,
                                                           int64_t packs)
{
    const int64_t step = (int64_t)gridDim.x * thread_count();
    for (int64_t p = (int64_t)blockIdx.x * thread_count() + thread_number(); p < packs; p += step) {
        const Index row = (Index)p / packs_in_row, in_row = (Index)p - row * packs_in_row;
        const places at = layout.from(1, row);
        T *out = a.out + at.out;
        compute_pack<F>(a.x + at.x, a.y + at.y, out, (int64_t)in_row * pack<T>::size - lead_of(out),
                        (int64_t)layout.shape[0]);
    }
}

#endif
