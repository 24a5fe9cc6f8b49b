/* SPDX-License-Identifier: MIT
 *
 * split_kernels.h - c = a diag(s) b, or a b, in f32 by tensor cores that multiply TF32, which has 11 of the 24 bits of
 * f32.
 *
 * A number x is large + small: large is x rounded to TF32, small the rest, of which TF32 drops at most the last bit.
 * Then a b = small_a large_b + large_a small_b + large_a large_b, but for small_a small_b, which is below the rounding
 * of f32. Tensor cores cut off where they add, and do not round: after each 32 terms the sums are added to sums of f32
 * by ordinary instructions. Numbers below 2^-100, whose small part TF32 cannot hold, and numbers that overflow when
 * they are rounded, are found: what they take part in is summed again without tensor cores.
 *
 * A block has a tile of 128 x 128 outputs and three warp groups. One copies b's next tiles to shared memory and splits
 * them there; the others have 64 rows each, load a's elements into registers, split them, and queue the products. A
 * group that splits, adds up or waits leaves the tensor cores to the other one.
 */
#ifndef FLYNN_HIP_SPLIT_KERNELS_H
#define FLYNN_HIP_SPLIT_KERNELS_H

#include "gpu/gpu_tensor.h"
#include "product_kernels.h"

#include <cfloat>

namespace split
{

constexpr int height = 2 * gpu_tensor_rows, width = gpu_tensor_columns, depth = gpu_tensor_depth;
constexpr int threads = 3 * gpu_group;
constexpr int stages = 3, copies = 4; /* tiles of b in shared memory that are split, and that are being copied */
constexpr int part = gpu_tensor_tile_bytes, stage_bytes = 2 * part;
constexpr int few_registers = 72, many_registers = 216;
static_assert(few_registers + 2 * many_registers <= 3 * (65536 / threads / 8 * 8), "what the block was started with");

/* Bytes: stages, copies, the place for `tiny`, and what aligning the first takes. */
constexpr int shared_bytes = stages * stage_bytes + copies * part + 16 + gpu_tensor_alignment;

/* Tiles in shared memory are taken by blocks that are near each other: `together` rows of tiles at a time. */
constexpr int together = 8;

/* Numbers of the barriers. */
__device__ constexpr int is_free(int stage)
{
    return 1 + 3 * stage;
}
__device__ constexpr int is_full(int stage, int group)
{
    return 2 + 3 * stage + group;
}
constexpr int is_copied = 1 + 3 * stages, is_summed = is_copied + 1;

__device__ inline int after(int stage)
{
    return stage + 1 == stages ? 0 : stage + 1;
}

/* Where a block's arrays begin in shared memory. */
struct room {
    char *first;
    uint32_t at;

    __device__ explicit room(char *memory) : first(memory), at(gpu_shared_address(memory))
    {
        const uint32_t more = (gpu_tensor_alignment - at % gpu_tensor_alignment) % gpu_tensor_alignment;
        first += more;
        at += more;
    }

    __device__ uint32_t stage(int n) const
    {
        return at + (uint32_t)(n * stage_bytes);
    }

    __device__ int copy(int tile) const
    {
        return stages * stage_bytes + tile % copies * part;
    }

    __device__ int *tiny() const
    {
        return reinterpret_cast<int *>(first + stages * stage_bytes + copies * part);
    }
};

/* Looks for numbers other than 0 that are below 2^-100. */
struct smallest {
    uint32_t bits = UINT32_MAX; /* twice those of the smallest one, without its sign, less one */

    __device__ void look(float x)
    {
        const uint32_t own = __float_as_uint(x);
        bits = min(bits, own + own - 1);
    }

