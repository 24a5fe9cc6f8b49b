/* SPDX-License-Identifier: MIT
 *
 * reduce.c - sums, extremes and their places: how an input is divided among threads. The loops are in reduce_loops.c.
 *
 * The input is (outer, length, inner), and its elements follow each other. A slice (length, inner) of `pairwise` is
 * reduced in one of two ways:
 * - With inner = 1 it is read from its start to its end, as rows of a cache line, whose elements (LANES) have a result
 *   each.
 * - Else, with few columns, it is seen as one with `fold` times as many and fewer rows, of which each column gives a
 *   result, and those of the same column of the input are put together at the end. So the loops that become vectors run
 *   along at most COLUMNS columns, with a result for each in the first cache.
 * Rows are added in blocks of RUN_ROWS or BLOCK_ROWS, and the blocks' sums in pairs (Higham, "The accuracy of floating
 * point summation", 1993): of n elements, none is rounded more often than log2 n + 25 times, or 31 times of FEW. The
 * order depends on the shape alone: the bits are the same with any number of threads.
 */
#include "openmp.h"
#include "reduce_loops.h"

#include <string.h>

enum {
    FEW_COLUMNS = 64, /* where places of columns are put together, which has no vectors */
    PART = 1 << 16,   /* elements, at least, of a part of a slice */
    MOST_TASKS = 1024 /* that slices are divided into */
};

/* --------------------------------------------------------------------------------------------- the input ---- */

/* How the input is divided. A task has some columns of a slice, and a part of its rows. */
typedef struct division {
    const fl_reduce_args *args;
    const reduce_engine *by;
    int64_t size;                 /* bytes of an element */
    int64_t outer, length, inner; /* of the input */
    int64_t fold, rows, width;    /* of a slice, as it is seen: whole rows of width = fold * inner columns */
    int64_t rest;                 /* rows of the input that are left: less than `fold` */
    int64_t chunks, parts;        /* of a slice */
} division;

static division CPU_NAME(divide)(const fl_reduce_args *args)
{
    const fl_buffer *x = &args->x;
    division d = {.args = args,
                  .by = CPU_NAME(reduce_engine_of)(args),
                  .size = dtype_size(x->dtype),
                  .outer = x->shape[0],
                  .length = x->shape[1],
                  .inner = x->shape[2]};
    int64_t tasks;

    d.fold = d.inner == 1 ? 1 : min64(max64((d.by->has_places ? FEW_COLUMNS : COLUMNS) / d.inner, 1), d.length);
    d.rows = d.length / d.fold;
    d.rest = d.length % d.fold;
    d.width = d.fold * d.inner;
    d.chunks = (d.width + COLUMNS - 1) / COLUMNS;
    tasks = d.outer * d.chunks;
    d.parts = min64(MOST_TASKS / tasks, d.rows * d.width / d.chunks / PART);
    d.parts = max64(min64(d.parts, d.rows), 1);
    return d;
}

static const char *CPU_NAME(element)(const fl_buffer *of, const division *d, int64_t outer, int64_t index)
{
    return of->data ? (const char *)of->data + (outer * d->length * d->inner + index) * d->size : NULL;
}

/* Columns' results are places in the input from now on; `row` is the first one's row, of those that are seen. */
static void CPU_NAME(locate)(const division *d, int64_t row, int64_t width, columns_state *s)
{
    for (int64_t first = 0, c = 0; d->by->has_places && c < width; first++)
        for (int64_t end = min64(c + d->inner, width); c < end; c++)
            s->at[c] = (row + s->at[c]) * d->fold + first;
}

static void CPU_NAME(reduce_rows)(const division *d, int64_t outer, int64_t row, int64_t rows, int64_t column,
                                  int64_t columns, columns_state *s)
{
    const int64_t index = row * d->width + column;

    d->by->rows(CPU_NAME(element)(&d->args->x, d, outer, index), CPU_NAME(element)(&d->args->y, d, outer, index),
                d->width, rows, (int)columns, s);
    CPU_NAME(locate)(d, row, columns, s);
}

/* Puts the `fold` columns together that are one of the input. */
static void CPU_NAME(unfold)(const division *d, columns_state *s)
{
    for (int64_t count = d->fold; count > 1;) {
        const int64_t half = (count + 1) / 2;
        d->by->join(s, s, (int)(half * d->inner), (int)((count - half) * d->inner));
        count = half;
    }
}

static inline int64_t first_of(int64_t count, int64_t parts, int64_t part)
{
    return count / parts * part + min64(part, count % parts);
}

