/* SPDX-License-Identifier: MIT
 *
 * sliding.h - sums of products of a short row of taps with a long row of values, in registers: what the convolutions in
 * one and two dimensions share.
 */
#ifndef FLYNN_HIP_SLIDING_H
#define FLYNN_HIP_SLIDING_H

#include "gpu/gpu_registers.h"

__host__ __device__ constexpr int round_up(int n, int multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

template <typename T>
__host__ __device__ inline T least(T a, T b)
{
    return b < a ? b : a;
}

template <typename T>
__device__ inline bool is_finite(T x)
{
    return x - x == 0;
}

/* sums[r] += sum over s < taps of tap[s] * x[r + s], where x[0], x[1], ... are what `next` returns one after the other.
 * `taps` is a multiple of Q. A window of registers slides along x, so that a value is read once for R sums. */
template <int R, int Q, typename T, typename Next>
__device__ inline void slide(Next next, const T *tap, int taps, T (&sums)[R])
{
    struct alignas(16) quad { /* 16 bytes of taps, read at once by the whole warp */
        T value[16 / sizeof(T)];
    };
    constexpr int per_quad = 16 / sizeof(T);
    T window[R - 1 + Q];
    GPU_UNROLL
    for (int r = 0; r < R - 1; r++)
        window[r] = next();
    for (int s = 0; s < taps; s += Q) {
        GPU_UNROLL
        for (int q = 0; q < Q; q++)
            window[R - 1 + q] = next();
        GPU_UNROLL
        for (int first = 0; first < Q; first += per_quad) {
            const quad four = *reinterpret_cast<const quad *>(tap + s + first);
            GPU_UNROLL
            for (int q = 0; q < per_quad; q++)
                GPU_UNROLL
            for (int r = 0; r < R; r++)
                sums[r] += four.value[q] * window[first + q + r];
        }
        GPU_UNROLL
        for (int r = 0; r < R - 1; r++)
            window[r] = window[Q + r];
    }
}

/* Returns neighbours in memory one after the other. */
template <typename T>
struct line_reader {
    const T *element;

    __device__ T operator()()
    {
        return *element++;
    }
};

#endif
