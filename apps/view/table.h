/* SPDX-License-Identifier: MIT
 *
 * table.h - tables of text (libsmartcols), as they are or in Markdown.
 */
#ifndef FLYNN_APPS_VIEW_TABLE_H
#define FLYNN_APPS_VIEW_TABLE_H

#include "units.h"

#include <stdio.h>

typedef struct table_column {
    const char *title; /* NULL ends a list of columns */
    int is_number;     /* aligned to the right */
} table_column;

typedef struct table table;

/* An empty table with these columns. Ends the command (fail) where memory is short, like the other functions here. */
table *table_create(const table_column *columns);

/* Adds a row with a text for each column, which is copied. NULL: an empty cell. */
void table_add(table *rows, const char *const *cells);

/* Prints it: in full, however wide the terminal. */
void table_print(table *rows, FILE *stream);

/* The same as a table in Markdown. */
void table_print_markdown(table *rows, FILE *stream);

void table_free(table *rows);

#endif
