/* SPDX-License-Identifier: MIT
 *
 * convolve_tiles.hpp - how the kernels of convolve_kernels.h cut the result into tiles, and what little work is.
 */
#ifndef FLYNN_HIP_CONVOLVE_TILES_HPP
#define FLYNN_HIP_CONVOLVE_TILES_HPP

#include "convolve_kernels.h"

inline size_t element_of(const fl_convolve_args *args)
{
    return args->out.dtype == FL_F32 ? sizeof(float) : sizeof(double);
}

template <int R, int Q>
struct kernel_shape {
    static constexpr int outputs = R, taps = Q;
};

/* n in pieces of at most `most`, as equal as can be. */
inline int even_piece(int64_t n, int64_t most)
{
    if (n <= most)
        return (int)n;
    const int64_t pieces = (n + most - 1) / most;
    return (int)((n + pieces - 1) / pieces);
}

constexpr int most_taps = 32; /* rows, and columns, of the kernel that a tile of `tiled` holds at a time */

/* The outputs of a thread: as many as the threads of a block have registers for, fewer where the grid would have fewer
 * blocks than the GPU has multiprocessors. */
inline int outputs_of(const hip_device *device, const int32_t *block, int64_t rows, int64_t columns)
{
    const int64_t across = (columns + block[0] - 1) / block[0], down = (device->multiprocessors + across - 1) / across;
    int outputs = 16;
    while (outputs > 4 && (block[0] * block[1] > shape_threads(outputs) || rows <= (down - 1) * block[1] * outputs))
        outputs /= 2;
    return outputs;
}

/* Calls f with the tile shape of that many outputs for a kernel of that many rows. */
template <typename F>
auto with_shape(int outputs, int64_t kernel_rows, F f)
{
    if (outputs == 4)
        return f(kernel_shape<4, 4>());
    if (outputs == 8)
        return f(kernel_shape<8, 4>());
    if ((even_piece(kernel_rows, most_taps) - 1) % 16 < 8)
        return f(kernel_shape<16, 4>());
    return f(kernel_shape<16, 16>());
}

/* How tiles are cut. */
struct tiling {
    int outputs;          /* that each thread sums */
    chunk largest;        /* part of the kernel that `tiled` holds at a time */
    int64_t tiled_shared; /* elements */
    int64_t separable_shared;
    bool fused; /* both passes of `separable` in one kernel; in two where a tile of them does not fit */
};

template <typename Shape>
tiling cut_for(Shape, const int32_t *block, const int64_t *kernel, size_t element, size_t usual_shared)
{
    constexpr int R = Shape::outputs, Q = Shape::taps;
    constexpr int64_t most_separable = 512; /* taps in one dimension: beyond it no tile fits anyway */
    const int64_t fits = (int64_t)(usual_shared / element);
    tiling t = {R, {even_piece(kernel[0], most_taps), even_piece(kernel[1], most_taps)}, 0, 0, false};
    while (tiled_shared<R, Q>(block[0], block[1], t.largest) > fits && (t.largest.rows > Q || t.largest.columns > 1)) {
        int &cut = t.largest.rows > Q && t.largest.rows > t.largest.columns ? t.largest.rows : t.largest.columns;
        cut = (cut + 1) / 2; /* not the rows below Q, to which they are filled up anyway */
    }
    t.tiled_shared = tiled_shared<R, Q>(block[0], block[1], t.largest);
    if (kernel[0] <= most_separable && kernel[1] <= most_separable) {
        t.separable_shared = separable_tile_shape<R, Q>(block[0], block[1], (int)kernel[0], (int)kernel[1]).shared();
        t.fused = t.separable_shared <= fits;
    }
    return t;
}

inline tiling tiling_of(const hip_device *device, const fl_convolve_args *args, const int32_t *block)
{
    const int outputs = outputs_of(device, block, args->out.shape[0], args->out.shape[1]);
    return with_shape(outputs, args->kernel.shape[0], [&](auto shape) {
        return cut_for(shape, block, args->kernel.shape, element_of(args), device->usual_shared);
    });
}

/* Returns whether `tiled` is done before the launch of another kernel would be: by the terms that one thread adds up,
 * one after the other, and by those of all tiles of a multiprocessor. Both limits are measured on an H200, where 900
 * terms take a thread 3 us longer than 36. */
inline bool is_little(const hip_device *device, const fl_convolve_args *args, const int32_t *block)
{
    constexpr double most_of_thread = 1 << 10, most_of_multiprocessor = 1 << 19;
    const int64_t *kernel = args->kernel.shape, *out = args->out.shape;
    const int outputs = outputs_of(device, block, out[0], out[1]);
    const double width = block[0], height = (double)block[1] * outputs;
    const double tiles = std::ceil((double)out[0] / height) * std::ceil((double)out[1] / width);
    const double of_thread = (double)outputs * (double)kernel[0] * (double)kernel[1];
    return of_thread <= most_of_thread &&
           std::ceil(tiles / device->multiprocessors) * width * block[1] * of_thread <= most_of_multiprocessor;
}

#endif
