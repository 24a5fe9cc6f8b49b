/* SPDX-License-Identifier: MIT
 *
 * product_patch.h - what the kernels of product_kernels.h are made of: matrices, tiles of them on the way from global
 * to shared memory, and a thread's or a wavefront's outputs.
 */
#ifndef FLYNN_HIP_PRODUCT_PATCH_H
#define FLYNN_HIP_PRODUCT_PATCH_H

#include "device.hpp"
#include "gpu/gpu_matrix.h"
#include "gpu/gpu_tiles.h"

#include <type_traits>

/* scaled: c = a diag(s) b, where s is multiplied into a first, as the formula has it from left to right: where a
 * product overflows, it does so in all kernels. plain: c = a b. turned: the same, where a and b may be stored
 * transposed. */
enum class product_form { scaled, plain, turned };

/* Matrices in device memory: a stride from row to row (from column to column where the matrix is stored transposed), a
 * step from one of the batch to the next, 0 to repeat it. */
template <typename T>
struct factors {
    const T *a, *s, *b;
    T *c;
    int64_t a_stride, b_stride, c_stride;
    int64_t a_step, s_step, b_step, c_step;
    int64_t batch, rows, columns, terms;
    bool turned_a, turned_b;
};

/* The n-th of the batch. */
template <typename T>
__device__ inline factors<T> one_of(factors<T> m, int64_t n)
{
    m.a += n * m.a_step;
    m.s += n * m.s_step;
    m.b += n * m.b_step;
    m.c += n * m.c_step;
    return m;
}

/* 16 bytes: what one load or store can move. */
template <typename T>
struct alignas(16) pack {
    static constexpr int width = 16 / sizeof(T);
    T value[width];
};

/* How a block copies `count` lines of `length` elements: a thread takes a pack of every `down`-th line. */
template <typename P, typename T, int length, int count>
struct tile_lines {
    static constexpr int across = length / pack<T>::width, down = P::threads / across, packs = count / down;
    static_assert(packs * down == count, "tiles are whole copies");

    static __device__ constexpr int x(int thread)
    {
        return thread % across * pack<T>::width;
    }

    static __device__ constexpr int line(int thread)
    {
        return thread / across;
    }
};

template <typename P, product_form form, typename T>
struct patch_memory {
    /* A row of a's tile, turned so that it runs along the rows of a, is longer by a pack: half the bank conflicts. So
     * is one of b's where columns of b are stored. */
    static constexpr int a_pitch = P::height + tile_gap<T>(pack<T>::width);
    static constexpr int b_pitch = P::width + tile_gap<T>(form == product_form::turned ? pack<T>::width : 0);
    static constexpr int elements = 2 * P::depth * (a_pitch + b_pitch);

    /* The tiles in global memory, as they are and where they are stored transposed. */
    using a_lines = tile_lines<P, T, P::depth, P::height>;
    using a_turned = tile_lines<P, T, P::height, P::depth>;
    using b_lines = tile_lines<P, T, P::width, P::depth>;
    using b_turned = tile_lines<P, T, P::depth, P::width>;
    static_assert(a_lines::packs == a_turned::packs && b_lines::packs == b_turned::packs, "the same registers");
};

/* row[at], row[at + 1] ..., zeros from `end` on. With `vectors` in one load where all of them exist. */
template <bool vectors, typename T>
__device__ inline pack<T> load_pack(const T *row, int64_t at, int64_t end)
{
    if (vectors && at + pack<T>::width <= end)
        return *reinterpret_cast<const pack<T> *>(row + at);
    pack<T> p;
    GPU_UNROLL
    for (int e = 0; e < pack<T>::width; e++)
        p.value[e] = at + e < end ? row[at + e] : 0;
    return p;
}

/* The elements of the next tiles that a thread holds on the way from global to shared memory. */
template <typename M, typename T>
struct carried {
    pack<T> a[M::a_lines::packs], s, b[M::b_lines::packs];
};

