/* SPDX-License-Identifier: MIT
 *
 * convolve_marked_kernels.h - the outputs of a convolution that its transforms leave, on a GPU. A kernel that stores
 * sums of a transform which are too inaccurate stores NaN in place of them, and says so in device memory. When all
 * outputs are stored, the kernels here give each NaN its sum: 0 where there are zeros alone under the convolution's
 * kernel, such as in the background of a picture, else the sums of `tiled`, for all outputs of a tile of it.
 */
#ifndef FLYNN_HIP_CONVOLVE_MARKED_KERNELS_H
#define FLYNN_HIP_CONVOLVE_MARKED_KERNELS_H

#include "convolve1d_kernels.h"
#include "convolve_kernels.h"

/* The kernels that store sums of transforms write this to device memory, for the kernels that follow. */
struct fft_marked {
    int any;    /* not 0: outputs are marked */
    int spoilt; /* not 0: the convolution's kernel is not finite, so that zeros under it do not give 0 */
    /* The members below are set only if sums are checked (fft_check_kernels.h). */
    int weak;                         /* not 0: the magnitude of a sum does not show that the sum is accurate */
    int bordering;                    /* not 0: such sums are at the image's border alone, with few terms inside */
    unsigned long long image, kernel; /* the largest norm of a tile, and the kernel's, as the bits of doubles */
    unsigned listed;                  /* sums with few terms that are listed to be computed directly */
};

/* The marks of a call, as a kernel gets them. */
struct fft_marks {
    fft_marked *found;
    const int *rank_one; /* the verdict of rank_kernel; not 0: the transforms did nothing. Or NULL */

    __device__ bool are_there() const
    {
        return !(rank_one && gpu_same(*rank_one)) && gpu_same(found->any);
    }
    __device__ bool are_spoilt() const
    {
        return gpu_same(found->spoilt);
    }
};

/* Which elements of a part of an image are not 0: a bit for each, row by row, in words of 32. */
struct nonzero_map {
    int rows, words; /* words: those of a row */

    __host__ __device__ nonzero_map(int64_t rows, int64_t columns) : rows((int)rows), words((int)((columns + 31) / 32))
    {
    }
    /* Shared memory for it, and for votes. */
    __host__ __device__ size_t bytes() const
    {
        return ((size_t)rows * words + 1) * sizeof(uint32_t);
    }
};

/* Returns to all threads of the block whether one of them votes yes. `vote`: one number in shared memory. */
__device__ inline bool any_of_block(bool yes, uint32_t *vote)
{
    __syncthreads();
    if (block_thread() == 0)
        *vote = 0;
    __syncthreads();
    if (yes)
        atomicMax(vote, 1u);
    __syncthreads();
    return *vote != 0;
}

/* Fills the map for the image's part that starts at that row and column, where it has zeros outside. A thread takes 8
 * neighbours at a time. */
template <typename T>
__device__ inline void fill_map(const matrix<const T> &image, int64_t row, int64_t column, const nonzero_map &map,
                                uint32_t *words)
{
    uint8_t *const to = reinterpret_cast<uint8_t *>(words);
    const unsigned across = (unsigned)map.words * 4, threads = (unsigned)block_threads();
    for (unsigned item = (unsigned)block_thread(); item < (unsigned)map.rows * across; item += threads) {
        const int64_t y = row + item / across, x = column + item % across * 8;
        const T *const from = image.data + y * image.stride + x;
        unsigned bits = 0;
        GPU_UNROLL
        for (int k = 0; k < 8; k++)
            if (y >= 0 && y < image.rows && x + k >= 0 && x + k < image.columns && from[k] != 0)
                bits |= 1u << k;
        to[item] = (uint8_t)bits;
    }
    __syncthreads();
}

/* Returns whether one of the bits `first` to `last` of a row is set. */
__device__ inline bool has_bit(const uint32_t *words, int first, int last)
{
    uint32_t found = 0;
    for (int w = first / 32; w <= last / 32 && !found; w++)
        found =
            words[w] & (w == first / 32 ? ~0u << first % 32 : ~0u) & (w == last / 32 ? ~0u >> (31 - last % 32) : ~0u);
    return found != 0;
}

/* Sets marked outputs of a tile of `tiled` at (i0, j0) to 0 where the image is zero under the kernel; returns whether
 * others are marked. */
template <int R, typename T>
__device__ inline bool clear_empty(const convolution<T> &c, int64_t i0, int64_t j0, bool looks, uint32_t *shared)
{
    const int64_t i = i0 + threadIdx.y * R, j = j0 + threadIdx.x;
    const int taps = (int)c.kernel.columns, rows = (int)c.kernel.rows;
    T *const out = c.out.data + i * c.out.stride + j;
    uint32_t marked = 0; /* bit r: the thread's output r is marked */
    for (int r = 0; r < R; r++)
        if (i + r < c.out.rows && j < c.out.columns && std::isnan(out[r * c.out.stride]))
            marked |= 1u << r;
    if (const bool any = any_of_block(marked != 0, shared); !any || !looks)
        return any;
    const nonzero_map map((int64_t)blockDim.y * R + rows - 1, (int64_t)blockDim.x + taps - 1);
    uint32_t *const words = shared + 1;
    fill_map(c.image, i0 + c.top, j0 + c.left, map, words);
    int last = -1; /* the last row with an element that is not 0 under the kernel */
    for (int y = 0; y < R + rows - 1 && marked != 0; y++) {
        if (has_bit(words + ((int)threadIdx.y * R + y) * map.words, (int)threadIdx.x, (int)threadIdx.x + taps - 1))
            last = y;
        const int r = y - (rows - 1);
        if (r >= 0 && (marked >> r & 1) && last < r) {
            out[r * c.out.stride] = 0;
            marked &= ~(1u << r);
        }
    }
    return any_of_block(marked != 0, shared);
}

