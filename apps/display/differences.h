/* SPDX-License-Identifier: MIT
 *
 * differences.h - which elements of an array are wrong: the first of them, and where all of them are.
 */
#pragma once

#include "support/host_array.h"

enum { FIRST_DIFFERENCES = 5, WHERE_ROWS = 16, WHERE_COLUMNS = 64 };

typedef struct difference {
    int64_t index; /* in row-major order */
    double result, expected;
} difference;

/* Zeroed, there are none, and it may be freed. */
typedef struct differences {
    int64_t count;
    difference first[FIRST_DIFFERENCES]; /* those with the lowest indices, in their order */
    uint8_t *bits;                       /* a bit for each piece of 2^shift elements in which one differs */
    int64_t pieces;                      /* for which there is memory */
    int shift;
} differences;

/* Adds an element, or with the index -1 a mistake that is in no element; one that was added before only counts. Uses at
 * most 16 MiB: of an array of more than 2^27 elements pieces of several are marked. Ends the command where memory is
 * short. */
void differences_add(differences *d, int64_t index, double result, double expected);
void differences_free(differences *d);

/* A picture of the array in characters: '.' where no element differs, '+' where some do, '#' where all do. A row is
 * ended by '\0'. Leading dimensions count as rows of the matrix; an array of one dimension has one row. */
typedef struct where_text {
    int rows;
    char row[WHERE_ROWS][WHERE_COLUMNS + 1];
} where_text;

/* The pattern in the places of the wrong elements: "all from [256] on, a multiple of the block's 256 threads",
 * "every 3rd from [0] on", "only the last row"; "" where they have nothing, or are too few or too many to show it.
 * `block`: the threads in x, y and z; NULL or zeros: there is none. */
typedef struct pattern_text {
    char text[160];
} pattern_text;
pattern_text differences_pattern(const differences *d, int ndim, const int64_t *shape, const int *block);

/* `most`: the columns of the picture, at most WHERE_COLUMNS. */
where_text differences_where(const differences *d, int ndim, const int64_t *shape, int most);