    __device__ bool is_tiny() const
    {
        return bits < (uint32_t)(127 - 100) << 24;
    }
};

__device__ inline void split_in_two(float x, uint32_t &large, uint32_t &small)
{
    large = (__float_as_uint(x) + 0x1000) & 0xffffe000;
    small = __float_as_uint(x - __uint_as_float(large));
}

/* The product and the tile of it that a block has. */
struct place {
    int64_t row, column;
    int tiles; /* into which the terms are cut */
};

template <typename T>
__device__ inline place place_of_block(const factors<T> &m, int down, int across, int of_block)
{
    const int whole = together * across, first = of_block / whole * together, rows = min(together, down - first);
    const int inside = of_block % whole;
    return {(int64_t)(first + inside % rows) * height, (int64_t)(inside / rows) * width,
            (int)((m.terms + depth - 1) / depth)};
}

/* ------------------------------------------------------------------------------------------- the group for b ---- */

/* Copies tiles of b as they are; each of the group's threads has four columns of every fourth row. */
template <bool vectors>
struct copier {
    const float *from; /* the thread's first element of the next tile */
    const float *const b;
    const int64_t rows, next_tile; /* from one of the thread's rows to the next, and to those of the next tile */
    int64_t left;                  /* rows of b from the thread's first one on */
    const int columns;             /* that exist, of four */
    const uint32_t to;

    __device__ copier(const factors<float> &m, const place &p, const room &shared, int thread)
        : from(m.b + thread / 32 * m.b_stride + p.column + thread % 32 * 4), b(m.b), rows(4 * m.b_stride),
          next_tile(depth * m.b_stride), left(m.terms - thread / 32),
          columns((int)max((int64_t)0, min((int64_t)4, m.columns - p.column - thread % 32 * 4))),
          to(shared.at + (uint32_t)thread * 16)
    {
    }

    __device__ void next(const room &shared, int tile)
    {
        const uint32_t at = to + (uint32_t)shared.copy(tile);
        if (vectors && columns == 4 && left > depth - 4) {
            GPU_UNROLL
            for (int e = 0; e < depth / 4; e++)
                gpu_copy<16>(at + e * 4 * width * 4, from + e * rows, 16);
        } else {
            GPU_UNROLL
            for (int e = 0; e < depth / 4; e++)
                copy_row(at + e * 4 * width * 4, from + e * rows, left > 4 * e ? columns : 0);
        }
        from += next_tile;
        left -= depth;
    }

    /* Four columns, of which `count` exist. */
    __device__ void copy_row(uint32_t at, const float *row, int count) const
    {
        if constexpr (vectors) {
            gpu_copy<16>(at, count > 0 ? row : b, 4 * count);
        } else {
            GPU_UNROLL
            for (int i = 0; i < 4; i++)
                gpu_copy<4>(at + i * 4, i < count ? row + i : b, i < count ? 4 : 0);
        }
    }
};

/* A thread splits a column. Its terms are stored in the order in which a loader reads those of a row: chunk c has terms
 * c, c + 8, c + 16 and c + 24 of the tile. */
template <bool vectors>
__device__ inline void split_b(const factors<float> &m, const place &p, const room &shared, int thread)
{
    copier<vectors> copy(m, p, shared, thread);
    smallest found;
    int stage = 0;

    GPU_UNROLL
    for (int tile = 0; tile < copies - 1; tile++) {
        if (tile < p.tiles)
            copy.next(shared, tile);
        gpu_end_copies();
    }
    for (int tile = 0; tile < p.tiles; tile++) {
        gpu_wait_copies<copies - 2>();
        gpu_meet(is_copied, gpu_group);
        const float *const column = reinterpret_cast<const float *>(shared.first + shared.copy(tile)) + thread;
        float x[depth / 4][4];
        GPU_UNROLL
        for (int c = 0; c < depth / 4; c++)
            GPU_UNROLL
        for (int i = 0; i < 4; i++)
            x[c][i] = column[(8 * i + c) * width];
        if (tile >= stages)
            gpu_meet(is_free(stage), threads);
        GPU_UNROLL
        for (int c = 0; c < depth / 4; c++) {
            uint32_t large[4], small[4];
            GPU_UNROLL
            for (int i = 0; i < 4; i++) {
                found.look(x[c][i]);
                split_in_two(x[c][i], large[i], small[i]);
            }
            const uint32_t to = shared.stage(stage) + (uint32_t)gpu_tensor_chunk(thread, c);
            gpu_store(to, large);
            gpu_store(to + part, small);
        }
        gpu_publish();
        gpu_arrive(is_full(stage, 0), 2 * gpu_group);
        gpu_arrive(is_full(stage, 1), 2 * gpu_group);
        if (tile + copies - 1 < p.tiles)
            copy.next(shared, tile + copies - 1);
        gpu_end_copies();
        stage = after(stage);
    }
    if (found.is_tiny())
        *shared.tiny() = 1;
    for (int tile = p.tiles; tile < p.tiles + stages; tile++) { /* the other groups arrive there once for each tile */
        if (tile >= stages)
            gpu_meet(is_free(stage), threads);
        stage = after(stage);
    }
}

/* ------------------------------------------------------------------------------------------ the groups for a ---- */

/* What a thread has of a's next tile: of two rows, terms 8 t to 8 t + 7, t being lane % 4, in two halves of four, each
 * for two of the tile's four products: the terms of a product may come in any order, if those of b do, too. In place of
 * rows that do not exist it has the last one. */
template <product_form form, bool vectors>
struct loader {
    const float *const low, *const high, *const s; /* at the thread's first term */
    const int64_t terms;                           /* from that one on */
    pack<float> row[2][2], scale[2];               /* [half][row] */
    uint32_t large[2][2][4], small[2][2][4];       /* [half][product] */
    smallest found;