/* Gives all marked outputs of an image their sums. `looks`: a map fits into the shared memory. */
template <int R, int Q, typename T>
__global__ GPU_LAUNCH_BOUNDS(shape_threads(R), shape_blocks<T>(R)) void sum_marked_kernel(convolution<T> c,
                                                                                          fft_marks marks,
                                                                                          chunk largest, bool looks)
{
    GPU_DYNAMIC_SHARED(bytes);
    if (!marks.are_there())
        return;
    const bool finite = !marks.are_spoilt();
    looks = looks && finite;
    const auto exact = [&]() -> const convolution<T> & { return gpu_first(c); };
    const int64_t j = (int64_t)blockIdx.x * blockDim.x, next = (int64_t)gridDim.y * blockDim.y * R;
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R; i < c.out.rows; i += next) {
        const bool others = clear_empty<R>(gpu_first(c), i, j, looks, reinterpret_cast<uint32_t *>(bytes));
        __syncthreads(); /* the tile overwrites what others may still read */
        if (others)
            tiled_tile<R, Q>(gpu_first(c), exact, largest, reinterpret_cast<T *>(bytes), i, j, finite);
    }
}

/* Marks all outputs, where there is no memory for transforms. A block takes some rows. */
template <typename T>
__global__ __launch_bounds__(256) void mark_all_kernel(matrix<T> out, fft_marks marks)
{
    if (marks.rank_one && gpu_same(*marks.rank_one))
        return;
    for (int64_t y = blockIdx.y; y < out.rows; y += gridDim.y)
        for (int64_t x = (int64_t)blockIdx.x * 256 + threadIdx.x; x < out.columns; x += (int64_t)gridDim.x * 256)
            out.data[y * out.stride + x] = (T)NAN;
    if (blockIdx.x + blockIdx.y + threadIdx.x == 0)
        *marks.found = {1, 1, 0, 1, 0, 0, 0}; /* nobody has looked whether the kernel is finite */
}

/* Sets marked outputs of a signal to 0 where it is zero under the kernel: of `width` outputs from number i0 on, which
 * may be below 0. Returns whether others are marked. */
template <typename T>
__device__ inline bool clear_empty(const line_convolution<T> &c, int64_t i0, int width, bool looks, uint32_t *shared)
{
    const int64_t end = least<int64_t>(i0 + width, c.outputs);
    const int taps = (int)c.taps, thread = block_thread();
    bool marked = false;
    for (int64_t i = i0 + thread; i < end; i += block_threads())
        marked |= i >= 0 && std::isnan(c.out[i]);
    if (const bool any = any_of_block(marked, shared); !any || !looks)
        return any;
    const nonzero_map map(1, (int64_t)width + taps - 1);
    const matrix<const T> signal = {c.signal, c.size, 1, c.size};
    fill_map(signal, 0, i0 + c.origin - (c.taps - 1), map, shared + 1);
    const uint32_t *const words = shared + 1;
    marked = false;
    for (int first = width + 32 * thread; first < taps;
         first += 32 * block_threads()) /* elements under the kernel for each output */
        marked |= has_bit(words, first, (int)least<int64_t>(first + 31, taps - 1));
    if (any_of_block(marked, shared))
        return true;
    for (int64_t i = i0 + thread; i < end; i += block_threads())
        if (i >= 0 && std::isnan(c.out[i])) {
            const int first = (int)(i - i0), last = first + taps - 1;
            if (has_bit(words, first, least(last, width - 1)) || has_bit(words, taps > width ? taps : width, last))
                marked = true;
            else
                c.out[i] = 0;
        }
    return any_of_block(marked, shared);
}

/* Gives all marked outputs of a signal their sums; the arguments are those of tiled_line_kernel. */
template <int R, typename T>
__global__ GPU_LAUNCH_BOUNDS(seven_each, 1024 / seven_each) void sum_marked_line_kernel(line_convolution<T> c,
                                                                                        fft_marks marks, int most,
                                                                                        int shift, bool aligned,
                                                                                        bool looks)
{
    GPU_DYNAMIC_SHARED(bytes);
    if (!marks.are_there())
        return;
    looks = looks && !marks.are_spoilt();
    const int width = block_threads() * R;
    const int64_t i0 = (int64_t)blockIdx.x * width - shift;
    const bool others = clear_empty(c, i0, width, looks, reinterpret_cast<uint32_t *>(bytes));
    __syncthreads(); /* the tile overwrites what others may still read */
    if (others)
        tiled_line_tile<R>(c, i0, most, aligned, reinterpret_cast<T *>(bytes));
}

/* Queues the kernels here: of an image (convolve.hip.cpp) and of a signal (convolve1d.hip.cpp). */
template <typename T>
fl_status hip_sum_marked(const fl_context *context, const convolution<T> &c, const fft_marks &marks);
template <typename T>
fl_status hip_sum_marked(const fl_context *context, const line_convolution<T> &c, const fft_marks &marks);

#endif
