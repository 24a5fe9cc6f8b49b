/* SPDX-License-Identifier: MIT
 *
 * elementwise_kernels.h - increment, sqrt, maximum and log_of_sum on a GPU: the functions, and the kernels made of them
 * and the walks of walk_kernels.h. elementwise.hip.cpp chooses among these kernels.
 */
#ifndef FLYNN_HIP_ELEMENTWISE_KERNELS_H
#define FLYNN_HIP_ELEMENTWISE_KERNELS_H

#include "walk.hpp"

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

struct increment {
    static constexpr fl_operation operation = FL_OP_INCREMENT;
    static constexpr int inputs = 1, flops = 1;
    static constexpr bool broadcasts = false;
    template <typename T>
    static __device__ T of(T x)
    {
        return next_number(x);
    }
};

struct square_root {
    static constexpr fl_operation operation = FL_OP_SQRT;
    static constexpr int inputs = 1, flops = 1;
    static constexpr bool broadcasts = false;
    static __device__ float of(float x)
    {
        return sqrtf(x);
    }
    static __device__ double of(double x)
    {
        return sqrt(x);
    }
};

struct maximum {
    static constexpr fl_operation operation = FL_OP_MAXIMUM;
    static constexpr int inputs = 2, flops = 1;
    static constexpr bool broadcasts = false;
    template <typename T>
    static __device__ T of(T x, T y)
    {
        return x > y || x != x ? x : y; /* NaN is the number that differs from itself */
    }
};

struct log_of_sum {
    static constexpr fl_operation operation = FL_OP_LOG_OF_SUM;
    static constexpr int inputs = 2, flops = 2;
    static constexpr bool broadcasts = false;
    static __device__ float of(float x, float y)
    {
        return logf(x + y);
    }
    static __device__ double of(double x, double y)
    {
        return log(x + y);
    }
};

/* -------------------------------------------------------------------------------------------------- kernels ---- */

template <typename Arrays, typename Layout>
__global__ __launch_bounds__(1024) void naive_kernel(Arrays a, Layout layout, int64_t first)
{
    flynn_walk::naive(a, layout, first);
}

template <typename Arrays, typename Layout>
__global__ __launch_bounds__(1024) void stride_kernel(Arrays a, Layout layout)
{
    flynn_walk::grid_stride(a, layout);
}

template <typename Arrays, typename Layout>
__global__ __launch_bounds__(1024) void grid_kernel(Arrays a, Layout layout, flynn_walk::mapping m)
{
    flynn_walk::grid(a, layout, m);
}

template <typename Arrays, typename Layout>
__global__ __launch_bounds__(1024) void vector_kernel(Arrays a, Layout layout, int64_t packs)
{
    flynn_walk::vector(a, layout, packs);
}

template <typename Arrays, typename Layout, typename Index>
__global__ __launch_bounds__(1024) void vector_rows_kernel(Arrays a, Layout layout, Index packs_in_row, int64_t packs)
{
    flynn_walk::vector_rows(a, layout, packs_in_row, packs);
}

#endif
