/* SPDX-License-Identifier: MIT
 *
 * convolve1d_kernels.h - convolution of vectors on a GPU, for float and double. convolve1d.hip.cpp chooses among these
 * kernels.
 *
 * What does not exist is left out of a sum, not taken for zero. `tiled` takes it for zero all the same, which changes
 * nothing as long as all numbers are finite. Where they are not, 0 * infinity is NaN: every output that is not finite
 * is summed again as `naive` does it.
 *
 * A block may have any shape: its threads are counted as one row.
 */
#ifndef FLYNN_HIP_CONVOLVE1D_KERNELS_H
#define FLYNN_HIP_CONVOLVE1D_KERNELS_H

#include "device.hpp"
#include "gpu/gpu_tiles.h"
#include "sliding.h"

/* A convolution as fl_convolve1d_args has it: out[i] = sum of signal[i + origin - p] * kernel[p]. */
template <typename T>
struct line_convolution {
    const T *signal, *kernel;
    T *out;
    int64_t size, taps, outputs, origin;
};

__device__ inline int block_threads()
{
    return (int)(blockDim.x * blockDim.y * blockDim.z);
}

__device__ inline int block_thread()
{
    return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

/* ----------------------------------------------------------------------------------------------------- naive ---- */

/* One output by its definition. */
template <typename T>
__device__ inline T direct_sum(const line_convolution<T> &c, int64_t i)
{
    const int64_t last = i + c.origin, past = last - c.size + 1;
    const int64_t first = past > 0 ? past : 0, end = least(last + 1, c.taps);
    T sum = 0;
    GPU_NO_UNROLL
    for (int64_t p = first; p < end; p++)
        sum += c.signal[last - p] * c.kernel[p];
    return sum;
}

/* One thread an output, and again a whole grid further on. */
template <typename T>
__global__ __launch_bounds__(1024) void naive_line_kernel(line_convolution<T> c)
{
    const int64_t next = (int64_t)gridDim.x * block_threads();
    for (int64_t i = (int64_t)blockIdx.x * block_threads() + block_thread(); i < c.outputs; i += next)
        c.out[i] = direct_sum(c, i);
}

/* ----------------------------------------------------------------------------------------------------- tiled ---- */

/* 16 bytes, which are loaded and stored at once. */
template <typename T>
struct alignas(16) pack {
    static constexpr int size = 16 / sizeof(T);
    T value[size];
};

/* The number of elements by which the address of line[i] is past the last multiple of 16 bytes. */
template <typename T>
__host__ __device__ inline int past_alignment(const T *line, int64_t i)
{
    return (int)((int64_t)((uintptr_t)line / sizeof(T) + (uint64_t)i) & (pack<T>::size - 1));
}

/* line[start .. start + count] -> tile, up to a whole pack; zeros beyond the ends of the line. The address of
 * line[start] is a multiple of 16 bytes. A thread has several loads on their way at once. */
template <typename T>
__device__ inline void load_line(const T *line, int64_t size, int64_t start, int count, T *tile)
{
    constexpr int at_once = 4, V = pack<T>::size;
    const int threads = block_threads(), packs = (count + V - 1) / V;
    if (start < 0 || start + packs * V > size) {
        GPU_NO_UNROLL
        for (int x = block_thread(); x < packs * V; x += threads)
            tile[x] = start + x >= 0 && start + x < size ? line[start + x] : T(0);
        return;
    }
    const pack<T> *from = reinterpret_cast<const pack<T> *>(line + start);
    pack<T> *to = reinterpret_cast<pack<T> *>(tile);
    GPU_NO_UNROLL
    for (int x = block_thread(); x < packs; x += at_once * threads) {
        pack<T> loaded[at_once];
        GPU_UNROLL
        for (int k = 0; k < at_once; k++)
            if (x + k * threads < packs)
                gpu_copy(from[x + k * threads], loaded[k]);
        GPU_UNROLL
        for (int k = 0; k < at_once; k++)
            if (x + k * threads < packs)
                gpu_copy(loaded[k], to[x + k * threads]);
    }
}

/* tile -> out[i0 .. i0 + width], what of it there is; packs at once where `aligned`: tile[0] belongs to an address that
 * is a multiple of 16 bytes, and width is whole packs. What is not finite is summed again. */
template <typename T>
__device__ inline void store_line(const line_convolution<T> &c, int64_t i0, int width, bool aligned, const T *tile)
{
    constexpr int V = pack<T>::size;
    GPU_NO_UNROLL
    for (int x = V * block_thread(); x < width; x += V * block_threads()) {
        const int64_t i = i0 + x;
        const int first = i < 0 ? (int)-i : 0, end = (int)least<int64_t>(least(V, width - x), c.outputs - i);
        const pack<T> sums = *reinterpret_cast<const pack<T> *>(tile + x);
        T zero = 0; /* NaN as soon as one sum is not finite */
        GPU_UNROLL
        for (int k = 0; k < V; k++)
            zero += 0 * sums.value[k];
        if (aligned && first == 0 && end == V && zero == 0) {
            *reinterpret_cast<pack<T> *>(c.out + i) = sums;
            continue;
        }
        GPU_NO_UNROLL
        for (int k = first; k < end; k++)
            c.out[i + k] = is_finite(tile[x + k]) ? tile[x + k] : direct_sum(c, i + k);
    }
}

/* Elements of shared memory for pieces of so many taps: those, filled up; then the signal under the tile, from an
 * aligned address on. */
template <typename T>
__host__ __device__ constexpr int piece_room(int taps)
{
    return round_up(taps, line_taps);
}

template <typename T>
__host__ __device__ constexpr int tile_room(int threads, int outputs, int taps)
{
    return round_up(threads * outputs + piece_room<T>(taps) - 1 + pack<T>::size - 1, pack<T>::size);
}

/* A tile of a block's threads times R outputs, side by side, from number i0 on: signal and kernel in `shared`, the
 * kernel turned and in pieces of at most `most` taps, the sums in registers. store_line says what `aligned` is. */
template <int R, typename T>
__device__ inline void tiled_line_tile(const line_convolution<T> &c, int64_t i0, int most, bool aligned, T *shared)
{
    T *taps = shared, *tile = taps + piece_room<T>(most), sums[R] = {};
    const int thread = block_thread(), threads = block_threads(), width = threads * R;
    for (int64_t s = 0; s < c.taps; s += most) {
        const int count = (int)least<int64_t>(most, c.taps - s), padded = round_up(count, line_taps);
        const int64_t start = i0 + c.origin - (c.taps - 1) + s; /* of the signal */
        const int before = past_alignment(c.signal, start);
        if (start + width + padded <= 0 || start >= c.size)
            continue;
        GPU_NO_UNROLL
        for (int x = thread; x < padded; x += threads)
            taps[x] = x < count ? c.kernel[c.taps - 1 - s - x] : T(0);
        load_line(c.signal, c.size, start - before, before + width + padded - 1, tile);
        __syncthreads();
        slide<R, line_taps>(line_reader<T>{tile + before + thread * R}, taps, padded, sums);
        __syncthreads(); /* the next piece, or the sums, overwrite what others may still read */
    }
    GPU_UNROLL
    for (int r = 0; r < R; r++)
        tile[thread * R + r] = sums[r];
    __syncthreads();
    store_line(c, i0, width, aligned, tile);
}

/* Takes so few registers that a multiprocessor has room for 1024 threads (measured: some then compute while others
 * load). The first tile starts `shift` outputs before the first one, where its address is a multiple of 16 bytes. */
template <int R, typename T>
__global__ GPU_LAUNCH_BOUNDS(R == 7 ? seven_each : 1024,
                             R == 7 ? 1024 / seven_each : 1) void tiled_line_kernel(line_convolution<T> c, int most,
                                                                                    int shift, bool aligned)
{
    GPU_DYNAMIC_SHARED(bytes);
    const int64_t i0 = (int64_t)blockIdx.x * block_threads() * R - shift;
    tiled_line_tile<R>(c, i0, most, aligned, reinterpret_cast<T *>(bytes));
}

#endif