/* The tile whose first element is element x of `line`, of a matrix with `end_line` lines of `end` elements. */
template <typename Lines, bool vectors, typename T, int packs>
__device__ inline void fetch_lines(const T *from, int64_t stride, int64_t line, int64_t end_line, int64_t x,
                                   int64_t end, int thread, pack<T> (&held)[packs])
{
    GPU_UNROLL
    for (int e = 0; e < packs; e++) {
        const int64_t at = line + e * Lines::down + Lines::line(thread);
        held[e] = load_pack<vectors>(from + at * stride, x + Lines::x(thread), at < end_line ? end : 0);
    }
}

template <typename M, product_form form, bool vectors, typename T>
__device__ inline void fetch(const factors<T> &m, int64_t i0, int64_t j0, int64_t p0, int thread, carried<M, T> &held)
{
    gpu_forget(thread);
    if constexpr (form == product_form::scaled)
        held.s = load_pack<vectors>(m.s, p0 + M::a_lines::x(thread), m.terms);
    if (form == product_form::turned && m.turned_a)
        fetch_lines<typename M::a_turned, vectors>(m.a, m.a_stride, p0, m.terms, i0, m.rows, thread, held.a);
    else
        fetch_lines<typename M::a_lines, vectors>(m.a, m.a_stride, i0, m.rows, p0, m.terms, thread, held.a);
    if (form == product_form::turned && m.turned_b)
        fetch_lines<typename M::b_turned, vectors>(m.b, m.b_stride, j0, m.columns, p0, m.terms, thread, held.b);
    else
        fetch_lines<typename M::b_lines, vectors>(m.b, m.b_stride, p0, m.terms, j0, m.columns, thread, held.b);
}

/* One matrix's tiles that lie inside it, one after the other along the terms: the thread's packs of them. */
template <typename T>
struct inner_lines {
    const T *first;
    int64_t down, next;

    /* Tiles of which a line is one of the terms, or runs along them, `depth` at a time. */
    template <typename Lines>
    __device__ static inner_lines of(const T *data, int64_t stride, int64_t begin, bool along_terms, int depth,
                                     int thread)
    {
        const int64_t line = along_terms ? begin : 0, x = along_terms ? 0 : begin;
        return {data + (line + Lines::line(thread)) * stride + x + Lines::x(thread), Lines::down * stride,
                along_terms ? depth : depth * stride};
    }

    template <int packs>
    __device__ void fetch(pack<T> (&held)[packs]) const
    {
        GPU_UNROLL
        for (int e = 0; e < packs; e++)
            held[e] = *reinterpret_cast<const pack<T> *>(first + e * down);
    }
};

/* Fetches tiles that lie inside the matrices and are aligned: nearly all tiles do. */
template <typename P, typename M, product_form form, typename T>
struct inner_source {
    inner_lines<T> a, b;
    const T *s;

    __device__ inner_source(const factors<T> &m, int64_t i0, int64_t j0, int thread)
        : a(form == product_form::turned && m.turned_a
                ? inner_lines<T>::template of<typename M::a_turned>(m.a, m.a_stride, i0, false, P::depth, thread)
                : inner_lines<T>::template of<typename M::a_lines>(m.a, m.a_stride, i0, true, P::depth, thread)),
          b(form == product_form::turned && m.turned_b
                ? inner_lines<T>::template of<typename M::b_turned>(m.b, m.b_stride, j0, true, P::depth, thread)
                : inner_lines<T>::template of<typename M::b_lines>(m.b, m.b_stride, j0, false, P::depth, thread)),
          s(form == product_form::scaled ? m.s + M::a_lines::x(thread) : nullptr)
    {
    }

    /* Moves on to the next tiles. */
    __device__ void advance()
    {
        a.first += form == product_form::turned ? a.next : P::depth;
        b.first += b.next;
        if constexpr (form == product_form::scaled)
            s += P::depth;
    }

    __device__ void fetch(carried<M, T> &held) const
    {
        if constexpr (form == product_form::scaled)
            held.s = *reinterpret_cast<const pack<T> *>(s);
        a.fetch(held.a);
        b.fetch(held.b);
    }
};

/* Into shared memory, line by line. */
template <typename Lines, int pitch, typename T, int packs>
__device__ inline void keep_lines(const pack<T> (&held)[packs], int thread, T *to)
{
    GPU_UNROLL
    for (int e = 0; e < packs; e++)
        *reinterpret_cast<pack<T> *>(to + (e * Lines::down + Lines::line(thread)) * pitch + Lines::x(thread)) = held[e];
}

