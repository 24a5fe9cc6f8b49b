/* SPDX-License-Identifier: MIT
 *
 * walk.h - the walk over the elements of several arrays of one shape, of up to four dimensions: which thread takes
 * which elements, and in which order. Loops over neighbours do the work. For one instruction set, as all operations.
 */
#ifndef FLYNN_CPU_WALK_H
#define FLYNN_CPU_WALK_H

#include "stream.h"
#include "walk_loops.h"

#include <string.h>

enum {
    WALK_MOST = 9,           /* operands: eight inputs and the output */
    WALK_PIECE = 16384,      /* elements of a row that a thread takes at a time */
    WALK_SHORT_PIECE = 1024, /* and where they do not take equally long, or one element is spread */
    WALK_STREAM_PIECE = 512, /* bytes that are computed in the first cache and streamed from there at a time */
};

/* The operands as one walk, outermost dimension first. Dimensions of one element are left out, but for the last, in
 * which the elements of each operand lie side by side, or are one and the same (stride 0, of an input). */
typedef struct walk {
    int operands; /* the last one is the output */
    char *data[WALK_MOST];
    int64_t size[WALK_MOST]; /* bytes of an element */
    int dimensions;          /* at least 1 */
    int64_t shape[FL_MAX_DIMS], stride[FL_MAX_DIMS][WALK_MOST];
    bool uneven; /* some elements may take much longer than others */
    /* Set if the loops are a user's function: each thread calls it before its loops, and again with NULL after them.
     * The loops stop computing once *ended names a function that would have ended the program. NULL: the loops are
     * Flynn's own. */
    void (*enter)(const char *volatile *ended);
    const char *volatile *ended;
} walk;

