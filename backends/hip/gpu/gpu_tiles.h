/* SPDX-License-Identifier: MIT
 *
 * gpu_tiles.h - how much of a result a thread computes in registers: the choices of all kernels with tiles, for each
 * vendor. Those for NVIDIA are measured on an H200. Those for AMD come from the compiler's report, and no GPU has
 * measured them: by hipcc 5.2 and 5.7 none spills (the test amd-registers).
 *
 * Layouts of shared memory are the same for all. They are made for 32 banks of four bytes, which NVIDIA's
 * multiprocessors and AMD's LDS have (CDNA 1 to 3, RDNA 1 to 3): rows of odd length, or gaps after every 128 bytes, so
 * that 32 lanes with four bytes each, or 16 with eight, use each bank once. The 64 lanes of a wavefront are served 32
 * at a time: the second half meets the same layout, and adds no conflict.
 */
#ifndef FLYNN_HIP_GPU_TILES_H
#define FLYNN_HIP_GPU_TILES_H

#include "gpu.h"

/* -------------------------------------------------------------------------------------------------- convolve ---- */

/* The kernels' template parameters R and Q are the outputs that a thread computes, side by side, and the taps that it
 * takes at a time. The more outputs, the more registers, and the fewer threads a block may have. */
constexpr int shape_threads(int outputs)
{
    return outputs == 16 ? 128 : outputs == 8 ? 256 : 1024;
}

/* Blocks at once on a multiprocessor, so that some compute while others load: measured for 16 outputs. */
template <typename T>
constexpr int shape_blocks(int outputs)
{
    return outputs < 8 ? 1 : outputs == 8 ? 3 : sizeof(T) == 4 ? 7 : 4;
}

/* ------------------------------------------------------------------------------------------------ convolve1d ---- */

constexpr int line_taps = 8; /* taps that a thread takes at a time */

/* Threads of a block that take seven outputs each; larger ones have no registers for that, and take three. Odd numbers:
 * neighbours then read different banks of shared memory. */
constexpr int seven_each = 256;

constexpr int line_outputs(int threads)
{
    return threads <= seven_each ? 7 : 3;
}

/* --------------------------------------------------------------------------------------- reconstruct, matmul ---- */

/* Blocks of X x Y threads with R x C outputs each, whose tiles are K terms deep. A multiprocessor should have registers
 * for `Blocks` blocks. */
template <int X, int Y, int R, int C, int K, int Blocks>
struct patch {
    static constexpr int x = X, y = Y, rows = R, columns = C, depth = K, blocks = Blocks;
    static constexpr int threads = X * Y, height = Y * R, width = X * C;
};

/* What a multiprocessor takes for one tile, and for as many as it holds at a time: microseconds of an H200 for rank
 * 100, without the launch. Only their ratios count. */
struct tile_times {
    double alone, together;
};

/* The patches of `register`: a larger one loads less, a smaller one makes more blocks. */
template <typename T>
struct patches;

/* 128 sums a thread are more than the compiler for AMD keeps in 256 registers together with what is loaded: the same
 * tile of 128 x 128 there belongs to twice the threads. */
template <>
struct patches<float> {
#if defined(__HIP_PLATFORM_AMD__) && !defined(GPU_EMULATION)
    using large = patch<16, 16, 8, 8, 8, 2>;
#else
    using large = patch<16, 8, 16, 8, 16, 2>;
#endif
    using medium = patch<16, 16, 8, 4, 16, 2>;
    using small = patch<16, 8, 4, 4, 16, 4>;
    static constexpr tile_times of_large = {20, 24.7}, of_medium = {8.1, 14.7}, of_small = {2.5, 8.4};
};

template <>
struct patches<double> {
    using large = patch<8, 16, 8, 8, 8, 2>;
    using medium = patch<8, 16, 8, 4, 8, 3>;
    using small = patch<8, 16, 4, 4, 16, 4>;
    static constexpr tile_times of_large = {13, 25}, of_medium = {7, 19.3}, of_small = {4.5, 16.8};
};

/* Integers have a single patch: of the same kind each, so that its kernel is compiled once. */
template <>
struct patches<uint32_t> {
    using medium = patch<16, 16, 8, 4, 16, 2>;
    using large = medium;
    using small = medium;
    static constexpr tile_times of_medium = {8.1, 14.7}, of_large = of_medium, of_small = of_medium;
};

template <>
struct patches<uint64_t> {
    using small = patch<8, 16, 4, 4, 16, 4>;
    using large = small;
    using medium = small;
    static constexpr tile_times of_small = {4.5, 16.8}, of_large = of_small, of_medium = of_small;
};

/* Elements by which rows of the tiles are longer than they need, or `usual`: four f64 for the tensor cores of NVIDIA,
 * where the lanes of half a warp read four neighbours of each of four rows, so that each bank is used once. */
template <typename T>
constexpr int tile_gap(int usual)
{
#if defined(__CUDACC__)
    return sizeof(T) == 8 ? 4 : usual;
#else
    return usual;
#endif
}

/* Outputs of a thread in other blocks than theirs; of matrices that may be stored transposed, whose tiles take more
 * registers to load. */
constexpr int any_rows = 4, any_columns = 4;
#if defined(__HIP_PLATFORM_AMD__) && !defined(GPU_EMULATION)
constexpr int any_turned_rows = 2, any_turned_columns = 2;
#else
constexpr int any_turned_rows = 4, any_turned_columns = 4;
#endif

/* ------------------------------------------------------------------------------------------------- transpose ---- */

/* Rows and columns of a tile: 256 bytes of a row, of single bytes 128. A multiprocessor then has 64 KiB or more on
 * their way from memory, which is twice what an H200 needs to be busy. */
template <typename T>
constexpr int transpose_edge = sizeof(T) == 1   ? 128
                               : sizeof(T) == 4 ? 64
                                                : 32;

/* --------------------------------------------------------------------------------------------- search_sorted ---- */

/* Of the tree in shared memory: four blocks of 512 threads leave half of an H200's first cache to what is below it. */
constexpr int search_tree_bytes = 32 << 10;

#endif