/* As keep_lines, with rows and columns exchanged, and multiplied by s if there is one. */
template <typename Lines, int pitch, typename T, int packs>
__device__ inline void keep_turned(const pack<T> (&held)[packs], const pack<T> *s, int thread, T *to)
{
    GPU_UNROLL
    for (int e = 0; e < packs; e++)
        GPU_UNROLL
    for (int w = 0; w < pack<T>::width; w++)
        to[(Lines::x(thread) + w) * pitch + e * Lines::down + Lines::line(thread)] =
            s ? held[e].value[w] * s->value[w] : held[e].value[w];
}

/* Into shared memory, both tiles term by term, s multiplied into a. */
template <typename M, product_form form, typename T>
__device__ inline void keep(const factors<T> &m, const carried<M, T> &held, int thread, T *as, T *bs)
{
    if (form == product_form::turned && m.turned_a)
        keep_lines<typename M::a_turned, M::a_pitch>(held.a, thread, as);
    else
        keep_turned<typename M::a_lines, M::a_pitch>(held.a, form == product_form::scaled ? &held.s : nullptr, thread,
                                                     as);
    if (form == product_form::turned && m.turned_b)
        keep_turned<typename M::b_turned, M::b_pitch>(held.b, (const pack<T> *)nullptr, thread, bs);
    else
        keep_lines<typename M::b_lines, M::b_pitch>(held.b, thread, bs);
}

/* The place in the tile of the e-th of a thread's `count` rows (or columns) of outputs: in runs of a pack, so that
 * the threads of a warp read neighbouring packs of shared memory. */
template <int count, int threads, typename T>
__device__ constexpr int place_of(int thread, int e)
{
    constexpr int run = count < pack<T>::width ? count : pack<T>::width;
    return (e / run * threads + thread) * run + e % run;
}

/* The thread's `count` elements of a row of a tile. */
template <int count, int threads, typename T>
__device__ inline void read_run(const T *row, int thread, T (&values)[count])
{
    constexpr int run = count < pack<T>::width ? count : pack<T>::width;
    struct alignas(run * sizeof(T)) piece {
        T value[run];
    };
    GPU_UNROLL
    for (int e = 0; e < count; e += run) {
        const piece p = *reinterpret_cast<const piece *>(row + place_of<count, threads, T>(thread, e));
        GPU_UNROLL
        for (int w = 0; w < run; w++)
            values[e + w] = p.value[w];
    }
}

template <typename P, typename M, typename T>
__device__ inline void add_tile(const T *as, const T *bs, int tx, int ty, T (&sum)[P::rows][P::columns])
{
    GPU_UNROLL_FOR_SPEED
    for (int k = 0; k < P::depth; k++) {
        T a[P::rows], b[P::columns];
        read_run<P::rows, P::y>(as + k * M::a_pitch, ty, a);
        read_run<P::columns, P::x>(bs + k * M::b_pitch, tx, b);
        GPU_UNROLL
        for (int r = 0; r < P::rows; r++)
            GPU_UNROLL
        for (int q = 0; q < P::columns; q++)
            sum[r][q] += a[r] * b[q];
    }
}

template <typename P, bool vectors, typename T>
__device__ inline void store_patch(const factors<T> &m, int64_t i0, int64_t j0, int tx, int ty,
                                   const T (&sum)[P::rows][P::columns])
{
    constexpr int run = P::columns < pack<T>::width ? 1 : pack<T>::width;
    gpu_forget(tx);
    gpu_forget(ty);
    GPU_UNROLL
    for (int r = 0; r < P::rows; r++) {
        const int64_t i = i0 + place_of<P::rows, P::y, T>(ty, r);
        T *row = m.c + i * m.c_stride;
        GPU_UNROLL
        for (int q = 0; q < P::columns; q += run) {
            const int64_t j = j0 + place_of<P::columns, P::x, T>(tx, q);
            if (vectors && run > 1 && i < m.rows && j + run <= m.columns) {
                pack<T> p;
                GPU_UNROLL
                for (int w = 0; w < run; w++)
                    p.value[w] = sum[r][q + w];
                *reinterpret_cast<pack<T> *>(row + j) = p;
            } else {
                GPU_UNROLL
                for (int w = 0; w < run; w++)
                    if (i < m.rows && j + w < m.columns)
                        row[j + w] = sum[r][q + w];
            }
        }
    }
}

