/* SPDX-License-Identifier: MIT
 *
 * table.h - the results of many exercises in one table. All of it is made from the document that --json writes.
 */
#ifndef FLYNN_APPS_COMPARE_TABLE_H
#define FLYNN_APPS_COMPARE_TABLE_H

#include "view/table.h"

#include <jansson.h>
#include <stdbool.h>

/* Adds to each result what it is beside the others of its exercise: `relative` (its total_s over the fastest one's;
 * null where it is not ranked), `spread` (the interquartile range of its totals over their median), `speed_up` and
 * `speed_up_with_copies` (over the scalar backend, or the first; null for what is not ranked). */
void compare_table_fill(json_t *document);

/* A result as the table shows it: the columns, and the text in each. */
enum { COMPARE_COLUMNS = 18 };
extern const table_column compare_table_columns[COMPARE_COLUMNS + 1];
typedef struct compare_cells {
    char text[COMPARE_COLUMNS][64];
} compare_cells;
compare_cells compare_table_cells(const json_t *row);

/* Prints the table, the backends that were skipped, and the exercises that failed. */
void compare_table_show(const json_t *document, bool markdown);

#endif