/* The results of a part of a slice's rows for one chunk of its columns. */
static void CPU_NAME(reduce_part)(const division *d, int64_t outer, int64_t chunk, int64_t part, columns_state *s)
{
    const int64_t row = first_of(d->rows, d->parts, part), end = first_of(d->rows, d->parts, part + 1);
    const int64_t column = first_of(d->width, d->chunks, chunk), next = first_of(d->width, d->chunks, chunk + 1);

    CPU_NAME(reduce_rows)(d, outer, row, end - row, column, next - column, s);
    if (d->rest > 0 && part == d->parts - 1) { /* there is one chunk */
        columns_state last;
        CPU_NAME(reduce_rows)(d, outer, d->rows, 1, 0, d->rest * d->inner, &last);
        d->by->join(s, &last, 0, (int)(d->rest * d->inner));
    }
    CPU_NAME(unfold)(d, s);
}

/* The columns of the input, and so the results, of a chunk. */
static inline int CPU_NAME(results_of)(const division *d, int64_t chunk)
{
    return (int)min64(first_of(d->width, d->chunks, chunk + 1) - first_of(d->width, d->chunks, chunk), d->inner);
}

static void CPU_NAME(store)(const division *d, int64_t outer, int64_t chunk, const columns_state *s)
{
    d->by->store(s, CPU_NAME(results_of)(d, chunk), d->args->out.data,
                 outer * d->inner + first_of(d->width, d->chunks, chunk));
}

/* ---------------------------------------------------------------------------------------------- variants ---- */

/* Each task's results go to memory; those of a chunk of columns are put together in pairs. */
static fl_status CPU_NAME(in_parts)(const fl_context *context, const division *d, int threads)
{
    const int64_t chunks = d->outer * d->chunks, tasks = chunks * d->parts;
    columns_state *all;
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)tasks * sizeof *all, &memory);

    (void)threads;
    if (status != FL_OK)
        return status;
    all = memory;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t t = 0; t < tasks; t++)
        CPU_NAME(reduce_part)(d, t / d->parts / d->chunks, t / d->parts % d->chunks, t % d->parts, &all[t]);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t t = 0; t < chunks; t++) {
        columns_state *of = all + t * d->parts;
        const int results = CPU_NAME(results_of)(d, t % d->chunks);
        for (int64_t step = 1; step < d->parts; step *= 2)
            for (int64_t p = 0; p + step < d->parts; p += 2 * step)
                d->by->join(&of[p], &of[p + step], 0, results);
        CPU_NAME(store)(d, t / d->chunks, t % d->chunks, of);
    }
    return FL_OK;
}

/* Slices of elements that follow each other; each task has several. */
static fl_status CPU_NAME(of_slices)(const division *d, int threads)
{
    const fl_buffer *out = &d->args->out;
    const int64_t tasks = min64(threads, d->outer);

#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t t = 0; t < tasks; t++) {
        const int64_t first = first_of(d->outer, tasks, t), end = first_of(d->outer, tasks, t + 1);
        d->by->slices(CPU_NAME(element)(&d->args->x, d, first, 0), CPU_NAME(element)(&d->args->y, d, first, 0),
                      d->length, end - first, (char *)out->data + first * dtype_size(out->dtype));
    }
    return FL_OK;
}

static fl_status CPU_NAME(pairwise)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const division d = CPU_NAME(divide)(args);
    const int threads = cpu_team(context, launch->bytes_requested / 4); /* four bytes in 20 ps */

    if (d.parts > 1)
        return CPU_NAME(in_parts)(context, &d, threads);
    if (d.inner == 1)
        return CPU_NAME(of_slices)(&d, threads);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t t = 0; t < d.outer * d.chunks; t++) {
        columns_state s;
        CPU_NAME(reduce_part)(&d, t / d.chunks, t % d.chunks, 0, &s);
        CPU_NAME(store)(&d, t / d.chunks, t % d.chunks, &s);
    }
    (void)threads;
    return FL_OK;
}

static fl_status CPU_NAME(naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const division d = CPU_NAME(divide)(args);
    const int threads = (int)min64(cpu_team(context, launch->bytes_requested), d.outer * d.inner);

    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < d.outer * d.inner; i++) {
        const int64_t outer = i / d.inner, column = i % d.inner;
        columns_state s;
        d.by->naive(CPU_NAME(element)(&d.args->x, &d, outer, column), CPU_NAME(element)(&d.args->y, &d, outer, column),
                    d.inner, d.length, &s);
        d.by->store(&s, 1, d.args->out.data, i);
    }
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

static void CPU_NAME(plan)(void *device, const void *args, fl_launch *launch)
{
    const fl_reduce_args *r = args;
    const double elements = (double)elements_of(&r->x);

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->flops = elements * (r->y.data ? 2 : 1);
    launch->bytes_requested = elements * (double)dtype_size(r->x.dtype) * (r->y.data ? 2 : 1) +
                              (double)(elements_of(&r->out) * dtype_size(r->out.dtype));
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_REDUCE, "pairwise", CPU_ALL, plan, pairwise,
             "many accumulators side by side, whose sums are added in pairs; threads have parts of the input")},
    {CPU_ROW(FL_OP_REDUCE, "naive", CPU_ALL, plan, naive,
             "one accumulator for each result, element after element; threads have results of their own")},
};

CPU_OPERATION(cpu_reduce, rows);
