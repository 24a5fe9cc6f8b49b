/* SPDX-License-Identifier: MIT
 *
 * columns.h - tables as views of JSON rows: a column names a key of the row, the title above it and the form of its
 * cells. One list of columns makes the table, its Markdown and the page's HTML. A column without a title is the
 * quantity of that key, which fields.h describes; one with neither ends a list.
 *
 * The room view/ shows results: rows of JSON as tables, Markdown, CSV and cells of a page.
 */
#pragma once

#include "fields.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct cell {
    char text[128];
} cell;

/* A cell written as by printf. What does not fit is cut off. */
cell cell_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct column {
    const char *title;
    const char *key; /* "total_s"; "check.max_abs" goes into the object "check" */
    cell_form as;
    cell (*make)(const json_t *row); /* makes the text in place of `key` and `as`; NULL: those */
    int drop; /* a table that is too wide for the terminal is shown without the column of 1, then of 2 ...; 0: it stays
               */
} column;

enum { LONGEST_LIST = 32 };

/* The list with the title, form and drop of each quantity; at most LONGEST_LIST of them are used. */
typedef struct column_list {
    column c[LONGEST_LIST + 1];
} column_list;
column_list columns_full(const column *columns);

/* The columns of a table of `fields`, for these rows. Valid until the next call. */
const column *columns_of(unsigned in, const json_t *rows);

/* The variant of a result; of a user's kernel the file's name and those macros that are lists, where it is one of
 * several. */
cell variant_cell(const json_t *row);

/* The exercise of a row; of one of several kernels "kernel tiled TILE=16, m=256, block 16x16". */
cell work_cell(const json_t *row);

/* Any value in short, as AS_TEXT has it; what does not fit is cut off. */
cell cell_value(const json_t *value);

/* The text of a cell: a string of the row itself, or what is written to `room`. */
const char *column_text(const column *c, const json_t *row, cell *room);

/* Returns whether each row has the same there and that means nothing: no value, no time of a copy that is none, the
 * place of one row, the speed-up over itself. */
bool column_says_nothing(const column *c, const json_t *rows);

/* Returns whether the column is aligned to the right. Forms of numbers are, also of columns that `make` their text. */
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
