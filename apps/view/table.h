/* SPDX-License-Identifier: MIT
 *
 * table.h - tables of text on stdout (libsmartcols), and quantities as people read them.
 */
#ifndef FLYNN_APPS_VIEW_TABLE_H
#define FLYNN_APPS_VIEW_TABLE_H

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

/* A quantity as text, three significant digits; "-" for NaN. Valid within the expression it is made in, or copied. */
typedef struct quantity {
    char text[32];
} quantity;

/* "20.2 ms", "3.10 us", "1404 s". */
quantity format_seconds(double seconds);
/* "16.4 GB/s": decimal prefixes. */
quantity format_rate(double per_second, const char *unit);
/* "64.0 MiB": binary prefixes. */
quantity format_bytes(double bytes);
/* "32x8", of x, y and z; "-" for a block of zeros. */
quantity format_block(const int *block);
/* "27.9x". */
quantity format_factor(double factor);
/* "5.96e-08", three digits in any range. */
quantity format_number(double number);
/* "48930", "0.997": whole from 1000 on. */
quantity format_count(double count);
/* "92.6 %", of 0.926. */
quantity format_percent(double part);

#endif
