/* SPDX-License-Identifier: MIT
 *
 * columns.h - tables as views of JSON rows: a column names a key of the row, the title above it and the form of its
 * cells. One list of columns makes the table, its Markdown and the page's HTML. A column without a title is the
 * quantity of that key, which fields.h describes, with a `make` and a `drop` of its own if it has them; one with
 * neither ends a list.
 *
 * The room view/ shows results: rows of JSON as tables, Markdown, CSV and cells of a page.
 */
#pragma once

#include "cells.h"
#include "fields.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { LONGEST_LIST = 32 };

/* The list with what fields.h says of each quantity; at most LONGEST_LIST of them are used. */
typedef struct column_list {
    column c[LONGEST_LIST + 1];
} column_list;
column_list columns_full(const column *columns);

/* The columns of a table of `fields`, for these rows. Valid until the next call. */
const column *columns_of(unsigned in, const json_t *rows);

/* Returns whether each row has the same there and that means nothing: no value, no time of a copy that is none, the
 * places of two rows, the speed-up of one over itself. */
bool column_says_nothing(const column *c, const json_t *rows);

typedef enum table_style { TABLE_TEXT, TABLE_MARKDOWN } table_style;

/* Chooses the columns of all later tables: all of them, or those in a list of titles, which the caller keeps. Without a
 * choice those are shown that say something and fit the terminal, or 100 characters where there is none. */
void columns_choose(bool all, const char *titles);

/* Prints a line for each row (a list of objects) below the titles; nothing where there is no row. Columns that say
 * nothing about these rows are left out, then the least important ones until a line fits. On a terminal the widest text
 * goes on in further lines where need be, and the check of a wrong result and the fastest row are coloured. Where none
 * of the titles of columns_choose is the table's, a note says so and the others are shown. Ends the command (fail)
 * where memory is short. */
void columns_print(const column *columns, const json_t *rows, table_style style, FILE *stream);

/* Returns whether the last table that was printed had that column. */
bool columns_have(const char *title);
