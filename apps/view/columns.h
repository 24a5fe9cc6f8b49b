/* SPDX-License-Identifier: MIT
 *
 * columns.h - tables as views of JSON rows: a column names a key of the row, the title above it and the form of its
 * cells. One list of columns makes the table, its Markdown and the page's HTML.
 *
 * The room view/ shows results: rows of JSON as tables, Markdown, CSV and cells of a page.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* How a value is written. null, a missing key and a number that is not finite are "-" in every form. */
typedef enum cell_form {
    AS_TEXT,       /* a string; any other value in short: "16x16x1", "serial simd", "1.5e-05", "yes" */
    AS_SECONDS,    /* 0.0202: "20.2 ms" */
    AS_BYTES,      /* 67108864: "64.0 MiB" */
    AS_BYTE_RATE,  /* 1.64e10: "16.4 GB/s" */
    AS_FLOP_RATE,  /* 1.64e10: "16.4 GFLOP/s" */
    AS_NUMBER,     /* three digits: "5.96e-08"; an integer or a string in full */
    AS_COUNT,      /* three digits, whole from 1000 on: "48930", "0.997"; of a list, how many elements it has */
    AS_FACTOR,     /* 27.9: "27.9x" */
    AS_PART,       /* 0.926: "92.6 %" */
    AS_PERCENTAGE, /* 92.6: "92.6 %" */
    AS_BLOCK,      /* [16, 16, 1]: "16x16"; a block of zeros: "-" */
    AS_CHECK,      /* of a row's "check": "ok", "ok (emulation)", "WRONG at [3, 4]" */
} cell_form;

typedef struct cell {
    char text[128];
} cell;

/* As by printf. What does not fit is cut off. */
cell cell_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct column {
    const char *title; /* NULL ends a list */
    const char *key;   /* "total_s"; "check.max_abs" goes into the object "check" */
    cell_form as;
    cell (*make)(const json_t *row); /* makes the text in place of `key` and `as`; NULL: those */
} column;

/* Any value in short, as AS_TEXT has it; what does not fit is cut off. */
cell cell_value(const json_t *value);

/* The text of a cell: a string of the row itself, or what is written to `room`. */
const char *column_text(const column *c, const json_t *row, cell *room);

/* Does each row have the same there, and that means nothing: no value, no time of a copy that is none, the place of one
 * row, the speed-up over itself? */
bool column_says_nothing(const column *c, const json_t *rows);

/* Is it aligned to the right? Forms of numbers are, also of columns that `make` their text. */
bool column_is_number(const column *c);

typedef enum table_style { TABLE_TEXT, TABLE_MARKDOWN } table_style;

/* Chooses the columns of all later tables: all of them, or those in a list of titles, which the caller keeps. Without a
 * choice a terminal shows the columns that differ and fit. */
void columns_choose(bool all, const char *titles);

/* Prints a line for each row (a list of objects) below the titles; nothing where there is no row. On a terminal columns
 * that say nothing about these rows are left out, then the least important ones until a line fits; the check of a wrong
 * result and the fastest row are coloured. Where none of the titles of columns_choose is the table's, a note says so
 * and the others are shown. Ends the command (fail) where memory is short. */
void columns_print(const column *columns, const json_t *rows, table_style style, FILE *stream);