static inline int64_t walk_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t walk_size_of(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

/* The last of the buffers is the output. */
static walk CPU_NAME(walk_along)(const fl_buffer *const *buffers, int operands)
{
    const fl_buffer *out = buffers[operands - 1];
    walk w = {.operands = operands};

    for (int d = 0; d < out->ndim; d++) {
        if (out->shape[d] == 1 && d < out->ndim - 1)
            continue;
        w.shape[w.dimensions] = out->shape[d];
        for (int k = 0; k < operands; k++)
            w.stride[w.dimensions][k] = buffers[k]->stride[d];
        w.dimensions++;
    }
    for (int k = 0; k < operands; k++) {
        w.data[k] = buffers[k]->data;
        w.size[k] = walk_size_of(buffers[k]->dtype);
    }
    return w;
}

static bool CPU_NAME(walk_follows)(const walk *w, int d)
{
    for (int k = 0; k < w->operands; k++)
        if (w->stride[d - 1][k] != w->shape[d] * w->stride[d][k])
            return false;
    return true;
}

/* Makes one dimension of neighbouring ones that follow each other without a gap in all operands. */
static void CPU_NAME(walk_join)(walk *w)
{
    for (int d = w->dimensions - 1; d > 0; d--) {
        if (!CPU_NAME(walk_follows)(w, d))
            continue;
        w->shape[d - 1] *= w->shape[d];
        memcpy(w->stride[d - 1], w->stride[d], sizeof w->stride[d]);
        for (int e = d + 1; e < w->dimensions; e++) {
            w->shape[e - 1] = w->shape[e];
            memcpy(w->stride[e - 1], w->stride[e], sizeof w->stride[e]);
        }
        w->dimensions--;
    }
    for (int d = w->dimensions; d < FL_MAX_DIMS; d++)
        w->shape[d] = 1;
}

/* Elements of the dimensions `from` to `to`, the end excluded. */
static int64_t CPU_NAME(walk_elements)(const walk *w, int from, int to)
{
    int64_t count = 1;

    for (int d = from; d < to; d++)
        count *= w->shape[d];
    return count;
}

/* Each operand's address at the place-th position in the dimensions `from` to `to`, counted in row-major order. */
static void CPU_NAME(walk_locate)(const walk *w, int from, int to, int64_t place, char *at[WALK_MOST])
{
    for (int k = 0; k < w->operands; k++)
        at[k] = w->data[k];
    for (int d = to - 1; d >= from; d--) {
        for (int k = 0; k < w->operands; k++)
            at[k] += place % w->shape[d] * w->stride[d][k] * w->size[k];
        place /= w->shape[d];
    }
}

/* ------------------------------------------------------------------------------------------- row by row ---- */

/* A part of a row by way of the first cache. */
static void CPU_NAME(walk_stream_row)(const walk *w, const walk_loops *loops, char *const *from, int64_t count)
{
    _Alignas(CPU_LINE) char result[WALK_STREAM_PIECE];
    const int out = w->operands - 1;
    const int64_t most = WALK_STREAM_PIECE / w->size[out];

    for (int64_t i = 0; i < count; i += most) {
        const int64_t part = walk_smaller(most, count - i);
        char *at[WALK_MOST];
        for (int k = 0; k < out; k++) {
            at[k] = from[k] + i * w->size[k];
            if (k == 0 || at[k] != at[k - 1]) /* one input may be two operands */
                cpu_stream_ask(at[k], part * w->size[k]);
        }
        at[out] = result;
        loops->row(at, part);
        cpu_stream(from[out] + i * w->size[out], result, part * w->size[out]);
    }
    cpu_stream_end();
}

/* The element at `from` `count` times. */
static void CPU_NAME(walk_spread)(char *to, const char *from, int64_t size, int64_t count)
{
    memcpy(to, from, (size_t)size);
    for (int64_t bytes = size; bytes < size * count; bytes *= 2)
        memcpy(to + bytes, to, (size_t)walk_smaller(bytes, size * count - bytes));
}

/* A part of a row, of at most WALK_SHORT_PIECE elements, in which some operands have one element: they are spread in
 * the first cache, so that `row` sees neighbours. */
static void CPU_NAME(walk_spread_row)(const walk *w, const walk_loops *loops, char *const *from, int64_t count)
{
    _Alignas(CPU_LINE) char spread[WALK_MOST - 1][WALK_SHORT_PIECE * sizeof(double)];
    char *at[WALK_MOST];

    for (int k = 0; k < w->operands; k++) {
        at[k] = from[k];
        if (w->stride[w->dimensions - 1][k] != 0)
            continue;
        CPU_NAME(walk_spread)(spread[k], from[k], w->size[k], count);
        at[k] = spread[k];
    }
    loops->row(at, count);
}

/* How the rows are cut, and what is done with a piece. */
typedef struct walk_pieces {
    int64_t width, rows, piece;
    bool spreads, streams;
} walk_pieces;

static walk_pieces CPU_NAME(walk_cut)(const walk *w)
{
    const int last = w->dimensions - 1, out = w->operands - 1;
    walk_pieces p = {.width = w->shape[last], .rows = CPU_NAME(walk_elements)(w, 0, last)};

    for (int k = 0; k < out; k++)
        p.spreads = p.spreads || (w->stride[last][k] == 0 && p.width > 1);
    p.piece = p.spreads || w->uneven ? WALK_SHORT_PIECE : WALK_PIECE;
    p.streams =
        CPU_STREAMS && !p.spreads && p.width * p.rows >= CPU_STREAM_BYTES / w->size[out] && p.width >= WALK_PIECE;
    for (int k = 0; k < out; k++)
        p.streams = p.streams && w->data[k] != w->data[out];
    return p;
}

static void CPU_NAME(walk_piece)(const walk *w, const walk_loops *loops, const walk_pieces *p, int64_t row, int64_t i)
{
    const int last = w->dimensions - 1;
    const int64_t count = walk_smaller(p->piece, p->width - i);
    char *at[WALK_MOST];

    CPU_NAME(walk_locate)(w, 0, last, row, at);
    for (int k = 0; k < w->operands; k++)
        at[k] += i * w->stride[last][k] * w->size[k];
    if (p->streams)
        CPU_NAME(walk_stream_row)(w, loops, at, count);
    else if (p->spreads)
        CPU_NAME(walk_spread_row)(w, loops, at, count);
    else
        loops->row(at, count);
}

/* Called when a thread starts its loops. It also handles a user's function that uses up the thread's stack. */
static void CPU_NAME(walk_enter)(const walk *w)
{
    if (!w->enter)
        return;
    w->enter(w->ended);
    threads_ensure_signal_stack();
}

static void CPU_NAME(walk_leave)(const walk *w)
{
    if (w->enter)
        w->enter(NULL);
}

/* Row by row: the innermost loop runs over neighbours. */
static void CPU_NAME(walk_naive)(const fl_context *context, walk w, const walk_loops *loops, double work)
{
    CPU_NAME(walk_join)(&w);
    const walk_pieces p = CPU_NAME(walk_cut)(&w);

    (void)context, (void)work;
#pragma omp parallel num_threads(cpu_team(context, work))
    {
        CPU_NAME(walk_enter)(&w);
        if (w.uneven) {
#pragma omp for collapse(2) schedule(dynamic) nowait
            for (int64_t row = 0; row < p.rows; row++)
                for (int64_t i = 0; i < p.width; i += p.piece)
                    CPU_NAME(walk_piece)(&w, loops, &p, row, i);
        } else {
#pragma omp for collapse(2) schedule(static) nowait
            for (int64_t row = 0; row < p.rows; row++)
                for (int64_t i = 0; i < p.width; i += p.piece)
                    CPU_NAME(walk_piece)(&w, loops, &p, row, i);
        }
        CPU_NAME(walk_leave)(&w);
    }
}

/* ------------------------------------------------------------------------------------- column by column ---- */

/* A vector as a square of rows, the last of which may be shorter, so that it has a slowest axis to walk along. */
static int64_t CPU_NAME(walk_fold)(int64_t elements)
{
    int64_t width = 1;

    while (width * width < elements)
        width *= 2;
    return width;
}

/* Column by column: the innermost loop runs along the slowest axis. */
static void CPU_NAME(walk_uncoalesced)(const fl_context *context, walk w, const walk_loops *loops, double work)
{
    const bool folded = w.dimensions == 1;
    const int64_t elements = CPU_NAME(walk_elements)(&w, 0, w.dimensions);
    const int64_t columns = folded ? CPU_NAME(walk_fold)(elements) : CPU_NAME(walk_elements)(&w, 1, w.dimensions);
    int64_t step[WALK_MOST];

    for (int k = 0; k < w.operands; k++)
        step[k] = folded ? columns * w.stride[0][k] : w.stride[0][k];
    (void)context, (void)work;
#pragma omp parallel num_threads(cpu_team(context, work))
    {
        CPU_NAME(walk_enter)(&w);
#pragma omp for schedule(static) nowait
        for (int64_t column = 0; column < columns; column++) {
            int64_t length = folded ? (elements - column + columns - 1) / columns : w.shape[0];
            char *at[WALK_MOST];
            CPU_NAME(walk_locate)(&w, folded ? 0 : 1, w.dimensions, column, at);
            loops->column(at, step, length);
        }
        CPU_NAME(walk_leave)(&w);
    }
}

#endif
