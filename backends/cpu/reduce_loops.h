/* SPDX-License-Identifier: MIT
 *
 * reduce_loops.h - what reduce.c needs of reduce_loops.c: reductions of some columns by one thread.
 */
#ifndef FLYNN_CPU_REDUCE_LOOPS_H
#define FLYNN_CPU_REDUCE_LOOPS_H

#include "operation.h"

enum { COLUMNS = 512 };

/* Results of up to COLUMNS columns: values, of the type that a reduce_engine knows, and the places of extremes. */
typedef struct columns_state {
    _Alignas(CPU_LINE) char value[COLUMNS * sizeof(int64_t)];
    int64_t at[COLUMNS];
} columns_state;

/* A reduction of elements of one type. `stride` is from one row to the next; y may be NULL. */
typedef struct reduce_engine {
    /* The result of each column; a place is the row's number. */
    void (*rows)(const void *x, const void *y, int64_t stride, int64_t rows, int columns, columns_state *s);
    /* Puts the columns of `other` from the from-th on together with the first ones of s, which may be the same. */
    void (*join)(columns_state *s, const columns_state *other, int from, int columns);
    void (*store)(const columns_state *s, int columns, void *out, int64_t at);
    /* One column, element after element. */
    void (*naive)(const void *x, const void *y, int64_t stride, int64_t length, columns_state *s);
    /* The results of slices of which each is `length` elements that follow each other. */
    void (*slices)(const void *x, const void *y, int64_t length, int64_t count, void *out);
    bool has_places;
} reduce_engine;

const reduce_engine *CPU_NAME(reduce_engine_of)(const fl_reduce_args *args);

#endif