/* Multiplies by matrix instructions, where a GPU has them. A wavefront has half of the tile's height (all of it if that
 * is the height of one of their matrices) and its share of the width. */
template <typename P, typename T>
struct wave_sums {
    using matrix = gpu_matrix<T>;
    static constexpr int waves = P::threads / matrix::lanes, waves_down = P::height > matrix::height ? 2 : 1;
    static constexpr int height = P::height / waves_down, width = P::width * waves_down / waves;
    static constexpr int down = height / matrix::height, across = width / matrix::width;
    static_assert(down * across * matrix::elements == P::rows * P::columns, "whole matrices");
    typename matrix::sums part[down][across];
};

/* A thread's lane, and where in the tile its wavefront's part begins. */
template <typename P, typename T>
struct wave_place {
    using W = wave_sums<P, T>;
    int lane, row, column;

    __device__ wave_place()
    {
        const int thread = (int)(threadIdx.y * P::x + threadIdx.x), wave = thread / gpu_matrix<T>::lanes;
        lane = thread % gpu_matrix<T>::lanes;
        row = wave % W::waves_down * W::height;
        column = wave / W::waves_down * W::width;
    }
};

/* Not unrolled: the compiler would have the loads of the next tiles after most of it. */
template <typename P, typename M, typename T>
__device__ inline void add_tile(const T *as, const T *bs, int, int, wave_sums<P, T> &sum)
{
    using W = wave_sums<P, T>;
    using matrix = gpu_matrix<T>;
    const wave_place<P, T> at;
    as += matrix::term_of_a(at.lane, 0) * M::a_pitch + at.row + matrix::row_of_a(at.lane, 0);
    bs += matrix::term_of_b(at.lane, 0) * M::b_pitch + at.column + matrix::column_of_b(at.lane, 0);
    GPU_NO_UNROLL
    for (int k = 0; k < P::depth; k += matrix::depth) {
        T a[W::down][matrix::a_count], b[W::across][matrix::b_count];
        GPU_UNROLL
        for (int d = 0; d < W::down; d++)
            GPU_UNROLL
        for (int e = 0; e < matrix::a_count; e++) /* the places of lane 0 are those of others, apart from the first */
            a[d][e] = as[(k + matrix::term_of_a(0, e)) * M::a_pitch + d * matrix::height + matrix::row_of_a(0, e)];
        GPU_UNROLL
        for (int q = 0; q < W::across; q++)
            GPU_UNROLL
        for (int e = 0; e < matrix::b_count; e++)
            b[q][e] = bs[(k + matrix::term_of_b(0, e)) * M::b_pitch + q * matrix::width + matrix::column_of_b(0, e)];
        GPU_UNROLL
        for (int d = 0; d < W::down; d++)
            GPU_UNROLL
        for (int q = 0; q < W::across; q++)
            matrix::multiply_add(a[d], b[q], sum.part[d][q]);
    }
}

template <typename P, bool vectors, typename T>
__device__ inline void store_patch(const factors<T> &m, int64_t i0, int64_t j0, int, int, const wave_sums<P, T> &sum)
{
    using W = wave_sums<P, T>;
    using matrix = gpu_matrix<T>;
    wave_place<P, T> at;
    GPU_UNROLL
    for (int d = 0; d < W::down; d++)
        GPU_UNROLL
    for (int q = 0; q < W::across; q++) {
        gpu_forget(at.lane);
        GPU_UNROLL
        for (int e = 0; e < matrix::elements; e++) {
            const int64_t i = i0 + at.row + d * matrix::height + matrix::row_of(at.lane, e);
            const int64_t j = j0 + at.column + q * matrix::width + matrix::column_of(at.lane, e);
            if (i < m.rows && j < m.columns)
                m.c[i * m.c_stride + j] = sum.part[d][q][e];
        }
    }
}

#endif