    __device__ loader(const factors<float> &m, int64_t first, int lane)
        : low(m.a + min(first, m.rows - 1) * m.a_stride + lane % 4 * 8),
          high(m.a + min(first + 8, m.rows - 1) * m.a_stride + lane % 4 * 8), s(m.s + lane % 4 * 8),
          terms(m.terms - lane % 4 * 8)
    {
    }

    __device__ void load(int tile, int half)
    {
        const int64_t term = (int64_t)tile * depth + half * 4;
        if (vectors && term + 4 <= terms)
            load_whole(term, half);
        else
            load_some(term, half);
    }

    __device__ void load_whole(int64_t term, int half)
    {
        row[half][0] = *reinterpret_cast<const pack<float> *>(low + term);
        row[half][1] = *reinterpret_cast<const pack<float> *>(high + term);
        if constexpr (form == product_form::scaled)
            scale[half] = *reinterpret_cast<const pack<float> *>(s + term);
    }

    /* Zeros after the last term. */
    __device__ void load_some(int64_t term, int half)
    {
        row[half][0] = row[half][1] = scale[half] = {};
        if (term >= terms)
            return;
        row[half][0] = load_pack<false>(low, term, terms);
        row[half][1] = load_pack<false>(high, term, terms);
        if constexpr (form == product_form::scaled)
            scale[half] = load_pack<false>(s, term, terms);
    }

    __device__ void split(int half)
    {
        GPU_UNROLL
        for (int product = 0; product < 2; product++)
            GPU_UNROLL
        for (int e = 0; e < 4; e++) {
            const int term = product * 2 + e / 2;
            const float own = row[half][e % 2].value[term];
            const float x = form == product_form::scaled ? own * scale[half].value[term] : own;
            found.look(x);
            split_in_two(x, large[half][product][e], small[half][product][e]);
        }
    }

