/* SPDX-License-Identifier: MIT
 *
 * transpose.c - the last two dimensions exchanged. The loops are in transpose_typed.h, once for each size of an
 * element: elements are moved, whatever they are.
 */
#include "operation.h"
#include "stream.h"

#if defined(__SSE2__) && CPU_VECTOR_BITS > 64
#include <emmintrin.h>
#define CPU_SQUARES 1
#else
#define CPU_SQUARES 0
#endif

/* A tile as it is transposed, which stays in the first cache. It has `edge` rows and columns; that of a matrix with
 * fewer rows has more columns, and the reverse. */
enum { TILE_BYTES = 16384 };

/* The matrices, and how they are cut into tiles. */
typedef struct tiling {
    const fl_buffer *in, *out;
    int64_t height, width;        /* of `in`: out's width and height */
    int64_t rows, columns;        /* of a tile, in `in` */
    int64_t pitch;                /* elements from one column of a tile to the next, where it is transposed */
    int64_t down, across, number; /* tiles of a matrix along its columns and rows, and of all matrices */
    bool joined;                  /* the columns of a tile follow each other in `out` without a gap */
    bool streams;                 /* past the caches */
} tiling;

/* `edge`, or as much of `length` as a tile of `elements` has room for beside the other dimension's `other`. */
static inline int64_t CPU_NAME(tile_edge)(int64_t length, int64_t other, int64_t edge, int64_t elements)
{
    return min64(length, other < edge ? elements / other : edge);
}

static tiling CPU_NAME(tiling_of)(const fl_transpose_args *args)
{
    const fl_buffer *in = &args->in, *out = &args->out;
    const int64_t size = dtype_size(in->dtype), elements = TILE_BYTES / size,
                  edge = size == 1   ? 128
                         : size == 4 ? 64
                                     : 32;
    tiling t = {.in = in, .out = out, .height = in->shape[2], .width = in->shape[3]};

    t.rows = CPU_NAME(tile_edge)(t.height, t.width, edge, elements);
    t.columns = CPU_NAME(tile_edge)(t.width, t.height, edge, elements);
    t.down = (t.height + t.rows - 1) / t.rows;
    t.across = (t.width + t.columns - 1) / t.columns;
    t.number = in->shape[0] * in->shape[1] * t.down * t.across;
    t.joined = t.rows == t.height && out->stride[2] == t.height;
    t.pitch = t.rows;
    t.streams = CPU_STREAMS && elements_of(out) >= CPU_STREAM_BYTES / size;
    return t;
}

/* The place of the number-th tile: its matrix, and its first row and column in there. */
typedef struct tile_place {
    const char *in;
    char *out;
    int64_t rows, columns; /* fewer at the ends of a matrix */
} tile_place;

static tile_place CPU_NAME(tile_at)(const tiling *t, int64_t number)
{
    const int64_t size = dtype_size(t->in->dtype), column = number / t->down % t->across * t->columns,
                  row = number % t->down * t->rows, matrix = number / t->down / t->across,
                  batch[] = {matrix / t->in->shape[1], matrix % t->in->shape[1]};
    const int64_t from = batch[0] * t->in->stride[0] + batch[1] * t->in->stride[1] + row * t->in->stride[2] + column,
                  to = batch[0] * t->out->stride[0] + batch[1] * t->out->stride[1] + column * t->out->stride[2] + row;

    return (tile_place){(const char *)t->in->data + from * size, (char *)t->out->data + to * size,
                        min64(t->rows, t->height - row), min64(t->columns, t->width - column)};
}

/* Copies a part of a row of `out`; past the caches the whole lines of it, since a line that comes in two parts would be
 * read and written twice. */
static inline void CPU_NAME(put)(const tiling *t, char *to, const char *from, int64_t bytes)
{
    const int64_t head = (int64_t)(-(uintptr_t)to % CPU_LINE), lines = (bytes - head) / CPU_LINE * CPU_LINE;

    if (!t->streams || lines <= 0) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    memcpy(to, from, (size_t)head);
    cpu_stream(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, (size_t)(bytes - head - lines));
}

/* A tile by way of the first cache: rows that are a power of two apart would share few of its sets. `transpose` moves
 * the elements of rows `stride` elements apart to columns t->pitch apart. */
static void CPU_NAME(move_tile)(const tiling *t, int64_t number,
                                void (*transpose)(const void *from, int64_t stride, void *to, int64_t pitch,
                                                  int64_t rows, int64_t columns))
{
    _Alignas(CPU_LINE) char tile[TILE_BYTES];
    const int64_t size = dtype_size(t->in->dtype), step = t->out->stride[2] * size;
    const tile_place at = CPU_NAME(tile_at)(t, number);

    if (t->joined) {
        transpose(at.in, t->in->stride[2], at.out, t->pitch, at.rows, at.columns);
        return;
    }
    transpose(at.in, t->in->stride[2], tile, t->pitch, at.rows, at.columns);
    for (int64_t column = 0; column < at.columns; column++)
        CPU_NAME(put)(t, at.out + column * step, tile + column * t->pitch * size, at.rows * size);
}

#define bits uint8_t
#define FIRST_HALVES _mm_unpacklo_epi8
#define SECOND_HALVES _mm_unpackhi_epi8
#define FN(name) CPU_TYPED(name, bits8)
#include "transpose_typed.h"
#undef bits
#undef FIRST_HALVES
#undef SECOND_HALVES
#undef FN
#define bits uint32_t
#define FIRST_HALVES _mm_unpacklo_epi32
#define SECOND_HALVES _mm_unpackhi_epi32
#define FN(name) CPU_TYPED(name, bits32)
#include "transpose_typed.h"
#undef bits
#undef FIRST_HALVES
#undef SECOND_HALVES
#undef FN
#define bits uint64_t
#define FIRST_HALVES _mm_unpacklo_epi64
#define SECOND_HALVES _mm_unpackhi_epi64
#define FN(name) CPU_TYPED(name, bits64)
#include "transpose_typed.h"
#undef bits
#undef FIRST_HALVES
#undef SECOND_HALVES
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

static void CPU_NAME(plan)(void *device, const void *args, fl_launch *launch)
{
    const fl_buffer *in = &((const fl_transpose_args *)args)->in;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * (double)elements_of(in) * (double)dtype_size(in->dtype);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

#define RUN(variant) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        switch (((const fl_transpose_args *)args)->in.dtype) { \
        case FL_U8: return CPU_TYPED(variant, bits8)(context, args, launch); \
        case FL_I32: \
        case FL_F32: return CPU_TYPED(variant, bits32)(context, args, launch); \
        default: return CPU_TYPED(variant, bits64)(context, args, launch); \
        } \
    }
RUN(tiled)
RUN(naive)

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_TRANSPOSE, "tiled", CPU_ALL, plan, run_tiled,
             "tiles that are transposed in the first cache, in squares of vectors")},
    {CPU_ROW(FL_OP_TRANSPOSE, "naive", CPU_ALL, plan, run_naive,
             "row by row of the result: reads down the columns, one cache line an element")},
};

CPU_OPERATION(cpu_transpose, rows);