    /* Queues the products of a half. The small parts come first, while the sums are small. */
    __device__ void multiply(float (&sums)[gpu_tensor_sums], uint32_t b, int half)
    {
        GPU_UNROLL
        for (int product = 0; product < 2; product++) {
            gpu_tensor_take(large[half][product]);
            gpu_tensor_take(small[half][product]);
        }
        gpu_tensor_begin(sums);
        GPU_UNROLL
        for (int product = 0; product < 2; product++) {
            const int term = (2 * half + product) * gpu_tensor_terms;
            const uint64_t large_b = gpu_tensor_tile(b, term), small_b = gpu_tensor_tile(b + part, term);
            gpu_tensor_add(sums, small[half][product], large_b, half + product > 0);
            gpu_tensor_add(sums, large[half][product], small_b, 1);
            gpu_tensor_add(sums, large[half][product], large_b, 1);
        }
        gpu_tensor_end();
    }
};

/* The outputs of a thread: sums[4 j + 2 h + e] is at [first + 8 h][column + 8 j + e]. Returns whether all are finite.
 */
template <bool vectors>
__device__ inline bool store(const factors<float> &m, int64_t first, int64_t column,
                             const float (&sums)[gpu_tensor_sums])
{
    bool finite = true;
    GPU_UNROLL
    for (int e = 0; e < gpu_tensor_sums; e += 2) {
        const int64_t i = first + e / 2 % 2 * 8, j = column + e / 4 * 8;
        if (i >= m.rows || j >= m.columns)
            continue;
        float *const to = m.c + i * m.c_stride + j;
        const bool both = j + 1 < m.columns;
        finite = finite && fabsf(sums[e]) <= FLT_MAX && (!both || fabsf(sums[e + 1]) <= FLT_MAX);
        if (vectors && both) {
            *reinterpret_cast<float2 *>(to) = make_float2(sums[e], sums[e + 1]);
        } else {
            to[0] = sums[e];
            if (both)
                to[1] = sums[e + 1];
        }
    }
    return finite;
}

/* Computes the thread's outputs again without tensor cores: all of them, or only those that are not finite. */
template <product_form form>
__device__ inline void sum_again(const factors<float> &m, int64_t first, int64_t column, bool all)
{
    GPU_NO_UNROLL
    for (int e = 0; e < gpu_tensor_sums; e++) {
        const int64_t i = first + e / 2 % 2 * 8, j = column + e / 4 * 8 + e % 2;
        if (i >= m.rows || j >= m.columns)
            continue;
        float *const to = m.c + i * m.c_stride + j;
        if (!all && fabsf(*to) <= FLT_MAX)
            continue;
        float sum = 0;
        GPU_NO_UNROLL
        for (int64_t p = 0; p < m.terms; p++)
            sum = fmaf(form == product_form::scaled ? m.a[i * m.a_stride + p] * m.s[p] : m.a[i * m.a_stride + p],
                       m.b[p * m.b_stride + j], sum);
        *to = sum;
    }
}

template <product_form form, bool vectors>
__device__ inline void multiply(const factors<float> &m, const place &p, const room &shared, int thread, int group)
{
    const int lane = thread % 32;
    const int64_t first = p.row + group * gpu_tensor_rows + thread / 32 * 16 + lane / 4;
    const int64_t column = p.column + lane % 4 * 2;
    loader<form, vectors> a(m, first, lane);
    float sums[gpu_tensor_sums] = {}, products[gpu_tensor_sums] = {};
    int stage = 0;

    a.load(0, 0);
    a.load(0, 1);
    a.split(0);
    a.load(1, 0);
    for (int tile = 0; tile < p.tiles; tile++) {
        gpu_meet(is_full(stage, group), 2 * gpu_group);
        a.multiply(products, shared.stage(stage), 0);
        a.split(1); /* of the last tile the products with this half are done */
        a.load(tile + 1, 1);
        a.multiply(products, shared.stage(stage), 1);
        gpu_tensor_wait<1>();
        a.split(0);
        a.load(tile + 2, 0);
        gpu_tensor_wait<0>();
        gpu_arrive(is_free(stage), threads);
        stage = after(stage);
        GPU_UNROLL
        for (int e = 0; e < gpu_tensor_sums; e++)
            sums[e] += products[e];
    }
    if (a.found.is_tiny())
        *shared.tiny() = 1;
    gpu_meet(is_summed, threads);
    const bool tiny = *shared.tiny() != 0, finite = store<vectors>(m, first, column, sums);
    if (tiny || !finite)
        sum_again<form>(m, first, column, tiny);
}

/* ----------------------------------------------------------------------------------------------- the kernel ---- */

/* Blocks: the tiles of one matrix of the batch after the other. */
template <product_form form, bool vectors>
__global__ __launch_bounds__(threads, 1) void split_kernel(factors<float> m, int down, int across)
{
    extern __shared__ char memory[];
    const room shared(memory);
    const int group = (int)threadIdx.x / gpu_group, thread = (int)threadIdx.x % gpu_group;
    const factors<float> one = one_of(m, blockIdx.x / (down * across));
    const place p = place_of_block(one, down, across, (int)blockIdx.x % (down * across));

    if (threadIdx.x == 0)
        *shared.tiny() = 0;
    __syncthreads();
    if (group == 2) {
        gpu_give_registers<few_registers>();
        split_b<vectors>(one, p, shared, thread);
        gpu_meet(is_summed, threads);
    } else {
        gpu_take_registers<many_registers>();
        multiply<form, vectors>(one, p, shared, thread, group);
    }
}

} // namespace split

#endif
